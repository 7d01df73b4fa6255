"""Worlds that agree with what a seat knows: reading an observation, dealing what it leaves open.

``sample_worlds`` is the door; ``reading`` and ``dealing`` say how it goes.
"""

from black_maria_agents.worlds.sampling import Worlds, sample_worlds

__all__ = ["Worlds", "sample_worlds"]
