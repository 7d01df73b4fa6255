"""What an observation tells beside the state that all worlds share, and what it leaves open.

``reading`` fills it in, ``groups`` sorts what is left, ``dealing`` deals it out.
"""

from typing import Final

import numpy as np

from black_maria.cards import NUM_CARDS, NUM_SUITS
from black_maria.engine import MAX_DECK, MAX_SEATS, record_type

MAX_CLASSES: Final = 2 * NUM_SUITS
"""Classes of cards: suits, or a suit's cards that are banned from the first trick or not."""

FACTS: Final = record_type(
    [
        # what the observation says: flags as numbers, cards counted
        ("on_table", np.int64),
        ("led", np.int64),  # suit, −1 before the lead
        ("pass_to", np.int64),  # 0: nobody passes
        ("held", np.int64),
        ("passed", np.int64),
        ("received", np.int64),
        ("tricks", np.int64),  # cards that I have played
        ("hand_size", np.int64),
        ("told", np.bool_),  # in which order the cards fell
        # who knows what of the pass
        ("giver", np.int64),  # who passes to me; 0: nobody
        ("committed", np.int64),  # bits of the seats that have picked their pass
        # what is open
        ("places", np.int64, (MAX_SEATS + 1,)),  # for unknown cards; the last: the kitty
        ("barred", np.int64, (MAX_SEATS + 1,)),  # bits of classes that it can't hold
        ("pool", np.int64, (NUM_CARDS,)),  # unknown cards: copies
        ("maybe_kitty", np.int64),  # cards of the taken kitty that aren't told apart
        ("split", np.bool_),  # classes are halves of suits
        # groups of places that may hold the same, the least free first
        ("groups", np.int64),
        ("group_of", np.int64, (MAX_SEATS + 1,)),  # −1: no place
        ("group_barred", np.int64, (MAX_SEATS + 1,)),
        ("group_size", np.int64, (MAX_SEATS + 1,)),
        # the pool as a list, class after class
        ("cards", np.int8, (MAX_DECK,)),
        ("first", np.int64, (MAX_CLASSES + 1,)),
        ("stride", np.int64, (MAX_CLASSES,)),
        ("total", np.float64),  # ways to deal
    ]
)
