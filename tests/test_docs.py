"""The generated pages are what the code says today."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_observation_page__is_up_to_date():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = (DOCS / "observation.md").read_text(encoding="utf-8")
    assert page == generate.observation_page(), "run `make docs`"
