"""The generated pages are what the code says today."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize("page", ["observation", "rules"])
def test_generated_page__is_up_to_date(page):
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    written = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert written == getattr(generate, f"{page}_page")(), "run `make docs`"
