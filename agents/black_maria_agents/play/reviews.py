"""The review of a hand that a person has just played, as a page or in a few lines."""

from collections.abc import Callable
from typing import Final

from black_maria.cards import card_name
from black_maria.record import Hand
from black_maria_agents.base import Agent
from black_maria_agents.play.game import Game
from black_maria_agents.review.page import page_of
from black_maria_agents.review.reviewing import WORLDS, review, reviewer
from black_maria_agents.review.totals import dearest, losses

_Z: Final = 1.96


def review_of(game: Game, worlds: int = WORLDS) -> Callable[[Hand], str] | None:
    """What makes a hand's page; the advisor's policy reviews, or the champion's.

    Args:
        game: The hands' game.
        worlds: Worlds in which each card is tried.

    Returns:
        A function from a hand to the text of an HTML file; None: no policy here plays by the
        game's rules.
    """
    agent = _reviewer(game)
    if agent is None:
        return None
    return lambda hand: page_of(review([hand], agent, worlds=worlds), "the hand just played")


def words_of(game: Game, worlds: int = WORLDS) -> Callable[[Hand], list[str]] | None:
    """What says in lines where the person gave points away; as ``review_of`` otherwise."""
    agent = _reviewer(game)
    if agent is None:
        return None

    def words(hand: Hand) -> list[str]:
        rows = review([hand], agent, worlds=worlds).decisions
        mine = [row for row in rows if row.seat == game.seat]
        lines = [
            f"{phase}: {loss.points:.1f} ± {_Z * loss.error:.1f} points given away"
            for phase, loss in losses(mine).items()
        ]
        for row in dearest(mine):
            where = f"trick {row.trick}" if row.trick else "passing"
            lines.append(
                f"{where}: {card_name(row.card)} instead of {card_name(row.best)}, "
                f"{row.regret:.1f} ± {_Z * row.error:.1f} points"
            )
        return lines

    return words


def _reviewer(game: Game) -> Agent | None:
    try:
        return reviewer(game.advisor or "champion", game.rules)
    except ValueError:
        return None
