"""Other learners on our environments, each in a virtual environment of its own: make interop."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.interop, pytest.mark.slow]

CHECK = """
import warnings; warnings.simplefilter("error")
import gymnasium
from stable_baselines3.common.env_checker import check_env
for flatten in (False, True):
    env = gymnasium.make("black_maria:BlackMaria-v0", illegal="lose", flatten=flatten)
    check_env(env.unwrapped, warn=True, skip_render_check=True)
"""


def run(venv, *arguments):
    python = ROOT / venv / "bin" / "python"
    if not python.exists():
        pytest.skip(f"`make interop` makes {venv}")
    done = subprocess.run(
        [str(python), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("venv", "script"),
    [(".venv-sb3", "maskable_ppo.py"), (".venv-rllib", "rllib_ppo.py")],
)
def test_example__ends_clearly_better_than_random(venv, script):
    output = run(venv, f"examples/{script}")
    points = float(re.search(r"alone against two random: ([\d.]+)", output).group(1))
    assert points < 10, "a random player takes 14.33"


def test_example__learns_rules_that_it_never_saw():
    output = run(".venv-sb3", "examples/mixed_rules.py")
    edge = float(re.search(r"edge over two random: \+?(-?[\d.]+)", output).group(1))
    assert edge > 7, "a random player has 0"


def test_stable_baselines3__check_env_has_nothing_to_say():
    run(".venv-sb3", "-c", CHECK)
