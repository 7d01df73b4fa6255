"""One seat's hands as a Minari data set, for libraries of offline reinforcement learning.

Minari knows one agent in one environment: the seat, to which the others belong to the world.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from black_maria.cards import NUM_CARDS
from black_maria.extras import need
from black_maria.layout import layout_of
from black_maria.spaces import observation_space
from black_maria_agents.dataset.reading import Decisions, load


def to_minari(
    folder: str | Path, dataset_id: str, *, seat: int = 0, agent: str | None = None, **about: Any
) -> Any:
    """Write one seat's hands to Minari's own store, an episode a hand.

    Observations are dictionaries of ``"observation"`` and ``"action_mask"``, as the seat's
    environment has them. Minari wants one more at an episode's end, when the seat has nothing left
    to choose: all zeros.

    Args:
        folder: A data set that ``make`` has written.
        dataset_id: Minari's name for it, ``"black-maria/champion-v0"``.
        seat: Whose hands.
        agent: Only hands in which this one sits there.
        **about: What else ``minari.create_dataset_from_buffers`` takes: ``author``,
            ``code_permalink``, ``data_format``.

    Returns:
        The ``MinariDataset``.

    Raises:
        DatasetError: The data set can't be read.
        ValueError: No such seat or agent, or no hand of them.
        MissingExtraError: Minari isn't installed.
    """
    minari = need("minari", "minari")
    data = load(folder, agents=None if agent is None else [agent])
    if not 0 <= seat < data.rules.seats:
        raise ValueError(f"seat={seat}: seats are 0 … {data.rules.seats - 1}")
    episodes = list(_episodes(data, seat))
    if not episodes:
        raise ValueError(f"{folder} has no hand in which {agent} sits in seat {seat}")
    return minari.create_dataset_from_buffers(
        dataset_id, episodes,
        observation_space=observation_space(layout_of(data.rules), False),
        action_space=Discrete(NUM_CARDS),
        algorithm_name=agent or ", ".join(data.agents),
        description=f"Seat {seat} of Black Maria under {data.rules.name!r}, seed {data.seed}.",
        **about,
    )  # fmt: skip


def _episodes(data: Decisions, seat: int) -> Iterator[Any]:
    """Minari's buffers, a hand each. Rows come by hand and ply, whole shards one after another."""
    buffer = need("minari.data_collector", "minari").EpisodeBuffer
    names = ("hand", "observation", "action_mask", "card", "reward_to_come")
    parts = []
    for batch in data:
        mine = batch["seat"] == seat
        parts.append({name: batch[name][mine].numpy() for name in names})
    rows = {name: np.concatenate([part[name] for part in parts]) for name in names}
    starts = np.flatnonzero(np.diff(rows["hand"], prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(rows["hand"])], strict=True):
        to_come = rows["reward_to_come"][start:stop]
        yield buffer(
            observations={
                name: np.pad(rows[name][start:stop], ((0, 1), (0, 0)))
                for name in ("observation", "action_mask")
            },
            actions=rows["card"][start:stop],
            rewards=list(to_come - np.append(to_come[1:], 0)),
            terminations=[False] * (stop - start - 1) + [True],
            truncations=[False] * (stop - start),
        )
