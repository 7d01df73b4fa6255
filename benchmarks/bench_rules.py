"""Training with the rules read, beside training without: the same table, network width and updates.

Both play the three-seat game at 2,048 tables; ours draws 16 sets of rules for every rollout, the
peer is our own trainer at the three-player page.
"""

from collections.abc import Callable, Iterator

import torch
from harness import Row, Side, main

from black_maria_agents.training import PPOConfig, TrainConfig, Training

UPDATES = 1


def trainer(rules: str) -> Callable[[int], int]:
    """Train for some updates; made when first asked."""
    made: list[Training] = []

    def learn(updates: int) -> int:
        if not made:
            settings = {"rules": rules, "seats": 3, "tables": 2048, "precision": "float32"}
            made.append(Training(TrainConfig(**settings, ppo=PPOConfig(minibatch=2048))))
        run, before = made[0], made[0].decisions
        for _ in range(updates):
            run.step()
        return run.decisions - before

    return learn


def rows() -> Iterator[Row]:
    """One row."""
    torch.set_num_threads(1)
    yield Row(
        "training with the rules read, three seats, one thread",
        "decision",
        Side("`--rules mixed --seats 3`", trainer("mixed"), UPDATES),
        Side("`--rules three_player`", trainer("three_player"), UPDATES),
        rounds=3,
    )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
