"""A second opinion: three-player Black Maria from the rule text, slow and plain.

Written from the specification of the game alone, with cards as strings (``"QS"``, ``"10H"``)
in sets, lists and dicts. It shares no line with the engine and imports nothing of it; where
the two disagree, one of them misreads the rules.

``Game`` plays one hand, ``Game.view`` is what one seat may know of it as *block name → value*,
``Game.history`` the same in order. ``encode`` lays a view out as numbers. A further profile
is a further ``Book``; a further clause is a field there and a line in ``Game``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SUITS = ("C", "D", "H", "S")
RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
CARDS = [rank + suit for suit in SUITS for rank in RANKS]
ID = {card: number for number, card in enumerate(CARDS)}

Trick = list[tuple[int, str]]


def suit(card: str) -> str:
    return card[-1]


def rank(card: str) -> int:
    return RANKS.index(card[:-1])


def hand_of(text: str) -> set[str]:
    """``"QS 10H"`` → ``{"QS", "10H"}``; a card written twice or misspelt is an error."""
    cards = text.split()
    assert len(set(cards)) == len(cards), f"a card twice in {text!r}"
    assert set(cards) <= set(CARDS), f"not a card in {text!r}"
    return set(cards)


@dataclass(frozen=True)
class Book:
    """What a rule book fixes before anybody sits down."""

    seats: int = 3
    removed: frozenset[str] = frozenset({"2C"})
    passed: int = 3
    receiver: int = -1
    """Whom a seat passes to, counted clockwise: the right neighbour."""
    points: Mapping[str, int] = field(
        default_factory=lambda: {f"{r}H": 1 for r in RANKS} | {"QS": 13, "KS": 10, "AS": 7}
    )
    limit: int = 100

    @property
    def pack(self) -> set[str]:
        return set(CARDS) - self.removed


THREE_PLAYER = Book()


class Game:
    """One hand of a match, card by card."""

    def __init__(
        self,
        deal: Sequence[Iterable[str]],
        dealer: int,
        totals: Sequence[int] | None = None,
        book: Book = THREE_PLAYER,
    ) -> None:
        """Deal: the cards of each seat, before passing."""
        self.book = book
        self.n = book.seats
        self.dealer = dealer
        self.held = [set(cards) for cards in deal]
        self.given: list[set[str]] = [set() for _ in range(self.n)]
        self.received: list[set[str]] = [set() for _ in range(self.n)]
        self.plays: Trick = []
        self.table: Trick = []
        self.taken: list[set[str]] = [set() for _ in range(self.n)]
        self.voids: set[tuple[int, str]] = set()
        self.penalties = [0] * self.n
        self.totals = list(totals or [0] * self.n)
        self.phase = "passing"
        self.mover = self.left_of(dealer)

    # --- play ---------------------------------------------------------------------------------

    def left_of(self, seat: int) -> int:
        return (seat + 1) % self.n

    def receiver_of(self, seat: int) -> int:
        return (seat + self.book.receiver) % self.n

    def legal(self, seat: int | None = None) -> set[str]:
        """Cards that a seat (the mover unless named) may choose now."""
        if self.phase == "over" or (seat is not None and seat != self.mover):
            return set()
        mine = self.held[self.mover]
        if self.table:
            following = {card for card in mine if suit(card) == suit(self.table[0][1])}
            if following:
                return following
        return set(mine)

    def act(self, card: str) -> int | None:
        """Pass or play a card for the mover; the trick's taker if the card completed one."""
        assert card in self.legal(), f"seat {self.mover} may not choose {card}"
        if self.phase == "passing":
            self._pass(card)
            return None
        return self._play(card)

    def _pass(self, card: str) -> None:
        seat = self.mover
        self.held[seat].remove(card)
        self.given[seat].add(card)
        if len(self.given[seat]) < self.book.passed:
            return
        self.mover = self.left_of(seat)
        if all(len(cards) == self.book.passed for cards in self.given):
            for giver in range(self.n):
                self.received[self.receiver_of(giver)] = set(self.given[giver])
                self.held[self.receiver_of(giver)] |= self.given[giver]
            self.phase = "playing"

    def _play(self, card: str) -> int | None:
        seat = self.mover
        self.held[seat].remove(card)
        self.plays.append((seat, card))
        self.table.append((seat, card))
        led = suit(self.table[0][1])
        if suit(card) != led:
            self.voids.add((seat, led))
        self.mover = self.left_of(seat)
        if len(self.table) < self.n:
            return None
        followers = [(rank(c), s) for s, c in self.table if suit(c) == led]
        taker = max(followers)[1]
        for _, c in self.table:
            self.taken[taker].add(c)
            self.penalties[taker] += self.book.points.get(c, 0)
        self.table = []
        self.mover = taker
        if not any(self.held):
            self.phase = "over"
            self.totals = [t + p for t, p in zip(self.totals, self.penalties, strict=True)]
        return taker

    # --- the match ----------------------------------------------------------------------------

    def match_over(self) -> bool:
        return self.phase == "over" and max(self.totals) >= self.book.limit

    def shares(self) -> list[float]:
        """The win, split among the seats with the lowest total."""
        winners = [total == min(self.totals) for total in self.totals]
        return [won / sum(winners) for won in winners]

    def next_dealer(self) -> int:
        return self.left_of(self.dealer)

    # --- what is where ------------------------------------------------------------------------

    def places(self) -> list[str]:
        """Every card, once for each place it lies in."""
        lying = [card for cards in self.held + self.taken for card in cards]
        lying += [card for _, card in self.table]
        if self.phase == "passing":
            lying += [card for cards in self.given for card in cards]
        return sorted(lying)

    # --- what a seat knows --------------------------------------------------------------------

    def view(self, observer: int) -> dict[str, object]:
        """Everything an observer sees, with seats counted from itself, as block → value."""
        seat_of = [(observer + k) % self.n for k in range(self.n)]
        return {
            "holding": self.held[observer],
            "passed": self.given[observer],
            "received": self.received[observer],
            "played": [{c for s, c in self.plays if s == seat} for seat in seat_of],
            "trick": [{c for s, c in self.table if s == seat} for seat in seat_of],
            "led": suit(self.table[0][1]) if self.table else None,
            "voids": [{v for s, v in self.voids if s == seat} for seat in seat_of],
            "captured": [self.taken[seat] for seat in seat_of],
            "phase": self.phase,
            "position": len(self.table),
            "dealer": seat_of.index(self.dealer),
            "pass_to": seat_of.index(self.receiver_of(observer)),
            "hearts_broken": False,
            "hands_left": 0,
            "totals": [max(-128, min(127, self.totals[seat])) for seat in seat_of],
        }

    def history(self, observer: int) -> list[tuple[int, int, str]]:
        """The events an observer saw, in order: (kind, relative seat, card).

        Kind 0: given, to whom. 1: received, from whom. 2: played, by whom. Passed cards are
        sorted, so that nobody's order of picking them shows.
        """
        giver = next(s for s in range(self.n) if self.receiver_of(s) == observer)
        to, source = ((s - observer) % self.n for s in (self.receiver_of(observer), giver))
        rows = [(0, to, c) for c in sorted(self.given[observer], key=ID.get)]
        rows += [(1, source, c) for c in sorted(self.received[observer], key=ID.get)]
        return rows + [(2, (s - observer) % self.n, c) for s, c in self.plays]


# --- as numbers -----------------------------------------------------------------------------------


def shapes(book: Book = THREE_PLAYER) -> dict[str, tuple[int, ...]]:
    """The observation's blocks in order, with their shapes."""
    n = book.seats
    return {
        "holding": (52,),
        "passed": (52,),
        "received": (52,),
        "played": (n, 52),
        "trick": (n, 52),
        "led": (4,),
        "voids": (n, 4),
        "captured": (n, 52),
        "phase": (2,),
        "position": (n,),
        "dealer": (n,),
        "pass_to": (n,),
        "hearts_broken": (1,),
        "hands_left": (1,),
        "totals": (n,),
    }


def encode(view: Mapping[str, object], starts: Mapping[str, int], out) -> None:
    """Write a view into ``out``, a vector of zeros, its blocks at ``starts``."""
    ones = []
    for block in ("holding", "passed", "received"):
        ones += [starts[block] + ID[card] for card in view[block]]
    for block in ("played", "trick", "captured"):
        for k, cards in enumerate(view[block]):
            ones += [starts[block] + 52 * k + ID[card] for card in cards]
    if view["led"]:
        ones.append(starts["led"] + SUITS.index(view["led"]))
    for k, suits in enumerate(view["voids"]):
        ones += [starts["voids"] + 4 * k + SUITS.index(name) for name in suits]
    if view["phase"] != "over":
        ones.append(starts["phase"] + ("passing", "playing").index(view["phase"]))
    ones += [starts[block] + view[block] for block in ("position", "dealer", "pass_to")]
    out[ones] = 1
    out[starts["hearts_broken"]] = view["hearts_broken"]
    out[starts["hands_left"]] = view["hands_left"]
    for k, total in enumerate(view["totals"]):
        out[starts["totals"] + k] = total


def encode_history(rows: Sequence[tuple[int, int, str]], out) -> None:
    """Write history rows into ``out``, (rows, 3); the rest of it becomes −1."""
    out[:] = -1
    if rows:
        out[: len(rows)] = [(kind, seat, ID[card]) for kind, seat, card in rows]
