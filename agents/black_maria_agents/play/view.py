"""What the page gets to see of a game, as plain objects for JSON."""

from typing import Any

from black_maria_agents.page.assets import state_of
from black_maria_agents.play.advice import Advice
from black_maria_agents.play.game import Game


def view_of(game: Game, since: int = 0) -> dict[str, Any]:
    """A game as its person may see it: nothing in it depends on a card that the seat can't know.

    Args:
        game: The game.
        since: What the page has seen before, a ``number`` of an earlier view; 0: nothing.

    Returns:
        ``number``, which a wish must name; ``frames``, states of ``table.js``, of what has
        happened in this hand after ``since``, and ``first``, the number of the earliest of them;
        ``earliest``, the number of the hand's first; ``task``, ``legal`` and ``toPass``, what is
        to be done; ``seat``, ``names``, ``rules``; ``passesTo`` and ``received``, [giver, cards],
        or None; ``hands`` and ``totals``, the score sheet; ``winners``; ``advisor``.
    """
    earliest = game.number - len(game.frames) + 1
    first = max(earliest, since + 1)
    winners = int(game.state.winners)
    return {
        "number": game.number,
        "first": first,
        "earliest": earliest,
        "frames": [state_of(scene, game.names) for scene in game.frames[first - earliest :]],
        "task": game.task,
        "legal": game.legal(),
        "toPass": game.to_pass,
        "seat": game.seat,
        "names": list(game.names),
        "rules": game.rules.name,
        "passesTo": game.passes_to(),
        "received": game.received(),
        "hands": game.sheet.hands,
        "totals": game.sheet.totals,
        "winners": [k for k in range(game.rules.seats) if winners >> k & 1],
        "advisor": game.advisor.name if game.advisor is not None else None,
    }


def advice_of(advice: Advice) -> dict[str, Any]:
    """An agent's opinion: ``name``, ``cards``, and ``chances``, [card, probability], best first."""
    chances = sorted(advice.chances.items(), key=lambda item: -item[1])
    return {
        "name": advice.name,
        "cards": advice.cards,
        "chances": [[card, round(chance, 4)] for card, chance in chances],
    }
