"""The review of a hand that a person has just played."""

from collections.abc import Callable

from black_maria.record import Hand
from black_maria_agents.play.game import Game
from black_maria_agents.review.page import page_of
from black_maria_agents.review.reviewing import WORLDS, review, reviewer


def review_of(game: Game, worlds: int = WORLDS) -> Callable[[Hand], str] | None:
    """What makes a hand's page; the advisor's policy reviews, or the champion's.

    Args:
        game: The hands' game.
        worlds: Worlds in which each card is tried.

    Returns:
        A function from a hand to the text of an HTML file; None: no policy here plays by the
        game's rules.
    """
    agent = game.advisor or "champion"
    try:
        reviewer(agent, game.rules)
    except ValueError:
        return None
    return lambda hand: page_of(review([hand], agent, worlds=worlds), "the hand just played")
