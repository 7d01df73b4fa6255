"""What `make site` adds to docs/: pages that live elsewhere, and the files that pages link to.

MkDocs calls these functions; mkdocs.yml names this file. The changelog, the contributors' page
and how to cite stay where people and tools look for them, at the top of the repository. A link
of a page to a file outside docs/ leads to a copy of it in the site.
"""

import posixpath
import re
from pathlib import Path
from typing import Any, Final

import yaml
from mkdocs.structure.files import File

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages outside docs/, and what they are called in the site."""
_LINK: Final = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")

CITE: Final = """# How to cite

{message}

```bibtex
@software{{black_maria,
  title = {{{title}}},
  author = {{{authors}}},
  version = {{{version}}},
  license = {{{license}}},
}}
```

This is made from `CITATION.cff`, which reference managers read as it is. Say with a figure which
rules, which command and which seeds it is of: `evaluate.py --out results.json` keeps them all.
"""


def on_files(files: Any, config: Any) -> Any:
    """Add what stands outside docs/."""
    texts = {"": [(ROOT / name).read_text(encoding="utf-8") for name in PAGES], "docs": []}
    for page in Path(config.docs_dir).glob("*.md"):
        texts["docs"].append(page.read_text(encoding="utf-8"))
    for name, text in zip(PAGES, texts[""], strict=True):
        files.append(File.generated(config, PAGES[name], content=text))
    files.append(File.generated(config, "cite.md", content=cite_page()))
    linked = {
        target
        for folder, pages in texts.items()
        for text in pages
        for link in _LINK.findall(text)
        if (target := in_site(link, folder)).startswith("source/")
    }
    for target in sorted(linked):
        path = ROOT / target.removeprefix("source/")
        if path.is_file():  # MkDocs names the links that lead nowhere
            files.append(File.generated(config, target, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let links lead to where things are in the site."""
    name = page.file.src_uri
    if name in PAGES.values():
        return _LINK.sub(lambda found: f"]({in_site(found[1], '')}", markdown)
    if "/" in name:
        return markdown
    return _LINK.sub(lambda found: f"]({in_site(found[1], 'docs')}", markdown)


def in_site(link: str, folder: str) -> str:
    """Where a link leads in the site, for a page at its top.

    Args:
        link: As a page has it, relative to its own folder.
        folder: The page's folder in the repository.
    """
    path = posixpath.normpath(posixpath.join(folder, link))
    if path in PAGES:
        return PAGES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}"


def cite_page() -> str:
    """The page on citing, from CITATION.cff."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = " and ".join(f"{{{author['name']}}}" for author in citation["authors"])
    return CITE.format(**{**citation, "authors": authors})
