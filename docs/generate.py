"""Write the generated pages of docs/: python docs/generate.py."""

from pathlib import Path

from black_maria.layout import layout_of

PAGE = """# The observation vector, index by index

`{rules}`, F = {size}, int8. Made from `black_maria.layout` by `make docs`; don't edit.

Seats are the observer's: me, then clockwise my left neighbour, and so on. A card's place in a
block is its id, 13 · suit + rank: ♣ 0–12, ♦ 13–25, ♥ 26–38, ♠ 39–51, each from the two up to
the ace. In a block *seats × 52* the first 52 entries are mine, the next 52 my left
neighbour's, and so on.

{table}

`black_maria.describe(vector)` says a vector in words; `layout_of(rules).split(vector)` gives
the blocks by name, `layout_of(rules)["holding"]` a block's slice.
"""


def observation_page(rules: str = "three_player") -> str:
    """The page of a profile's observation layout."""
    layout = layout_of(rules)
    return PAGE.format(rules=rules, size=layout.size, table=layout.table())


if __name__ == "__main__":
    (Path(__file__).parent / "observation.md").write_text(observation_page())
