"""The table on a terminal: the same game, with cards typed by name."""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from black_maria.cards import card_name, card_names, parse_cards
from black_maria.record import Hand
from black_maria.render import Scene, text
from black_maria_agents.console import PlainConsole
from black_maria_agents.play.game import NEXT, OVER, PASS, WAIT, Game, RefusedError

HELP: Final = "a card by name (QS, 10h, Q♠), ? for advice, t for the table, q to leave"
_LEAVE: Final = ("q", "quit", "exit")


def play(
    game: Game,
    console: PlainConsole,
    ask: Callable[[str], str] = input,
    review: Callable[[Hand], list[str]] | None = None,
) -> None:
    """Play until the person leaves, by ``q`` or the end of the input.

    Args:
        game: The game.
        console: Where to.
        ask: Prints a prompt and gives the line that is typed; raises ``EOFError`` at the end.
        review: Says in lines what was given away in a hand; None: nothing does.
    """
    seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(game.names))
    console.print(f"{game.rules.name}: {seats}. Type {HELP}.", soft_wrap=True)
    seen = game.number - len(game.frames)
    shown = 0
    fresh = True  # a hand has begun: show the whole table
    while True:
        seen = _tell(game, console, seen)
        if fresh or (game.task in (NEXT, OVER) and game.number != shown):
            _show(game, console)
        fresh, shown = False, game.number
        try:
            line = ask(_prompt(game, review is not None)).strip()
        except EOFError:
            console.print()
            return
        if line.lower() in _LEAVE:
            return
        number = game.number
        try:
            if line in ("r", "R") and review is not None and game.hand is not None:
                console.print("\n".join(review(game.hand)), soft_wrap=True, highlight=False)
            elif game.task in (NEXT, OVER, WAIT):
                fresh = game.task != WAIT
                seen = game.number if fresh else seen
                game.go_on(number)
            elif line in ("t", "T"):
                _show(game, console)
            elif line == "?":
                _advise(game, console)
            elif line in ("", "h", "help"):
                console.print(f"Type {HELP}.", soft_wrap=True)
            else:
                fresh = game.task == PASS
                game.choose(_cards(line), number)
        except (RefusedError, RuntimeError) as error:
            fresh = False
            console.print(str(error), soft_wrap=True)


def _cards(line: str) -> list[int]:
    """The cards that a line names.

    Raises:
        RefusedError: It names something else.
    """
    try:
        return parse_cards(line)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _tell(game: Game, console: PlainConsole, seen: int) -> int:
    """Say trick by trick what has been played since; return what has been seen now."""
    start = game.number - len(game.frames)
    for number, scene in enumerate(game.frames[max(0, seen - start) :], max(seen, start) + 1):
        if scene.taker is not None and number > start + 1:
            points = sum(game.rules.penalties[play.card] for play in scene.last)
            console.print(
                f"  {_plays(scene, game)}: {_name(game, scene.taker)} took it, {points} points",
                soft_wrap=True, highlight=False,
            )  # fmt: skip
    scene = game.frames[-1]
    if scene.trick:
        console.print(f"  {_plays(scene, game)}", soft_wrap=True, highlight=False)
    return game.number


def _plays(scene: Scene, game: Game) -> str:
    return ", ".join(
        f"{_name(game, play.seat)} {card_name(play.card)}" for play in scene.trick or scene.last
    )


def _name(game: Game, seat: int) -> str:
    return game.names[seat] if seat == game.seat else f"{game.names[seat]} ({seat})"


def _show(game: Game, console: PlainConsole) -> None:
    """Print the table, coloured on a terminal, and what the person was given."""
    coloured = console.is_terminal and not console.no_color
    console.print(Text.from_ansi(text(game.frames[-1], colour=coloured)), soft_wrap=True)
    if (given := game.received()) is not None and game.task not in (NEXT, OVER):
        giver, cards = given
        console.print(f"From {_name(game, giver)} you have {card_names(cards)}.", soft_wrap=True)
    if game.task in (NEXT, OVER):
        points = game.sheet.hands[-1]
        console.print("This hand: " + _by_seat(game, points), soft_wrap=True, highlight=False)
        console.print("Match: " + _by_seat(game, game.sheet.totals), soft_wrap=True,
                      highlight=False)  # fmt: skip


def _by_seat(game: Game, points: list[int]) -> str:
    return ", ".join(f"{_name(game, seat)} {each}" for seat, each in enumerate(points))


def _prompt(game: Game, reviewable: bool) -> str:
    """What is to be typed now, and the cards that may be."""
    more = "r for its review, q to leave: " if reviewable else "q to leave: "
    match game.task:
        case "pass":
            to = game.passes_to()
            hand = card_names(game.frames[-1].places[game.seat].holding.known)
            whom = "" if to is None else f" to {_name(game, to)}"
            return f"{hand}\npass {game.to_pass} cards{whom}: "
        case "play":
            return f"you may play {card_names(game.legal())}: "
        case "next":
            return f"Enter for the next hand, {more}"
        case "over":
            return f"The match is over. Enter for another one, {more}"
    return "Enter to go on: "


def _advise(game: Game, console: PlainConsole) -> None:
    found = game.advice(game.number)
    likely = sorted(found.chances.items(), key=lambda item: -item[1])[:5]
    chances = ", ".join(f"{card_name(card)} {chance:.0%}" for card, chance in likely)
    chances = f" ({chances})" if chances else ""
    verb = "pass" if game.task == PASS else "play"
    console.print(
        f"{found.name} would {verb} {card_names(found.cards)}{chances}",
        soft_wrap=True, highlight=False,
    )  # fmt: skip
