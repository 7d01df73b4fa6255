"""Other learners and tools on our environments: make interop.

An example runs where its packages are; `scripts/ecosystem.py` knows how and where.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.interop, pytest.mark.slow]

_spec = importlib.util.spec_from_file_location("ecosystem", ROOT / "scripts" / "ecosystem.py")
ecosystem = importlib.util.module_from_spec(_spec)
sys.modules["ecosystem"] = ecosystem  # dataclasses look their module up
_spec.loader.exec_module(ecosystem)


def python_of(name):
    if (python := ecosystem.python_of(name)) is None:
        pytest.skip(f"its packages aren't installed: make .venv-{name}/installed")
    return python


def said(name, code):
    done = subprocess.run(
        [str(python_of(name)), "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ecosystem.LEARNERS)
def test_example__ends_clearly_better_than_random(name):
    mean, half_width = ecosystem.run(name, python_of(name), beside_ours=False)["score"]
    assert mean + half_width < 10, "a random player takes 14.33"


def test_example__of_cleanrl_is_a_short_page():
    page = (ROOT / "examples" / ecosystem.LEARNERS["cleanrl"].script).read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 200


def test_stable_baselines3__check_env_has_nothing_to_say():
    said(
        "sb3",
        """
import warnings; warnings.simplefilter("error")
import gymnasium
from stable_baselines3.common.env_checker import check_env
for flatten in (False, True):
    env = gymnasium.make("black_maria:BlackMaria-v0", illegal="lose", flatten=flatten)
    check_env(env.unwrapped, warn=True, skip_render_check=True)
""",
    )


def test_torchrl__wraps_the_aec_environment_with_its_masks():
    output = said(
        "torchrl",
        """
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from black_maria import black_maria_v0
env = PettingZooWrapper(black_maria_v0.env(), use_mask=True, group_map=None)
hand = env.rollout(60)  # at random, among legal cards
print(sum(hand["next", f"player_{seat}", "reward"].sum().item() for seat in range(3)))
""",
    )
    assert float(output.split()[-1]) == -43


def test_openspiel__game_passes_its_own_checks():
    said(
        "openspiel",
        """
import sys; sys.path.insert(0, "examples")
import pyspiel, openspiel_game
pyspiel.random_sim_test(pyspiel.load_game("python_black_maria"), 2, False, False)
""",
    )


def test_supersuit__wrappers_of_rewards_and_actions():
    output = said(
        "supersuit",
        """
import supersuit
from black_maria import black_maria_v0
env = supersuit.reward_lambda_v0(black_maria_v0.env(), lambda reward: 2 * reward)
env = supersuit.nan_noop_v0(env, 0)
env.reset(seed=1)
paid = 0
for agent in env.agent_iter():
    observation, reward, termination, truncation, _ = env.last()
    paid += reward
    over = termination or truncation
    env.step(None if over else int(observation["action_mask"].argmax()))
print(paid)
""",
    )
    assert float(output.split()[-1]) == -86


def test_mixed_rules__rules_that_it_never_saw_are_learnt():
    done = subprocess.run(
        [str(python_of("sb3")), "examples/mixed_rules.py"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    edge = float(re.search(r"edge over two random: \+?(-?[\d.]+)", done.stdout).group(1))
    assert edge > 4, "a random player has 0"
