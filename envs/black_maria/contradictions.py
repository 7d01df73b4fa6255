"""Clauses that can't stand together, each in words that name a clause and say what is right.

What passes here plays to an end, and every number on the way fits its type:

* *A hand* has a trick at least. Whatever a seat holds, it can pass what it must and play.
* *A match by hands* is over after so many, whatever is played.
* *A match by points* without a moon, or with one that the others pay: each hand adds
  ``hand_points`` or more to the sum of the totals, and that is positive. So whatever is played,
  a total has reached ``match_points`` after seats · match_points / hand_points hands.
* *A match by points with a moon that is subtracted*: a moon lowers the sum. A table that has it
  shot again and again plays on for ever, and where it comes easily, with few tricks or a bonus
  as dear as the penalties, without trying. That is the book's own rule, and stays. Refused is
  what has no other end: in one trick every hand is a moon, and in two there are packs in which
  it is, whatever is dealt and played; with three a search through 250,000 packs found none.
* *A play-off* is repeated while all its seats tie. It is played with one pack, also where two are
  played with. Each of its packs has cards that count, and not every hand can be a tie, so it ends
  unless it is tied on purpose for ever.
* *Points*: the cards of a hand count at most ``MAX_HAND_POINTS`` together, a bonus as much as a
  penalty, which bounds every seat's penalties in every hand, a moon included: int16, and exact
  as float32. *Totals* stay within ±2³⁰: by hands there are at most ``MAX_HANDS`` of them, by
  points nobody is further below zero than the others are above. (Where a moon is subtracted
  that takes more than 100,000 moons of the same seat.)
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from black_maria.cards import HEARTS, card_name, suit_of

if TYPE_CHECKING:
    from black_maria.rules import Rules

MAX_HAND_POINTS: Final = 9999
"""The most that the cards of a hand count together, signs left out."""
MAX_HANDS: Final = 100_000
"""Hands of the longest match: times ``MAX_HAND_POINTS`` less than 2³⁰."""
MAX_MATCH_POINTS: Final = 100_000_000
"""The highest threshold: times nine other seats less than 2³⁰."""

_FEW_TRICKS: Final = 2
"""In so many tricks, what is to be avoided may be forced, whatever is dealt and played."""


def contradictions(rules: "Rules") -> Iterator[str]:
    """Why these rules can't be; nothing if they can. Each clause alone is of its kind.

    A later check may rely on what an earlier one refuses: take the first.
    """
    for check in (_seats, _pack, _points, _pass, _across, _opening, _moon, _length, _playoff):
        yield from check(rules)


def _seats(rules: "Rules") -> Iterator[str]:
    """How many may play with so many packs."""
    fewest, most = (3, 6) if rules.packs == 1 else (6, 10)
    if not fewest <= rules.seats <= most:
        yield f"seats={rules.seats}: {rules.packs} pack(s) are for {fewest} to {most} players"


def _pack(rules: "Rules") -> Iterator[str]:
    """The pack deals out: evenly, unless two packs leave a kitty."""
    cards, seats = len(rules.deck), rules.seats
    if cards < seats:
        yield f"removed leaves {cards} cards for {seats} seats: each needs one at least"
    over = cards % seats
    if over and rules.packs == 1:
        yield f"removed: {cards} cards don't deal out to {seats} seats: remove {over} more"


def _points(rules: "Rules") -> Iterator[str]:
    """The points of a hand fit their type."""
    for where, _, deck in _decks(rules):
        points = sum(abs(rules.penalties[card]) for card in deck)
        if points > MAX_HAND_POINTS:
            yield (
                f"penalties: {where} they add up to {points}, signs left out: "
                f"that is more than {MAX_HAND_POINTS} points"
            )


def _pass(rules: "Rules") -> Iterator[str]:
    """Every seat has cards to pass, even one that holds all that are kept."""
    for _, playing, deck in _decks(rules):
        kept = sum(card in rules.kept for card in deck)
        passable = len(deck) // playing - kept
        if rules.pass_count > passable:
            yield (
                f"pass_count={rules.pass_count}: a holding may have fewer cards to pass, "
                f"{max(passable, 0)} with {playing} seats; allow that many or have fewer kept"
            )


def _across(rules: "Rules") -> Iterator[str]:
    """Somebody sits across. In a play-off of three that is the left neighbour."""
    if "across" in rules.pass_cycle and rules.seats % 2:
        yield f"pass_cycle: nobody sits across with {rules.seats} seats"


def _opening(rules: "Rules") -> Iterator[str]:
    """One seat holds the opening card and may lead it."""
    card = rules.opening_card
    if card is None:
        return
    if card in rules.removed:
        yield f"opening_card: {card_name(card)} opens but is removed from the pack"
    if rules.packs == 2:
        yield f"opening_card: {card_name(card)} opens, but two packs have two of it"
    if card in rules.first_trick_ban:
        yield f"opening_card: {card_name(card)} opens but is banned from the first trick"
    if rules.break_hearts and suit_of(card) == HEARTS:
        yield f"opening_card: {card_name(card)} opens but hearts must be broken first"


def _moon(rules: "Rules") -> Iterator[str]:
    """A moon is more than one card."""
    if rules.moon == "none":
        return
    for where, _, deck in _decks(rules):
        if sum(rules.penalties[card] > 0 for card in deck) < 2:
            yield (
                f"moon={rules.moon!r}: a single penalty card is no moon; "
                f"{where} there must be two or more"
            )


def _length(rules: "Rules") -> Iterator[str]:
    """A match has one length, which lets all deal equally often or is reached for certain."""
    if (rules.hands is None) == (rules.match_points is None):
        yield "hands, match_points: a match has one length: give one, None for the other"
    if rules.hands is not None and rules.hands % rules.seats:
        yield f"hands={rules.hands}: let all {rules.seats} seats deal equally often"
    if rules.match_points is None:
        return
    if rules.hand_points <= 0:
        yield (
            f"match_points={rules.match_points}: hands of {rules.hand_points} points need not "
            "reach it; give hands, and None here"
        )
    if rules.moon == "subtract" and rules.hand_size <= _FEW_TRICKS:
        yield (
            f"match_points={rules.match_points}: with moon='subtract' and {rules.hand_size} "
            "trick(s) every hand may have to be a moon; give hands, and None here"
        )


def _playoff(rules: "Rules") -> Iterator[str]:
    """Ties can be played off: some card counts, and not all seats have to get the same."""
    if not rules.playoff:
        return
    for where, _, deck in _decks(rules):
        if not any(rules.penalties[card] for card in deck):
            yield f"playoff: {where} every card is 0 points, a tie for ever"
    # with two packs all play a tie off with one, in five tricks or more
    if rules.packs == 1 and rules.hand_points == 0 and rules.hand_size <= _FEW_TRICKS:
        yield (
            f"playoff: in {rules.hand_size} trick(s) penalties that add up to 0 may have to be "
            "a tie for ever: share the win"
        )


def _decks(rules: "Rules") -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Where, how many seats may play a hand, and the cards that they are dealt from.

    One pack is dealt in a play-off of all as in any hand.
    """
    yield "in a hand", rules.seats, rules.deck
    if rules.playoff:
        for playing in range(2, rules.seats + (rules.packs == 2)):
            yield f"in a play-off of {playing} seats", playing, rules.playoff_deck(playing)
