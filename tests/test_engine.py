"""The game itself: each clause as a scenario, and the oracle in lock-step."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from black_maria import engine
from black_maria.bots import make_bot
from black_maria.engine import check_seed, deal, deck_order
from black_maria.engine.start import deal_out
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria.tables import Tables, history_rows
from helpers import Hand, dealt, fill, ids, names, play, playing, random_legal
from oracle import CARDS, ID, Game

A = "AC QC 10C 8C 6C AD QD 10D 8D 6D AH QH 10H 8H AS QS 10S"
B = "KD JD 9D 7D 5D 4D 3D 2D KH JH 9H 7H 6H 5H JS 9S 8S"
C = "KC JC 9C 7C 5C 4C 3C 4H 3H 2H KS 7S 6S 5S 4S 3S 2S"


# --- pack and deal ----------------------------------------------------------------------------


def test_pack__51_cards_without_2c_17_each():
    cards, _ = dealt(1)
    assert [len(row) for row in cards] == [17, 17, 17]
    assert set().union(*cards) == oracle.THREE_PLAYER.pack
    assert "2C" not in set().union(*cards)


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_deal__one_at_a_time_whoever_deals(dealer):
    hand = Hand((A, B, C))
    decks = np.arange(1, 52, dtype=np.int8)[None]
    deal_out(hand.states, hand._args[0], decks, np.array([dealer]))
    for k in range(3):
        assert hand.holding(k) == {CARDS[1 + k + 3 * i] for i in range(17)}


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_deal__dealers_left_acts_first(dealer):
    hand = Hand((A, B, C), dealer)
    assert hand.turn == (dealer + 1) % 3
    assert [hand.block(seat, "dealer").index(1) for seat in range(3)] == [
        dealer, (dealer - 1) % 3, (dealer - 2) % 3
    ]  # fmt: skip


# --- passing ----------------------------------------------------------------------------------


def test_pass__three_in_a_row_from_dealers_left():
    hand = Hand((A, B, C), dealer=1)
    turns = []
    for cards in ("KC 3C 2S", "AC QS AH", "2D KH 8S"):
        for card in cards.split():
            turns.append(hand.turn)
            hand.act(card)
    assert turns == [2, 2, 2, 0, 0, 0, 1, 1, 1]
    assert hand.phase == "playing"
    assert hand.turn == 2


def test_pass__goes_to_the_right_neighbour():
    hand = Hand((A, B, C), dealer=2).do("QS AS AH  KD JD 9D  KC JC 9C")
    assert hand.block(2, "received") == {"QS", "AS", "AH"}
    assert hand.block(0, "received") == {"KD", "JD", "9D"}
    assert hand.block(1, "received") == {"KC", "JC", "9C"}
    assert hand.holding(2) >= {"QS", "AS", "AH"}
    assert [len(hand.holding(seat)) for seat in range(3)] == [17, 17, 17]


def test_pass__right_is_where_the_view_points():
    hand = Hand((A, B, C))
    assert [hand.block(seat, "pass_to") for seat in range(3)] == [[0, 0, 1]] * 3


@pytest.mark.parametrize("card", ["QS", "AH", "2S", "10H"])
def test_pass__any_card_held(card):
    holdings = fill(card, "", "")
    hand = Hand(holdings, dealer=2)
    assert hand.legal == oracle.hand_of(holdings[0])
    hand.act(card)
    assert hand.block(0, "passed") == {card}


def test_pass__a_picked_card_is_gone_and_cannot_be_picked_again():
    hand = Hand((A, B, C), dealer=2).do("QS")
    assert "QS" not in hand.legal
    assert "QS" not in hand.block(0, "holding")
    with pytest.raises(ValueError, match="seat 0 may not pass Q♠: it holds 6♣ 8♣"):
        hand.act("QS")


def test_pass__nothing_shows_until_all_have_committed():
    hand = Hand((A, B, C), dealer=2)
    before = hand.views[2].copy()
    hand.do("QS AS AH KD JD 9D KC JC")
    assert not any(hand.block(seat, "received") for seat in range(3))
    assert hand.block(2, "holding") == oracle.hand_of(C) - {"KC", "JC"}
    changed = np.flatnonzero(before != hand.views[2])
    holding, passed = (hand.layout.blocks[name].start for name in ("holding", "passed"))
    assert set(changed) == {at + ID[c] for at in (holding, passed) for c in ("KC", "JC")}
    hand.do("9C")
    assert all(hand.block(seat, "received") for seat in range(3))


def test_pass__a_received_card_cannot_be_passed_on():
    hand = Hand((A, B, C), dealer=2).do("QS AS AH KD JD 9D KC JC")
    assert hand.legal == oracle.hand_of(C) - {"KC", "JC"}


def test_pass__order_of_picking_leaves_no_trace():
    first = Hand((A, B, C), dealer=2).do("QS AS AH KD JD 9D KC JC 9C")
    other = Hand((A, B, C), dealer=2).do("AH QS AS 9D JD KD JC 9C KC")
    assert first.views.tobytes() == other.views.tobytes()
    for seat in range(3):
        assert first.history(seat).tobytes() == other.history(seat).tobytes()


def test_pass__a_received_card_can_be_led_at_once():
    hand = Hand((A, B, C), dealer=2).do("QS AS AH KD JD 9D KC JC 9C").do("KD")
    assert hand.block(1, "trick") == [set(), set(), {"KD"}]


# --- leading and following --------------------------------------------------------------------


@pytest.mark.parametrize("card", ["2H", "AH", "QS", "KS", "AS", "AC", "2D"])
def test_lead__any_card_even_to_the_first_trick(card):
    holdings = fill("", card, "")
    hand = playing(holdings, leader=1)
    assert hand.legal == oracle.hand_of(holdings[1])
    hand.act(card)
    assert hand.block(1, "trick")[0] == {card}


def test_lead__hearts_need_no_breaking():
    hand = playing((A, B, C)).do("AC 2D KC")
    assert hand.turn == 0
    assert {"AH", "QH", "10H", "8H"} <= hand.legal
    assert hand.block(0, "hearts_broken") == [0]


def test_follow__must_if_able():
    hand = playing((A, B, C)).do("AD")
    assert hand.legal == oracle.hand_of("KD JD 9D 7D 5D 4D 3D 2D")
    with pytest.raises(ValueError, match=r"seat 1 may not play K♥: it must follow suit, diamonds"):
        hand.act("KH")


def test_follow__may_win_or_duck():
    hand = playing((A, B, C), leader=2).do("4H")
    assert hand.legal == {"AH", "QH", "10H", "8H"}


def test_follow__void_may_discard():
    hand = playing((A, B, C)).do("AC")
    assert hand.legal == oracle.hand_of(B)


@pytest.mark.parametrize("card", ["AH", "QS", "KS", "AS"])
def test_follow__void_may_discard_penalties_on_the_first_trick(card):
    hand = playing(fill("AC", card, "KC", void={1: "C"}))
    hand.do("AC").act(card)
    assert hand.penalties == [0, 0, 0]  # nothing falls before the trick is complete
    hand.act("KC")
    assert hand.penalties == [oracle.THREE_PLAYER.points[card], 0, 0]


def test_follow__the_third_follows_the_suit_led_not_the_discard():
    hand = playing((A, B, C)).do("AC JS")
    assert hand.legal == {"KC", "JC", "9C", "7C", "5C", "4C", "3C"}


def test_follow__illegal_cards_named_in_words():
    hand = playing((A, B, C))
    with pytest.raises(ValueError, match="seat 0 may not play K♠: it holds 6♣ 8♣ 10♣ Q♣ A♣"):
        hand.act("KS")
    for action in (-1, 52, 1000):
        assert engine.find_illegal(hand.states, np.array([action]), np.ones(1, np.bool_)) == 0
        words = engine.illegal_reason(hand.state, hand.rules, action)
        assert words == f"seat 0: action {action} is not a card (0 … 51)"


# --- tricks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leader", "cards", "taker", "points"),
    [
        (0, "AC QS KC", 0, 13),  # the worked trick
        (0, "KC QS AC", 2, 13),
        (0, "10C JC 9C", 1, 0),
        (0, "9C 10C 8C", 1, 0),
        (0, "2D AH AS", 0, 8),  # nobody follows: the lead takes it
        (0, "2D AS 3D", 2, 7),  # no trumps: an ace of another suit wins nothing
        (0, "5H 4H 6H", 2, 3),
        (0, "2S AS KS", 1, 17),
        (0, "KS AS QS", 1, 30),
        (1, "QS KS AS", 0, 30),
        (1, "3C QD 4C", 0, 0),
        (2, "AH KH QH", 2, 3),
        (2, "QS 2H JS", 2, 14),
    ],
)
def test_trick__highest_of_the_suit_led_takes_it(leader, cards, taker, points):
    played = cards.split()
    seats = [(leader + k) % 3 for k in range(3)]
    partial = [played[seats.index(seat)] for seat in range(3)]
    void = {s: played[0][-1] for s, c in zip(seats, played, strict=True) if c[-1] != played[0][-1]}
    hand = playing(fill(*partial, void=void), leader).do(cards)
    assert hand.captured(taker) == set(played)
    assert hand.penalties == [points if seat == taker else 0 for seat in range(3)]
    assert hand.turn == taker  # the winner leads next
    assert hand.legal == hand.holding(taker)


def test_trick__worked_example():
    """A leads A♣, B without clubs throws Q♠, C plays K♣: A takes 13, even as the first trick."""
    hand = playing(fill("AC", "QS", "KC", void={1: "C"}), leader=0).do("AC QS KC")
    assert hand.penalties == [13, 0, 0]
    assert hand.totals == [0, 0, 0]
    assert hand.block(2, "voids") == [[0] * 4, [0] * 4, [1, 0, 0, 0]]


def test_trick__captured_cards_stay_with_their_taker():
    hand = playing((A, B, C)).do("AC JS KC  AD 2D 2S")
    assert hand.captured(0) == {"AC", "JS", "KC", "AD", "2D", "2S"}
    assert "AC" not in hand.holding(0)
    assert hand.block(1, "captured") == [set(), set(), hand.captured(0)]


def test_trick__voids_shown_by_discards_only():
    hand = playing((A, B, C)).do("AC JS KC  AD 2D 2S")
    assert hand.block(0, "voids") == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]


WORKED_DEAL = (
    "7C QC AC 3D 7D 8D 9D 10D QD 3H 5H 5S 8S 9S JS QS AS",
    "5C 10C JC 4D 5D 6D KD AD 2H 6H 8H 9H QH KH 2S 7S KS",
    "3C 4C 6C 8C 9C KC 2D JD 4H 7H 10H JH AH 3S 4S 6S 10S",
)
WORKED_PASS = "KD JC KH  KC 4S JD  3D AS 8S"
WORKED_PLAY = """
    9H 7H KH   QC 10C 9C  KD 4D 2D   JS 7S 6S   8D 5D 3D  9S 2S AS
    8S 5S KS   6H JH 5H   10S QS 4S  9D 6D AH   7D AD 6C  KC 3C 7C
    QH 4H 3H   5C 8C JC   10D JD 4C  2H 10H AC  3S QD 8H
"""


def worked_hand(**options) -> Hand:
    """A hand in which A takes Q♠ and four hearts, B K♠ and three, C A♠ and six."""
    return Hand(WORKED_DEAL, 0, **options).do(WORKED_PASS).do(WORKED_PLAY)


def test_hand__worked_example_17_13_13():
    hand = worked_hand()
    points = [{c for c in hand.captured(s) if c in oracle.THREE_PLAYER.points} for s in range(3)]
    assert ["QS" in points[0], "KS" in points[1], "AS" in points[2]] == [True] * 3
    assert [len(cards) - 1 for cards in points] == [4, 3, 6]
    assert hand.penalties == [17, 13, 13]
    assert sum(hand.penalties) == 43
    assert hand.totals == [17, 13, 13]


def test_hand__is_over_after_17_tricks():
    hand = worked_hand()
    assert hand.phase == "over"
    assert hand.legal == set()
    assert [hand.holding(seat) for seat in range(3)] == [set()] * 3
    assert set().union(*(hand.captured(seat) for seat in range(3))) == oracle.THREE_PLAYER.pack
    assert engine.find_illegal(hand.states, np.array([ID["QS"]]), np.ones(1, np.bool_)) == 0
    assert [hand.block(seat, "phase") for seat in range(3)] == [[0, 0]] * 3


def test_hand__all_43_still_count_43():
    hearts = "AH KH QH JH 10H 9H 8H 7H 6H 5H 4H 3H 2H"
    others = fill(f"{hearts} AS KS QS JS", "", "")
    hand = playing(others, totals=[1, 2, 3])
    for card in f"{hearts} AS KS QS JS".split():
        hand.act(card)
        while hand.turn != 0 and hand.phase != "over":
            hand.act(min(hand.legal))
    assert hand.phase == "over"
    assert hand.penalties == [43, 0, 0]
    assert hand.totals == [44, 2, 3]


# --- the match --------------------------------------------------------------------------------


def test_totals__added_when_the_hand_is_over_not_before():
    hand = Hand(WORKED_DEAL, 0, totals=[5, 6, 7]).do(WORKED_PASS)
    cards = WORKED_PLAY.split()
    hand.do(" ".join(cards[:-1]))
    assert hand.totals == [5, 6, 7]
    assert hand.block(1, "totals") == [6, 7, 5]
    hand.do(cards[-1])
    assert hand.totals == [22, 19, 20]
    assert hand.block(1, "totals") == [19, 20, 22]


def test_totals__views_clip_to_int8_and_the_state_does_not():
    hand = worked_hand(totals=[125, 0, -200])
    assert hand.totals == [142, 13, -187]
    assert hand.block(2, "totals") == [-128, 127, 13]


@pytest.mark.parametrize(
    ("totals", "over"),
    [([82, 86, 86], False), ([83, 0, 0], True), ([0, 87, 0], True), ([0, 0, 99], True)],
)
def test_match__ends_when_a_total_reaches_100(totals, over):
    hand = Hand(WORKED_DEAL, 0, totals=totals, match=True).do(WORKED_PASS)
    cards = WORKED_PLAY.split()
    assert [hand.act(card) for card in cards] == [False] * 50 + [over]


def test_match__no_end_in_the_middle_of_a_hand():
    hand = Hand(WORKED_DEAL, 0, totals=[99, 0, 0], match=True).do(WORKED_PASS)
    assert not any(hand.act(card) for card in WORKED_PLAY.split()[:-1])


@pytest.mark.parametrize(
    ("totals", "shares"),
    [
        ([83, 0, 1], [0, 1, 0]),
        ([83, 9, 9], [0, 1 / 2, 1 / 2]),
        ([56, 60, 99], [1 / 2, 1 / 2, 0]),
        ([83, 87, 87], [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_match__lowest_wins_and_ties_share(totals, shares):
    hand = worked_hand(totals=totals, match=True, reward="match")
    assert hand.rewards == pytest.approx(shares)
    assert hand.rewards.sum() == pytest.approx(1)


def test_match__deal_moves_left_and_totals_stay():
    hand = worked_hand(totals=[1, 2, 3], match=True)
    assert hand.phase == "passing"
    assert hand.state.dealer == 1
    assert hand.turn == 2
    assert hand.totals == [18, 15, 16]
    assert hand.penalties == [0, 0, 0]
    assert [len(hand.holding(seat)) for seat in range(3)] == [17, 17, 17]


# --- history ----------------------------------------------------------------------------------


def test_history__own_pass_received_and_all_plays_in_order():
    hand = Hand((A, B, C), dealer=2)
    hand.do("QS AS AH")
    assert hand.history(0)[:4].tolist() == [
        [0, 2, ID["AH"]], [0, 2, ID["QS"]], [0, 2, ID["AS"]], [-1, -1, -1]
    ]  # fmt: skip
    assert (hand.history(2) == -1).all()
    hand.do("KD JD 9D KC JC 9C").do("AC 9C 3C")
    rows = [(0, 2, c) for c in ids("9D JD KD")] + [(1, 1, c) for c in ids("9C JC KC")]
    rows += [(2, 2, ID["AC"]), (2, 0, ID["9C"]), (2, 1, ID["3C"])]
    assert hand.history(1)[:9].tolist() == [list(row) for row in rows]
    assert (hand.history(1)[9:] == -1).all()


def test_history__room_for_the_whole_hand_and_no_more():
    assert history_rows(Rules()) == 57
    assert (worked_hand().history(0) != -1).all()


# --- lock-step with the oracle ------------------------------------------------------------------


def expected_views(games, layout):
    """What the oracle says every seat sees, (N, seats, F) int8."""
    starts = {name: block.start for name, block in layout.blocks.items()}
    views = np.zeros((len(games), 3, layout.size), np.int8)
    for i, game in enumerate(games):
        for seat in range(3):
            oracle.encode(game.view(seat), starts, views[i, seat])
    return views


def held(tables, i):
    """What the seats of a table hold, by their own views."""
    rows = tables.views()[i, :, tables.layout["holding"]]
    return [names(np.flatnonzero(row)) for row in rows]


def expected_masks(games):
    masks = np.zeros((len(games), 52), np.int8)
    for i, game in enumerate(games):
        masks[i, [ID[card] for card in game.legal()]] = 1
    return masks


def places(states):
    """In how many places each card lies, (N, 52), summed from the raw records."""
    planes = states["holding"][:, :3].sum(axis=2) + states["captured"][:, :3].sum(axis=2)
    passing = states["phase"] == engine.PASSING
    picked = states["given"][:, :3].sum(axis=2) * passing[:, None]
    bits = np.arange(52)
    count = ((planes[..., None] >> bits & 1) + (picked[..., None] >> bits & 1)).sum(axis=1)
    for state, row in zip(states, count, strict=True):
        end = state["num_played"]
        np.add.at(row, state["cards"][end - state["in_trick"] : end], 1)
    return count


@pytest.mark.parametrize(
    ("seed", "episode", "hands", "bot", "tables"),
    [(7, "hand", 1, None, 500), (8, "match", 8, None, 60), (9, "hand", 1, "duck", 150)],
)
def test_lockstep__random_hands_agree_with_the_oracle(seed, episode, hands, bot, tables):
    lockstep(seed, episode, hands, bot, tables)


def lockstep(seed, episode, hands, bot, count):
    """Mover, mask, taker, penalties, totals, views and history of every seat, every ply."""
    tables = Tables(count, seed=seed, episode=episode, history=True)
    player = bot and make_bot(bot)
    generator = np.random.default_rng(seed)
    games = [Game(*dealt(seed, i)) for i in range(count)]
    number = [0] * count
    pack = np.array([card in oracle.THREE_PLAYER.pack for card in CARDS])
    history, expected = np.zeros((2, history_rows(Rules()), 3), np.int8)
    for ply in range(60 * hands):
        obs, seat = tables.observe()
        states = tables.save()
        assert seat.tolist() == [game.mover for game in games]
        assert np.array_equal(obs["action_mask"], expected_masks(games))
        views = expected_views(games, tables.layout)
        assert np.array_equal(tables.views(), views)
        assert np.array_equal(obs["observation"], views[np.arange(count), seat])
        assert tables.totals().tolist() == [game.totals for game in games]
        assert states["penalties"][:, :3].tolist() == [game.penalties for game in games]
        assert np.array_equal(places(states), np.broadcast_to(pack, (count, 52)))
        for i, game in enumerate(games):
            oracle.encode_history(game.history(game.mover), expected)
            assert np.array_equal(obs["history"][i], expected)
        for i in range(ply % 5, count, 5):
            for observer in range(3):
                engine.write_history(states[i], tables._args[0][0], observer, history)
                oracle.encode_history(games[i].history(observer), expected)
                assert np.array_equal(history, expected)
        actions = player.act(obs, tables.keys()) if player else random_legal(
            obs["action_mask"], generator
        )  # fmt: skip
        rewards, done = tables.step(actions)
        movers = tables.observe()[1]
        for i, game in enumerate(games):
            before = game.penalties.copy()
            taker = game.act(CARDS[actions[i]])
            gained = [p - b for p, b in zip(game.penalties, before, strict=True)]
            assert rewards[i].tolist() == [-points for points in gained]
            assert taker is not None or not any(gained)
            if game.phase != "over":
                assert not done[i]
                if taker is not None:
                    assert movers[i] == taker
                continue
            assert sum(game.penalties) == 43
            assert done[i] == (episode == "hand" or game.match_over())
            number[i] += 1
            cards = held(tables, i)
            if done[i]:
                games[i] = Game(cards, dealt(seed, i, number[i])[1])
            else:
                games[i] = Game(cards, game.next_dealer(), game.totals)


def test_lockstep__given_deals_up_to_the_last_view():
    """One table at a time, with odd totals, and the views of the finished hand."""
    generator = np.random.default_rng(11)
    layout = layout_of()
    expected = np.zeros((history_rows(Rules()), 3), np.int8)
    for number in range(40):
        cards, _ = dealt(11, number)
        dealer = number % 3
        totals = generator.integers(-150, 150, 3).tolist()
        hand, game = Hand(cards, dealer, totals), Game(cards, dealer, totals)
        while game.phase != "over":
            card = names(random_legal(hand.mask[None], generator))[0]
            over = hand.act(card)
            game.act(card)
            assert over == (game.phase == "over")
            assert np.array_equal(hand.views, expected_views([game], layout)[0])
            assert (hand.phase, hand.legal) == (game.phase, game.legal())
            assert (hand.penalties, hand.totals) == (game.penalties, game.totals)
            assert [hand.captured(seat) for seat in range(3)] == game.taken
            assert game.places() == sorted(oracle.THREE_PLAYER.pack)
        for seat in range(3):
            oracle.encode_history(game.history(seat), expected)
            assert np.array_equal(hand.history(seat), expected)


# --- deals as pure functions ---------------------------------------------------------------------


GOLDEN = (
    ("5C 6C 7C KC 4D 7D 9D JD QD AD 7H KH 3S 9S JS QS KS", 0),
    ("4C QC KC 3D 5D 6D 10D 3H 5H 7H 8H JH AH 4S JS KS AS", 2),
)


def test_deals__golden():
    """Seeds mean the same deals for good."""
    cards, dealer = dealt(0)
    assert (" ".join(cards[0]), dealer) == GOLDEN[0]
    cards, dealer = dealt(2**64 - 1, 12345, 678)
    assert (" ".join(cards[0]), dealer) == GOLDEN[1]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**40), st.integers(0, 2**40))
@settings(max_examples=200, deadline=None)
def test_deals__always_a_partition_and_the_same_twice(seed, table, hand):
    cards, dealer = deal(seed, table, hand)
    assert cards.shape == (3, 17)
    assert cards.dtype == np.int8
    assert (np.diff(cards, axis=1) > 0).all()
    assert sorted(cards.ravel()) == list(range(1, 52))
    assert type(dealer) is int
    assert 0 <= dealer < 3
    again = deal(seed, table, hand)
    assert np.array_equal(again.cards, cards)
    assert again.dealer == dealer


def test_deals__differ_by_seed_table_and_hand():
    keys = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (2**63, 0, 0), (0, 2**40, 0)]
    keys += [(seed, table, hand) for seed in (5, 6) for table in (7, 8) for hand in range(2, 90)]
    assert len({deal(*key).cards.tobytes() for key in keys}) == len(keys)


def chi_square(counts, expected):
    return (((counts - expected) ** 2) / expected).sum()


def test_deals__every_card_goes_everywhere_equally_often():
    """Chi-square of each card's seat, 2 degrees of freedom; 51 cards at 0.001 / 51 each."""
    count = 30_000
    tables = Tables(count, seed=2024)
    held = tables.views()[:, :, tables.layout["holding"]].sum(axis=0, dtype=np.int64)
    assert held[:, 0].tolist() == [0, 0, 0]
    statistics = [chi_square(held[:, card], count / 3) for card in range(1, 52)]
    assert max(statistics) < 21.7
    assert chi_square(held[:, ID["QS"]], count / 3) < 13.8
    assert 1.0 < np.mean(statistics) < 3.0  # too even would be as odd


def test_deals__dealers_equally_often_and_free_of_the_cards():
    count = 30_000
    tables = Tables(count, seed=2025)
    dealer = tables.views()[:, 0, tables.layout["dealer"]].argmax(axis=1)
    holder = tables.views()[:, :, tables.layout["holding"].start + ID["QS"]].argmax(axis=1)
    assert chi_square(np.bincount(dealer), count / 3) < 13.8
    joint = np.bincount(3 * dealer + holder, minlength=9)
    assert chi_square(joint, count / 9) < 26.1  # 8 degrees of freedom at 0.001


@pytest.mark.parametrize("vary", ["seed", "table", "hand"])
def test_deals__neighbouring_numbers_are_independent(vary):
    """Who holds Q♠ in one deal says nothing of the next seed, table or hand."""
    count = 6_000
    keys = [{"seed": 3, "table": 4, "hand": 5} | {vary: k} for k in range(count)]
    deals = [deal(**key) for key in keys]
    holder = np.array([np.flatnonzero((d.cards == ID["QS"]).any(axis=1))[0] for d in deals])
    dealer = np.array([d.dealer for d in deals])
    for who in (holder, dealer):
        pairs = np.bincount(3 * who[:-1] + who[1:], minlength=9)
        assert chi_square(pairs, (count - 1) / 9) < 26.1


def hands_dealt(bot, episode, hands=15):
    """What the seats were dealt, hand by hand, while a bot plays: (hands, tables, seats, 17)."""
    tables = Tables(20, seed=5, episode=episode)
    cards = []
    for _ in range(hands):
        holding = tables.views()[:, :, tables.layout["holding"]]
        cards.append(holding.nonzero()[2].reshape(20, 3, 17))
        play(tables, 60, bot)
    return np.array(cards)


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_deals__the_same_whatever_the_bots_play(episode):
    assert np.array_equal(hands_dealt("random", episode), hands_dealt("duck", episode))


@pytest.mark.parametrize("episode", ["hand", "match"])
def test_deals__hand_h_of_table_t_is_deal_seed_t_h(episode):
    for number, cards in enumerate(hands_dealt("random", episode, 5)):
        assert np.array_equal(cards, [deal(5, table, number).cards for table in range(20)])


def test_deals__global_generators_neither_read_nor_written():
    def run():
        tables = Tables(5, seed=1, episode="match")
        play(tables, 130)
        return tables.views().tobytes() + deal(3).cards.tobytes()

    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tobytes()
    first = run()
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before
    random.seed(2)
    np.random.seed(2)
    assert run() == first


@pytest.mark.parametrize("seed", [-1, 2**64, 2**70])
def test_seed__out_of_range_refused(seed):
    with pytest.raises(ValueError, match=rf"lies in 0 … 2\*\*64 - 1, not {seed}"):
        check_seed(seed)
    with pytest.raises(ValueError, match="lies in"):
        deal(seed)


@pytest.mark.parametrize("seed", [None, 1.0, "1", True, np.True_, [1]])
def test_seed__only_integers(seed):
    with pytest.raises(ValueError, match="is not an integer"):
        check_seed(seed)


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.uint64(2**64 - 1), np.int8(3), np.array(7)])
def test_seed__any_integer_type(seed):
    assert check_seed(seed) == int(seed)


def test_deal__unknown_profile_refused():
    with pytest.raises(ValueError, match="no profile 'nope'"):
        deal(0, rules="nope")


# --- deals handed in ------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_custom_deal__reaches_the_seats(dealer):
    hand = Hand((A, B, C), dealer)
    for seat, cards in enumerate((A, B, C)):
        assert hand.holding(seat) == hand.block(seat, "holding") == oracle.hand_of(cards)


def test_custom_deal__names_ids_or_both():
    rules = Rules()
    text = deck_order([A, B, C], rules)
    mixed = deck_order([A.lower(), ids(B), np.array(ids(C))], rules)
    assert np.array_equal(text, mixed)


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ((A, B), "cards of 3 seats, not of 2"),
        ((A, B, C, ""), "cards of 3 seats, not of 4"),
        ((A, B, C.replace("KC", "2C")), "seat 2 can't hold 2♣: not in the pack"),
        ((A, B, C.replace("KC", "AC")), "the deal has A♣ at seats 0 and 2"),
        ((A, B.replace("KD", "9D"), C), "the deal has 9♦ twice at seat 1"),
        ((A, B, C.replace("KC ", "")), "seat 2 is dealt 16 cards instead of 17; nobody holds K♣"),
        ((A + " KC", B, C.replace("KC ", "")), "seat 0 is dealt 18 cards instead of 17$"),
        ((A, B, C.replace("KC", "KX")), "'KX' is not a card"),
        ((A, B, ""), "seat 2 is dealt 0 cards instead of 17; nobody holds 3♣ 4♣"),
    ],
)
def test_custom_deal__refused_in_words(cards, words):
    with pytest.raises(ValueError, match=words):
        deck_order(cards, Rules())
