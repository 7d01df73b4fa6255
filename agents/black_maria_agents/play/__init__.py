"""A table to sit at: a person against agents, in the browser or on the terminal.

    python -m black_maria_agents.play --opponents champion heuristic
    python -m black_maria_agents.play --terminal --rules american_hearts

``Game`` is the game as both show it; ``PlayServer`` serves the page, to this machine alone.
"""

from black_maria_agents.play.advice import Advice, advise
from black_maria_agents.play.game import Game, RefusedError, StaleError
from black_maria_agents.play.server import PlayServer

__all__ = ["Advice", "Game", "PlayServer", "RefusedError", "StaleError", "advise"]
