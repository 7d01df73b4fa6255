"""Checkpoints: what comes back, and what is refused in words."""

import hashlib
import os

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout, layout_of
from black_maria_agents import (
    CHAMPIONS,
    Agent,
    CheckpointError,
    checkpoint,
    load_agent,
    load_agents,
    loading,
)
from black_maria_agents.features import hidden_size
from black_maria_agents.guesser import guess_for
from black_maria_agents.measuring import play_deals
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

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*agent\.pt'"):
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


def test_load__of_another_version(tmp_path):
    write(tmp_path / "agent.pt")
    content = checkpoint.load(tmp_path / "agent.pt")
    checkpoint.write(tmp_path / "agent.pt", content | {"version": 99})
    with pytest.raises(CheckpointError, match="format version 99; this package reads 3 to 5"):
        load_agent(str(tmp_path / "agent.pt"))


def test_load__for_other_rules(tmp_path):
    write(tmp_path / "agent.pt", RULES.replace(name="short", match_points=50))
    with pytest.raises(
        CheckpointError,
        match=r"trained for 'short'; these rules differ in .*match_points: 100 instead of 50",
    ):
        load_agent(str(tmp_path / "agent.pt"))


# --- what the networks read ---------------------------------------------------------------------


@pytest.fixture
def declare(monkeypatch):
    """A function that changes which blocks the observation has: from their list to another."""
    real = layout._declare

    def change(blocks):
        monkeypatch.setattr(layout, "_declare", lambda rules: blocks([*real(rules)]))
        layout._layout.cache_clear()

    yield change
    monkeypatch.undo()
    layout._layout.cache_clear()


def exchange(first, second):
    def blocks(declared):
        names = [block[0] for block in declared]
        i, j = names.index(first), names.index(second)
        declared[i], declared[j] = declared[j], declared[i]
        return declared

    return blocks


def put_in(place):
    """Three blocks more: of cards, of suits, of neither."""
    cards, suits, three = layout._CARDS, layout._SUITS, ("a", "b", "c")
    more = [("more_cards", (three, cards), "", False), ("more_suits", (suits,), "", False),
            ("more", (three,), "", True)]  # fmt: skip
    return lambda declared: [*declared[:place], *more, *declared[place:]]


def leave_out(name):
    return lambda declared: [block for block in declared if block[0] != name]


CHANGES = {
    "trick and played exchanged": exchange("trick", "played"),
    "holding and totals exchanged": exchange("holding", "totals"),
    "led and captured exchanged": exchange("led", "captured"),
    "all backwards": lambda declared: declared[::-1],
    "more before": put_in(0),
    "more between": put_in(6),
    "more behind": put_in(15),
}


def positions(rules):
    """Observations of random play with two legal cards or more, their masks and keys."""
    tables, found = Tables(12, rules, seed=7), []
    for _ in range(60):
        obs, _ = tables.observe()
        found.append([array.copy() for array in (*obs.values(), tables.keys())])
        tables.step(load_agent("random", rules).act(obs, tables.keys()))
    observation, mask, keys = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    several = mask.sum(axis=1) > 1
    return observation[several], mask[several], keys[several]


def moved(observation, old, new):
    """The same observations as another layout has them; anything in blocks that are new."""
    there = np.random.default_rng(0).integers(-128, 128, (len(observation), new.size), np.int8)
    for name in old.blocks.keys() & new.blocks.keys():
        there[:, new[name]] = observation[:, old[name]]
    return there


def critic_of(content, rules):
    critic = OracleCritic(layout_of(rules), content["width"], content["blocks"])
    critic.load_state_dict(content["critic"])
    return critic


@pytest.mark.parametrize("rules", CHAMPIONS)
@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_blocks__more_or_others_order_the_champion_plays_the_same_cards(rules, change, declare):
    rules, old = Rules.profile(rules), layout_of(rules)
    path = loading.checkpoint_of("champion", rules)
    observation, mask, keys = positions(rules)
    hidden = torch.ones(len(keys), hidden_size(old), dtype=torch.int8)

    def says(observation):
        agent = load_agent("champion", rules)
        critic = critic_of(checkpoint.load(path, rules), rules)
        seen = torch.from_numpy(critic.features.of(observation))
        obs = {"observation": observation, "action_mask": mask}
        return agent.act(obs, keys), critic(seen, hidden).numpy()

    cards, values = says(observation)
    declare(CHANGES[change])
    assert layout_of(rules).table() != old.table()
    assert np.array_equal(says(moved(observation, old, layout_of(rules)))[0], cards)
    assert np.array_equal(says(moved(observation, old, layout_of(rules)))[1], values)


@pytest.mark.parametrize("change", CHANGES)
def test_blocks__a_checkpoint_written_under_another_layout_is_fed_rightly(
    change, declare, tmp_path
):
    """Today's layout has all of its blocks, but in its own order."""
    old = layout_of(RULES)
    observation, mask, keys = positions(RULES)
    obs = {"observation": observation, "action_mask": mask}
    declare(lambda declared: CHANGES[change](declared))
    new = layout_of(RULES)
    todays = [name for name in new.blocks if name in old.blocks and name != "captured"]
    policy, critic = (kind(new, 16, todays) for kind in (Policy, OracleCritic))
    checkpoint.save(tmp_path / "agent.pt", policy=policy, critic=critic, rules=RULES,
                    config={}, decisions=0)  # fmt: skip
    there = obs | {"observation": moved(observation, old, new)}
    cards = PolicyAgent(policy, RULES).act(there, keys)
    declare(lambda declared: declared)
    assert [*layout_of(RULES).blocks] == [*old.blocks]
    assert [*checkpoint.load(tmp_path / "agent.pt")["blocks"]] == todays
    assert np.array_equal(load_agent(str(tmp_path / "agent.pt")).act(obs, keys), cards)


@pytest.mark.parametrize("block", ["voids", "captured", "totals"])
def test_blocks__one_that_lacks_is_named(block, declare, tmp_path):
    """``captured`` is read only where a moon may be shot."""
    write(tmp_path / "agent.pt")
    declare(leave_out(block))
    words = f"reads the block '{block}', which the observation of 'american_hearts' hasn't; there"
    with pytest.raises(CheckpointError, match=words):
        load_agent("champion", "american_hearts")
    for name in ("champion", str(tmp_path / "agent.pt")):
        if block == "captured":
            load_agent(name)
            continue
        with pytest.raises(CheckpointError, match=f"reads the block '{block}', which"):
            load_agent(name)


def test_blocks__one_of_another_shape_is_named(declare):
    def wider(declared):
        return [block if block[0] != "position" else ("position", (("a", "b"),), "", False)
                for block in declared]  # fmt: skip

    declare(wider)
    words = "reads the block 'position' as 3; in the observation of 'three_player' it is 2"
    with pytest.raises(CheckpointError, match=words):
        load_agent("champion")


def test_strip__an_older_file_is_written_as_todays(tmp_path):
    path = loading.checkpoint_of("champion", RULES)
    checkpoint.strip(path, tmp_path / "agent.pt")
    content = torch.load(tmp_path / "agent.pt", weights_only=True)
    assert content["version"] == checkpoint.VERSION
    assert {name: tuple(shape) for name, shape in content["blocks"].items()} == (
        Policy(layout_of(RULES), 16).features.blocks
    )
    assert load_agent(str(tmp_path / "agent.pt")).policy.width == 192


# --- by name ------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match=r"no champion of 'cancellation': .* and 2 pack\(s\)"):
        load_agent("champion", "cancellation")


def test_load_agent__a_policy_that_searches_by_name_or_path(tmp_path):
    write(tmp_path / "agent.pt")
    search = load_agent(f"search:policy={tmp_path / 'agent.pt'},worlds=3")
    assert search.worlds == 3
    assert load_agent("search").worlds == 32
    with pytest.raises(ValueError, match="no option 'sims'; there are: policy, worlds"):
        load_agent("search:sims=3")
    with pytest.raises(ValueError, match="duck isn't a network"):
        load_agent("search:policy=duck")
    with pytest.raises(ValueError, match="worlds must be a whole number from 1 to 2,500, not"):
        load_agent("search:worlds=0")
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_agent("search:policy=none.pt")


NAMES = ["duck", "pimc:worlds=2,sims=3", "champion", "search", "search:worlds=3"]


@pytest.mark.parametrize("greedy", [True, False])
def test_load_agent__every_one_has_the_name_it_was_loaded_by(greedy, tmp_path):
    write(tmp_path / "agent.pt")
    for name in [*NAMES, str(tmp_path / "agent.pt"), f"search:policy={tmp_path / 'agent.pt'}"]:
        agent = load_agent(name, greedy=greedy)
        assert isinstance(agent, Agent)
        assert agent.name == name
        assert agent.identity.startswith(name)


def test_identity__tells_files_of_one_name_apart_and_how_a_network_plays(tmp_path, monkeypatch):
    file = tmp_path / "agent.pt"
    names = [str(file), f"search:policy={file},worlds=3", *NAMES[2:]]
    monkeypatch.setattr(loading, "_FOLDER", tmp_path)

    def identities():
        file.write_bytes((tmp_path / "three_player.pt").read_bytes())
        return [load_agent(name).identity for name in names]

    write(tmp_path / "three_player.pt")
    first = identities()
    assert identities() == first
    write(tmp_path / "three_player.pt")  # other weights
    assert not set(identities()) & set(first)
    assert load_agent(str(file), greedy=False).identity == f"{identities()[0]} sampled"
    assert load_agent("duck", greedy=False).identity == "duck"


def test_identity__is_what_version_0_1_0_kept_scores_under():
    content = loading.checkpoint_of("champion", RULES).read_bytes()
    fingerprint = hashlib.sha256(content).hexdigest()[:16]
    assert load_agent("champion").identity == f"champion {fingerprint}"
    assert load_agent("champion", greedy=False).identity == f"champion {fingerprint} sampled"
    assert load_agent("pimc:sims=3").identity == "pimc:sims=3"
    # the search has played other cards since: its old scores aren't its own
    guess = guess_for(RULES).fingerprint
    networks = f"{fingerprint} {guess}"
    assert load_agent("search:worlds=3").identity == f"search:worlds=3 {networks} edition 3"


def test_load_agents__by_what_tables_call_them_each_once(tmp_path, monkeypatch):
    (tmp_path / "runs" / "first").mkdir(parents=True)
    write(tmp_path / "runs" / "first" / "agent.pt")
    monkeypatch.chdir(tmp_path)
    agents = load_agents(["runs/first/agent.pt", "duck"])
    assert [*agents] == ["runs/first", "duck"]
    assert agents["runs/first"].name == "runs/first/agent.pt"
    with pytest.raises(ValueError, match="duck is given twice: give different agents"):
        load_agents(["duck", "random", "duck"])


def test_load_agent__bots_have_keys_of_their_own():
    tables = Tables(50, seed=1)
    obs, _ = tables.observe()
    bot = load_agent("random")
    keys = tables.keys()
    assert (bot.act(obs, keys) == bot.act(obs, keys)).all()
    assert (bot.act(obs, keys) != bot.act(obs, keys + np.uint64(1))).any()
