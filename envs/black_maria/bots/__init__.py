"""Rule-of-thumb players: they see an observation and its mask, nothing else.

* ``random``: any legal card, all equally likely.
* ``duck``: a yardstick that never changes; it plays under what is winning when it can.
* ``heuristic``: counts cards and weighs what each one costs now and later.

``make_bot("duck").act(obs, keys)`` chooses a card for every row of a batch.
"""

from black_maria.bots.batch import check_batch
from black_maria.bots.bot import BOTS, Bot, make_bot

__all__ = ["BOTS", "Bot", "check_batch", "make_bot"]
