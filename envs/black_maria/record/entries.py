"""The entries of a recorded hand, from and to JSON.

Reading trusts nothing: a value is of its very type, and an entry that isn't known is named.
"""

import json
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from black_maria.cards import RANK_NAMES, parse_cards
from black_maria.clauses import (
    Card,
    Cards,
    Kind,
    OneOf,
    OrNone,
    Points,
    Several,
    Text,
    Truth,
    Whole,
)
from black_maria.rules import CLAUSES, PROFILES, Rules

VERSION: Final = 1
"""The version of the format; it moves when an entry changes its meaning."""

_NAMES: Final = tuple(f"{rank}{suit}" for suit in "CDHS" for rank in RANK_NAMES)

Read = Callable[[Any, str], Any]
"""Gives the value that a JSON value stands for; takes it and the name of its entry."""


def write_cards(cards: Iterable[int]) -> str:
    """Cards in ASCII: ``"QS 10H"``."""
    return " ".join(_NAMES[card] for card in cards)


def write_rules(rules: Rules, *, in_match: bool = False) -> dict[str, Any]:
    """Rules as their name, their seats, and the clauses that these don't imply."""
    usual = _usual(rules.name, rules.seats, in_match)
    entries: dict[str, Any] = {"name": rules.name, "seats": rules.seats}
    for clause, kind in CLAUSES.items():
        value = getattr(rules, clause)
        if value != usual[clause]:
            entries[clause] = _write_clause(kind, value, usual[clause])
    return entries


def _write_clause(kind: Kind, value: Any, usual: Any) -> Any:
    """A clause's value as JSON has it."""
    match kind:
        case OrNone():
            return None if value is None else _write_clause(kind.kind, value, usual)
        case Card():
            return _NAMES[value]
        case Cards():
            return write_cards(value)
        case Points():
            return {_NAMES[k]: v for k, v in enumerate(value) if v != usual[k]}
    return value


def read_entries(line: str) -> dict[str, Any]:
    """The entries of a line as what they stand for: rules, card ids, numbers.

    Raises:
        ValueError: It isn't JSON or of another version, or an entry is unknown, missing or
            not what belongs there.
    """
    try:
        found = json.loads(line, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg}: character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("not a hand: its brackets are nested too deep") from None
    entries = _read_object(found, "the line")
    version = entries.pop("version", None)
    if type(version) is not int or version != VERSION:
        raise ValueError(f"version {reprlib.repr(version)}: only version {VERSION} is known")
    _check_names(entries, _ENTRIES, _REQUIRED, "")
    hand = {name: _ENTRIES[name](value, name) for name, value in entries.items()}
    in_match = hand.get("match_hand") is not None
    return hand | {"rules": _rules_of(json.dumps(hand["rules"]), in_match)}


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise ValueError(f"the entry {name!r} stands there twice")
    return dict(pairs)


def _check_names(
    found: Iterable[str], known: Iterable[str], required: Iterable[str], where: str
) -> None:
    for name in found:
        if name not in known:
            raise ValueError(f"{where}unknown entry {reprlib.repr(name)}")
    for name in required:
        if name not in found:
            raise ValueError(f"{where}there is no entry {name!r}")


# --- readers ----------------------------------------------------------------------------------


def _only(kind: type, words: str) -> Read:
    """A reader of values of this very type: JSON's true is no number here."""

    def read(value: Any, name: str) -> Any:
        if type(value) is not kind:
            raise ValueError(f"{name}: {reprlib.repr(value)} is not {words}")
        return value

    return read


_read_object = _only(dict, "an object")
_read_list = _only(list, "a list")
_read_text = _only(str, "a text")
_read_number = _only(int, "a whole number")
_read_truth = _only(bool, "true or false")


def _each(read: Read) -> Read:
    """A reader of lists."""
    return lambda value, name: tuple(read(each, name) for each in _read_list(value, name))


def _or_null(read: Read) -> Read:
    return lambda value, name: None if value is None else read(value, name)


def _read_cards(value: Any, name: str) -> tuple[int, ...]:
    text = _read_text(value, name)
    try:
        return tuple(parse_cards(text))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _read_card(value: Any, name: str) -> int:
    cards = _read_cards(value, name)
    if len(cards) != 1:
        raise ValueError(f"{name}: {reprlib.repr(value)} is not one card")
    return cards[0]


def _read_points(value: Any, name: str) -> dict[int, int]:
    changes = [
        (_read_card(card, name), _read_number(points, name))
        for card, points in _read_object(value, name).items()
    ]
    if len(dict(changes)) < len(changes):
        raise ValueError(f"{name}: a card stands there twice")
    return dict(changes)


_READ_KIND: Final[Mapping[type[Kind], Read]] = {
    Text: _read_text,
    Truth: _read_truth,
    Whole: _read_number,
    OneOf: _read_text,
    Several: _each(_read_text),
    Card: _read_card,
    Cards: _read_cards,
    Points: _read_points,
}


def _reader(kind: Kind) -> Read:
    """The reader of a kind of clauses; of ``Points`` it reads those that aren't the usual ones."""
    return _or_null(_reader(kind.kind)) if isinstance(kind, OrNone) else _READ_KIND[type(kind)]


_ENTRIES: Final[Mapping[str, Read]] = {
    "rules": _read_object,
    "seed": _read_number,
    "table": _read_number,
    "hand": _read_number,
    "match_hand": _read_number,
    "totals": _each(_read_number),
    "playoff": _each(_read_number),
    "dealer": _read_number,
    "agents": _each(_read_text),
    "deal": _each(_read_cards),
    "passes": _each(_read_cards),
    "cards": _read_cards,
    "penalties": _each(_read_number),
}
_REQUIRED: Final = ("rules", "dealer", "deal", "passes", "cards", "penalties")


@lru_cache(maxsize=64)
def _rules_of(line: str, in_match: bool) -> Rules:
    """The rules of a JSON object; a file names the same ones over and over."""
    entries = json.loads(line)
    _check_names(entries, CLAUSES, ("name", "seats"), "rules: ")
    clauses = {
        name: _reader(CLAUSES[name])(value, f"rules, {name}") for name, value in entries.items()
    }
    usual = _usual(clauses["name"], clauses["seats"], in_match)
    for name in clauses:
        if isinstance(CLAUSES[name], Points):
            clauses[name] = [clauses[name].get(card, p) for card, p in enumerate(usual[name])]
    try:
        return Rules(**usual | clauses)
    except ValueError as error:
        raise ValueError(f"rules: {error}") from None


def _usual(name: str, seats: int, in_match: bool) -> dict[str, Any]:
    """The clauses that a name and a number of seats imply: the profile's, or the defaults.

    In a match, when it ends and what a tie does as they were when this version of the format was
    made: what is written goes on meaning the same when a profile's matches change.
    """
    profile = name in PROFILES and seats in PROFILES[name][0]
    rules = Rules.profile(name, seats) if profile else Rules()
    usual = {clause: getattr(rules, clause) for clause in CLAUSES} | {"name": name, "seats": seats}
    if profile and in_match and rules.exceed:  # a profile of the 3–6 player book
        usual["exceed"] = name == "traditional"
        if name == "cancellation":
            usual |= {"hands": None, "match_points": 100, "playoff": False}
        elif seats == 5:
            usual["hands"] = 10
    return usual
