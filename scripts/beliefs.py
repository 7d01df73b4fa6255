"""Score beliefs and write docs/beliefs.md: python scripts/beliefs.py. Two minutes of one core."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from black_maria.rules import Rules
from black_maria_agents import dataset
from black_maria_agents.border import border
from black_maria_agents.guesser import Guesser, fit
from black_maria_agents.loading import load_agent
from black_maria_agents.measuring.beliefs import Calibration, loss_of, of_worlds, positions
from black_maria_agents.measuring.results import Estimate
from black_maria_agents.network import PolicyAgent
from black_maria_agents.seeds import TEST_SEEDS
from black_maria_agents.threads import one_thread

PAGE: Final = Path(__file__).parent.parent / "docs" / "beliefs.md"
HANDS: Final = 20_000
"""Hands that the guesser learns from."""
EPOCHS: Final = 1
POSITIONS: Final = 60
"""Positions of every trick."""
WORLDS: Final = 192
METHODS: Final = ("uniform", "tempered", "learnt")

TEXT: Final = """# Beliefs: who holds the unseen cards?

Made by `python scripts/beliefs.py`; don't edit. `{rules}`, the champion in every seat;
{positions:,} positions, one of each deal, {each} of each trick, on deals that no training has seen.

Asked is, for every card that more than one other seat may hold, which of them does. Three answers:

* **uniform**: the share of {worlds} worlds that `sample_worlds` deals, all as likely;
* **tempered**: the same worlds, weighed by how likely the champion plays what the others have
  played in them, tempered until 12 worlds are effective (`search.beliefs`);
* **learnt**: a network, `guesser.Guesser`, that has seen {hands:,} hands of champions as a data set
  (read {times}, half a minute of one core), and here the observation alone.

## Log loss by trick

Nats a card, less is better; even odds between two seats are 0.693. *Cards* are those asked for in a
position. Intervals are of 95 %, over positions.

| trick | cards | uniform | tempered | learnt |
|---|---|---|---|---|
{losses}

The worlds know every void that was shown; what the cards tell beyond that is the difference between
the columns. The weights have an advantage that they lose against strangers: they know the very
policy that plays. The network has one as well: it has seen how these players pass.

## Calibration

Of all probabilities that were given, by their size: how often it came true, and how many there
were; with two others, what is said of one is said against the other, so those from 0.5 are all.
*Error* is the expected calibration error, by how much what was said is off on average.

| said | uniform | tempered | learnt |
|---|---|---|---|
{calibration}
| **error** | {errors} |

To score beliefs of one's own: `measuring.beliefs.positions`, `loss_of` and `Calibration`.
"""


def learnt(agent: PolicyAgent, hands: int, epochs: int) -> Guesser:
    """A guesser taught by hands of one agent in every seat."""
    with tempfile.TemporaryDirectory() as folder:
        dataset.make(folder, {agent.name: agent}, hands, rules=agent.rules, seed=1)
        guesser, losses = fit(dataset.load(folder, shuffle=1), epochs=epochs)
    print("learnt:", ", ".join(f"{loss:.4f}" for loss in losses), "nats a card", flush=True)
    return guesser


@one_thread()
def page(agent: PolicyAgent, guesser: Guesser, each: int, *, about: Mapping[str, object]) -> str:
    """Score the three kinds of belief at ``each`` positions of every trick."""
    rules = agent.rules
    tricks = rules.hand_size
    trick = np.arange(each * tricks) % tricks
    within = np.random.default_rng(1).integers(rules.seats, size=len(trick))
    at = positions(agent, trick * rules.seats + within, seed=TEST_SEEDS)
    beliefs: dict[str, list[NDArray[np.float64]]] = {name: [] for name in METHODS}
    held = []
    for part in at.parts():
        of_part, scored = of_worlds(agent, part, worlds=WORLDS)
        with torch.inference_mode():
            log_probs = guesser(torch.from_numpy(part.observation)).double()
        of_part["learnt"] = log_probs.exp().numpy()
        for name in METHODS:
            beliefs[name].append(of_part[name])
        held.append(scored)
    every, counts = np.concatenate(held), {n: np.concatenate(b) for n, b in beliefs.items()}
    asked = every.sum(axis=(1, 2))
    losses = {name: loss_of(belief, every) for name, belief in counts.items()}

    def row(label: str, where: NDArray[np.bool_]) -> str:
        where = where & (asked > 0)
        if where.sum() < 2:
            return f"| {label} | – | – | – | – |"
        cells = [Estimate.of(losses[name][where]).text(3) for name in METHODS]
        return f"| {label} | {asked[where].mean():.1f} | {' | '.join(cells)} |"

    rows = [row(str(number + 1), trick == number) for number in range(tricks)]
    rows.append(row("**all**", trick >= 0))
    classes = {name: Calibration.of(belief, every) for name, belief in counts.items()}
    return TEXT.format(
        rules=rules.name, positions=len(trick), each=each, worlds=WORLDS,
        losses="\n".join(rows), calibration="\n".join(_classes(classes)),
        errors=" | ".join(f"{classes[name].error:.3f}" for name in METHODS), **about,
    )  # fmt: skip


def _classes(classes: Mapping[str, Calibration]) -> list[str]:
    """A row for every class of probabilities from a half."""
    bins = len(classes["uniform"].count)
    rows = []
    for k in range(bins // 2, bins):
        cells = [
            f"{each.came[k]:.3f} of {each.count[k]:,}" if each.count[k] else "–"
            for each in (classes[name] for name in METHODS)
        ]
        rows.append(f"| {k / bins:.1f} to {(k + 1) / bins:.1f} | {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Teach, score, print and write."""
    torch.set_num_threads(1)
    agent = load_agent("champion", Rules.profile("three_player"))
    assert isinstance(agent, PolicyAgent)
    guesser = learnt(agent, HANDS, EPOCHS)
    text = page(
        agent, guesser, POSITIONS, about={"hands": HANDS, "times": ("once", "twice")[EPOCHS - 1]}
    )
    print(text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with border("beliefs.py"):
        main()
