"""Nothing a seat is shown depends on cards that it cannot know.

A hand is stopped somewhere, the cards hidden from one observer are dealt anew among the
other seats in a way that fits all the observer has seen, and the hand is played again: the
observer's view, mask, history and keys must be the same bytes.

What the observer knows: its own cards; what it gave (its right neighbour holds it until it is
played) and, once all have committed, what it got; every card played; every void shown. It
does not know what its two neighbours were dealt, what the right one gave the left one, nor in
which order any of them picked.
"""

import numpy as np
import pytest

from black_maria.tables import Tables
from helpers import Hand, dealt
from oracle import ID, THREE_PLAYER, Game, suit

PASSES = 9


def random_game(seed: int, plies: int) -> tuple[list[list[str]], int, list[str]]:
    """A deal, its dealer, and the first cards of random play, from the oracle."""
    generator = np.random.default_rng(seed)
    deal, dealer = dealt(seed)
    game = Game(deal, dealer)
    actions = []
    for _ in range(plies):
        actions.append(generator.choice(sorted(game.legal())))
        game.act(actions[-1])
    return deal, dealer, actions


def play_out(deal, dealer, actions) -> Hand:
    hand = Hand(deal, dealer)
    for card in actions:
        hand.act(card)
    return hand


def redeal(deal, dealer, actions, observer, generator):
    """Another deal and other actions that look the same to the observer."""
    game = Game(deal, dealer)
    for card in actions:
        game.act(card)
    if game.phase == "passing":
        return _redeal_passing(game, deal, actions, observer, generator)
    return _redeal_playing(game, deal, actions, observer, generator)


def _redeal_passing(game, deal, actions, observer, generator):
    """Everything the others hold, and what they picked of it, may be anything."""
    hidden = sorted(THREE_PLAYER.pack - set(deal[observer]))
    generator.shuffle(hidden)
    new = list(deal)
    for seat in range(3):
        if seat != observer:
            new[seat], hidden = hidden[:17], hidden[17:]
    again = []
    for k, card in enumerate(actions):
        seat = (game.dealer + 1 + k // 3) % 3
        again.append(card if seat == observer else new[seat][k % 3])
    return new, again


def _redeal_playing(game, deal, actions, observer, generator):
    """The neighbours' cards not yet played, and what the right one gave the left one."""
    left, right = (observer + 1) % 3, (observer + 2) % 3
    known = {card: right for card in game.given[observer] if card in game.held[right]}
    hidden = (game.held[left] | game.held[right]) - set(known)
    held = {seat: {card for card in known if known[card] == seat} for seat in (left, right)}
    size = {seat: len(game.held[seat]) for seat in (left, right)}
    free = []
    for card in hidden:
        may = [seat for seat in (left, right) if (seat, suit(card)) not in game.voids]
        assert may
        if len(may) == 1:
            held[may[0]].add(card)
        else:
            free.append(card)
    free.sort()
    generator.shuffle(free)
    room = size[left] - len(held[left])
    held[left] |= set(free[:room])
    held[right] |= set(free[room:])
    assert {seat: len(held[seat]) for seat in held} == size

    after = {s: held[s] | {c for seat, c in game.plays if seat == s} for s in (left, right)}
    got = set(generator.choice(sorted(after[left]), 3, replace=False).tolist())
    new = list(deal)
    new[left] = sorted(after[left] - got | game.given[left])
    new[right] = sorted(after[right] - game.given[observer] | got)
    picks = {
        observer: [card for card in actions[:PASSES] if card in game.given[observer]],
        left: generator.permutation(sorted(game.given[left])).tolist(),
        right: generator.permutation(sorted(got)).tolist(),
    }
    order = [(game.dealer + 1 + k) % 3 for k in range(3)]
    return new, [card for seat in order for card in picks[seat]] + list(actions[PASSES:])


def shown(hand: Hand, observer: int) -> list[bytes]:
    """All that the environment tells one seat, and what it tells everybody."""
    own_mask = hand.mask if hand.turn == observer and hand.phase != "over" else hand.mask * 0
    public = [hand.turn, hand.phase, hand.penalties, hand.totals, hand.rewards.tolist()]
    arrays = [hand.views[observer], own_mask, hand.history(observer)]
    return [array.tobytes() for array in arrays] + [repr(public).encode()]


@pytest.mark.parametrize("observer", [0, 1, 2])
@pytest.mark.parametrize("plies", [*range(PASSES + 1), *range(10, 60, 3), 20, 33, 46, 58, 59, 60])
def test_hidden_cards_dealt_anew_show_nowhere(observer, plies):
    for seed in range(10):
        generator = np.random.default_rng([seed, plies, observer])
        deal, dealer, actions = random_game(seed, plies)
        truth = shown(play_out(deal, dealer, actions), observer)
        for _ in range(3):
            other = redeal(deal, dealer, actions, observer, generator)
            assert shown(play_out(other[0], dealer, other[1]), observer) == truth


@pytest.mark.parametrize("plies", [0, 2, 5, 8, 9, 12, 30])
def test_the_redeals_are_real(plies):
    """Guards the test above: another deal, and the seats it happened to see the difference."""
    generator = np.random.default_rng(plies)
    for seed in range(10):
        deal, dealer, actions = random_game(seed, plies)
        for observer in range(3):
            new, again = redeal(deal, dealer, actions, observer, generator)
            assert set(new[observer]) == set(deal[observer])
            assert [set(cards) for cards in new] != [set(cards) for cards in deal]
            hands = play_out(deal, dealer, actions), play_out(new, dealer, again)
            for seat in range(3):
                same = shown(hands[0], seat)[0] == shown(hands[1], seat)[0]
                assert same == (seat == observer)


def test_the_redeals_reach_what_may_be_anywhere():
    """Over many redeals each hidden card is seen in both other seats, each known one in one."""
    deal, dealer, actions = random_game(3, 21)
    generator = np.random.default_rng(0)
    game = Game(deal, dealer)
    for card in actions:
        game.act(card)
    seen = {}
    for _ in range(60):
        new, again = redeal(deal, dealer, actions, 0, generator)
        hand = play_out(new, dealer, again)
        for seat in (1, 2):
            for card in hand.holding(seat):
                seen.setdefault(card, set()).add(seat)
    for card, seats in seen.items():
        if card in game.given[0]:
            assert seats == {2}
        elif not any((seat, suit(card)) in game.voids for seat in (1, 2)):
            assert seats == {1, 2}


@pytest.mark.parametrize("committed", range(1, PASSES))
def test_pass__others_picks_stay_hidden_until_all_have_committed(committed):
    """Swapping what the others picked, same deal, changes nothing that the observer sees."""
    deal, dealer, _ = random_game(5, 0)
    seats = [(dealer + 1 + k // 3) % 3 for k in range(PASSES)]
    first = [sorted(deal[seat])[k % 3] for k, seat in enumerate(seats)][:committed]
    other = [sorted(deal[seat])[10 + k % 3] for k, seat in enumerate(seats)][:committed]
    for observer in range(3):
        mixed = [f if s == observer else o for f, o, s in zip(first, other, seats, strict=False)]
        one, two = play_out(deal, dealer, first), play_out(deal, dealer, mixed)
        assert shown(one, observer) == shown(two, observer)


def test_pass__what_the_right_neighbour_gave_the_left_one_stays_hidden():
    deal, dealer, actions = random_game(6, PASSES)
    observer = (dealer + 1) % 3  # picks first, then its left neighbour, then its right one
    left, right = (observer + 1) % 3, (observer + 2) % 3
    new = list(deal)
    given, kept = actions[6], next(card for card in deal[left] if card not in actions)
    new[right] = [kept if card == given else card for card in deal[right]]
    new[left] = [given if card == kept else card for card in deal[left]]
    hands = (
        play_out(deal, dealer, actions),
        play_out(new, dealer, [*actions[:6], kept, *actions[7:]]),
    )
    assert shown(hands[0], observer) == shown(hands[1], observer)
    assert hands[0].holding(left) == hands[1].holding(left)
    assert shown(hands[0], left) != shown(hands[1], left)


@pytest.mark.parametrize("plies", [0, 4, 8, 9, 25, 50])
def test_tables__what_the_acting_seat_gets_hides_as_well(plies):
    """The same through ``Tables``: observation, mask, history and key of the seat to move."""
    for seed in range(10):
        generator = np.random.default_rng([seed, plies])
        deal, dealer, actions = random_game(seed, plies)
        hands = [play_out(deal, dealer, actions)]
        observer = hands[0].turn
        hands += [
            play_out(new, dealer, again)
            for new, again in (redeal(deal, dealer, actions, observer, generator) for _ in range(3))
        ]
        tables = Tables(4, history=True)
        states = np.concatenate([hand.states for hand in hands])
        tables.load(states)
        obs, seat = tables.observe()
        for array in (*obs.values(), seat, tables.keys()):
            assert len({row.tobytes() for row in array}) == 1
        assert obs["action_mask"].any(axis=1).all()


def test_the_test_would_notice_a_leak():
    """A view with one bit that depends on another's holding is told apart."""
    deal, dealer, actions = random_game(1, 20)
    generator = np.random.default_rng(1)
    differs = 0
    for _ in range(20):
        new, again = redeal(deal, dealer, actions, 0, generator)
        hands = play_out(deal, dealer, actions), play_out(new, dealer, again)
        odd = [sum(ID[card] for card in hand.holding(1)) % 2 for hand in hands]
        leaking = [(shown(hand, 0), bit) for hand, bit in zip(hands, odd, strict=True)]
        differs += leaking[0] != leaking[1]
    assert 0 < differs < 20  # some redeals leave that bit alone
