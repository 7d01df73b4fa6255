"""Checkpoints: what comes back, and what is refused in words."""

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria_agents import CHAMPIONS, CheckpointError, checkpoint, load_agent
from black_maria_agents.measuring.arena import play_deals
from black_maria_agents.network import OracleCritic, Policy, PolicyAgent

RULES = Rules.profile("three_player")


def write(path, rules=RULES):
    layout = layout_of(rules)
    policy = Policy(layout, 16)
    checkpoint.save(
        path, policy=policy, critic=OracleCritic(layout, 16), rules=rules, config={"seed": 1},
        decisions=77,
    )  # fmt: skip
    return policy


def test_save__comes_back_as_the_same_agent(tmp_path):
    policy = write(tmp_path / "agent.pt")
    tables = Tables(50, seed=1)
    obs, _ = tables.observe()
    agent = load_agent(str(tmp_path / "agent.pt"))
    expected = PolicyAgent(policy, RULES).act(obs, tables.keys())
    assert (agent.act(obs, tables.keys()) == expected).all()
    content = checkpoint.load(tmp_path / "agent.pt")
    assert content["config"] == {"seed": 1}
    assert content["decisions"] == 77
    assert Rules(**content["rules"]) == RULES


def test_save__leaves_nothing_else_behind(tmp_path):
    write(tmp_path / "agent.pt")
    write(tmp_path / "agent.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["agent.pt"]


def test_save__a_full_disk_keeps_the_old_file(tmp_path, monkeypatch):
    write(tmp_path / "agent.pt")
    before = (tmp_path / "agent.pt").read_bytes()

    def half(content, file):
        file.write(b"half a file")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "agent.pt")
    assert (tmp_path / "agent.pt").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["agent.pt"]


def test_load__missing(tmp_path):
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_agent(str(tmp_path / "none.pt"))


@pytest.mark.parametrize("kept", [0, 10, 1000, -1])
def test_load__damaged(tmp_path, kept):
    write(tmp_path / "agent.pt")
    (tmp_path / "cut.pt").write_bytes((tmp_path / "agent.pt").read_bytes()[:kept])
    with pytest.raises(CheckpointError, match=r"cut\.pt can't be read"):
        load_agent(str(tmp_path / "cut.pt"))


def test_load__not_a_checkpoint(tmp_path):
    (tmp_path / "text.pt").write_text("hello")
    with pytest.raises(CheckpointError, match="can't be read"):
        load_agent(str(tmp_path / "text.pt"))
    torch.save({"weights": torch.zeros(3)}, tmp_path / "foreign.pt")
    with pytest.raises(CheckpointError, match="not a Black Maria checkpoint"):
        load_agent(str(tmp_path / "foreign.pt"))


def test_load__runs_no_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("gotcha",))

    torch.save({"format": checkpoint.FORMAT, "trap": Trap()}, tmp_path / "trap.pt")
    with pytest.raises(CheckpointError, match="can't be read"):
        load_agent(str(tmp_path / "trap.pt"))


@pytest.mark.parametrize(
    ("entry", "message"),
    [("layout_version", "observation layout 99"), ("version", "format version 99")],
)
def test_load__of_another_version(tmp_path, entry, message):
    write(tmp_path / "agent.pt")
    content = checkpoint.load(tmp_path / "agent.pt")
    torch.save(content | {entry: 99}, tmp_path / "agent.pt")
    with pytest.raises(CheckpointError, match=message):
        load_agent(str(tmp_path / "agent.pt"))


def test_load__for_other_rules(tmp_path):
    write(tmp_path / "agent.pt", RULES.replace(name="short", match_points=50))
    with pytest.raises(CheckpointError, match="trained for 'short'; it doesn't fit 'three_player'"):
        load_agent(str(tmp_path / "agent.pt"))


def test_load_agent__unknown_names_are_refused():
    with pytest.raises(ValueError, match="no agent 'dukc': give one of random, duck"):
        load_agent("dukc")
    with pytest.raises(ValueError, match="no profile 'whist'"):
        load_agent("duck", "whist")


@pytest.mark.parametrize("rules", CHAMPIONS)
def test_champion__plays_the_rules_it_was_trained_for(rules):
    agent = load_agent("champion", rules)
    tables = Tables(20, rules, seed=1)
    obs, _ = tables.observe()
    actions = agent.act(obs, tables.keys())
    assert obs["action_mask"][np.arange(20), actions].all()


def test_champion__beats_the_bots_by_far():
    points = play_deals(
        load_agent("champion"), load_agent("heuristic"), range(200), seed=3, rules=RULES
    )
    assert points.mean() < 12.8, "par is 14.33"
    advantage = play_deals(
        load_agent("champion", "american_hearts"), load_agent("duck", "american_hearts"),
        range(100), seed=3, rules=Rules.profile("american_hearts"),
    )  # fmt: skip
    assert advantage.mean() > 1.5, "par is 0"


def test_champion__of_other_rules_is_refused_in_words():
    with pytest.raises(ValueError, match="no champion of 'dirty_lady', but of: american_hearts"):
        load_agent("champion", "dirty_lady")


def test_load_agent__a_policy_that_searches_by_name_or_path(tmp_path):
    write(tmp_path / "agent.pt")
    search = load_agent(f"search:policy={tmp_path / 'agent.pt'},worlds=3")
    assert search.worlds == 3
    assert load_agent("search").worlds == 64
    with pytest.raises(ValueError, match="no option 'sims'; there are: policy, worlds"):
        load_agent("search:sims=3")
    with pytest.raises(ValueError, match="duck isn't a network"):
        load_agent("search:policy=duck")
    with pytest.raises(ValueError, match="worlds must be a whole number from 1, not '0'"):
        load_agent("search:worlds=0")
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_agent("search:policy=none.pt")


def test_load_agent__bots_have_keys_of_their_own():
    tables = Tables(50, seed=1)
    obs, _ = tables.observe()
    bot = load_agent("random")
    keys = tables.keys()
    assert (bot.act(obs, keys) == bot.act(obs, keys)).all()
    assert (bot.act(obs, keys) != bot.act(obs, keys + np.uint64(1))).any()
