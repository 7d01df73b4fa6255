"""A second opinion: Black Maria and its relatives from the rule text, slow and plain.

Written from the specification of the games alone, with cards as strings (``"QS"``, ``"10H"``)
in sets, lists and dicts. It shares no line with the engine and imports nothing of it; where
the two disagree, one of them misreads the rules. The twin of a second pack is written with an
apostrophe, ``"QS'"``: a card of its own wherever cards lie, the same card in the rules.

``Book`` is what a rule book fixes, ``book(name, seats)`` a named one. ``Game`` plays one hand,
``Game.after`` the next of a match; ``Game.view`` is what one seat may know of it as *block
name → value*, ``Game.history`` the same in order. ``encode`` lays a view out as numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

SUITS = ("C", "D", "H", "S")
RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
CARDS = [rank + suit for suit in SUITS for rank in RANKS]
ID = {card: number for number, card in enumerate(CARDS)}
HEARTS = frozenset(rank + "H" for rank in RANKS)

Trick = list[tuple[int, str]]


@cache
def face(card: str) -> str:
    """The card as the rules know it: ``"QS'"`` → ``"QS"``."""
    return card.rstrip("'")


@cache
def suit(card: str) -> str:
    return face(card)[-1]


@cache
def rank(card: str) -> int:
    return RANKS.index(face(card)[:-1])


@cache
def number(card: str) -> int:
    return ID[face(card)]


def hand_of(text: str) -> set[str]:
    """``"QS 10H"`` → ``{"QS", "10H"}``; a card written twice or misspelt is an error."""
    cards = text.split()
    assert len(set(cards)) == len(cards), f"a card twice in {text!r}"
    assert set(map(face, cards)) <= set(CARDS), f"not a card in {text!r}"
    return set(cards)


def twins(cards: Iterable[str], seen: set[str]) -> set[str]:
    """Cards by name as physical cards: the second of a name (``seen``) is the twin."""
    lying = set()
    for card in cards:
        lying.add(card + "'" if card in seen else card)
        seen.add(card)
    return lying


# --- the books ------------------------------------------------------------------------------------


def scores(hearts: int, **single: int) -> dict[str, int]:
    """Card → points, without the cards that count nothing."""
    return {heart: hearts for heart in HEARTS if hearts} | single


BLACK_MARIA = scores(1, QS=13, KS=10, AS=7)


@dataclass(frozen=True)
class Book:
    """What a rule book fixes before anybody sits down."""

    seats: int = 3
    packs: int = 1
    removed: frozenset[str] = frozenset({"2C"})
    passed: int = 3
    passes: tuple[str, ...] = ("right",)
    """Where the cards go, hand by hand."""
    kept: frozenset[str] = frozenset()
    """Not to be passed."""
    breaking: bool = False
    opening: str | None = None
    banned: frozenset[str] = frozenset()
    """From the first trick."""
    points: Mapping[str, int] = field(default_factory=lambda: BLACK_MARIA)
    moon: str = "none"
    hands: int | None = None
    limit: int | None = 100
    beyond: bool = False
    """The limit must be exceeded."""
    playoff: bool = False

    @property
    def pack(self) -> set[str]:
        kinds = set(CARDS) - self.removed
        return kinds | ({card + "'" for card in kinds} if self.packs == 2 else set())

    def deciding_pack(self, playing: int) -> set[str]:
        """The cards that so many seats play a tie off with: one pack, the lowest left out."""
        if playing == self.seats and self.packs == 1:
            return self.pack
        lowest = sorted(CARDS, key=lambda card: (rank(card), SUITS.index(suit(card))))
        return set(lowest[52 % playing :])

    @property
    def size(self) -> int:
        """Cards a seat is dealt."""
        return len(self.pack) // self.seats

    @property
    def total(self) -> int:
        """Points that fall in an ordinary hand."""
        return sum(self.points.get(face(card), 0) for card in self.pack)


THREE_PLAYER = Book()


def _book_of_3_to_6(seats: int) -> Book:
    removed = {3: {"2C"}, 4: set(), 5: {"2C", "2D"}, 6: {"2C", "2D", "2H", "2S"}}
    return Book(
        seats,
        removed=frozenset(removed[seats]),
        breaking=True,
        hands={3: 9, 4: 12, 5: 15, 6: 12}[seats],
        limit=None,
        beyond=True,
        playoff=True,
    )


def book(name: str, seats: int) -> Book:
    """A named game as its rule text tells it."""
    two_packs = Book(
        seats,
        packs=2,
        removed=frozenset(),
        breaking=True,
        hands={6: 12}.get(seats, seats),
        limit=None,
        beyond=True,
        playoff=True,
    )
    old = _book_of_3_to_6(seats) if seats <= 6 else two_packs
    rotation = ("right", "left", "none") if seats % 2 else ("right", "left", "across", "none")
    faces = {"A": 14, "K": 13, "Q": 12, "J": 11}
    spades = {"QS": 13, "KS": 10, "AS": 7}
    return {
        "three_player": THREE_PLAYER,
        "four_player": Book(4, removed=frozenset()),
        "hearts_and_queen": Book(points=scores(1, QS=13)),
        "face_value": Book(
            points={r + "H": faces.get(r) or int(r) for r in RANKS} | spades, limit=500
        ),
        "traditional": old,
        "dirty_lady": replace(
            old,
            passes=("left",),
            kept=frozenset({"QS"}),
            points=scores(1, AH=5, KH=4, QH=3, JH=2, QS=13),
            moon="subtract",
        ),
        "slippery_anne": replace(old, breaking=False, points={"QS": 13}),
        "omnibus": replace(old, points=BLACK_MARIA | {"JD": -10}),
        "rotating_pass": replace(old, passes=rotation),
        "american_hearts": Book(
            4,
            removed=frozenset(),
            passes=("left", "right", "across", "none"),
            breaking=True,
            opening="2C",
            banned=HEARTS | {"QS"},
            points=scores(1, QS=13),
            moon="others",
        ),
        "cancellation": two_packs,
    }[name]


# --- one hand -------------------------------------------------------------------------------------


class Game:
    """One hand of a match, card by card."""

    def __init__(
        self,
        deal: Sequence[Iterable[str]],
        dealer: int,
        totals: Sequence[int] | None = None,
        book: Book = THREE_PLAYER,
        *,
        number: int = 0,
        match: bool = False,
        deciders: Sequence[int] | None = None,
    ) -> None:
        """Sit down and deal.

        Args:
            deal: The cards of each seat before passing, by name; a seat that sits out, none.
                What is missing of the pack is the kitty.
            dealer: A seat that plays.
            totals: Of the match so far.
            book: The rules.
            number: Which hand of the match it is, from 0; alone, any number.
            match: Whether it is a hand of a match.
            deciders: The seats that play off a tie.
        """
        self.book = book
        self.n = book.seats
        self.number = number
        self.match = match
        self.deciding = deciders is not None
        self.playing = sorted(deciders) if deciders is not None else list(range(self.n))
        self.dealer = dealer
        seen: set[str] = set()
        self.held = [twins(cards, seen) for cards in deal]
        pack = book.deciding_pack(len(self.playing)) if self.deciding else book.pack
        self.kitty = pack - set().union(*self.held)
        sizes = [len(cards) for cards in self.held]
        each = len(pack) // len(self.playing)
        assert sizes == [each * (seat in self.playing) for seat in range(self.n)]
        assert len(self.kitty) == len(pack) % len(self.playing)
        assert set().union(*self.held) <= pack
        self.pack = pack

        self.given: list[set[str]] = [set() for _ in range(self.n)]
        self.received: list[set[str]] = [set() for _ in range(self.n)]
        self.plays: Trick = []
        self.table: Trick = []
        self.carried: list[str] = []
        self.taken: list[set[str]] = [set() for _ in range(self.n)]
        self.tricks = 0
        self.broken = False
        self.voids: set[tuple[int, str]] = set()
        self.penalties = [0] * self.n
        self.totals = list(totals or [0] * self.n)
        self.direction = book.passes[number % len(book.passes)]
        self.mover = self.left_of(dealer)
        self.phase = "passing"
        if self.direction == "none" or book.passed == 0:
            self._start_play()

    # --- play ---------------------------------------------------------------------------------

    def along(self, seat: int, steps: int) -> int:
        """The seat so many playing seats clockwise."""
        return self.playing[(self.playing.index(seat) + steps) % len(self.playing)]

    def left_of(self, seat: int) -> int:
        return self.along(seat, 1)

    def receiver_of(self, seat: int) -> int | None:
        if self.direction == "none" or self.book.passed == 0:
            return None
        steps = {"left": 1, "right": -1, "across": len(self.playing) // 2}[self.direction]
        return self.along(seat, steps)

    def choices(self) -> set[str]:
        """The physical cards that the mover may choose now."""
        if self.phase == "over":
            return set()
        mine = self.held[self.mover]
        if self.phase == "passing":
            return {card for card in mine if face(card) not in self.book.kept}
        if self.table:
            following = {card for card in mine if suit(card) == suit(self.table[0][1])}
            options = following or mine
        else:
            opening = {card for card in mine if face(card) == self.book.opening}
            if opening and not self.plays:
                return opening
            options = mine
            if self.book.breaking and not self.broken:
                options = {card for card in mine if suit(card) != "H"} or mine
        if self.tricks == 0:
            options = {card for card in options if face(card) not in self.book.banned} or options
        return set(options)

    def legal(self, seat: int | None = None) -> set[str]:
        """Cards by name that a seat (the mover unless named) may choose now."""
        if seat is not None and seat != self.mover:
            return set()
        return {face(card) for card in self.choices()}

    def act(self, card: str) -> int | None:
        """Pass or play a card for the mover; the trick's taker if the card completed one.

        None also where a trick is completed that nobody takes.
        """
        lying = sorted(own for own in self.choices() if face(own) == face(card))
        assert lying, f"seat {self.mover} may not choose {card}"
        if self.phase == "passing":
            self._pass(lying[0])
            return None
        return self._play(lying[0])

    def _pass(self, card: str) -> None:
        seat = self.mover
        self.held[seat].remove(card)
        self.given[seat].add(card)
        if len(self.given[seat]) < self.book.passed:
            return
        self.mover = self.left_of(seat)
        if all(len(self.given[s]) == self.book.passed for s in self.playing):
            for giver in self.playing:
                self.received[self.receiver_of(giver)] = set(self.given[giver])
                self.held[self.receiver_of(giver)] |= self.given[giver]
            self._start_play()

    def _start_play(self) -> None:
        self.phase = "playing"
        for seat in self.playing:
            if self.book.opening in self.held[seat]:
                self.mover = seat

    def _play(self, card: str) -> int | None:
        seat = self.mover
        self.held[seat].remove(card)
        led = suit(self.table[0][1]) if self.table else suit(card)
        if suit(card) != led:
            self.voids.add((seat, led))
        if not self.table and led == "H" and self.book.breaking and not self.broken:
            self.voids |= {(seat, other) for other in "CDS"}
        if self.book.breaking and suit(card) == "H" and (led != "H" or not self.table):
            self.broken = True
        self.plays.append((seat, card))
        self.table.append((seat, card))
        self.mover = self.left_of(seat)
        return self._trick() if len(self.table) == len(self.playing) else None

    def _trick(self) -> int | None:
        leader, lead = self.table[0]
        names = [face(card) for _, card in self.table]
        standing = [
            (rank(card), seat)
            for seat, card in self.table
            if suit(card) == suit(lead) and names.count(face(card)) == 1
        ]
        last = not any(self.held)
        # after the last trick what nobody won goes to the last winner, who led it, or,
        # if there was none, to the one who led every trick
        taker = max(standing)[1] if standing else leader if last else None
        self.carried += [card for _, card in self.table]
        self.table = []
        self.tricks += 1
        self.mover = leader if taker is None else taker
        if taker is not None:
            pile = set(self.carried) | self.kitty
            self.taken[taker] |= pile
            self.penalties[taker] += sum(self.book.points.get(face(card), 0) for card in pile)
            self.carried, self.kitty = [], set()
        if last:
            self._finish()
        return taker

    def revoke(self) -> None:
        """The mover has played a card that it may not, and nobody noticed in time.

        It alone is charged, with all points of the hand. What has been picked to be passed but
        not yet exchanged goes back.
        """
        if self.phase == "passing":
            for seat in self.playing:
                self.held[seat] |= self.given[seat]
                self.given[seat] = set()
        self.phase = "over"
        price = sum(self.book.points.get(face(card), 0) for card in self.pack)
        self.penalties = [price if seat == self.mover else 0 for seat in range(self.n)]
        if not self.deciding:
            self.totals[self.mover] += price

    def _finish(self) -> None:
        self.phase = "over"
        bad = {card for card in self.pack if self.book.points.get(face(card), 0) > 0}
        for seat in self.playing:
            if bad <= self.taken[seat] and self.book.moon != "none":
                points = sum(self.book.points[face(card)] for card in bad)
                if self.book.moon == "subtract":
                    self.penalties[seat] -= 2 * points
                else:
                    for other in self.playing:
                        self.penalties[other] += -points if other == seat else points
        if not self.deciding:
            self.totals = [t + p for t, p in zip(self.totals, self.penalties, strict=True)]

    # --- the match ----------------------------------------------------------------------------

    def length_reached(self) -> bool:
        """Whether the match has had its hands or points."""
        if self.book.hands is not None:
            return self.number + 1 >= self.book.hands
        if self.book.beyond:
            return max(self.totals) > self.book.limit
        return max(self.totals) >= self.book.limit

    def lowest(self) -> list[int]:
        """The seats that are best: by totals, or by this hand's points if it decides."""
        score = self.penalties if self.deciding else self.totals
        return [s for s in self.playing if score[s] == min(score[t] for t in self.playing)]

    def match_over(self) -> bool:
        if self.phase != "over" or not (self.deciding or self.length_reached()):
            return False
        return len(self.lowest()) == 1 or not self.book.playoff

    def shares(self) -> list[float]:
        """The win, split among the seats that are best."""
        return [(seat in self.lowest()) / len(self.lowest()) for seat in range(self.n)]

    def next_dealer(self) -> int:
        return self.left_of(self.dealer)

    def seats_after(self) -> list[int] | None:
        """Who plays the match's next hand off; None if it is an ordinary hand."""
        return self.lowest() if self.deciding or self.length_reached() else None

    def dealer_after(self) -> int:
        """The next dealer: to the left, among those who play on."""
        on = self.seats_after() or list(range(self.n))
        return min(on, key=lambda seat: (seat - self.dealer - 1) % self.n)

    def after(self, deal: Sequence[Iterable[str]]) -> "Game":
        """The match's next hand."""
        assert self.phase == "over"
        assert not self.match_over()
        return Game(
            deal,
            self.dealer_after(),
            self.totals,
            self.book,
            number=self.number + 1,
            match=True,
            deciders=self.seats_after(),
        )

    # --- what is where ------------------------------------------------------------------------

    def places(self) -> list[str]:
        """Every card, once for each place it lies in."""
        lying = [card for cards in self.held + self.taken for card in cards]
        lying += [card for _, card in self.table]
        lying += [*self.carried, *self.kitty]
        if self.phase == "passing":
            lying += [card for cards in self.given for card in cards]
        return sorted(lying)

    def hand_total(self) -> int:
        """What the penalties of the finished hand must sum to, from who took what."""
        bad = [card for card in self.pack if self.book.points.get(face(card), 0) > 0]
        total = sum(self.book.points.get(face(card), 0) for card in self.pack)
        positive = sum(self.book.points[face(card)] for card in bad)
        if not any(set(bad) <= cards for cards in self.taken):
            return total
        return {
            "none": total,
            "subtract": total - 2 * positive,
            "others": total + (len(self.playing) - 2) * positive,
        }[self.book.moon]

    # --- what a seat knows --------------------------------------------------------------------

    def view(self, observer: int) -> dict[str, object] | None:
        """Everything an observer sees, with seats counted from itself, as block → value.

        None for a seat that sits out.
        """
        if observer not in self.playing:
            return None
        seat_of = [(observer + k) % self.n for k in range(self.n)]
        receiver = self.receiver_of(observer)
        to_come = 0
        if self.match and self.book.hands is not None:
            to_come = max(self.book.hands - self.number - 1, 0)
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
            "pass_to": 0 if receiver is None else seat_of.index(receiver),
            "hearts_broken": self.broken,
            "hands_left": min(to_come, 127),
            "totals": [
                max(-128, min(127, self.totals[seat])) if seat in self.playing else 0
                for seat in seat_of
            ],
        }

    def history(self, observer: int) -> list[tuple[int, int, str]]:
        """The events an observer saw, in order: (kind, relative seat, card).

        Kind 0: given, to whom. 1: received, from whom. 2: played, by whom. Passed cards are
        sorted, so that nobody's order of picking them shows.
        """
        rows = []
        receiver = self.receiver_of(observer)
        if receiver is not None:
            giver = next(s for s in self.playing if self.receiver_of(s) == observer)
            to, source = ((s - observer) % self.n for s in (receiver, giver))
            rows += [(0, to, face(c)) for c in sorted(self.given[observer], key=number)]
            rows += [(1, source, face(c)) for c in sorted(self.received[observer], key=number)]
        return rows + [(2, (s - observer) % self.n, face(c)) for s, c in self.plays]


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


def encode(view: Mapping[str, object] | None, starts: Mapping[str, int], out) -> None:
    """Write a view into ``out``, a vector of zeros, its blocks at ``starts``."""
    if view is None:
        return
    ones = []
    for block in ("holding", "passed", "received"):
        ones += [starts[block] + number(card) for card in view[block]]
    for block in ("played", "trick", "captured"):
        for k, cards in enumerate(view[block]):
            ones += [starts[block] + 52 * k + number(card) for card in cards]
    if view["led"]:
        ones.append(starts["led"] + SUITS.index(view["led"]))
    for k, suits in enumerate(view["voids"]):
        ones += [starts["voids"] + 4 * k + SUITS.index(name) for name in suits]
    if view["phase"] != "over":
        ones.append(starts["phase"] + ("passing", "playing").index(view["phase"]))
    ones += [starts[block] + view[block] for block in ("position", "dealer", "pass_to")]
    for index in ones:  # twins count twice
        out[index] += 1
    out[starts["hearts_broken"]] = view["hearts_broken"]
    out[starts["hands_left"]] = view["hands_left"]
    for k, total in enumerate(view["totals"]):
        out[starts["totals"] + k] = total


def encode_history(rows: Sequence[tuple[int, int, str]], out) -> None:
    """Write history rows into ``out``, (rows, 3); the rest of it becomes −1."""
    out[:] = -1
    if rows:
        out[: len(rows)] = [(kind, seat, ID[card]) for kind, seat, card in rows]
