"""Imitate the champion: a network that learns from recorded decisions alone.

    pip install "black-maria[data,export]"
    python examples/imitate.py              # plays 100,000 hands to data/ first, in two minutes

A data set of the champion and `heuristic` in every mix of seats (380 MB) is read six times, batch
by batch: the network learns the champion's probabilities wherever it had a choice. It ends as
imitator.safetensors, which `load_agent` and evaluate.py take, and is measured alone against two
`heuristic`, on the same deals as the champion.
"""

from pathlib import Path

import torch

from black_maria import Rules, layout_of
from black_maria_agents import dataset, load_agent, load_agents
from black_maria_agents.export import export
from black_maria_agents.measuring import Estimate, play_deals
from black_maria_agents.network import ObservationPolicy, Policy, PolicyAgent
from black_maria_agents.seeds import TEST_SEEDS

HANDS = 100_000
EPOCHS = 6
WIDTH = 192  # the champion's own
RATE = 2e-3  # falls to 0 in a straight line
DEALS = 3000


def learn(
    data: dataset.Decisions, *, epochs: int, width: int = WIDTH
) -> tuple[Policy, list[float]]:
    """A policy that gives cards the probabilities that they have in the data, and its losses.

    The losses are each epoch's mean cross-entropy, in nats.
    """
    torch.manual_seed(1)
    layout = layout_of(data.rules)
    policy = Policy(layout, width)
    network = ObservationPolicy(policy, layout)  # takes rows as they were recorded
    optimizer = torch.optim.Adam(policy.parameters(), lr=RATE)
    losses = []
    for epoch in range(epochs):
        total, rows = 0.0, 0
        for batch in data:
            optimizer.param_groups[0]["lr"] = RATE * (1 - (epoch + data.done) / (epochs + 0.01))
            log_probs = network(batch["observation"], batch["action_mask"])
            legal = batch["action_mask"] == 1
            loss = -(batch["probabilities"] * log_probs.where(legal, 0)).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, rows = total + loss.item() * len(legal), rows + len(legal)
        losses.append(total / rows)
        print(f"epoch {epoch + 1}: {rows:,} decisions, cross-entropy {losses[-1]:.4f}", flush=True)
    return policy, losses


def main(folder: Path = Path("data")) -> float:
    """Make the data set unless it is there, learn, measure; what the imitator lacks, in points."""
    torch.set_num_threads(1)  # small batches: two threads wait for each other
    rules = Rules.profile("three_player")
    if not folder.exists():
        dataset.make(folder, load_agents(["champion", "heuristic"]), HANDS, rules=rules)
    data = dataset.load(folder, agents=["champion"], choices=True, batch=512, shuffle=1)
    policy, _ = learn(data, epochs=EPOCHS)
    export(PolicyAgent(policy, rules, name="imitator"), "imitator.safetensors")
    points = {}
    for name in ("imitator.safetensors", "champion"):
        players = load_agent(name), load_agent("heuristic")
        points[name] = play_deals(*players, range(DEALS), seed=TEST_SEEDS, rules=rules).mean(axis=1)
        print(f"{name} alone against two heuristic: {Estimate.of(points[name]).text()} points")
    lacks = Estimate.of(points["imitator.safetensors"] - points["champion"])
    print(f"the imitator takes {lacks.text()} points a hand more than the champion")
    return lacks.mean


if __name__ == "__main__":
    assert main() < 0.7, "nearly as good as the champion"
