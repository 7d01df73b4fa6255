"""What an agent is, for those who make one; ``black_maria.agent`` says it."""

from black_maria.agent import Agent, wants_history

__all__ = ["Agent", "wants_history"]
