"""Playing for the match: chances to win worked out by hand, rewards, starts, rules refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables
from black_maria_agents import load_agent
from black_maria_agents.training import PPOConfig, TrainConfig, Training, run
from black_maria_agents.training.match import (
    WIN_POINTS,
    MatchPlay,
    chances_at,
    check_match,
    endings,
    hand_outcomes,
    stakes,
    totals_reached,
    win_chances,
)
from black_maria_agents.training.selfplay import SelfPlay
from test_universal import policy

RULES = Rules()
OUTCOMES = np.array([[2, 0, 0], [0, 1, 1], [0, 2, 0], [0, 2, 0]])


def by_hand(totals, limit):
    """Shares of the win, dealer's first, by following every course of the match."""
    shares = [Fraction(0)] * 3
    for points in OUTCOMES.tolist():
        after = [a + b for a, b in zip(totals, points, strict=True)]
        if max(after) >= limit:
            best = [total == min(after) for total in after]
            then = [Fraction(won, sum(best)) for won in best]
        else:
            left_deals = by_hand(after[1:] + after[:1], limit)
            then = left_deals[-1:] + left_deals[:-1]
        shares = [a + b / len(OUTCOMES) for a, b in zip(shares, then, strict=True)]
    return shares


@pytest.mark.parametrize("totals", [(0, 0, 0), (0, 2, 4), (4, 1, 0), (3, 3, 2)])
def test_chances__are_those_of_every_course_followed_by_hand(totals):
    chances = win_chances(OUTCOMES, 5)
    assert chances[totals] == pytest.approx([float(share) for share in by_hand(list(totals), 5)])


def test_chances__add_up_to_one_match_everywhere():
    assert np.allclose(win_chances(OUTCOMES, 7).sum(axis=-1), 1)


def test_totals__begin_at_nothing_and_stay_below_the_limit():
    reached = totals_reached(OUTCOMES, 7, matches=50)
    assert (reached[:50] == 0).all()
    assert reached.max() < 7
    second = {tuple(totals) for totals in reached[50:100].tolist()}
    assert second == {(0, 0, 2), (1, 1, 0), (2, 0, 0)}, "the dealer's left deals next"


def test_outcomes__are_the_points_from_the_dealer_on():
    duck = load_agent("duck")
    points = hand_outcomes(duck, RULES, 60)
    assert points.shape == (60, 3)
    assert (points.sum(axis=1) == 43).all()
    tables = Tables(60, RULES, seed=2**63 - 1, deal_on=False)
    dealer = tables.states()["dealer"].astype(int)
    while not tables.step(duck.act(tables.observe()[0], tables.keys()))[1].all():
        pass
    penalties = tables.states()["penalties"]
    assert (points[:, 0] == penalties[np.arange(60), dealer]).all()
    assert (points[:, 1] == penalties[np.arange(60), (dealer + 1) % 3]).all()


def test_chances_at__are_the_winners_shares_once_a_match_is_over():
    chances = win_chances(OUTCOMES, 5)
    over = chances_at(chances, np.array([[5, 2, 2], [1, 9, 3]]), np.array([1, 1]))
    assert over.tolist() == [[0, 0.5, 0.5], [1, 0, 0]]


@pytest.mark.parametrize("dealer", [0, 1, 2, 3])
def test_chances_at__count_the_seats_from_the_dealer(dealer):
    chances = win_chances(OUTCOMES, 5)
    (found,) = chances_at(chances, np.array([[3, 1, 0]]), np.array([dealer]))
    from_dealer = np.roll([3, 1, 0], -dealer)
    assert np.roll(found, -dealer) == pytest.approx(chances[tuple(from_dealer)])


def test_stakes__are_what_a_hand_moves_by_hand():
    """Limit 3: from 2 : 2 : 0 the last seat has won but for a hand's points to it alone."""
    chances = win_chances(OUTCOMES, 3)
    totals = np.array([[2, 2, 0], [0, 0, 0], [2, 2, 0]])
    moved = stakes(chances, totals, OUTCOMES, 4000)
    assert moved[0] == moved[2] == pytest.approx(0)  # whoever gets them, the last seat has won
    after = [chances_at(chances, np.array([points]), np.array([1]))[0] for points in OUTCOMES]
    assert moved[1] == pytest.approx(np.var(after, axis=0).sum(), rel=0.1)


def test_match_play__hands_start_where_much_is_at_stake():
    games = MatchPlay(RULES, hand_outcomes(load_agent("duck"), RULES, 60), tables=4, seed=3)
    reached, likely = games._reached, games._likely
    assert likely.sum() == pytest.approx(1)
    late = reached.max(axis=1) >= 80
    assert likely[late].sum() > 1.5 * late.mean()
    assert likely.min() >= 0


def test_endings__share_out_what_is_still_out_as_whole_hands_do():
    found = endings(OUTCOMES, 40)
    assert (found.sum(axis=2) == [[0], [1], [2]]).all()
    assert found.min() == 0
    whole = {tuple(ending) for ending in found[2].tolist()}
    assert whole == {tuple(points) for points in OUTCOMES.tolist()}


def test_match_play__a_hands_rewards_add_up_to_its_change_of_the_chance(monkeypatch):
    outcomes = hand_outcomes(load_agent("duck"), RULES, 60)
    games = MatchPlay(RULES, outcomes, tables=40, seed=3)
    seen, changes = [], games._changes

    def watched(*args):
        seen.extend(args)
        return changes(*args)

    monkeypatch.setattr(games, "_changes", watched)
    rollout = games.collect(load_agent("champion").policy)
    points, before, dealer = seen
    after = before - points.sum(axis=0).astype(int)
    change = chances_at(games.chances, after, dealer + 1) - chances_at(
        games.chances, before, dealer
    )
    assert rollout.rewards.sum(axis=0) == pytest.approx(WIN_POINTS * change, abs=1e-3)
    assert (rollout.rewards[~points.any(axis=2)] == 0).all()
    assert np.count_nonzero(rollout.rewards.any(axis=2).sum(axis=0) > 3) > 30  # trick by trick


def test_match_play__who_has_lost_the_match_has_nothing_more_to_lose_in_the_hand():
    """In the last hand, from 95 : 60 : 50, the first seat takes the Queen, and later a heart."""
    outcomes = hand_outcomes(load_agent("duck"), RULES, 60)
    games = MatchPlay(RULES, outcomes, tables=1, seed=3)
    fell = [[1, 0, 0], [13, 0, 0], [1, 0, 0], [0, 0, 17], [0, 11, 0]]
    points = -np.array(fell, np.float32)[:, None]
    changes = games._changes(points, np.array([[95, 60, 50]]), np.array([0]))[:, 0]
    before = games.chances[95, 60, 50]
    assert changes[:2, 0].sum() == pytest.approx(-before[0])
    assert (changes[2:, 0] == 0).all()
    assert changes[3, 2] < 0 < changes[3, 1]  # 67 to 60 points, and eleven still out
    assert changes.sum(axis=0) == pytest.approx([0, 0, 1] - before)  # 71 to 67


def test_match__a_critic_of_hands_begins_anew_and_goes_on_when_resumed(tmp_path, monkeypatch):
    duck = load_agent("duck")
    monkeypatch.setattr(run, "hand_outcomes", lambda *_: hand_outcomes(duck, RULES, 60))
    settings = TrainConfig(
        tables=8, width=16, decisions=2000, threads=1, precision="float32",
        ppo=PPOConfig(minibatch=100),
    )  # fmt: skip
    of_hands = Training(settings)
    of_hands.save(tmp_path / "hands.pt")
    assert of_hands.ppo.critic.value.weight.any()
    start = {"episode": "match", "init_from": str(tmp_path / "hands.pt")}
    training = Training(replace(settings, **start))
    critic = training.ppo.critic
    assert not critic.value.weight.any()
    assert torch.equal(critic.body.trunk_in.weight, of_hands.ppo.critic.body.trunk_in.weight)
    training.step()
    training.save(tmp_path / "match.pt")
    resumed = Training.resume(tmp_path / "match.pt").ppo.critic
    assert critic.value.weight.any()
    assert torch.equal(resumed.value.weight, critic.value.weight)


def test_match_play__a_hands_reward_by_hand(monkeypatch):
    games = MatchPlay(RULES, hand_outcomes(load_agent("duck"), RULES, 60), tables=200, seed=3)
    begin, collect, found = games.tables.start, SelfPlay.collect, {}

    def noting(**given):
        found.update(given)
        begin(**given)

    def points(*arguments):
        rollout = collect(*arguments)
        found["points"] = -rollout.rewards.sum(axis=0).astype(int)
        return rollout

    monkeypatch.setattr(games.tables, "start", noting)
    monkeypatch.setattr(SelfPlay, "collect", points)
    gained = games.collect(load_agent("champion").policy).rewards.sum(axis=0)
    reached = {tuple(totals) for totals in games._reached.tolist()}
    ended = 0
    for row, dealer in enumerate(found["dealer"]):
        before = found["totals"][row]
        after = before + found["points"][row]
        seats = [(dealer + place) % 3 for place in range(3)]
        assert tuple(before[seats].tolist()) in reached, "as a match reaches them, dealer's first"
        chance, then = np.zeros(3), np.zeros(3)
        chance[seats] = games.chances[tuple(before[seats])]
        if after.max() >= 100:
            ended += 1
            then = (after == after.min()) / (after == after.min()).sum()
        else:
            left = [*seats[1:], seats[0]]  # who deals next
            then[left] = games.chances[tuple(after[left])]
        assert gained[row] == pytest.approx(100 * (then - chance), abs=1e-3)
    assert 0 < ended < 200


def test_match_play__starts_follow_from_the_seed_and_differ_between_tables():
    outcomes = hand_outcomes(load_agent("duck"), RULES, 60)
    agent = load_agent("champion").policy

    def starts(**changes):
        games = MatchPlay(RULES, outcomes, **({"tables": 30, "seed": 3} | changes))
        games.seek(4)
        return games.collect(agent).features[0].numpy()

    assert (starts() == starts()).all()
    assert (starts() != starts(first_table=30)).any()
    assert len({row.tobytes() for row in starts()}) == 30


def test_chances__are_borne_out_by_matches():
    """Totals after some hands of real matches, and how often the seats then won."""
    duck, matches = load_agent("duck"), 600
    outcomes = hand_outcomes(duck, RULES, 2000)
    chances = win_chances(outcomes, 100)
    tables = Tables(matches, RULES, seed=9, episode="match", deal_on=False)
    states, playing = tables.states(), np.ones(matches, np.bool_)
    leads, found = np.full(matches, -1), np.zeros(matches)
    while playing.any():
        at_start = playing & (states["match_hand"] == 4) & (leads < 0)
        totals = tables.totals()
        for row in np.flatnonzero(at_start):
            dealer = int(states["dealer"][row])
            lead = int(totals[row].argmin())
            place = (lead - dealer) % 3
            at = tuple(totals[row][(dealer + np.arange(3)) % 3])
            leads[row], found[row] = lead, chances[at][place]
        actions, still = np.zeros(matches, np.int64), np.flatnonzero(playing)
        part = {name: values[still] for name, values in tables.observe()[0].items()}
        actions[still] = duck.act(part, tables.keys()[still])
        playing &= ~tables.step(actions, playing)[1]
    rows = leads >= 0
    won = states["winners"][:, None] >> np.arange(3) & 1
    share = (won / won.sum(axis=1, keepdims=True))[np.arange(matches), leads][rows]
    error = share.std() / np.sqrt(rows.sum())
    assert rows.sum() > 400
    assert abs(share.mean() - found[rows].mean()) < 4 * error
    assert found[rows].mean() > 0.5


@pytest.mark.parametrize(
    "rules",
    [Rules.profile("omnibus"), Rules.profile("four_player"), Rules(moon="subtract"),
     Rules(match_points=1000)],
)  # fmt: skip
def test_match__rules_of_other_kinds_are_refused_in_words(rules):
    with pytest.raises(ValueError, match=r"episode=match: .*(three seats|more than 200)"):
        check_match(rules)


def test_match_play__reads_the_totals():
    assert "totals" in policy().features.blocks
