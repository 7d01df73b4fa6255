"""Rules at random: refused by a clause's name, or played to the end beside the oracle."""

import math
import re
from decimal import Decimal
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from black_maria.rules import CLAUSES, MOONS, PASS_DIRECTIONS, Rules, twos_removed
from black_maria.tables import Tables
from helpers import cards_in, names, random_legal
from oracle import CARDS, Book, Game

MOST_HANDS = 30
"""Of one match: play-offs and moons may put its end off."""

HOSTILE = [
    None, True, False, 0, 1, 2, 3, 9, 17, 53, -1, 255, 998, 999, 2**31, 2**63, 10**5000, 2.5, 9.0,
    math.nan, math.inf, Decimal(3), 1j, object(), len, "", "no", "right", "others", "QS", "QS QS",
    "2C 2D 2H 2S", "\n", b"QS", (), [], {}, {"QS": 13}, {"right"}, ("right",), ["left", "none"],
    ("across",), (49, 49), (0,), [[]], range(46), range(49), range(50), range(52), (0.5,) * 52,
    (1,) * 52, (0,) * 52, (998,) * 52, (-300,) * 52, (True,) * 52, np.int64(4), np.float64(4),
    np.bool_(True), np.array([0, 13]), np.ones(52, np.int16), np.ones(52), np.ones((2, 2)),
]  # fmt: skip
"""Values that fit nowhere, or in some clauses beside some others."""


def book_of(rules):
    """The rules as the oracle reads them."""
    return Book(
        seats=rules.seats,
        packs=rules.packs,
        removed=frozenset(names(rules.removed)),
        passed=rules.pass_count,
        passes=rules.pass_cycle,
        kept=frozenset(names(rules.kept)),
        breaking=rules.break_hearts,
        opening=None if rules.opening_card is None else CARDS[rules.opening_card],
        banned=frozenset(names(rules.first_trick_ban)),
        points={CARDS[card]: points for card, points in enumerate(rules.penalties) if points},
        moon=rules.moon,
        hands=rules.hands,
        limit=rules.match_points,
        beyond=rules.exceed,
        playoff=rules.playoff,
    )


def clauses_at_random(random):
    """Clauses that stand together, by construction."""
    packs = random.choice((1, 1, 1, 2))
    seats = random.randint(*((3, 6) if packs == 1 else (6, 10)))
    most = 52 * packs // seats
    tricks = random.choice((1, 2, 3, 5, most, random.randint(1, most)))
    kinds = seats * tricks if packs == 1 else min(-(-seats * tricks // 2), 52)
    kinds += random.randint(0, 2) if packs == 2 and kinds < 50 else 0
    pack = random.sample(range(52), kinds)
    tricks = kinds * packs // seats

    worth = random.choice(((1,), (1, 13), (-10, 1, 7), (-400, 400), (200, 300)))
    paying = random.sample(pack, random.randint(0, min(10, len(pack))))
    penalties = [0] * 52
    for card in paying:
        penalties[card] = random.choice(worth)
    points = packs * sum(penalties)
    positive = sum(penalties[card] > 0 for card in pack) * packs

    playoff = random.random() < 0.5
    tied = range(2, seats + packs - 1)  # with two packs all play a tie off with one
    decks = [pack] + [[c for c in range(52) if c not in twos_removed(k)] for k in tied]
    for deck in decks[1 : len(decks) if playoff else 1]:
        positive = min(positive, sum(penalties[card] > 0 for card in deck))
    playoff = playoff and all(any(penalties[card] for card in deck) for deck in decks)
    playoff = playoff and (points != 0 or tricks > 2 or packs == 2)
    moon = random.choice(MOONS) if positive >= 2 else "none"
    by_points = points > 0 and (moon != "subtract" or tricks > 2) and random.random() < 0.6
    held = [tricks, *(52 // k for k in tied)] if playoff else [tricks]
    kept = random.sample(range(52), random.choice((0, 0, 1, 2)))
    if min(held) < packs * len(kept):
        kept = []
    ban = random.sample(range(52), random.choice((0, 0, 3, 20)))
    breaking = random.random() < 0.5
    openings = [c for c in pack if c not in ban and not (breaking and c // 13 == 2)]
    opens = packs == 1 and openings and random.random() < 0.4
    directions = [d for d in PASS_DIRECTIONS if d != "across" or seats % 2 == 0]
    return {
        "name": "random",
        "seats": seats,
        "packs": packs,
        "removed": tuple(c for c in range(52) if c not in pack),
        "pass_count": random.randint(0, min(4, *held, min(held) - packs * len(kept))),
        "pass_cycle": tuple(random.choices(directions, k=random.randint(1, 3))),
        "kept": tuple(kept),
        "break_hearts": breaking,
        "opening_card": random.choice(openings) if opens else None,
        "first_trick_ban": tuple(ban),
        "penalties": tuple(penalties),
        "moon": moon,
        "hands": None if by_points else seats * random.randint(1, 2),
        "match_points": random.randint(1, 2 * points) if by_points else None,
        "exceed": random.random() < 0.5,
        "playoff": playoff,
    }


def most_hands(rules):
    """After how many hands a match is over whatever is played, or None."""
    if rules.playoff:
        return None
    if rules.hands is not None:
        return rules.hands
    if rules.moon == "subtract":
        return None
    return rules.seats * (rules.match_points + rules.exceed) // rules.hand_points + 1


def play_match(rules, seed):
    """A match at random in ``Tables`` beside the oracle, up to ``MOST_HANDS``; how it went."""
    tables = Tables(1, rules, seed=seed, episode="match", deal_on=False)
    generator = np.random.default_rng(seed)

    def dealt():
        return [cards_in(planes) for planes in tables.states()[0]["holding"][: rules.seats]]

    game = Game(dealt(), int(tables.states()[0]["dealer"]), None, book_of(rules), match=True)
    for _ in range(MOST_HANDS):
        while game.phase != "over":
            obs, seat = tables.observe()
            assert seat.tolist() == [game.mover]
            assert set(names(np.flatnonzero(obs["action_mask"][0]))) == game.legal()
            assert game.legal()
            before = game.penalties.copy()
            action = random_legal(obs["action_mask"], generator)
            game.act(CARDS[action[0]])
            rewards, done = tables.step(action)
            gained = [now - then for now, then in zip(game.penalties, before, strict=True)]
            assert rewards.tolist() == [[-points for points in gained]]
        assert sum(game.penalties) == game.hand_total()
        assert tables.totals().tolist() == [game.totals]
        assert max(map(abs, game.totals)) < 2**30
        assert done.tolist() == [game.match_over()]
        if game.match_over():
            return "over"
        game = game.after(dealt())
    assert most_hands(rules) is None or most_hands(rules) > MOST_HANDS
    return "not over"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_rules__that_can_be_are_played_to_the_end(seed):
    rules = Rules(**clauses_at_random(Random(seed)))
    play_match(rules, seed)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    hostile=st.dictionaries(st.sampled_from(list(CLAUSES)), st.sampled_from(HOSTILE), max_size=2),
    mixed=st.sets(st.sampled_from(list(CLAUSES)), max_size=3),
)
def test_rules__anything_else_is_refused_by_name_or_played(seed, hostile, mixed):
    clauses = clauses_at_random(Random(seed))
    others = clauses_at_random(Random(seed + 1))
    clauses |= {name: others[name] for name in mixed} | hostile
    rules = refusal = None
    try:
        rules = Rules(**clauses)
    except ValueError as error:
        refusal = str(error)
    if rules is not None:
        play_match(rules, seed)
    else:
        where = refusal.removeprefix(f"{clauses['name']!s:.9}: ")
        assert re.match(r"\w+", where).group() in CLAUSES, refusal
