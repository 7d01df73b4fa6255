"""Black Maria, the British three-player Hearts, for reinforcement learning.

* ``black_maria_v0``: the PettingZoo environment (``env``, ``raw_env``, ``parallel_env``).
* ``Tables``: thousands of games side by side, for training and measuring.
* ``deal``: the cards of (seed, table, hand).
* ``make_bot``: rule-of-thumb players.
* ``layout_of``, ``describe``: what the numbers of an observation mean.
"""

from black_maria import aec as black_maria_v0
from black_maria.bots import BOTS, make_bot
from black_maria.cards import card_name, card_names, parse_card, parse_cards
from black_maria.engine import deal
from black_maria.layout import describe, layout_of
from black_maria.rules import PROFILES, Rules, penalty_points
from black_maria.tables import Tables

__all__ = [
    "BOTS",
    "PROFILES",
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
