"""Data sets of decisions: made by agents at play, read by PyTorch.

python -m black_maria_agents.dataset champion heuristic --hands 100000 -o data

for batch in dataset.load("data", agents=["champion"], choices=True, shuffle=1):
    batch["observation"], batch["action_mask"], batch["card"]   # tensors, a row a decision
"""

from black_maria_agents.dataset.episodes import to_minari
from black_maria_agents.dataset.making import make
from black_maria_agents.dataset.reading import DatasetError, Decisions, load

__all__ = ["DatasetError", "Decisions", "load", "make", "to_minari"]
