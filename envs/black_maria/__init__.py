"""Black Maria, the British three-player Hearts, for reinforcement learning.

* ``black_maria_v0``: the PettingZoo environment (``env``, ``raw_env``, ``parallel_env``).
* ``BlackMaria``, ``BlackMariaVectorEnv``: one seat against given opponents, for Gymnasium.
* ``Tables``: thousands of games side by side, for training and measuring.
* ``deal``: the cards of (seed, table, hand).
* ``record``, a module to import by itself: hands as lines of JSON, to write, check and replay.
* ``rulesets``, ``rules_vector``, modules likewise: house rules to draw and to be measured under;
  rules as numbers. ``rules="mixed"`` in any environment draws them, episode by episode.
* ``make_bot``: rule-of-thumb players.
* ``layout_of``, ``describe``: what the numbers of an observation mean.

Importing it registers ``BlackMaria-v0`` with Gymnasium, and with PettingZoo where its release
has a registry: ``pettingzoo.make("aec", "BlackMaria-v0")``.
"""

import gymnasium as _gymnasium
import pettingzoo as _pettingzoo

from black_maria import aec as black_maria_v0
from black_maria.bots import BOTS, make_bot
from black_maria.cards import card_name, card_names, parse_card, parse_cards
from black_maria.engine import deal
from black_maria.layout import describe, layout_of
from black_maria.rules import PROFILES, Rules, penalty_points
from black_maria.seat import BlackMaria
from black_maria.tables import Tables
from black_maria.vector import BlackMariaVectorEnv

__all__ = [
    "BOTS",
    "PROFILES",
    "BlackMaria",
    "BlackMariaVectorEnv",
    "Rules",
    "Tables",
    "black_maria_v0",
    "card_name",
    "card_names",
    "deal",
    "describe",
    "layout_of",
    "make_bot",
    "parse_card",
    "parse_cards",
    "penalty_points",
]

_ID = "BlackMaria-v0"


def _register() -> None:
    """Enter the environments where they aren't yet."""
    if _ID not in _gymnasium.registry:
        _gymnasium.register(
            _ID,
            entry_point="black_maria.seat:BlackMaria",
            vector_entry_point="black_maria.vector:BlackMariaVectorEnv",
        )
    for kind, entry_point in (("aec", "env"), ("parallel", "parallel_env")):
        registry = getattr(_pettingzoo, f"{kind}_registry", None)  # since 1.27
        if registry is not None and _ID not in registry:
            _pettingzoo.register(kind, _ID, f"black_maria.aec:{entry_point}")


_register()
