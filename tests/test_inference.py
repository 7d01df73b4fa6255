"""A row's log-probabilities are the same bits wherever it stands and however many there are."""

import numpy as np
import pytest
import torch

from black_maria import Rules, Tables, layout_of
from black_maria_agents import load_agent
from black_maria_agents.inference import SIZES
from black_maria_agents.network import Policy, PolicyAgent
from helpers import play

RULES = Rules()
ROWS = 2 * SIZES[-1]


def untrained(width):
    torch.manual_seed(0)
    return PolicyAgent(Policy(layout_of(RULES), width), RULES)


def seen(rules, rows=ROWS):
    """Observations and masks of every part of a hand."""
    observations, masks = [], []
    tables = Tables(rows // 6, rules, seed=5)
    for _ in range(6):
        obs, _ = tables.observe()
        observations.append(obs["observation"].copy())
        masks.append(obs["action_mask"].copy())
        play(tables, 9)
    return np.concatenate(observations), np.concatenate(masks)


@pytest.mark.parametrize(
    ("profile", "width"),
    [("three_player", None), ("american_hearts", None), ("three_player", 16), ("three_player", 64)],
)
def test_rows__are_the_same_bits_in_every_size_and_at_every_place(profile, width):
    rules = Rules.profile(profile)
    agent = load_agent("champion", rules) if width is None else untrained(width)
    observation, mask = seen(rules)
    together = agent.log_probs(observation, mask)
    for size in SIZES:
        for count in (size, size - 7):  # full, and padded
            for start in (0, 11, ROWS // 2 - 3, ROWS - count):
                rows = slice(start, start + count)
                part = agent.log_probs(observation[rows], mask[rows])
                assert torch.equal(part, together[rows]), (size, count, start)


def test_rows__alone_are_the_same_bits_as_among_others():
    agent = load_agent("champion")
    observation, mask = seen(RULES)
    together = agent.log_probs(observation, mask)
    for row in range(0, ROWS, 13):
        alone = agent.log_probs(observation[row : row + 1], mask[row : row + 1])
        assert torch.equal(alone[0], together[row])


def test_rows__what_stands_beside_them_is_nothing_to_them():
    agent = load_agent("champion")
    observation, mask = seen(RULES)
    others = observation[:30].copy()
    others[1:] = observation[100:129]
    allowed = np.concatenate([mask[:1], mask[100:129]])
    first = agent.log_probs(observation[:30], mask[:30])[0]
    assert torch.equal(agent.log_probs(others, allowed)[0], first)


def test_sizes__the_smallest_that_holds_the_rows(monkeypatch):
    agent, passes = untrained(16), []
    observation, mask = seen(RULES)
    monkeypatch.setattr(agent.inference, "sizes", lambda: [24, 96, 384])
    agent.policy.register_forward_hook(lambda _, given, found: passes.append(len(found)))
    for count in (0, 1, 24, 25, 384, 385, 500):
        assert agent.log_probs(observation[:count], mask[:count]).shape == (count, 52)
    assert passes == [24, 24, 96, 384, 384, 24, 384, 384]


def rounding(size, place):
    """On a processor whose kernels round otherwise for some size, at all places or at one."""

    def round_otherwise(policy, given, result):
        if len(result) == size:
            result[place] += 1e-6

    agent = untrained(16)
    agent.policy.register_forward_hook(round_otherwise)
    return agent.inference.sizes()


@pytest.mark.parametrize("place", [slice(None), -1, 0])
@pytest.mark.parametrize("size", SIZES[:-1])
def test_sizes__one_that_rounds_otherwise_is_not_used(size, place):
    assert rounding(size, place) == [s for s in untrained(16).inference.sizes() if s != size]


def test_sizes__where_places_differ_in_the_largest_it_alone_is_used():
    """Nothing better is to be had there: a row's result still hangs on no other row."""
    assert rounding(SIZES[-1], -1) == [SIZES[-1]]


def test_sizes__are_compared_without_a_draw_from_the_global_generator():
    agent = untrained(16)
    before = torch.get_rng_state()
    agent.inference.sizes()
    assert torch.equal(torch.get_rng_state(), before)
