"""Our trainer beside sb3-contrib's MaskablePPO: decisions learnt from, on one thread.

Ours is the `quick` preset, self-play: the network decides in every seat. MaskablePPO learns in
the single-seat environment against two `duck`, at its default settings but for a network of
2 × 256, and again with 8 environments and minibatches of 512. It says as well what share of what
the processor can do at most, a large matrix product, the trainer makes use of.

    make bench-training
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from harness import Row, Side, main
from torch import Tensor, nn

from black_maria_agents.training import PRESETS, Training

UPDATES = 8


class Products:
    """Counts the floating-point operations of a training's matrix products."""

    def __init__(self, run: Training) -> None:
        """Listen to all linear layers."""
        self.done = 0
        for network in (run.ppo.policy, run.ppo.critic):
            for layer in network.modules():
                if isinstance(layer, nn.Linear):
                    layer.register_forward_hook(self._count)

    def _count(self, layer: nn.Linear, given: tuple[Tensor], result: Tensor) -> None:
        # forwards, back to the weights, back to the inputs: as many each
        passes = 1 + result.requires_grad + given[0].requires_grad
        self.done += passes * 2 * given[0].numel() * layer.out_features


def peak(size: int = 1024, times: int = 20) -> float:
    """Operations a second of the best of some large float32 products on one thread."""
    left, right = torch.ones(size, size), torch.ones(size, size)
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        left @ right
        best = min(best, time.thread_time() - start)
    return 2 * size**3 / best


def ours(run: Training) -> Callable[[int], int]:
    """Train for some updates; says what the time went to."""
    products, best = Products(run), peak()

    def learn(updates: int) -> int:
        made, seconds, before = run.decisions, dict(run.seconds), products.done
        start = time.thread_time()
        for _ in range(updates):
            run.step()
        rate = (products.done - before) / (time.thread_time() - start)
        spent = {part: run.seconds[part] - seconds[part] for part in seconds}
        shares = [f"{part} {each / sum(spent.values()):.0%}" for part, each in spent.items()]
        print(
            f"matrix products: {rate / 1e9:.0f} of {best / 1e9:.0f} GFLOP/s, "
            f"{rate / best:.0%} of the peak; {', '.join(shares)}",
            file=sys.stderr,
        )
        return run.decisions - made

    return learn


def maskable_ppo(envs: int, **settings: Any) -> Callable[[int], int]:
    """A learner with the 2 × 256 network, for so many updates."""
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    made = make_vec_env(
        "black_maria:BlackMaria-v0",
        n_envs=envs,
        env_kwargs={"opponents": "duck", "flatten": True},
    )
    model = MaskablePPO(
        "MlpPolicy", made, policy_kwargs={"net_arch": [256, 256]}, seed=1, **settings
    )

    def learn(updates: int) -> int:
        steps = updates * model.n_steps * model.n_envs
        model.learn(steps)
        return steps

    return learn


def rows() -> Iterator[Row]:
    """Two settings of the peer."""
    torch.set_num_threads(1)
    own = Side("`quick` preset", ours(Training(replace(PRESETS["quick"], threads=1))), UPDATES)
    for name, peer in (
        ("default settings", maskable_ppo(1)),
        ("8 environments, batch 512", maskable_ppo(8, batch_size=512)),
    ):
        yield Row(
            f"training, one thread; peer with {name}",
            "decision learnt from",
            own,
            Side("sb3-contrib's MaskablePPO, 2 × 256", peer, 1),
            rounds=3,
        )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
