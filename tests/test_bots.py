"""The manners of every bot; the rules of the players random and duck."""

import numpy as np
import pytest

from black_maria.bots import BOTS, make_bot
from black_maria.layout import layout_of
from black_maria.rules import Rules, penalty_points
from black_maria.tables import Tables
from helpers import Hand, dealt, fill, play, playing
from oracle import CARDS, ID, THREE_PLAYER, Game, rank, suit

KEY = np.zeros(1, np.uint64)


def choice(name: str, hand: Hand) -> str:
    """The card that a bot chooses for the seat to move."""
    return CARDS[make_bot(name).act(hand.obs(), KEY)[0]]


def chi_square(counts, expected):
    return (((counts - expected) ** 2) / expected).sum()


def keys(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)


def many(obs, count):
    return {name: array.repeat(count, axis=0) for name, array in obs.items()}


# --- making and refusing ----------------------------------------------------------------------


def test_make_bot__by_name():
    assert {"random", "duck"} <= set(BOTS)
    for name in BOTS:
        assert make_bot(name).name == name


def test_make_bot__unknown_names_refused():
    with pytest.raises(ValueError, match=r"no bot 'ducky'; there are: random, duck"):
        make_bot("ducky")
    with pytest.raises(ValueError, match="no profile 'nope'"):
        make_bot("duck", "nope")


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"observation": (np.int8, (2, 655))}, r"observation must be int8 \(2, 656\), not int8"),
        ({"observation": (np.int8, (656,))}, r"observation must be int8 \(2, 656\)"),
        ({"observation": (np.int8, (3, 656))}, r"observation must be int8 \(2, 656\)"),
        ({"observation": (np.float32, (2, 656))}, r"\(2, 656\), not float32"),
        ({"action_mask": (np.int8, (2, 51))}, r"action_mask must be int8 \(2, 52\)"),
        ({"action_mask": (np.int8, (52,))}, r"action_mask must be int8 \(2, 52\)"),
        ({"action_mask": (np.bool_, (2, 52))}, r"\(2, 52\), not bool"),
        ({"keys": (np.uint64, (2, 1))}, r"keys must be uint64 \(2,\), not uint64 \(2, 1\)"),
        ({"keys": (np.uint64, (3,))}, r"must be int8 \(3, 656\)"),
        ({"keys": (np.int64, (2,))}, r"keys must be uint64 \(2,\), not int64"),
    ],
)
def test_act__wrong_shapes_and_types_refused(name, change, words):
    good = {
        "observation": (np.int8, (2, 656)),
        "action_mask": (np.int8, (2, 52)),
        "keys": (np.uint64, (2,)),
    }
    obs = {part: np.ones(shape, dtype) for part, (dtype, shape) in (good | change).items()}
    with pytest.raises(ValueError, match=words):
        make_bot(name).act(obs, obs.pop("keys"))


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("value", [-1, 2, 3])
def test_act__a_mask_of_other_numbers_refused(name, value):
    obs = many(Hand(fill("", "", "")).obs(), 3)
    obs["action_mask"][2, 7] = value
    with pytest.raises(ValueError, match="row 2 of action_mask isn't 0 and 1"):
        make_bot(name).act(obs, np.zeros(3, np.uint64))


@pytest.mark.parametrize("name", BOTS)
def test_act__a_row_without_a_legal_card_refused(name):
    obs = many(Hand(fill("", "", "")).obs(), 3)
    obs["action_mask"][1] = 0
    with pytest.raises(ValueError, match="row 1 of action_mask has no legal card"):
        make_bot(name).act(obs, keys(3))


@pytest.mark.parametrize("name", BOTS)
def test_act__an_empty_batch_is_fine(name):
    obs = {"observation": np.zeros((0, 656), np.int8), "action_mask": np.zeros((0, 52), np.int8)}
    actions = make_bot(name).act(obs, np.zeros(0, np.uint64))
    assert (actions.shape, actions.dtype) == ((0,), np.int64)


@pytest.mark.parametrize("name", BOTS)
def test_act__independent_of_the_batch_and_leaves_its_inputs_alone(name):
    bot = make_bot(name)
    tables = Tables(64, seed=4)
    order = np.random.default_rng(0).permutation(64)
    for ply in range(60):
        obs, _ = tables.observe()
        key = tables.keys()
        before = [array.tobytes() for array in (*obs.values(), key)]
        actions = bot.act(obs, key)
        assert [array.tobytes() for array in (*obs.values(), key)] == before
        assert (actions.shape, actions.dtype) == ((64,), np.int64)
        assert np.take_along_axis(obs["action_mask"], actions[:, None], axis=1).all()
        mixed = bot.act({name: array[order] for name, array in obs.items()}, key[order])
        assert np.array_equal(mixed, actions[order])
        row = ply % 64
        alone = bot.act({name: array[row : row + 1] for name, array in obs.items()}, key[[row]])
        assert alone[0] == actions[row]
        assert np.array_equal(bot.act(obs, key), actions)
        tables.step(actions)


# --- random -----------------------------------------------------------------------------------


@pytest.mark.parametrize("plies", [0, 4, 9, 22, 40, 52])
def test_random__every_legal_card_equally_often(plies):
    """Chi-square with (legal cards − 1) degrees of freedom, far beyond 0.001."""
    tables = Tables(1, seed=2)
    play(tables, plies)
    obs, _ = tables.observe()
    legal = np.flatnonzero(obs["action_mask"][0])
    assert len(legal) > 1
    count = 20_000
    actions = make_bot("random").act(many(obs, count), keys(count))
    counts = np.bincount(actions, minlength=52)
    assert counts.sum() == counts[legal].sum() == count
    free = len(legal) - 1
    assert chi_square(counts[legal], count / len(legal)) < free + 4 * (2 * free) ** 0.5 + 6


def test_random__the_key_counts_the_cards():
    rng = np.random.default_rng(1)
    mask = (rng.random((2000, 52)) < rng.random((2000, 1))).astype(np.int8)
    mask[np.arange(2000), rng.integers(52, size=2000)] = 1
    mask[:3] = [np.ones(52), np.arange(52) == 0, np.arange(52) == 51]
    draws = keys(2000)
    obs = {"observation": np.zeros((2000, layout_of().size), np.int8), "action_mask": mask}
    legal = [np.flatnonzero(row) for row in mask]
    expected = [cards[int(k) % len(cards)] for cards, k in zip(legal, draws, strict=True)]
    assert make_bot("random").act(obs, draws).tolist() == expected


def test_random__with_the_tables_own_keys_too():
    """The same position at many tables: the keys alone spread the choice."""
    count = 20_000
    tables = Tables(1, seed=2)
    states = tables.save()
    spread = Tables(count, seed=2)
    states = states.repeat(count)
    states["table"] = range(count)
    spread.load(states)
    obs, _ = spread.observe()
    counts = np.bincount(make_bot("random").act(obs, spread.keys()), minlength=52)
    counts = counts[obs["action_mask"][0] == 1]
    assert counts.sum() == count
    assert chi_square(counts, count / 17) < 39.3  # 16 degrees of freedom at 0.001


def test_random__hangs_on_the_key_not_on_what_is_seen():
    hand = Hand(fill("", "", ""))
    first = make_bot("random").act(many(hand.obs(), 200), keys(200))
    obs = many(hand.obs(), 200)
    obs["observation"][:] = 0
    assert np.array_equal(make_bot("random").act(obs, keys(200)), first)
    assert not np.array_equal(make_bot("random").act(obs, keys(200, seed=1)), first)


# --- duck, rule by rule -------------------------------------------------------------------------

LOW = "3C 4C 5C 6C 7C 2D 3D 4D 5D 6D 2S 3S 4S 5S"


@pytest.mark.parametrize(
    ("held", "passed"),
    [
        ("AS QS KS", "QS KS AS"),  # 103, 102, 101
        ("AC KS AH", "KS AH AC"),  # 102, 13.5, 12
        ("AC KH KD", "KH AC KD"),  # 12.5, 12, 11
        ("JH QC 10H", "JH QC 10H"),  # 10.5, 10, 9.5
        ("QD QC 9H", "QC QD 9H"),  # 10 and the lower id first, 8.5
    ],
)
def test_duck_pass__the_most_dangerous_three(held, passed):
    hand = Hand(fill(f"{held} {LOW}", "", ""), dealer=2)
    for card in passed.split():
        assert choice("duck", hand) == card
        hand.act(card)


def duck_among(table: str, choices: str, rules: str | Rules = "three_player") -> str:
    """What duck plays when these cards lie on the table and it may choose among those."""
    on_table = table.split()
    partial = [*on_table, choices, "", ""][:3]
    suits = {card[-1] for card in choices.split()}
    void = {}
    if on_table:
        led = on_table[0][-1]
        void = {k: led for k, card in enumerate(on_table) if card[-1] != led}
        if led not in suits:
            void[len(on_table)] = led
    hand = playing(fill(*partial, void=void)).do(table)
    obs = hand.obs()
    wanted = [ID[card] for card in choices.split()]
    assert obs["action_mask"][0, wanted].all(), "these cards aren't legal"
    obs["action_mask"] = np.zeros((1, 52), np.int8)
    obs["action_mask"][0, wanted] = 1
    obs["observation"][0, hand.layout["holding"]] = obs["action_mask"][0]
    return CARDS[make_bot("duck", rules).act(obs, KEY)[0]]


@pytest.mark.parametrize(
    ("choices", "led"),
    [
        ("9C 4D JS", "4D"),  # the lowest rank
        ("3D 3C 3S", "3C"),  # ties: the lower id
        ("2H 7C", "2H"),  # a heart costs 4 more: 4 under 5
        ("2H 5C", "5C"),  # but not under 3
        ("2H 6S", "2H"),  # 4 each
        ("2H 6C", "6C"),  # 4 each
        ("QS AH", "AH"),  # Q♠ 40 over 16
        ("KS AC", "AC"),
        ("AS KH", "KH"),
        ("AS KS QS", "QS"),  # 42, 41, 40
        ("JS 10C", "10C"),  # J♠ is no high spade
    ],
)
def test_duck_lead__the_cheapest(choices, led):
    assert duck_among("", choices) == led


@pytest.mark.parametrize(
    ("table", "choices", "thrown"),
    [
        ("10C", "QS KS AS", "QS"),
        ("10C", "AS KS AH", "KS"),
        ("10C", "AS AH AD", "AS"),
        ("10C 9C", "AH AD 2H", "AH"),
        ("10C", "9H JD", "JD"),  # 8.5 under 9
        ("10C", "10H JD", "10H"),  # 9.5 over 9
        ("10S 9S", "AD AC", "AC"),  # 12 each
        ("4C AS", "QS 2D", "QS"),
    ],
)
def test_duck_void__throws_the_most_dangerous(table, choices, thrown):
    assert duck_among(table, choices) == thrown


@pytest.mark.parametrize(
    ("table", "choices", "played"),
    [
        ("10C", "3C 9C JC", "9C"),  # under the lead, no points either way: the highest
        ("5C 10C", "4C 9C JC", "9C"),  # under the second card
        ("10C AH", "4C 9C JC", "9C"),  # a discard is nothing to duck under
        ("KS", "2S JS QS AS", "QS"),  # 13 points go under K♠
        ("AS", "2S QS KS", "QS"),  # 13 before 10
        ("AS", "2S JS KS", "KS"),
        ("QH 5H", "3H 6H JH AH", "JH"),  # 1 point each: the highest
        ("QH", "3H 6H KH", "6H"),
    ],
)
def test_duck_follow__under_the_winning_card_with_most_points(table, choices, played):
    assert duck_among(table, choices) == played


@pytest.mark.parametrize(
    ("table", "choices", "played"),
    [
        ("5C", "7C 9C KC", "7C"),  # not last: the lowest
        ("5C 6C", "7C 9C KC", "KC"),  # last: the highest
        ("5C QS", "7C 9C KC", "KC"),
        ("3H", "5H AH", "5H"),  # hearts cost less than 5
        ("3H 4H", "5H AH", "AH"),
        ("10S", "JS QS KS", "JS"),  # leaves the high spades out
        ("10S 9S", "JS QS AS", "JS"),
        ("JS", "QS KS AS", "QS"),  # nothing else: not last, the lowest
        ("JS 10S", "QS KS", "KS"),  # … last, the highest
        ("QS", "KS AS", "KS"),
        ("QS 2S", "KS AS", "AS"),
    ],
)
def test_duck_follow__over_it_as_it_must(table, choices, played):
    assert duck_among(table, choices) == played


@pytest.mark.parametrize(("table", "played"), [("10H", "JH"), ("10H 9H", "QH")])
def test_duck_follow__over_it_leaves_out_5_points_and_more(table, played):
    """Under penalties where 4 and 5 occur: J♥ and Q♥ 4, K♥ 5, A♥ 6."""
    dear = Rules().replace(penalties=penalty_points(hearts=4, KH=5, AH=6))
    assert duck_among(table, "JH QH KH AH", dear) == played


# --- duck once more, slowly ---------------------------------------------------------------------


def slow_duck(game: Game) -> str:
    """Duck from its description, on what the mover sees and may play."""
    legal = sorted(game.legal(), key=ID.get)
    points = THREE_PLAYER.points

    def danger(card):
        high = {"QS": 103, "KS": 102, "AS": 101}
        return high.get(card, rank(card) + 1.5 * (suit(card) == "H"))

    def lead_cost(card):
        return rank(card) + 4 * (suit(card) == "H") + 30 * (card in ("QS", "KS", "AS"))

    if game.phase == "passing":
        return max(legal, key=danger)
    if not game.table:
        return min(legal, key=lead_cost)
    led = suit(game.table[0][1])
    if suit(legal[0]) != led:
        return max(legal, key=danger)
    highest = max(rank(card) for _, card in game.table if suit(card) == led)
    below = [card for card in legal if rank(card) < highest]
    if below:
        return max(below, key=lambda card: (points.get(card, 0), rank(card)))
    cheap = [card for card in legal if points.get(card, 0) < 5] or legal
    last = len(game.table) == game.n - 1
    return max(cheap, key=rank) if last else min(cheap, key=rank)


@pytest.mark.parametrize("partner", ["duck", "random"])
def test_duck__agrees_with_the_slow_duck(partner):
    """Every decision of some hundred hands, among ducks and in positions ducks don't reach."""
    count = 300
    tables = Tables(count, seed=19)
    games = [Game(*dealt(19, t)) for t in range(count)]
    duck, other = make_bot("duck"), make_bot(partner)
    for _ in range(60):
        obs, _ = tables.observe()
        chosen = [CARDS[card] for card in duck.act(obs, tables.keys())]
        assert chosen == [slow_duck(game) for game in games]
        actions = other.act(obs, tables.keys())
        tables.step(actions)
        for game, card in zip(games, actions, strict=True):
            game.act(CARDS[card])


def test_duck__hangs_on_nothing_random():
    tables = Tables(50, seed=20)
    play(tables, 25)
    obs, _ = tables.observe()
    duck = make_bot("duck")
    assert np.array_equal(duck.act(obs, keys(50, 1)), duck.act(obs, keys(50, 2)))
