"""The game as numba kernels: state, deals, the rules, what seats see, whole steps, given hands.

A batch of games is an array of ``STATE`` records; ``rules_record`` gives the rules as kernels
take them. ``Tables`` is the door for everybody else.
"""

from black_maria.engine.damage import check_states, find_damage
from black_maria.engine.deals import (
    LAST_HAND,
    Deal,
    check_number,
    check_seed,
    choice_keys,
    combine,
    deal,
    draw_seats,
    mix,
)
from black_maria.engine.game import (
    apply,
    fill_deck,
    illegal_reason,
    legal,
    next_seat,
    receiver,
    steps_to_receiver,
)
from black_maria.engine.observation import (
    observe_all,
    write_histories,
    write_history,
)
from black_maria.engine.start import (
    START_OPTIONS,
    CardsOfSeats,
    check_options,
    dealt_cards,
    deck_of_pack,
    deck_order,
    start,
)
from black_maria.engine.state import (
    EPISODES,
    MAX_DECK,
    MAX_SEATS,
    OVER,
    PASSING,
    PLAYING,
    REWARDS,
    RULES,
    STATE,
    add_counts,
    cards_of,
    drop,
    put,
    put_records,
    record_type,
    rules_record,
    rules_stamp,
)
from black_maria.engine.steps import (
    BEGIN,
    DESK,
    REVOKE,
    STAY,
    deal_tables,
    find_illegal,
    step_one,
    step_tables,
)

__all__ = [
    "BEGIN", "DESK", "EPISODES", "LAST_HAND", "MAX_DECK", "MAX_SEATS", "OVER", "PASSING",
    "PLAYING", "REVOKE", "REWARDS", "RULES", "START_OPTIONS", "STATE", "STAY", "CardsOfSeats",
    "Deal", "add_counts", "apply", "cards_of", "check_number", "check_options", "check_seed",
    "check_states", "choice_keys", "combine", "deal", "deal_tables", "dealt_cards", "deck_of_pack",
    "deck_order", "draw_seats", "drop", "fill_deck", "find_damage", "find_illegal",
    "illegal_reason", "legal", "mix", "next_seat", "observe_all", "put", "put_records", "receiver",
    "record_type", "rules_record", "rules_stamp", "start", "step_one", "step_tables",
    "steps_to_receiver", "write_histories", "write_history",
]  # fmt: skip
