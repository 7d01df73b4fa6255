"""Write the generated pages of docs/: python scripts/docs.py."""

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ecosystem import FILE, LEARNERS

from black_maria import aec
from black_maria.cards import NUM_RANKS, SUIT_SYMBOLS, card_name, card_names
from black_maria.clauses import Card, Cards, Kind, OneOf, OrNone, Points, Several, Truth, Whole
from black_maria.layout import layout_of, table_of
from black_maria.rules import CLAUSES, PROFILES, Rules, twos_removed
from black_maria.rules_vector import RULES_BLOCKS, RULES_SIZE
from black_maria.rulesets import HELD_OUT

DOCS = Path(__file__).parent.parent / "docs"

OBSERVATION = """# The observation vector, index by index

`three_player`, F = {size}, int8. Made from `black_maria.layout` by `make docs`; don't edit.

Seats are the observer's: me, then clockwise my left neighbour, and so on. A card's place in a
block is its id, 13 · suit + rank: ♣ 0–12, ♦ 13–25, ♥ 26–38, ♠ 39–51, each from the two up to
the ace. In a block *seats × 52* the first 52 entries are mine, the next 52 my left
neighbour's, and so on. Other profiles have the same blocks, as long as their seats make them;
with two packs a card counts up to 2. In a play-off absent seats are zeros.

{table}

`black_maria.describe(vector, rules)` says a vector in words; `layout_of(rules).split(vector)`
gives the blocks by name, `layout_of(rules)["holding"]` a block's slice.

## The rules' vector

R = {rules_size}, float32: `black_maria.rules_vector.rules_vector(rules)`. It is in the observation
as `"rules"` where every episode draws its rules ([generalisation.md](generalisation.md)). A clause
that is left open is all zeros. Rules with equal vectors play alike; of `Rules` only the name isn't
in it.

{rules_table}

`black_maria.rules_vector.RULES_BLOCKS` has the blocks by name.
"""

ENVIRONMENT = """# The environment

<!-- Made from the docstring of `black_maria.aec` by `make docs`; don't edit. -->

![the table as rgb_array draws it](table.png){{ .table width=600 }}

{manual}

### API

[`env`, `raw_env`, `parallel_env`](api/environments.md) have the arguments in detail; the same game
for one seat, `BlackMaria`, and for many at once, `BlackMariaVectorEnv`, stands there as well.
"""

RULES = """# The rules, profile by profile

Made from `black_maria.rules` and the notes in `scripts/docs.py` by `make docs`; don't edit.

`Rules` is a frozen dataclass whose fields are the clauses; each field's docstring names its
rule book. Get one by name, and change what your table plays otherwise:

```python
from black_maria import Rules, black_maria_v0, penalty_points

env = black_maria_v0.env(rules="dirty_lady", episode="match")
rules = Rules.profile("traditional", seats=5)                             # 3 to 6 seats
rules = rules.replace(moon="subtract", hands=None, match_points=100)      # options of that book
rules = Rules.profile("omnibus", penalties=penalty_points(hearts=1, QS=13, KS=10, AS=7, TD=-10))
```

A value that a clause doesn't take and clauses that contradict each other are refused, by the
clause's name and with what would be right; so are packs that can't be played and matches that
can't end. Where a moon is subtracted from the totals, or ties are played off, a match lasts for
as long as the players shoot or tie.

## The profiles

| profile | seats | cards each | points a hand | differs | source |
|---|---|---|---|---|---|
{profiles}

*Page*: the three-player page. *Book*: the 3–6 player book. A profile's fields, where they
aren't the defaults of `three_player`:

{fields}

## What the books leave open, and how it was settled

| question | settled |
|---|---|
| Five seats: which two twos go? The book's symbols are lost. | 2♣ and 2♦, the custom |
| Six seats: the four twos go, 2♥ among them, yet the book counts 43 a hand. | what is dealt counts: 42 |
| How many hands has a match of fixed length? The book gives 9 and 12 for three seats, wants multiples of three, and equally many deals for each. | 9 with 3 seats, 12 with 4 and 6, 15 with 5, where both hold |
| Is a threshold reached or exceeded? | the page and `american_hearts`: reached; `traditional` and the book's variants, where they are played to one: exceeded |
| What do a play-off's points count for? | they decide the play-off alone and enter no total; rewards are paid for them as in any hand |
| Who plays it, with which cards? | the tied seats; 52 cards less the first twos (♣ ♦ ♥ ♠) that are over: two seats 26 each, three 17. If all tie, the profile's own pack; in `cancellation` one pack then, too |
| Neighbours in a play-off | the nearest seats that play; *across* with three is the left one |
| Tied in the play-off | the seats tied lowest in it play again, until one is left; the deal moves left among them |
| Misdeal: a wrong number of cards, or one that was seen | can't happen; a deal given from outside that isn't a partition of the pack into equal holdings is refused, and the message names the card |
| Revoke: the offender is charged with the whole hand. And the others, and the match? | masks make it impossible, and `raw_env` and `Tables` refuse the card. In `env()`, and at a seat with `illegal="lose"`, it counts as noticed too late: all points of the hand are the offender's, the others have none, and what the hand had given is taken back. A bonus counts as if the offender had taken every card; no moon is shot. The hand ends there, and a match goes on |
| A revoke while passing | the same; nobody has passed yet, and each has its cards back |
| A revoke in a play-off | decides it like any points, which enter no total |
| Does Q♠ break hearts? | no: only a heart does, discarded or led by a seat that holds nothing else |
| What shows a void? | not following suit; under hearts broken also leading a heart before the break, which shows the other three suits |
| A moon and a bonus card | the bonus counts for its taker as ever, and isn't needed for the moon |
| Where is a moon an option at all? | where more than one card has a positive penalty |
| `dirty_lady`: taking all 14 penalty cards is to be a gain: how? | as the book's moon: its points are subtracted instead of added, 36, or 35 with six seats, who play without 2♥ |
| `slippery_anne`: must neutral hearts be broken? | no: the clause has lost its reason |
| `face_value`: what does A♥ count, and how far does a match go? | 14, after K♥ 13; to 500, reached |
| `american_hearts`: the book names a pass to the left and a rule of 2♣, the page just says that there is more. | the custom: left, right, across, nobody in turn; 2♣ opens; no hearts or Q♠ on the first trick; hearts are broken; a moon costs each other seat 26; to 100, reached, and equal lowest totals share |
| Cancellation: how long, and with which ties? | as its book: as many hands as there are seats, 12 with six; ties are played off with one pack, with nine seats less the twos, 3♣, 3♦ and 3♥ |
| Cancellation: do the twins that cancel count? | yes: whoever takes the trick takes them; the hand has 86 |
| Cancellation: nothing of the suit led is left | the trick stays on the table for the next trick's winner, and the same seat leads again; on the last trick it goes to the last winner, or, if no trick was ever won, to the last leader |
| Cancellation: cards that don't deal out evenly | lie face down, unseen, until the first trick is won; its winner takes them, and then all see them |
| Direction of the pass, hand by hand | by the hand's number in the match; in single hands by the deal's number |
| Who leads before the opening card is passed on? | its holder after the pass leads it |
"""

NOTES = {
    "three_player": ("the default", "page, 01–05"),
    "four_player": ("2♣ stays", 'page, 06 "Other profiles"'),
    "hearts_and_queen": ("only hearts and Q♠ count", "page, 06"),
    "face_value": ("hearts count their faces, A♥ 14; match to 500", "page, 06"),
    "traditional": (
        "hearts must be broken; a fixed number of hands; ties are played off",
        'book, "Mise en place" to "Victoire"',
    ),
    "dirty_lady": (
        "pass left, Q♠ stays; A♥ 5, K♥ 4, Q♥ 3, J♥ 2; no other spade; taking all is subtracted",
        'book, "Dirty Lady"',
    ),
    "slippery_anne": ("only Q♠ counts; hearts are cards like others", 'book, "Slippery Anne"'),
    "omnibus": ("J♦ (or 10♦) is worth −10 to its taker", 'book, "Omnibus Hearts"'),
    "rotating_pass": (
        "right, left, across, nobody, hand by hand; no across with 3 or 5",
        'book, "Rotation du passage"',
    ),
    "american_hearts": (
        "pass left, right, across, nobody; 2♣ opens; no hearts or Q♠ on the first trick; "
        "hearts must be broken; ♥ 1, Q♠ 13; a moon costs each other seat 26",
        'book, "Divergence du Hearts américain", and custom',
    ),
    "cancellation": (
        "two packs; twins in a trick cancel each other; as many hands as seats, 12 with six",
        'book, "Cancellation Black Maria", and custom',
    ),
}


def observation_page() -> str:
    """The page of the observation layout."""
    layout = layout_of("three_player")
    blocks = [
        dataclasses.replace(block, meaning=_entries(CLAUSES.get(name)))
        for name, block in RULES_BLOCKS.items()
    ]
    return OBSERVATION.format(
        size=layout.size, table=layout.table(), rules_size=RULES_SIZE, rules_table=table_of(blocks)
    )


def _entries(kind: Kind | None) -> str:
    """What the entries of a clause's block are; of no clause: of the stake."""
    if kind is None:
        return f"all points of a pack, signs left out: {_SIZE}"
    if isinstance(kind, OrNone):
        return _entries(kind.kind)
    if isinstance(kind, Whole):
        few = kind.axes[0]
        return _SIZE if "size" in few else f"a 1 among zeros: {few[0]} … {few[-1]}"
    if isinstance(kind, OneOf):
        return f"a 1 among zeros: {', '.join(kind.options)}"
    if isinstance(kind, Several):
        return f"for each place that there is a 1 among {', '.join(kind.options)}"
    words: dict[type[Kind], str] = {
        Truth: "1 or 0",
        Card: "a 1 for the card",
        Cards: "a 1 for each card",
        Points: "of each card, ten times its part of the stake",
    }
    return words[type(kind)]


_SIZE = "¼ log₂(1 + number), and number mod 1024, as a part of 1024"


def generalisation_page() -> str:
    """The page as it is written, with the held-out rules of today."""
    rows = ["| name | seats | other than the three-player page's | why |", "|---|---|---|---|"]
    for name, (rules, reason) in HELD_OUT.items():
        usual = Rules(seats=rules.seats, removed=twos_removed(rules.seats))
        rows.append(f"| {name} | {rules.seats} | {_changed(rules, usual)} | {reason} |")
    written = (DOCS / "generalisation.md").read_text(encoding="utf-8")
    begin, end = re.findall("<!-- /?held-out.*?-->", written)
    before, after = written[: written.index(begin)], written[written.index(end) :]
    return "\n\n".join([f"{before}{begin}", "\n".join(rows), after])


def environment_page() -> str:
    """The page of the PettingZoo environment: its manual, in PettingZoo's form."""
    _, _, manual = (aec.__doc__ or "").partition("# Black Maria\n")
    return ENVIRONMENT.format(manual=re.sub(r"docs/(\w+\.md)", r"[\1](\1)", manual.strip()))


def rules_page() -> str:
    """The page of the profiles."""
    rows, fields = [], []
    for name, (seats, _) in PROFILES.items():
        each = [Rules.profile(name, seats=count) for count in sorted(seats)]
        points = sorted({rules.hand_points for rules in each}, reverse=True)
        differs, source = NOTES[name]
        rows.append(
            f"| `{name}` | {_listed(rules.seats for rules in each)} "
            f"| {_listed(rules.hand_size for rules in each)} | {_listed(points)} "
            f"| {differs} | {source} |"
        )
        changed = _changed(Rules.profile(name))
        if changed:
            fields.append(f"* `{name}` ({seats[0]} seats): {changed}")
    return RULES.format(profiles="\n".join(rows), fields="\n".join(fields))


def ecosystem_page() -> str:
    """The page of other tools, with the table of what the examples came to when they last ran."""
    results = json.loads(FILE.read_text(encoding="utf-8"))
    rows = [
        "| learner | learns on | example, lines of code | decisions/s, and our trainer "
        "| alone against two random | to know |",
        "|---|---|---|---|---|---|",
    ]
    for name, learner in LEARNERS.items():
        if (row := results.get(name)) is None:
            continue
        versions = ", ".join(f"{package} {pin}" for package, pin in row["versions"].items())
        title = f"{learner.title} ({versions})" if versions else learner.title
        mean, width = row["score"]
        rows.append(
            f"| {title} | {learner.environment} "
            f"| [{learner.script}](../examples/{learner.script}), {row['lines']} "
            f"| {row['decisions'] / row['seconds']:,.0f}; {row['ours']:,.0f} "
            f"| {mean:.2f} ± {width:.2f} in {row['seconds']:.0f} s | {learner.note} |"
        )
    page = (DOCS / "ecosystem.md").read_text(encoding="utf-8")
    between = re.compile("(<!-- learners -->\n).*?(?=<!-- end -->)", re.DOTALL)
    return between.sub(lambda found: found.group(1) + "\n".join(rows) + "\n", page)


def _listed(numbers) -> str:  # type: ignore[no-untyped-def]
    return ", ".join(map(str, numbers))


def _changed(rules: Rules, default: Rules = Rules()) -> str:  # noqa: B008 - frozen
    """The fields that differ from the default's, cards by name."""
    words = []
    for clause, kind in CLAUSES.items():
        value, usual = getattr(rules, clause), getattr(default, clause)
        if clause == "name" or value == usual:
            continue
        if isinstance(kind, OrNone) and value is not None:
            kind = kind.kind
        if isinstance(kind, Points):
            value = ", ".join(_prices(value, usual))
        elif isinstance(kind, Cards):
            value = card_names(value) or "nothing"
        elif isinstance(kind, Card):
            value = card_name(value)
        elif isinstance(kind, Several):
            value = ", ".join(value)
        words.append(f"`{clause}` {value}")
    return "; ".join(words)


def _prices(points: Sequence[int], usual: Sequence[int]) -> Iterator[str]:
    """The prices that differ, card by card, or a suit's where all of it costs the same."""
    for suit, symbol in enumerate(SUIT_SYMBOLS):
        cards = range(NUM_RANKS * suit, NUM_RANKS * suit + NUM_RANKS)
        changed = [card for card in cards if points[card] != usual[card]]
        if len(changed) == NUM_RANKS and len({points[card] for card in cards}) == 1:
            yield f"every {symbol} {points[cards[0]]}"
        else:
            yield from (f"{card_name(card)} {points[card]}" for card in changed)


if __name__ == "__main__":
    (DOCS / "environment.md").write_text(environment_page(), encoding="utf-8")
    (DOCS / "observation.md").write_text(observation_page(), encoding="utf-8")
    (DOCS / "generalisation.md").write_text(generalisation_page(), encoding="utf-8")
    (DOCS / "rules.md").write_text(rules_page(), encoding="utf-8")
    (DOCS / "ecosystem.md").write_text(ecosystem_page(), encoding="utf-8")
