"""The vector environment as Stable-Baselines3's ``VecEnv``, beside its own of single ones."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from black_maria import BlackMaria
from helpers import ids

STABLE_BASELINES = pytest.importorskip("stable_baselines3", reason="the extra sb3")

from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor  # noqa: E402

from black_maria.sb3 import BlackMariaVecEnv  # noqa: E402


def assert_same(ours, theirs):
    """Equal in keys, type and every number."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for name in ours:
            assert_same(ours[name], theirs[name])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for own, other in zip(ours, theirs, strict=True):
            assert_same(own, other)
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert np.array_equal(ours, theirs)
    else:
        assert ours == theirs


def pair(count=3, **arguments):
    """Ours and Stable-Baselines3's, seeded alike."""
    ours = BlackMariaVecEnv(count, **arguments)
    theirs = DummyVecEnv([partial(BlackMaria, **arguments) for _ in range(count)])
    assert ours.seed(7) == theirs.seed(7)
    return ours, theirs


def as_dict(observation):
    """An ordered dictionary is as good as a plain one."""
    return dict(observation) if isinstance(observation, dict) else observation


def reset_alike(ours, theirs):
    own, other = ours.reset(), theirs.reset()
    assert_same(as_dict(own), as_dict(other))
    assert_same(ours.reset_infos, theirs.reset_infos)


def step_alike(ours, theirs, cards):
    (own, *more), (other, *others) = ours.step(cards), theirs.step(cards)
    assert_same(as_dict(own), as_dict(other))
    for info in (*more[2], *others[2]):
        if isinstance(last := info.get("terminal_observation"), dict):
            info["terminal_observation"] = dict(last)
    assert_same(more, others)
    assert_same(ours.reset_infos, theirs.reset_infos)
    return more[1]


def masks(env):
    """As sb3-contrib asks for them."""
    return np.stack(env.env_method("action_masks"))


@pytest.mark.parametrize(
    "arguments",
    [
        {"flatten": True, "opponents": "random"},
        {"opponents": "duck", "history": True, "reward": "relative", "seat": 1},
        {"flatten": True, "illegal": "lose", "opponents": "random", "episode": "match"},
    ],
)
def test_steps__are_those_of_single_ones_number_for_number(arguments):
    ours, theirs = pair(**arguments)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    reset_alike(ours, theirs)
    generator, ended = np.random.default_rng(3), 0
    for _ in range(45):
        legal = masks(ours)
        assert np.array_equal(legal, masks(theirs))
        cards = (generator.random(legal.shape) * legal).argmax(axis=1)
        if arguments.get("illegal"):
            cards = np.where(generator.random(3) < 0.05, legal.argmin(axis=1), cards)
        ended += step_alike(ours, theirs, cards).sum()
    assert ended >= 6 or arguments.get("episode")
    reset_alike(ours, theirs)  # without a seed: the next hands


def test_info__of_a_hand_that_is_over_has_its_last_observation():
    env = BlackMariaVecEnv(2, opponents="duck", flatten=True)
    env.seed(1)
    env.reset()
    for _ in range(20):
        obs, _, dones, infos = env.step(masks(env).argmax(axis=1))
    assert dones.all()
    for row, info in enumerate(infos):
        assert not info["action_mask"].any()
        assert not info["TimeLimit.truncated"]
        assert info["terminal_observation"].shape == (656,)
        assert not np.array_equal(info["terminal_observation"], obs[row])
        assert env.reset_infos[row]["action_mask"].any()


def test_options__start_a_hand_in_one_row_once():
    ours, theirs = pair(flatten=True, seat=0, opponents="duck")
    for env in (ours, theirs):
        env.set_options([{}, {"totals": [5, 0, 7], "dealer": 1}, {}])
    reset_alike(ours, theirs)
    assert ours.reset_infos[1]["totals"].tolist() == [5, 0, 7]
    assert [info["totals"].sum() for info in ours.reset_infos] == [0, 12, 0]
    reset_alike(ours, theirs)
    assert ours.reset_infos[1]["totals"].sum() == 0


def test_options__one_dictionary_is_for_all_rows():
    ours, theirs = pair(flatten=True, seat=2, opponents="duck")
    for env in (ours, theirs):
        env.set_options({"dealer": 1})
    reset_alike(ours, theirs)
    assert [info["dealer"] for info in ours.reset_infos] == [1, 1, 1]


def test_seeds__count_once_even_if_an_option_is_refused():
    env = BlackMariaVecEnv(2, flatten=True)
    env.seed(3)
    first = env.reset()
    env.seed(3)
    env.set_options({"dealer": 9})
    with pytest.raises(ValueError, match="dealer"):
        env.reset()
    assert not np.array_equal(env.reset(), first)  # the next hands


def test_illegal__card_names_the_row_and_moves_nothing():
    env = BlackMariaVecEnv(2, flatten=True, opponents="duck")
    env.seed(1)
    env.reset()
    legal = masks(env)
    with pytest.raises(ValueError, match="row 1, "):
        env.step(np.array([legal[0].argmax(), legal[1].argmin()]))
    assert np.array_equal(masks(env), legal)
    with pytest.raises(RuntimeError, match="no cards were given"):
        env.step_wait()


def test_attributes__are_those_of_a_row_and_no_others():
    env = BlackMariaVecEnv(3, seat=1, flatten=True)
    env.reset()
    assert env.get_attr("seat") == [1, 1, 1]
    assert env.get_attr("seat", indices=2) == [1]
    assert env.get_attr("observation_space")[0].shape == (656,)
    (mask,) = env.get_attr("action_masks", indices=[2])
    assert np.array_equal(mask(), masks(env)[2])
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    assert env.has_attr("action_masks")
    assert not env.has_attr("step")
    assert env.env_is_wrapped(BlackMaria) == [False] * 3
    with pytest.raises(AttributeError, match="there are: action_masks, render"):
        env.env_method("step", ids("QS")[0])
    with pytest.raises(AttributeError, match="make another"):
        env.set_attr("seat", 2)


def test_monitor__tells_returns_and_lengths():
    env = VecMonitor(BlackMariaVecEnv(3, flatten=True, opponents="random"))
    env.seed(1)
    env.reset()
    for _ in range(20):
        _, _, _, infos = env.step(masks(env).argmax(axis=1))
    assert [info["episode"]["l"] for info in infos] == [20] * 3
    assert all(-43 <= info["episode"]["r"] <= 0 for info in infos)


def test_render__tiles_all_rows():
    pytest.importorskip("pygame", reason="the extra render")
    env = BlackMariaVecEnv(2, flatten=True, render_mode="rgb_array")
    env.reset()
    (height, width, _), tiled = env.get_images()[0].shape, env.render()
    assert tiled.shape == (2 * height, width, 3) or tiled.shape == (height, 2 * width, 3)
    assert env.metadata["render_fps"] == BlackMaria.metadata["render_fps"]


def test_import__without_stable_baselines_names_the_extra():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None\n"
        "import black_maria\nassert 'black_maria.sb3' not in sys.modules\nimport black_maria.sb3"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'black-maria[sb3]'" in done.stderr
