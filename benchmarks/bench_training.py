"""Our trainer beside two that researchers use for such a game: decisions learnt from, one thread.

Ours is the `quick` preset, self-play: the network decides in every seat, and forced cards are
neither asked of it nor trained. The peers learn in one seat against two `duck`, on our batched
environments: sb3-contrib's MaskablePPO, and PPO in one file after CleanRL
(examples/cleanrl_ppo.py). They have networks of two layers of 128, and epochs, minibatches and
step size as ours. What a decision teaches isn't the same, so a ratio of times is all that it says.
It says as well what share of what the processor can do at most, a large matrix product, our
trainer makes use of.

    make bench-training
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import torch
from harness import Row, Side, main
from torch import Tensor, nn

from black_maria_agents.training import PRESETS, Training

UPDATES = 8
QUICK = replace(PRESETS["quick"], precision="float32")
ROWS, STEPS = 256, 40
"""The peers' environments side by side, and their rollout: two hands."""


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


def maskable_ppo() -> Callable[[int], int]:
    """sb3-contrib's learner, for so many rollouts."""
    from sb3_contrib import MaskablePPO

    from black_maria.sb3 import BlackMariaVecEnv

    model = MaskablePPO(
        "MlpPolicy",
        BlackMariaVecEnv(ROWS, opponents="duck", flatten=True),
        n_steps=STEPS,
        batch_size=QUICK.ppo.minibatch,
        n_epochs=QUICK.ppo.epochs,
        learning_rate=QUICK.ppo.learning_rate,
        gamma=1.0,
        policy_kwargs={"net_arch": [128, 128]},
        seed=1,
    )

    def learn(rollouts: int) -> int:
        model.learn(rollouts * ROWS * STEPS)
        return rollouts * ROWS * STEPS

    return learn


def cleanrl_ppo(rollouts: int) -> int:
    """The example's training, from its beginning, with so many rollouts."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    from cleanrl_ppo import Config, train

    decisions = rollouts * ROWS * STEPS
    with redirect_stdout(sys.stderr):
        train(
            Config(
                opponents="duck", decisions=decisions, rows=ROWS, steps=STEPS,
                epochs=QUICK.ppo.epochs, minibatch=QUICK.ppo.minibatch,
                learning_rate=QUICK.ppo.learning_rate,
            )
        )  # fmt: skip
    return decisions


def rows() -> Iterator[Row]:
    """A row a peer."""
    torch.set_num_threads(1)
    own = Side("`quick` preset", ours(Training(QUICK)), UPDATES)
    for name, peer in (
        ("PPO in one file after CleanRL", cleanrl_ppo),
        ("sb3-contrib's MaskablePPO", maskable_ppo()),
    ):
        yield Row(
            f"training, one thread; peer on {ROWS} of our environments in a batch: {name}",
            "decision learnt from",
            own,
            Side(name, peer, 8),
            rounds=3,
        )


if __name__ == "__main__":
    main(rows(), __file__, __doc__)
