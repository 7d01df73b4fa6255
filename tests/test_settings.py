"""A training's settings, refused in words, and where it stops because something isn't finite."""

import dataclasses
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

from black_maria_agents.training import (
    PPO,
    PRESETS,
    DivergenceError,
    PPOConfig,
    TrainConfig,
    Training,
)
from black_maria_agents.training.run import device_of
from test_scripts import train

PLAIN = TrainConfig(decisions=9600, tables=8, width=16, ppo=PPOConfig(minibatch=100))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0, "1", None, True])
@pytest.mark.parametrize("field", dataclasses.fields(PPOConfig), ids=lambda field: field.name)
def test_ppo_config__every_setting_refuses_what_is_no_number_of_its_kind(field, value):
    with pytest.raises(ValueError, match=f"{field.name}=.*: must "):
        PPOConfig(**{field.name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"minibatch": 0}, "minibatch=0: must be at least 1"),
        ({"minibatch": 10.0}, "minibatch=10.0: must be a whole number"),
        ({"epochs": 0}, "epochs=0: must be at least 1"),
        ({"clip": 0}, "clip=0: must be above 0"),
        ({"learning_rate": 0}, "learning_rate=0: must be above 0"),
        ({"reward_scale": 0}, "reward_scale=0: must be above 0"),
        ({"max_grad_norm": 0}, "max_grad_norm=0: must be above 0"),
        ({"gae_lambda": 5}, r"gae_lambda=5: must lie in 0 … 1"),
        ({"entropy_end": -0.1}, "entropy_end=-0.1: must be at least 0"),
    ],
)
def test_ppo_config__impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PPOConfig(**settings)


def test_ppo_config__holds_plain_numbers_which_a_checkpoint_can():
    config = PPOConfig(clip=np.float64(0.25), epochs=np.int64(3), gae_lambda=1)
    assert [type(value) for value in (config.clip, config.epochs, config.gae_lambda)] == [
        float, int, float
    ]  # fmt: skip
    assert config == PPOConfig(clip=0.25, epochs=3, gae_lambda=1.0)


@pytest.mark.parametrize("name", ["exp[lr=2]", "a b", "größer", "..a", "-x", 200 * "a"])
def test_start__plain_folders_names_are_fine(name):
    TrainConfig(run=name).check_start()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "a\0", "a\n", 201 * "a"])
def test_start__other_names_of_runs_are_refused(name):
    with pytest.raises(ValueError, match=r"run=.*: must be a plain folder's name"):
        TrainConfig(run=name).check_start()


def test_start__no_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr("black_maria_agents.training.config.cores", lambda: 4)
    TrainConfig(threads=4).check_start()
    with pytest.raises(ValueError, match="threads=5: there are 4 cores to use here"):
        TrainConfig(threads=5).check_start()


def test_training__a_run_of_more_threads_goes_on_with_those_there_are(monkeypatch):
    monkeypatch.setattr("black_maria_agents.training.run.cores", lambda: 2)
    Training(replace(PLAIN, threads=10**9))
    assert torch.get_num_threads() == 2


def test_training__a_threads_default_that_a_shared_machine_bears():
    assert {config.threads for config in PRESETS.values()} == {1}


@pytest.mark.parametrize(
    ("name", "there", "message"),
    [
        ("tpu", 0, "device='tpu': give cpu, cuda or cuda:1"),
        ("", 0, "device='': give cpu"),
        ("cuda:", 2, "device='cuda:': give cpu"),
        ("cuda:x", 2, "device='cuda:x': give cpu"),
        ("cuda:-1", 2, "device='cuda:-1': give cpu"),
        ("cuda", 0, "device='cuda': PyTorch finds no cuda here"),
        ("cuda:2", 2, "device='cuda:2': PyTorch finds 2 of that kind here, from cuda:0"),
        (f"cuda:{'9' * 5000}", 2, "PyTorch finds 2 of that kind"),
        ("cpu:1", 0, "device='cpu:1': PyTorch finds 1 of that kind here"),
    ],
)
def test_device__one_that_is_not_there_is_refused(name, there, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: there)
    with pytest.raises(ValueError, match=message):
        device_of(name)


def test_device__one_that_is_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [str(device_of(name)) for name in ("cpu", "cuda", "cuda:1")] == ["cpu", "cuda", "cuda:1"]


# --- what isn't finite ------------------------------------------------------------------------


def diverging(run, message):
    with pytest.raises(DivergenceError, match=message) as found:
        run.step()
    assert "update 1 of the run: " in str(found.value)
    assert "try a lower learning rate than 0.002 (--learning-rate)" in str(found.value)


def test_diverging__probabilities_that_are_not_finite_stop_before_a_card_is_played():
    run = Training(PLAIN)
    with torch.no_grad():
        run.ppo.policy.cards.weight.fill_(1e38)
        run.ppo.policy.cards.bias.fill_(math.inf)
    diverging(run, "the policy's probabilities aren't finite")


def test_diverging__losses_that_are_not_finite_stop_by_name():
    run = Training(PLAIN)
    with torch.no_grad():
        run.ppo.critic.value.bias.fill_(math.nan)
    diverging(run, "policy_loss is nan")


def test_diverging__weights_that_are_not_finite_stop_by_name(monkeypatch):
    run = Training(PLAIN)
    step = run.ppo.optimizer.step

    def spoiling():
        step()
        with torch.no_grad():
            run.ppo.critic.value.bias.fill_(math.inf)

    monkeypatch.setattr(run.ppo.optimizer, "step", spoiling)
    monkeypatch.setattr(PPO, "losses", lambda ppo, batch, progress: (
        sum(p.sum() for p in ppo.policy.parameters()), {"policy_loss": torch.zeros(())}
    ))  # fmt: skip
    diverging(run, "the critic's value.bias isn't finite")


# --- which settings go together -----------------------------------------------------------------

GIVEN = {
    "mixed": {"rules": "mixed"},
    "rule_sets": {"rule_sets": 8},
    "match": {"episode": "match"},
    "hands": {"hands": 2},
    "opponents": {"opponents": ("duck",), "opponent_share": 0.5},
    "snapshots": {"snapshots": 2, "opponent_share": 0.5},
    "share": {"opponent_share": 0.5},
    "every": {"snapshot_every": 10},
    "teachers": {"teachers": ("champion",)},
    "strength": {"ppo": PPOConfig(teacher_start=0.5)},
    "response": {"best_response_to": "duck"},
    "init": {"init_from": "champion"},
    "branches": {"branches": 0.5},
}
TABLE = """
mixed     +
rule_sets +-
match     --+
hands     +--+
opponents --+++
snapshots --++++
share     ----++-
every     -----+--
teachers  --++++--+
strength  --------+-
response  --++----+-+
init      +-++++--+-++
branches  +-++++--+-+++
"""
"""Whether each works with every one above it, and last by itself."""
PAIRS = {
    (other, name): mark == "+"
    for name, marks in map(str.split, TABLE.strip().splitlines())
    for other, mark in zip(GIVEN, marks, strict=False)
}


def test_together__the_table_has_every_pair():
    assert PAIRS.keys() == {*combinations(GIVEN, 2), *((name, name) for name in GIVEN)}


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_together__settings_work_or_are_refused_before_a_run_starts(pair):
    settings = GIVEN[pair[0]] | GIVEN[pair[1]]
    if PAIRS[pair]:
        TrainConfig(**settings).check_start()
    else:
        with pytest.raises(ValueError, match=r"\w") as error:
            TrainConfig(**settings).check_start()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rule_sets": 8}, "rule_sets=8 is of no use without rules=mixed"),
        ({"snapshot_every": 10}, "snapshot_every=10 is of no use without snapshots"),
        (
            {"ppo": PPOConfig(teacher_start=0.5)},
            "teacher_start=0.5 is of no use without teachers",
        ),
        (
            {"ppo": PPOConfig(branch_weight=1.0)},
            "branch_weight=1 is of no use without branches",
        ),
    ],
)
def test_together__what_nothing_reads_is_refused_in_a_new_run_and_an_old_one_goes_on(
    settings, words
):
    config = TrainConfig(**settings)
    assert TrainConfig.from_dict(dataclasses.asdict(config)) == config
    with pytest.raises(ValueError, match=f"^{words}$"):
        config.check_start()


def test_together__a_run_to_go_on_with_has_its_own_settings():
    with pytest.raises(ValueError, match="resume goes on with the run's own settings"):
        train.main(PLAIN, resume=Path("runs/x"))
