"""Our trainer beside sb3-contrib's MaskablePPO: decisions learnt from, a second.

Ours is the `quick` preset, self-play: the network decides in every seat. MaskablePPO learns in
the single-seat environment against two `duck`, at its default settings but for a network of
2 × 256, and again with 8 environments and minibatches of 512. One thread each, as two threads on
a busy machine can be many times slower than one. Rounds alternate; the ratio printed is the
median of the rounds' ratios.

    make bench-training
"""

import statistics
import time
from dataclasses import replace
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from black_maria_agents.training import PRESETS, Training

ROUNDS = 3
UPDATES = 8


def learn(run: Training) -> float:
    """Train for some updates; decisions a second."""
    made, start = run.decisions, time.perf_counter()
    for _ in range(UPDATES):
        run.step()
    return (run.decisions - made) / (time.perf_counter() - start)


def maskable_ppo(envs: int, **settings: Any) -> MaskablePPO:
    """A learner with the 2 × 256 network."""
    return MaskablePPO(
        "MlpPolicy",
        make_vec_env(
            "black_maria:BlackMaria-v0",
            n_envs=envs,
            env_kwargs={"opponents": "duck", "flatten": True},
        ),
        policy_kwargs={"net_arch": [256, 256]},
        seed=1,
        **settings,
    )


def learn_maskable(model: MaskablePPO) -> float:
    """Train for one update; decisions a second."""
    steps, start = model.n_steps * model.n_envs, time.perf_counter()
    model.learn(steps)
    return steps / (time.perf_counter() - start)


def main() -> None:
    """Time all in alternation and print the ratios."""
    torch.set_num_threads(1)
    run = Training(replace(PRESETS["quick"], threads=1))
    run.step()  # compiles
    peers = {
        "default settings": maskable_ppo(1),
        "8 environments, batch 512": maskable_ppo(8, batch_size=512),
    }
    rounds = [
        (learn(run), {name: learn_maskable(peer) for name, peer in peers.items()})
        for _ in range(ROUNDS)
    ]
    total = sum(run.seconds.values())
    shares = ", ".join(f"{part} {seconds / total:.0%}" for part, seconds in run.seconds.items())
    print("decisions learnt from a second, one thread")
    print(f"  ours, quick preset {statistics.median(own for own, _ in rounds):27,.0f}   {shares}")
    for name in peers:
        rate = statistics.median(other[name] for _, other in rounds)
        ratio = statistics.median(own / other[name] for own, other in rounds)
        print(f"  MaskablePPO, {name:25} {rate:8,.0f}   ratio {ratio:.0f}")


if __name__ == "__main__":
    main()
