"""A run: resumed bit for bit, opponents, presets, bad settings."""

import dataclasses
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from black_maria import Rules, layout_of
from black_maria_agents import CheckpointError, checkpoint, load_agent
from black_maria_agents.network import OracleCritic, Policy
from black_maria_agents.training import (
    PRESETS,
    OpponentPool,
    PPOConfig,
    SelfPlay,
    TrainConfig,
    Training,
    folder,
)

RULES = Rules.profile("three_player")
SMALL = TrainConfig(
    decisions=8 * 20 * 60,
    tables=8,
    width=16,
    threads=1,
    precision="float32",
    opponents=("duck",),
    opponent_share=0.5,
    snapshots=2,
    snapshot_every=3,
    ppo=PPOConfig(minibatch=100),
)
PLAIN = replace(SMALL, opponents=(), opponent_share=0.0, snapshots=0)


def same(a, b):
    """Whether two checkpoints hold the same: tensors bit for bit."""
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def steps(run, count):
    for _ in range(count):
        run.step()
    return run


def test_resume__twenty_updates_are_ten_and_ten(tmp_path):
    """Weights, optimiser, opponents, deals, choices, minibatches and schedules."""
    straight = steps(Training(SMALL), 20)
    assert straight.done
    straight.save(tmp_path / "straight.pt")
    steps(Training(SMALL), 10).save(tmp_path / "half.pt")
    resumed = steps(Training.resume(tmp_path / "half.pt"), 10)
    assert resumed.done
    assert resumed.figures == straight.figures
    resumed.save(tmp_path / "resumed.pt")
    contents = [checkpoint.load(tmp_path / f"{name}.pt") for name in ("straight", "resumed")]
    assert same(*contents)
    assert len(contents[0]["training"]["pool"]) == 2
    assert not same(contents[0], checkpoint.load(tmp_path / "half.pt"))


def test_resume__refuses_what_holds_no_training(tmp_path):
    run = Training(SMALL)
    run.save(tmp_path / "agent.pt")
    checkpoint.strip(tmp_path / "agent.pt", tmp_path / "stripped.pt")
    load_agent(str(tmp_path / "stripped.pt"))
    assert (tmp_path / "stripped.pt").stat().st_size < (tmp_path / "agent.pt").stat().st_size
    with pytest.raises(CheckpointError, match="an agent alone"):
        Training.resume(tmp_path / "stripped.pt")
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        Training.resume(tmp_path / "none.pt")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"config": {"wdth": 5}}, "its settings have 'wdth', which this one hasn't"),
        ({"config": {"width": 32}}, "its settings say width=32, its networks another"),
        ({"config": {"ppo": {"clp": 1}}}, "its settings are of another kind"),
        ({"config": {"ppo": None}}, "its settings are of another kind"),
        ({"config": {"rules": "four_player"}}, "its rules aren't what 'four_player' is here"),
        ({"training": {"optimizer": {}}}, "its optimizer isn't of these networks"),
        (
            {"training": {"optimizer": {"state": {}, "param_groups": [{"params": [1]}]}}},
            "doesn't fit this version: its optimizer's settings are of another kind",
        ),
    ],
)
def test_resume__refuses_a_file_of_another_version_in_words(tmp_path, change, message):
    Training(SMALL).save(tmp_path / "agent.pt")
    content = checkpoint.load(tmp_path / "agent.pt")
    for name, entries in change.items():
        content[name] |= entries
    checkpoint.write(tmp_path / "agent.pt", content)
    with pytest.raises(CheckpointError, match=message):
        Training.resume(tmp_path / "agent.pt")


def test_init_from__takes_over_both_networks_and_nothing_else(tmp_path):
    first = steps(Training(SMALL), 2)
    first.save(tmp_path / "agent.pt")
    checkpoint.strip(tmp_path / "agent.pt", tmp_path / "stripped.pt")
    config = replace(SMALL, init_from=str(tmp_path / "stripped.pt"), seed=5)
    run = Training(config)
    assert same(run.ppo.policy.state_dict(), first.ppo.policy.state_dict())
    assert same(run.ppo.critic.state_dict(), first.ppo.critic.state_dict())
    assert (run.decisions, run.ppo.updates, run.ppo.optimizer.state_dict()["state"]) == (0, 0, {})

    steps(run, 2).save(tmp_path / "further.pt")
    (tmp_path / "stripped.pt").unlink()
    resumed = Training.resume(tmp_path / "further.pt")  # which doesn't need the start any more
    assert resumed.config == config
    assert same(resumed.ppo.policy.state_dict(), run.ppo.policy.state_dict())


def test_init_from__the_champions_bring_their_critics():
    run = Training(replace(SMALL, init_from="champion", width=192))
    assert same(run.agent.policy.state_dict(), load_agent("champion").policy.state_dict())


def test_init_from__a_network_that_reads_fewer_blocks_goes_on_reading_those(tmp_path):
    """As one does that was trained before the observation got another block."""
    layout = layout_of(RULES)
    blocks = [name for name in Policy(layout, 16).features.blocks if name != "voids"][::-1]
    checkpoint.save(
        tmp_path / "old.pt", policy=Policy(layout, 16, blocks),
        critic=OracleCritic(layout, 16, blocks), rules=RULES, config={}, decisions=1,
    )  # fmt: skip
    config = replace(PLAIN, init_from=str(tmp_path / "old.pt"))
    straight = steps(Training(config), 3)
    assert (
        [*straight.ppo.policy.features.blocks] == [*straight.ppo.critic.features.blocks] == blocks
    )
    steps(Training(config), 2).save(tmp_path / "half.pt")
    resumed = steps(Training.resume(tmp_path / "half.pt"), 1)
    assert resumed.figures == straight.figures
    with pytest.raises(ValueError, match="can't learn from a teacher: it doesn't read voids"):
        Training(replace(config, teachers=("champion",)))


def test_init_from__refuses_what_does_not_fit(tmp_path):
    Training(SMALL).save(tmp_path / "agent.pt")
    config = replace(SMALL, init_from=str(tmp_path / "agent.pt"))
    with pytest.raises(ValueError, match="width=32: must be 16, the width of init_from="):
        Training(replace(config, width=32))
    with pytest.raises(
        CheckpointError, match="trained for 'three_player'; these rules differ in name"
    ):
        Training(replace(config, rules="american_hearts"))
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        Training(replace(config, init_from="none.pt"))


def test_teachers__are_networks_and_a_run_goes_on_with_them(tmp_path):
    with pytest.raises(ValueError, match="teachers: duck isn't a network"):
        Training(replace(SMALL, teachers=("duck",)))
    config = replace(SMALL, teachers=("champion",))
    straight = steps(Training(config), 3)
    steps(Training(config), 2).save(tmp_path / "agent.pt")
    resumed = steps(Training.resume(tmp_path / "agent.pt"), 1)
    assert resumed.figures == straight.figures
    assert resumed.figures["teacher_kl"] > 0


def test_save__the_agent_that_loads_is_the_policy(tmp_path):
    run = steps(Training(SMALL), 2)
    run.save(tmp_path / "agent.pt")
    obs, _ = run.games.tables.observe()
    keys = run.games.tables.keys()
    loaded = load_agent(str(tmp_path / "agent.pt"))
    assert (loaded.act(obs, keys) == run.agent.act(obs, keys)).all()


def test_presets__grow_and_come_back_from_a_checkpoints_builtins():
    sizes = [config.decisions for config in PRESETS.values()]
    assert sizes == sorted(sizes)
    for config in PRESETS.values():
        assert TrainConfig.from_dict(dataclasses.asdict(config)) == config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 2**63 - 1}, "training seeds are"),
        ({"seed": -1}, "training seeds are"),
        ({"seed": 1.5}, "seed=1.5: must be a whole number"),
        ({"tables": 0}, "tables=0: must be at least 1"),
        ({"tables": 2.5}, "tables=2.5: must be a whole number"),
        ({"tables": True}, "tables=True: must be a whole number"),
        ({"tables": 10**30}, "tables=10*: must be at most 1,000,000"),
        ({"threads": 0}, "threads=0: must be at least 1"),
        ({"score_every": 0}, "score_every=0: must be at least 1"),
        ({"opponent_share": math.nan}, "opponent_share=nan: must be a finite number"),
        ({"opponents": "duck", "opponent_share": 0.5}, r"give names, as in \('duck',\)"),
        ({"width": 30}, "width=30: must be a multiple of 4"),
        ({"opponent_share": 1.5}, r"opponent_share=1.5: must lie in 0 … 1"),
        ({"snapshots": -1}, "snapshots=-1"),
        ({"opponents": ("duck",)}, "and an opponent_share, or none"),
        ({"opponent_share": 0.5}, "give opponents or snapshots"),
        (
            {"best_response_to": "duck", "snapshots": 1, "opponent_share": 0.5},
            "leave out opponents",
        ),
    ],
)
def test_config__impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rules": "whist"}, "no profile 'whist'"),
        ({"precision": "float8"}, "precision='float8'"),
        ({"best_response_to": "dukc"}, "no agent 'dukc'"),
        ({"best_response_to": "none.pt"}, "there is no checkpoint"),
    ],
)
def test_training__impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Training(replace(PLAIN, **settings))


def test_american_hearts__trains_with_its_moon_and_pass_cycle():
    run = Training(replace(SMALL, rules="american_hearts"))
    steps(run, 5)
    assert run.decisions == 8 * sum(run.rules.plies(hand) for hand in range(5))


def test_american_hearts__a_seat_is_rewarded_by_what_the_others_take():
    """Where a moon changes a hand's total, points alone don't say who gained."""
    run = Training(replace(SMALL, rules="american_hearts"))
    rewards = run.games.collect(run.ppo.policy).rewards
    assert rewards.any()
    assert np.abs(rewards.sum(axis=-1)).max() < 1e-4


# --- opponents --------------------------------------------------------------------------------


class Recorder:
    """Plays the first legal card and notes what it was asked."""

    rows = 0
    name = identity = "recorder"

    def act(self, obs, keys):
        self.rows += len(keys)
        return obs["action_mask"].argmax(axis=1)


def test_pool__the_learner_has_one_seat_at_a_share_of_the_tables():
    duck = load_agent("duck")
    pool = OpponentPool(RULES, [duck], share=0.25, seed=1)
    for update in range(4):
        seating = pool.seating(update, 12)
        assert seating.agents == [duck]
        assert (seating.places[:3] == -1).sum(axis=1).tolist() == [1, 1, 1]
        assert {int(row.argmin()) for row in seating.places[:3]} == {0, 1, 2}
        assert (seating.places[3:] == -1).all()


def test_pool__draws_by_seed_and_update_alone():
    agents = [Recorder() for _ in range(5)]
    drawn = [
        [agents.index(OpponentPool(RULES, agents, share=1, seed=seed).seating(u, 4).agents[0])
         for u in range(50)]
        for seed in (1, 1, 2)
    ]  # fmt: skip
    assert drawn[0] == drawn[1] != drawn[2]
    assert set(drawn[0]) == set(range(5))


def test_pool__snapshots_never_alias_the_learner_and_the_oldest_leaves():
    policy = Policy(layout_of(RULES), 16)
    pool = OpponentPool(RULES, [], share=1, snapshots=2, every=10)
    assert not pool.seating(0, 4).agents
    for update in range(1, 41):
        with torch.no_grad():
            for parameter in policy.parameters():
                parameter.fill_(update)
        pool.add(update, policy)
    assert [float(state["cards.bias"][0]) for state in pool.state()] == [30, 40]
    with torch.no_grad():
        policy.cards.bias.fill_(99)
    assert [float(state["cards.bias"][0]) for state in pool.state()] == [30, 40]


def test_collect__only_the_learners_choices_are_trained_and_nobody_moves_within_a_hand():
    policy = Policy(layout_of(RULES), 16)
    opponent = Recorder()
    seating = OpponentPool(RULES, [opponent], share=0.5).seating(0, 8)
    rollout = SelfPlay(RULES, tables=8, hands=1, seed=3).collect(policy, seating)
    several = rollout.mask.numpy().sum(-1) > 1
    player = seating.places[np.arange(8), rollout.seat]
    assert np.array_equal(rollout.choice, several & (player == -1))
    assert opponent.rows == (several & (player == 0)).sum() > 0
    # the opponents' first legal cards are what was played
    first = rollout.mask.numpy().argmax(-1)
    theirs = several & (player == 0)
    assert (rollout.action.numpy()[theirs] == first[theirs]).all()
    assert (rollout.log_prob.numpy()[~rollout.choice] == 0).all()


def test_best_response__has_one_seat_at_every_table():
    run = Training(replace(PLAIN, best_response_to="duck"))
    seating = run.pool.seating(0, 8)
    assert ((seating.places == -1).sum(axis=1) == 1).all()
    assert len(seating.agents) == 1
    steps(run, 1)
    assert run.decisions == 8 * 60


def test_pool__the_learner_moves_a_seat_on_with_every_table_and_update():
    pool = OpponentPool(RULES, [load_agent("duck")], share=1, seed=1)
    seats = [pool.seating(u, 2).places.argmin(axis=1).tolist() for u in range(4)]
    assert seats == [[0, 1], [1, 2], [2, 0], [0, 1]]


def test_step__the_learning_rate_falls_with_the_decisions():
    run, rates = Training(PLAIN), []
    while not run.done:
        before = run.decisions
        run.step()
        rates.append((before, run.ppo.optimizer.param_groups[0]["lr"]))
    full = PLAIN.ppo.learning_rate
    assert [rate for _, rate in rates] == pytest.approx(
        [full * (1 - before / PLAIN.decisions) for before, _ in rates]
    )
    assert rates[-1][1] < rates[0][1]


# --- the folder -----------------------------------------------------------------------------------


def test_folder__a_damaged_line_of_metrics_is_kept_aside_and_no_row_is_lost(tmp_path):
    log = folder.Log(tmp_path, 0)
    for decisions in (10, 20, 30):
        log.write(decisions, {"charts/SPS": 5.0})
    log.close()
    path = tmp_path / "metrics.csv"
    whole = path.read_text()
    path.write_text(whole.replace("\n20,", "\n2x0,"))
    damaged = path.read_bytes()
    again = folder.Log(tmp_path, 30)
    again.close()
    assert again.aside is not None
    assert again.aside.read_bytes() == damaged
    assert [row.split(",")[0] for row in path.read_text().splitlines()] == ["decisions", "10", "30"]


def test_folder__a_bit_flipped_or_a_cut_in_metrics_is_never_believed(tmp_path):
    log = folder.Log(tmp_path, 0)
    for decisions in (10, 20):
        log.write(decisions, {"losses/entropy": 0.123, "charts/SPS": 5.0})
    log.close()
    path = tmp_path / "metrics.csv"
    whole = path.read_bytes()
    rows, damaged = folder.read_metrics(path)
    assert [(row["decisions"], row["losses/entropy"]) for row in rows] == [
        ("10", "0.123"), ("20", "0.123")
    ]  # fmt: skip
    assert not damaged
    broken = [
        whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
        for place in range(len(whole))
        for bit in range(8)
    ]
    for content in (*broken, *(whole[:length] for length in range(1, len(whole)))):
        path.write_bytes(content)
        found, damaged = folder.read_metrics(path)
        assert all(row in rows for row in found)
        assert damaged or content.endswith(b"\n")  # a cut between lines: fewer rows, none wrong
        assert len(found) < len(rows)


def test_folder__metrics_of_before_checksums_are_read_and_get_them(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("decisions,charts/SPS,charts/penalty\r\n10,5.0,\r\n20,6.0,14.3\r\n")
    folder.Log(tmp_path, 20).close()
    rows, damaged = folder.read_metrics(path)
    assert not damaged
    assert [row["decisions"] for row in rows] == ["10", "20"]
    assert [row["charts/penalty"] for row in rows] == ["", "14.3"]
    path.write_text("decisions,charts/SPS,another\n10,5.0,1\n")
    assert folder.read_metrics(path) == ([], True)


def test_folder__rows_after_the_checkpoint_go_when_it_is_resumed_and_none_before(tmp_path):
    log = folder.Log(tmp_path, 0)
    for decisions in (10, 20, 30):
        log.write(decisions, {"charts/SPS": 5.0})
    log.close()
    before = (tmp_path / "metrics.csv").read_text()
    folder.Log(tmp_path, 30).close()
    assert (tmp_path / "metrics.csv").read_text() == before
    folder.Log(tmp_path, 20).close()
    assert (tmp_path / "metrics.csv").read_text() == before.rpartition("30,")[0]


def test_folder__one_process_trains_there_and_a_dead_one_holds_nothing(tmp_path):
    hold = """
import sys, time
from pathlib import Path
from black_maria_agents.training import folder
with folder.alone(Path(sys.argv[1])):
    print("in", flush=True)
    time.sleep(60)
"""
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "in\n"
    said = rf"is being trained by another process \(pid {other.pid}\)"
    with pytest.raises(ValueError, match=said), folder.alone(tmp_path):
        pass
    other.kill()
    other.communicate()
    with folder.alone(tmp_path):
        pass
