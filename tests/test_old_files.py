"""Files that an earlier version wrote: they load, play, go on and count as they did there.

``data/README.md`` says what they hold; ``data/old_files.json`` what that version made of them.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import golden
from black_maria import Rules, black_maria_v0, record
from black_maria_agents import CheckpointError, load_agent
from black_maria_agents.measuring import Arena, both_ways
from black_maria_agents.training import Training

DATA = Path(__file__).parent / "data"
THEN = json.loads((DATA / "old_files.json").read_text())
RULES = Rules.profile("three_player")
HANDS = DATA / "old_hands.jsonl"


# --- checkpoints ------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["old_agent.pt", "old_stripped.pt"])
def test_checkpoint__plays_the_cards_that_it_played(file):
    rows = {what: values[::3] for what, values in golden.trace(RULES, "hand")[1].items()}
    found = golden.policy_cards(str(DATA / file), RULES, rows, THEN["cards"])
    assert found == THEN["cards"]


def summary(run):
    """The sum and the norm of every parameter, which no order of inputs changes."""
    networks = {"policy": run.ppo.policy, "critic": run.ppo.critic}
    return {
        f"{name}.{key}": [float(weights.double().sum()), float(weights.double().norm())]
        for name, network in networks.items()
        for key, weights in network.state_dict().items()
    }


def close(a, b):
    """Nearly the same: another processor rounds otherwise."""
    return np.allclose(a, b, rtol=1e-3, atol=1e-4)


def test_checkpoint__resumed_it_learns_what_it_would_have_learnt():
    """Weights, optimiser, opponents, deals, choices and schedules after one more update."""
    run = Training.resume(DATA / "old_agent.pt")
    before = summary(run)
    assert run.decisions == 28800
    run.step()
    after = summary(run)
    assert run.decisions == 29760
    assert after.keys() == THEN["resumed"].keys()
    for name, expected in THEN["resumed"].items():
        assert close(after[name], expected), name
        assert not close(before[name], expected), f"{name} can't tell whether it was trained"
    for name, expected in THEN["figures"].items():
        assert close(run.figures[name], expected), name


def test_checkpoint__stripped_it_is_an_agent_alone():
    with pytest.raises(CheckpointError, match="an agent alone"):
        Training.resume(DATA / "old_stripped.pt")


# --- recorded hands ---------------------------------------------------------------------------


def test_hands__are_read_and_written_byte_for_byte():
    hands, damages = record.read(HANDS)
    assert not damages
    assert [hand.to_json() for hand in hands] == HANDS.read_text("utf-8").splitlines()
    digests = golden.Digests()
    for hand in hands:
        digests.add("order of play", hand.actions())
    assert digests.done() == THEN["hands"]


def test_hands__there_are_some_of_every_kind():
    hands, _ = record.read(HANDS)
    assert {(hand.rules.name, hand.rules.seats) for hand in hands} >= set(golden.PAIRS)
    assert sum(bool(hand.playoff) for hand in hands) >= 5
    assert sum(bool(hand.agents) for hand in hands) >= 10
    in_matches = [hand for hand in hands if hand.match_hand is not None]
    assert sum(any(hand.totals) for hand in in_matches) >= 10
    assert sum(hand.rules.name == "house rules ♠" for hand in hands) >= 3
    assert any(min(hand.penalties) < 0 for hand in hands)


def test_hands__cost_at_the_border_what_they_cost():
    for hand in record.read(HANDS).hands:
        if hand.playoff:
            continue
        env = black_maria_v0.raw_env(rules=hand.rules, reward="hand")
        env.reset(options=hand.options())
        for card in hand.actions():
            env.step(card)
        assert all(env.terminations.values())
        assert [-env.rewards[agent] for agent in env.possible_agents] == list(hand.penalties)


# --- kept scores ------------------------------------------------------------------------------


def test_scores__count_and_nothing_is_played_again(tmp_path, monkeypatch):
    def refuse(obs, keys):
        raise RuntimeError("asked to play")

    agents = {name: load_agent(name, RULES) for name in ("duck", "random")}
    pairs, keep = both_ways(agents), tmp_path / "scores.npz"
    played = Arena(agents, RULES, seed=5)
    played.play(pairs, 20)
    for agent in agents.values():
        monkeypatch.setattr(agent, "act", refuse)
    shutil.copy(DATA / "old_scores.npz", keep)
    kept = Arena(agents, RULES, seed=5, keep=keep)
    kept.play(pairs, 20)
    results = kept.results(pairs, 20)
    assert results == played.results(pairs, 20)
    assert {result.agent: result.score.mean for result in results} == pytest.approx(THEN["scores"])
    with pytest.raises(RuntimeError, match="asked to play"):
        kept.play(pairs, 21)
