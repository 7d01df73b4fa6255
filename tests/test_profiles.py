"""Every profile as the oracle reads it: its clauses, then hands and matches in lock-step."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import oracle
from black_maria import black_maria_v0, engine
from black_maria.cards import NUM_CARDS
from black_maria.rules import PROFILES, Rules, penalty_points
from black_maria.tables import Tables, history_rows
from helpers import Hand, cards_in, dealt, names, random_legal
from oracle import CARDS, ID, Game, book, number, suit
from test_engine import WORKED_DEAL, WORKED_PASS, WORKED_PLAY

SEATS = {
    "three_player": (3,),
    "four_player": (4,),
    "hearts_and_queen": (3,),
    "face_value": (3,),
    "traditional": (3, 4, 5, 6),
    "dirty_lady": (3, 4, 5, 6),
    "slippery_anne": (3, 4, 5, 6),
    "omnibus": (3, 4, 5, 6),
    "rotating_pass": (4, 3, 5, 6),
    "american_hearts": (4,),
    "cancellation": (6, 7, 8, 9, 10),
}
CASES = [(name, seats) for name, choices in SEATS.items() for seats in choices]


# --- the clauses as data ------------------------------------------------------------------------


def test_profiles__all_of_them_for_their_seats():
    assert {name: choices for name, (choices, _) in PROFILES.items()} == SEATS


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_profile__clause_by_clause_as_in_the_book(name, seats):
    rules, text = Rules.profile(name, seats), book(name, seats)
    assert (rules.name, rules.seats, rules.packs) == (name, seats, text.packs)
    assert set(names(rules.removed)) == text.removed
    assert names(rules.deck) == sorted(map(oracle.face, text.pack), key=ID.get)
    assert (rules.pass_count, rules.pass_cycle) == (text.passed, text.passes)
    assert set(names(rules.kept)) == text.kept
    assert rules.break_hearts == text.breaking
    opening = None if rules.opening_card is None else CARDS[rules.opening_card]
    assert opening == text.opening
    assert set(names(rules.first_trick_ban)) == text.banned
    points = {CARDS[card]: value for card, value in enumerate(rules.penalties) if value}
    assert points == text.points
    assert rules.moon == text.moon
    assert (rules.hands, rules.match_points, rules.exceed) == (text.hands, text.limit, text.beyond)
    assert rules.playoff == text.playoff


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_profile__derived_figures(name, seats):
    rules, text = Rules.profile(name, seats), book(name, seats)
    assert rules.hand_size == text.size
    assert rules.hand_points == text.total
    assert rules.par == text.total / seats
    for hand in range(8):
        passes = text.passes[hand % len(text.passes)] != "none"
        assert rules.plies(hand) == seats * (text.size + passes * text.passed)
    assert rules.most_plies == seats * (text.size + text.passed)


@pytest.mark.parametrize(
    ("name", "seats", "points"),
    [
        ("three_player", 3, 43), ("four_player", 4, 43), ("hearts_and_queen", 3, 26),
        ("face_value", 3, 134), ("traditional", 3, 43), ("traditional", 4, 43),
        ("traditional", 5, 43), ("traditional", 6, 42), ("dirty_lady", 4, 36),
        ("dirty_lady", 6, 35), ("slippery_anne", 5, 13), ("omnibus", 4, 33),
        ("american_hearts", 4, 26), ("cancellation", 6, 86), ("cancellation", 9, 86),
    ],
)  # fmt: skip
def test_profile__points_a_hand(name, seats, points):
    """With six seats 2♥ is out of the pack, and a point with it."""
    assert Rules.profile(name, seats).hand_points == book(name, seats).total == points


# --- lock-step -----------------------------------------------------------------------------------


def dealt_at(state, seats):
    return [cards_in(state["holding"][seat]) for seat in range(seats)]


def places(states):
    """In how many places each card lies, (N, 52), summed from the raw records."""
    count = np.zeros((len(states), 52), np.int64)
    bits = np.arange(52)
    passing = states["phase"] == engine.PASSING
    fresh = (states["captured"] == 0).all(axis=(1, 2))
    for field, here in (("holding", 1), ("captured", 1), ("given", passing), ("kitty", fresh)):
        planes = states[field].reshape(len(states), -1)
        lying = (planes[..., None] >> bits & 1).sum(axis=1)
        count += lying * np.broadcast_to(here, len(states))[:, None]
    for state, row in zip(states, count, strict=True):
        np.add.at(row, state["cards"][state["pile_start"] : state["num_played"]], 1)
    return count


def pack_counts(game):
    counts = np.zeros(52, np.int64)
    for card in game.pack:
        counts[number(card)] += 1
    return counts


def expected_reward(kind, game, gained):
    """What each seat earns for the card just played in ``game``."""
    if kind == "trick":
        return [-points for points in gained]
    if kind == "hand":
        return [-p if game.phase == "over" else 0 for p in game.penalties]
    if kind == "relative":
        others = len(game.playing) - 1
        return [
            (sum(gained) - points) / others - points if seat in game.playing else 0
            for seat, points in enumerate(gained)
        ]
    return game.shares() if game.match_over() else [0] * game.n


def moon_seeker(games, _generator):
    """One seat hunts every trick and the others let it: moons happen."""
    cards = []
    for game in games:
        options = sorted(game.legal(), key=lambda card: (oracle.rank(card), ID[card]))
        if game.phase == "passing":
            high = game.mover != 0
            pick = options[-1 if high else 0]
        elif game.mover == 0:
            winners = [c for c in options if game.table and suit(c) == suit(game.table[0][1])]
            pick = (winners or options)[-1] if winners or not game.table else options[0]
        elif game.table and suit(options[0]) != suit(game.table[0][1]):
            pick = max(options, key=lambda card: game.book.points.get(card, 0))
        else:
            pick = options[0]
        cards.append(ID[pick])
    return np.array(cards)


def twin_seeker(games, generator):
    """Everybody plays the twin of a card on the table if it can."""
    cards = []
    for game in games:
        options = sorted(game.legal(), key=ID.get)
        lying = [oracle.face(card) for _, card in game.table]
        twins = [card for card in options if lying.count(card) == 1]
        cards.append(ID[generator.choice(twins or options)])
    return np.array(cards)


SEEKERS = {"moon": moon_seeker, "twins": twin_seeker}


def lockstep(
    rules, text, count, seed, *, episode="hand", reward="trick", hands=1, every=6, play=None,
    revokes=0.0,
):  # fmt: skip
    """Oracle and engine side by side; what happened, counted.

    Mover, mask, taker, penalties, totals and rewards at every ply, all seats' views, the
    mover's history and every card's place at each table every few plies. ``revokes``: how often
    a seat plays a card that it may not.
    """
    tables = Tables(count, rules, seed=seed, episode=episode, reward=reward, history=True)
    starts = {name: block.start for name, block in tables.layout.blocks.items()}
    generator = np.random.default_rng(seed)
    seats, match = rules.seats, episode == "match"
    seen = Counter()
    index = [0] * count  # the deal's number at each table

    def first_hand(i, state):
        cards, dealer = dealt(seed, i, index[i], rules)
        assert [sorted(row, key=ID.get) for row in cards] == dealt_at(state, seats)
        where = 0 if match else index[i]
        return Game(cards, dealer, None, text, number=where, match=match)

    games = [first_hand(i, state) for i, state in enumerate(tables.save())]
    expected = np.zeros((seats, tables.layout.size), np.int8)
    rows = np.zeros((history_rows(rules), 3), np.int8)
    for ply in range(hands * rules.most_plies):
        obs, seat = tables.observe()
        masks = np.zeros((count, 52), np.int8)
        for i, game in enumerate(games):
            masks[i, [ID[card] for card in game.legal()]] = 1
        assert seat.tolist() == [game.mover for game in games]
        assert np.array_equal(obs["action_mask"], masks)
        assert tables.totals().tolist() == [game.totals for game in games]
        here = np.arange(count) % every == ply % every
        states = tables.save(here) if here.any() else []
        if len(states):
            views, lying = tables.views(here), places(states)
            penalties = states["penalties"][:, :seats].tolist()
        for k, i in enumerate(np.flatnonzero(here).tolist()):
            game = games[i]
            expected[:] = 0
            for s in range(seats):
                oracle.encode(game.view(s), starts, expected[s])
            assert np.array_equal(views[k], expected)
            assert np.array_equal(obs["observation"][i], expected[game.mover])
            oracle.encode_history(game.history(game.mover), rows)
            assert np.array_equal(obs["history"][i], rows)
            assert penalties[k] == game.penalties
            assert np.array_equal(lying[k], pack_counts(game))
            assert game.places() == sorted(game.pack)
            assert int(states[k]["playing"]) == sum(1 << s for s in game.playing)
            assert bool(states[k]["broken"]) == game.broken
        if play in SEEKERS:
            actions = SEEKERS[play](games, generator)
        else:
            actions = random_legal(obs["action_mask"], generator)
        wrong = generator.random(count) < revokes
        told = [array.copy() for array in tables.step(actions, ~wrong)]
        rewards, done = (a + b for a, b in zip(told, tables.revoke(wrong), strict=True))
        after, paid = tables._states, np.zeros((count, seats))
        for i, game in enumerate(games):
            before = game.penalties.copy()
            if wrong[i]:
                seen["revokes", game.phase, game.deciding] += 1
                taker = game.revoke()
            else:
                taker = game.act(CARDS[actions[i]])
            gained = [p - b for p, b in zip(game.penalties, before, strict=True)]
            paid[i] = expected_reward(reward, game, gained)
            seen["cancelled"] += taker is None and game.phase == "playing" and (
                not game.table and bool(game.carried)
            )  # fmt: skip
            if game.phase != "over":
                assert not done[i]
                assert after["turn"][i] == game.mover
                continue
            if not wrong[i]:
                assert sum(game.penalties) == game.hand_total()
                seen["moons"] += game.hand_total() != text.total
            seen["hands"] += 1
            seen["playoff", len(game.playing)] += game.deciding
            seen["again"] += game.deciding and len(game.lowest()) > 1
            index[i] += 1
            over = game.match_over() if match else True
            assert done[i] == over
            if over:
                seen["matches"] += 1
                seen["ended by a revoke"] += bool(wrong[i])
                seen["shared"] += match and len(game.lowest()) > 1
                games[i] = first_hand(i, after[i])
            else:
                games[i] = game.after(dealt_at(after[i], seats))
                assert after["match_hand"][i] == games[i].number
        assert np.allclose(rewards, paid, rtol=0, atol=1e-4)
    return seen


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_lockstep__random_hands(name, seats):
    rules = Rules.profile(name, seats)
    hands = len(rules.pass_cycle)
    seen = lockstep(rules, book(name, seats), 12 // hands, seed=31, hands=hands, every=2)
    assert seen["hands"] >= 12 // hands * hands


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seats"), CASES)
def test_lockstep__hundreds_of_random_hands_a_profile(name, seats):
    rules = Rules.profile(name, seats)
    hands = len(rules.pass_cycle)
    tables = -(-400 // len(SEATS[name]) // hands)
    seen = lockstep(rules, book(name, seats), tables, seed=32, hands=hands)
    assert seen["hands"] >= tables * hands


@pytest.mark.parametrize("seats", [6, pytest.param(9, marks=pytest.mark.slow)])
def test_lockstep__tricks_that_cancel_out(seats):
    rules, text = Rules.profile("cancellation", seats), book("cancellation", seats)
    seen = lockstep(rules, text, 100, 35, play="twins", every=20)
    assert seen["cancelled"] > 2


def test_deals__the_kitty_is_as_random_as_the_rest():
    """Chi-square of the kitty's cards, 51 degrees of freedom at 0.001."""
    states = Tables(13_000, "cancellation", seed=36).save()
    counts = (states["kitty"][:, :, None] >> np.arange(52) & 1).sum(axis=(0, 1))
    assert counts.sum() == 26_000
    assert ((counts - 500) ** 2 / 500).sum() < 87


MOONS = [
    ("dirty_lady", 4, {}, {}),
    ("american_hearts", 4, {}, {}),
    ("traditional", 3, {"moon": "subtract"}, {"moon": "subtract"}),
    ("traditional", 5, {"moon": "others"}, {"moon": "others"}),
    ("omnibus", 4, {"moon": "subtract"}, {"moon": "subtract"}),
    ("omnibus", 6, {"moon": "others"}, {"moon": "others"}),
    ("three_player", 3, {"moon": "others"}, {"moon": "others"}),
]


@pytest.mark.parametrize(("name", "seats", "changes", "in_words"), MOONS)
@pytest.mark.parametrize("reward", ["trick", "relative"])
def test_lockstep__moons(name, seats, changes, in_words, reward):
    rules = Rules.profile(name, seats, **changes)
    text = replace(book(name, seats), **in_words)
    hands = len(rules.pass_cycle)
    tables = 160 // hands
    seen = lockstep(rules, text, tables, 33, hands=hands, reward=reward, play="moon", every=20)
    assert seen["moons"] > 1, seen["moons"]


def test_lockstep__moon_over_two_packs():
    rules = Rules.profile(
        "cancellation",
        6,
        moon="subtract",
        penalties=penalty_points(hearts=0, QS=13),
        playoff=False,  # one pack has but one such card
    )
    text = replace(book("cancellation", 6), moon="subtract", points={"QS": 13}, playoff=False)
    seen = lockstep(rules, text, 60, 34, play="moon", every=20)
    assert seen["moons"] > 0


# --- whole matches -------------------------------------------------------------------------------


FEW = {"penalties": penalty_points(hearts=0, QS=1, AS=1)}
ONLY_QUEEN = {"penalties": penalty_points(hearts=0, QS=13)}
POINTS = {"hands": None, "match_points": 60}
IN_WORDS = {"hands": None, "limit": 60}
MATCHES = {
    "reached": ("three_player", 3, {}, {}),
    "reached, four": ("four_player", 4, {"match_points": 40}, {"limit": 40}),
    "reached, 500": ("face_value", 3, {}, {}),
    "reached, shared": ("american_hearts", 4, {"match_points": 26}, {"limit": 26}),
    "exceeded, two packs": (
        "cancellation", 7, {**POINTS, "playoff": False}, {**IN_WORDS, "playoff": False}
    ),
    "exceeded": ("traditional", 3, POINTS, IN_WORDS),
    "exceeded, six": ("traditional", 6, POINTS, IN_WORDS),
    "reached, played off": (
        "slippery_anne", 4, {"hands": None, "match_points": 13, "exceed": False},
        {"hands": None, "limit": 13, "beyond": False},
    ),
    "exceeded by one": (
        "slippery_anne", 4, {"hands": None, "match_points": 13}, {"hands": None, "limit": 13}
    ),
    "hands": ("traditional", 4, {"hands": 4}, {"hands": 4}),
    "hands, five": ("omnibus", 5, {"hands": 5}, {"hands": 5}),
    "hands, moons": ("dirty_lady", 3, {"hands": 3}, {"hands": 3}),
    "hands, shared": (
        "slippery_anne", 4, {"hands": 4, "playoff": False}, {"hands": 4, "playoff": False}
    ),
    "played off, three": ("slippery_anne", 3, {"hands": 3}, {"hands": 3}),
    "played off, four": ("slippery_anne", 4, {"hands": 4}, {"hands": 4}),
    "played off, five": ("slippery_anne", 5, {"hands": 5}, {"hands": 5}),
    "played off, six": ("slippery_anne", 6, {"hands": 6}, {"hands": 6}),
    "played off again": (
        "traditional", 4, {"hands": 4, **FEW}, {"hands": 4, "points": {"QS": 1, "AS": 1}}
    ),
    "played off, rotating": (
        "rotating_pass", 6, {"hands": 6, **ONLY_QUEEN}, {"hands": 6, "points": {"QS": 13}}
    ),
    "played off, moons": (
        "dirty_lady", 4, {"hands": 4, **FEW}, {"hands": 4, "points": {"QS": 1, "AS": 1}}
    ),
    "played off, two packs": (
        "cancellation", 6, {"hands": 6, **ONLY_QUEEN}, {"hands": 6, "points": {"QS": 13}}
    ),
    "played off, two packs, ten": (
        "cancellation", 10, {"hands": 10, **ONLY_QUEEN}, {"hands": 10, "points": {"QS": 13}}
    ),
    "played off, bonus": (
        "omnibus", 4, {"hands": 4, "penalties": penalty_points(hearts=0, QS=3, JD=-2)},
        {"hands": 4, "points": {"QS": 3, "JD": -2}},
    ),
}  # fmt: skip


def match_of(kind):
    name, seats, changes, in_words = MATCHES[kind]
    return Rules.profile(name, seats, **changes), replace(book(name, seats), **in_words)


@pytest.mark.parametrize("kind", MATCHES)
@pytest.mark.parametrize("reward", engine.REWARDS)
def test_match__lockstep(kind, reward):
    rules, text = match_of(kind)
    seen = lockstep(
        rules, text, 8, 41, episode="match", reward=reward, hands=16, every=37,
        play="moon" if "moons" in kind else None,
    )  # fmt: skip
    assert seen["matches"] > 0
    if "shared" in kind:
        assert seen["shared"] > 0
    if "played off" in kind:
        assert seen["playoff", 2] > 0
        assert seen["shared"] == 0
    if rules.seats > 3 and "slippery" in rules.name and "played off" in kind:
        assert seen["playoff", 3] > 0
    if kind == "played off again":
        assert seen["again"] > 0


@pytest.mark.parametrize("reward", engine.REWARDS[:-1])
@pytest.mark.parametrize(
    ("name", "seats"),
    [("three_player", 3), ("dirty_lady", 5), ("omnibus", 4), ("american_hearts", 4),
     ("cancellation", 7)],
)  # fmt: skip
def test_revoke__lockstep_of_hands(name, seats, reward):
    rules = Rules.profile(name, seats)
    hands = len(rules.pass_cycle)
    seen = lockstep(
        rules, book(name, seats), 60 // hands, 43, reward=reward, hands=hands, every=5, revokes=0.02
    )
    assert seen["revokes", "passing", False] > 3
    assert seen["revokes", "playing", False] > 10


@pytest.mark.parametrize("reward", engine.REWARDS)
@pytest.mark.parametrize(
    "kind",
    ["reached, shared", "exceeded", "hands, moons", "played off, five", "played off again",
     "played off, bonus", "played off, two packs"],
)  # fmt: skip
def test_revoke__lockstep_of_matches(kind, reward):
    rules, text = match_of(kind)
    seen = lockstep(
        rules, text, 16, 44, episode="match", reward=reward, hands=12, every=37, revokes=0.02
    )
    assert seen["ended by a revoke"] > 0
    if "played off" in kind:
        assert seen["revokes", "playing", True] + seen["revokes", "passing", True] > 0


# --- whole matches in the env --------------------------------------------------------------------


def held_in(env):
    """What the agents hold, by what they see themselves."""
    layout = env.unwrapped.layout
    held = [[] for _ in env.possible_agents]
    for agent in env.agents:
        row = env.observe(agent)["observation"][layout["holding"]]
        held[env.possible_agents.index(agent)] = names(np.repeat(np.arange(NUM_CARDS), row))
    return held


def check_agents(env, game):
    """Everybody's observation, that of seats that sit out included."""
    layout = env.unwrapped.layout
    starts = {name: block.start for name, block in layout.blocks.items()}
    for agent in env.agents:
        seat = env.possible_agents.index(agent)
        observation = env.observe(agent)
        expected = np.zeros(layout.size, np.int8)
        oracle.encode(game.view(seat), starts, expected)
        assert np.array_equal(observation["observation"], expected)
        assert env.observation_space(agent).contains(observation)
        if not game.match_over():
            check_history(env, game, agent)


def check_history(env, game, agent):
    seat = env.possible_agents.index(agent)
    found = env.observe(agent)["history"]
    rows = np.zeros_like(found)
    oracle.encode_history(game.history(seat) if seat in game.playing else [], rows)
    assert np.array_equal(found, rows)


def play_match(env, text, seed, at_end=lambda env, game: None):
    """A whole match in the env beside the oracle; what each agent earned, and the last hand."""
    env.reset(seed=seed)
    generator = np.random.default_rng(seed)
    agents = env.possible_agents
    game = Game(held_in(env), env.infos[agents[0]]["dealer"], None, text, match=True)
    earned = dict.fromkeys(agents, 0.0)
    paid = [0] * game.n
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        earned[agent] += reward
        assert not truncation
        seat = agents.index(agent)
        if termination:
            assert seat not in game.playing or game.match_over()
            env.step(None)
            assert agent not in env.agents
            continue
        assert {agents.index(name) for name in env.agents} == set(game.playing)
        assert seat == game.mover
        assert info == {"dealer": game.dealer, "totals": tuple(game.totals)}
        assert set(names(np.flatnonzero(observation["action_mask"]))) == game.legal()
        card = generator.choice(sorted(game.legal()))
        game.act(card)
        env.step(ID[card])
        if game.phase != "over":
            continue
        paid = [total + points for total, points in zip(paid, game.penalties, strict=True)]
        if game.match_over():
            assert all(env.terminations[name] for name in env.agents)
            check_agents(env, game)
            at_end(env, game)
        else:
            game = game.after(held_in(env))
            resting = {name for name in env.agents if env.terminations[name]}
            assert resting == {
                name for name in env.agents if agents.index(name) not in game.playing
            }
            check_agents(env, game)
    assert env.agents == []
    return earned, paid, game


@pytest.mark.parametrize("make", [black_maria_v0.raw_env, black_maria_v0.env])
@pytest.mark.parametrize("kind", MATCHES)
def test_match__in_the_env(kind, make):
    rules, text = match_of(kind)
    for seed in range(3):
        env = make(rules=rules, episode="match", reward="match", history=True)
        earned, _, game = play_match(env, text, seed)
        assert list(earned.values()) == pytest.approx(game.shares())
        assert sum(earned.values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", ["exceeded", "played off, five", "played off again"])
def test_match__in_the_env_play_off_hands_are_paid_too(kind):
    rules, text = match_of(kind)
    deciders = 0
    for seed in range(5):
        env = black_maria_v0.raw_env(rules=rules, episode="match", history=True)
        earned, paid, game = play_match(env, text, seed)
        assert [-points for points in paid] == list(earned.values())
        deciders += game.deciding
    assert deciders or kind == "exceeded"


@pytest.mark.parametrize("kind", ["reached, shared", "hands", "played off, four"])
def test_match__the_last_hands_history_stays_when_it_is_over(kind):
    """Winners and losers of the match look back on the whole hand."""

    def look_back(env, game):
        for agent in env.agents:
            check_history(env, game, agent)

    rules, text = match_of(kind)
    env = black_maria_v0.raw_env(rules=rules, episode="match", history=True)
    play_match(env, text, 0, look_back)


def random_actions(observations, agents, generator):
    """A legal card for the agent to move, anything for the others."""
    masks = {agent: observations[agent]["action_mask"] for agent in agents}
    return {
        agent: generator.choice(np.flatnonzero(mask)) if mask.any() else 0
        for agent, mask in masks.items()
    }


def test_match__play_off_in_the_parallel_env():
    """The seats that sit out leave, and somebody is told that it is to move."""
    rules, _ = match_of("played off, five")
    sizes = set()
    env = black_maria_v0.parallel_env(rules=rules, episode="match", reward="match")
    for seed in range(3):
        generator = np.random.default_rng(seed)
        observations, _ = env.reset(seed=seed)
        earned = dict.fromkeys(env.agents, 0.0)
        while env.agents:
            sizes.add(len(env.agents))
            assert sum(observations[agent]["action_mask"].any() for agent in env.agents) == 1
            observations, rewards, *_ = env.step(
                random_actions(observations, env.agents, generator)
            )
            for agent, reward in rewards.items():
                earned[agent] += reward
        assert sum(earned.values()) == 1
    assert min(sizes) < 5


def test_match__illegal_card_in_a_play_off_is_a_revoke():
    rules, _ = match_of("played off, five")
    env = black_maria_v0.env(rules=rules, episode="match")
    env.reset(seed=0)
    generator = np.random.default_rng(0)
    offender, last = None, {}
    for agent in env.agent_iter():
        observation, reward, termination, _, _ = env.last()
        mask = observation["action_mask"]
        if termination:
            last[agent] = reward
            env.step(None)
        elif len(env.agents) < 5 and offender is None:
            offender = agent
            env.step(int(mask.argmin()))
        else:
            env.step(generator.choice(np.flatnonzero(mask)))
    assert offender is not None
    assert last == dict.fromkeys(last, 0) | {offender: -13}


def test_match__of_three_player_lasts_three_hands_at_least():
    """One seat takes everything twice, and 14 the third time."""
    hearts = "AH KH QH JH 10H 9H 8H 7H 6H 5H 4H 3H 2H"
    strong = oracle.hand_of(f"{hearts} AS KS QS JS")
    rest = sorted(oracle.THREE_PLAYER.pack - strong, key=ID.get)
    totals = [0, 0, 0]
    for k in range(3):
        dealer = (2 + k) % 3
        order = [(dealer + 1 + s) % 3 for s in range(3)]
        after = {0: sorted(strong), 1: rest[:17], 2: rest[17:]}
        given = {seat: sorted(after[(seat - 1) % 3], key=ID.get)[:3] for seat in range(3)}
        deal = [
            set(after[seat]) - set(given[(seat + 1) % 3]) | set(given[seat]) for seat in range(3)
        ]
        hand = Hand(deal, dealer, totals, match=True)
        for seat in order:
            hand.do(" ".join(given[seat]))
        plies = 0
        while plies < 51:
            plies += 1
            options = hand.legal
            spades = [card for card in f"{hearts} AS KS QS JS".split() if card in options]
            over = hand.act(spades[0] if hand.turn == 0 else min(options))
            assert not over or plies == 51
        totals = hand.totals
        assert over == (k == 2)
        assert sum(totals) == 43 * (k + 1)
    assert max(totals) >= 100


def test_match__of_three_player_lasts_seven_hands_at_most():
    """Even hands, 17 to each seat in turn and 13 to the others, stay under 100 for six."""
    totals = [0, 0, 0]
    for k in range(7):
        deal = [WORKED_DEAL[(seat - k) % 3] for seat in range(3)]
        hand = Hand(deal, k % 3, totals, match=True, reward="match").do(WORKED_PASS)
        over = [hand.act(card) for card in WORKED_PLAY.split()]
        assert over == [False] * 50 + [k == 6]
        totals = hand.totals
        assert sum(totals) == 43 * (k + 1)
    assert totals == [103, 99, 99]
    assert hand.rewards.tolist() == [0, 0.5, 0.5]


# --- to the last view ----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seats"), CASES)
def test_hand__given_deals_up_to_the_last_view(name, seats):
    """One table, odd totals, every view at every ply and that of the finished hand."""
    rules, text = Rules.profile(name, seats), book(name, seats)
    generator = np.random.default_rng(51)
    for k in range(2 * len(rules.pass_cycle)):
        cards, _ = dealt(51, k, 0, rules)
        totals = generator.integers(-150, 150, seats).tolist()
        hand = Hand(cards, k % seats, totals, rules=rules, number=k)
        game = Game(cards, k % seats, totals, text, number=k)
        starts = {block: at.start for block, at in hand.layout.blocks.items()}
        while True:
            expected = np.zeros_like(hand.views)
            for seat in range(seats):
                oracle.encode(game.view(seat), starts, expected[seat])
            assert np.array_equal(hand.views, expected)
            assert (hand.phase, hand.legal) == (game.phase, game.legal())
            assert (hand.penalties, hand.totals) == (game.penalties, game.totals)
            if game.phase == "over":
                break
            card = names(random_legal(hand.mask[None], generator))[0]
            hand.act(card)
            game.act(card)
        for seat in range(seats):
            taken = sorted((oracle.face(card) for card in game.taken[seat]), key=ID.get)
            assert cards_in(hand.state.captured[seat]) == taken
            rows = np.zeros((history_rows(rules), 3), np.int8)
            oracle.encode_history(game.history(seat), rows)
            assert np.array_equal(hand.history(seat), rows)
