"""The site: its pages, the tutorial's snippets, the picture at README's top, the container."""

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import islice
from pathlib import Path

import pytest
from PIL import Image

from black_maria import make_bot

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MKDOCS = next(
    (
        path
        for path in (ROOT / ".venv-site/bin/mkdocs", Path(sys.executable).parent / "mkdocs")
        if path.exists()
    ),
    None,
)
MAX_ANIMATION = 1_500_000
"""Bytes of README's animation."""


# --- pages --------------------------------------------------------------------------------------


def navigation() -> list[str]:
    """The pages that mkdocs.yml names, in order."""
    _, _, rest = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    return re.findall(r"^ +- (?:[\w ]+: )?(\S+\.md)$", rest.partition("\n\n")[0], re.MULTILINE)


def test_navigation__has_every_page_once():
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    made = {"changelog.md", "contributing.md", "cite.md"}  # by scripts/site_hooks.py
    assert sorted(navigation()) == sorted(pages | made)


@pytest.mark.skipif(MKDOCS is None, reason="needs the site's packages: make .venv-site/installed")
def test_site__is_built_without_a_warning(tmp_path):
    done = subprocess.run(
        [str(MKDOCS), "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for page in navigation():
        assert (tmp_path / page).with_suffix(".html").is_file()
    assert "black_maria.aec.raw_env" in (tmp_path / "api/environments.html").read_text("utf-8")
    assert (tmp_path / "source/examples/maskable_ppo.py").is_file()
    for page in tmp_path.rglob("*.html"):  # nothing comes from another server
        loaded = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?https?:[^>]*",
            page.read_text("utf-8"),
        )
        assert [tag for tag in loaded if 'rel="canonical"' not in tag] == []


# --- snippets -----------------------------------------------------------------------------------


def snippets(page: str, language: str) -> list[str]:
    """The blocks of a page that are in a language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["tutorial.md", "evaluation.md"])
def test_snippets__run_one_after_another(page, capsys):
    names = {"__name__": "snippets"}
    for number, snippet in enumerate(snippets(page, "python"), 1):
        exec(compile(snippet, f"{page}, snippet {number}", "exec"), names)
    said = capsys.readouterr().out
    if page == "tutorial.md":
        careful, better, before, after = (
            float(re.search(pattern, said)[1])
            for pattern in (
                r"careful alone against two random ([\d.]+)",
                r"careful alone against two duck ([\d.]+)",
                r"([\d.]+) points a hand alone against two ducks before",
                r"before, ([\d.]+) after",
            )
        )
        assert careful < 8 < 14.33 < better  # as the page says of it
        assert after < before - 5


# --- pictures, the container --------------------------------------------------------------------


def test_animation__is_small_and_at_the_top_of_the_readme():
    path = DOCS / "hand.gif"
    assert path.stat().st_size <= MAX_ANIMATION
    with Image.open(path) as picture:
        assert picture.size == (600, 450)
        assert picture.n_frames == 1 + 9 + 51  # the deal, cards passed, cards played
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "](docs/hand.gif)" in readme.partition("\n## ")[0]


def test_animation__one_seed_one_picture(tmp_path):
    spec = importlib.util.spec_from_file_location("animation", ROOT / "scripts" / "animation.py")
    animation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(animation)
    for path in (tmp_path / "a.gif", tmp_path / "b.gif"):
        shown = list(islice(animation.pictures(make_bot("duck"), 3), 0, 20, 5))
        animation.write_gif(path, shown)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.n_frames == len(shown) == 4


def instructions(name: str) -> list[str]:
    """What the Dockerfile says with an instruction, line by line."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", text, re.MULTILINE)


def test_container__has_a_python_that_the_package_takes_and_its_pins_were_made_with():
    (image,) = instructions("FROM")
    version = re.fullmatch(r"python:(\d+\.\d+)-slim", image)[1]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
    assert f"Python {version}, everything" in (DOCS / "ecosystem.md").read_text(encoding="utf-8")


def test_container__copies_what_is_there_and_runs_targets_that_are():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for line in instructions("COPY"):
        *sources, _ = shlex.split(line)
        assert [source for source in sources if not (ROOT / source).exists()] == []
    commands = " ".join([*instructions("RUN"), *instructions("CMD")])
    targets = re.findall(r"make[\s\",]+([\w./-]+)", commands.replace("--yes --no-install", ""))
    for target in {*targets} - {"git"}:  # make is installed, and git
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), target
    assert "train" in targets
    assert {"make", "git", "chromium", "chromium-driver"} <= set(commands.split())


def test_container__what_is_left_out_is_what_git_ignores():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv*", "runs"} <= set(ignored)
