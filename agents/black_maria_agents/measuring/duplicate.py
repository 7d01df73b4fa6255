"""Duplicate play: many pairs of agents on the same deals, in every rotation, side by side.

Deal number d is the hand that table d of the seed gets; where the direction of the pass changes
from hand to hand, it is that table's hand d modulo the cycle, so that all directions come up.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import HEARTS, NUM_CARDS, card_name, suit_of
from black_maria.rules import Rules
from black_maria.tables import Tables
from black_maria_agents.base import Agent, wants_history
from black_maria_agents.scoring import others_less_own
from black_maria_agents.threads import one_thread

TABLES: Final = 6144
"""Tables side by side at most; no result depends on it."""

PERIODS: Final = ("early", "middle", "late")
"""Thirds of a hand's tricks."""


@dataclass
class Block:
    """What G games of P pairs came to, each game in every rotation.

    S seats. Rotation s has the lone agent in seat s.
    """

    scores: NDArray[np.float64]
    """(G, P, S): penalty, advantage or win share of the lone agent."""
    sums: NDArray[np.float64]
    """(P, K): its points by source and period, or for matches its hands; summed over G and S.
    ``columns`` names them."""
    hands: list[NDArray[Any]]
    """If asked for: records of the tables, each before the last card of a hand."""
    rows: list[NDArray[np.int64]]
    """For each of ``hands``: which games they are of, (g · P + p) · S + s."""
    seconds: float
    """Processor time, of all threads: other programs change it little."""


def columns(rules: Rules, whole_matches: bool) -> list[str]:
    """What the sums of a ``Block`` are of."""
    if whole_matches:
        return ["hands"]
    return [*_sources(rules), *["moon"] * rules.total_varies, *PERIODS]


def _sources(rules: Rules) -> dict[str, NDArray[np.int64]]:
    """Penalties of each card, (52,), of the hearts and of every other card that has one."""
    penalties = np.array(rules.penalties, np.int64)
    hearts = np.array([suit_of(card) == HEARTS for card in range(NUM_CARDS)])
    sources = {"hearts": penalties * hearts} if (penalties * hearts).any() else {}
    for card in sorted(set(rules.deck), key=lambda card: -penalties[card]):
        if penalties[card] and not hearts[card]:
            sources[card_name(card)] = penalties * (np.arange(NUM_CARDS) == card)
    return sources


@one_thread()
def play_pairs(
    pairs: Sequence[tuple[Agent, Agent]],
    games: range,
    *,
    seed: int,
    rules: Rules,
    whole_matches: bool = False,
    with_hands: bool = False,
    progress: Callable[[float], Any] = lambda share: None,
) -> Block:
    """Play one block of games, all pairs and rotations side by side in lock-step.

    An agent that stands in several pairs gets all its decisions of a step as one batch. PyTorch
    computes on one thread meanwhile.

    Args:
        pairs: P agents alone and what sits around each.
        games: Numbers of the deals, or of the matches.
        seed: The deals' seed.
        rules: The rules to play by.
        whole_matches: Play matches to their end instead of single hands.
        with_hands: Return all hands.
        progress: Called now and then with the share of the block that is played, 0 … 1.
    """
    start = time.process_time()
    shape = len(games), len(pairs), rules.seats
    if 0 in shape:
        sums = np.zeros((len(pairs), len(columns(rules, whole_matches))))
        return Block(np.zeros(shape), sums, [], [], 0.0)
    # tables are ordered by game, pair, rotation
    numbers = np.repeat(games, len(pairs) * rules.seats)
    history = any(wants_history(agent) for pair in pairs for agent in pair)
    tables = _deal(numbers, seed, rules, whole_matches, history)
    own_seat = np.tile(np.arange(rules.seats), len(games) * len(pairs))
    lineups = [(alone, *[others] * (rules.seats - 1)) for alone, others in pairs]
    choose = _chooser(lineups, len(games), own_seat)

    states, rows = tables.states(), np.arange(len(tables))
    hands, hand_rows = [], []
    by_period = np.zeros((len(tables), len(PERIODS)))
    playing = np.ones(len(tables), np.bool_)
    plies = 0
    while playing.any():
        actions = choose(tables, playing)
        if with_hands:
            last_card = (states["num_played"] + 1 == states["to_play"]) & playing
            hands.append(states[last_card].copy())
            hand_rows.append(rows[last_card])
        rewards, done = tables.step(actions, playing)
        playing &= ~done
        plies += 1
        progress(1 - float(playing.mean()) if whole_matches else plies / rules.most_plies)
        own = rewards[rows, own_seat]
        if not whole_matches and own.any():
            trick = (states["num_played"] - 1) // rules.seats
            by_period[rows, len(PERIODS) * trick // rules.hand_size] -= own

    if whole_matches:
        scores, figures = _match_figures(states, own_seat, rules)
    else:
        scores, figures = _hand_figures(states, own_seat, by_period, rules)
    sums = figures.reshape(*shape, -1).sum(axis=(0, 2))
    return Block(scores.reshape(shape), sums, hands, hand_rows, time.process_time() - start)


@one_thread()
def play_lineups(
    lineups: Sequence[Sequence[Agent]], games: range, *, seed: int, rules: Rules
) -> NDArray[np.float64]:
    """Let any agents play together, on duplicate deals in every rotation.

    Args:
        lineups: L times an agent for each place, clockwise. In rotation r place p has seat
            (p + r) modulo S.
        games: Numbers of the deals.
        seed: The deals' seed.
        rules: The rules to play by.

    Returns:
        (G, L, S rotations, S places): each one's penalty points, or where
        ``rules.total_varies`` its advantage.
    """
    numbers = np.repeat(games, len(lineups) * rules.seats)
    history = any(wants_history(agent) for lineup in lineups for agent in lineup)
    tables = _deal(numbers, seed, rules, False, history)
    first = np.tile(np.arange(rules.seats), len(games) * len(lineups))
    choose = _chooser(lineups, len(games), first)
    playing = np.ones(len(tables), np.bool_)
    while playing.any():
        _, done = tables.step(choose(tables, playing), playing)
        playing &= ~done
    penalties = tables.states()["penalties"][:, : rules.seats].astype(np.float64)
    scores = others_less_own(penalties) if rules.total_varies else penalties
    seat_of = (first[:, None] + np.arange(rules.seats)) % rules.seats
    by_place = np.take_along_axis(scores, seat_of, axis=1)
    return by_place.reshape(len(games), len(lineups), rules.seats, rules.seats)


def _chooser(
    lineups: Sequence[Sequence[Agent]], games: int, first: NDArray[np.int64]
) -> Callable[[Tables, NDArray[np.bool_]], NDArray[np.int64]]:
    """A function that asks each agent once for its cards at all tables that still play.

    ``first`` (N,) says in which seat each table has the first of its lineup.
    """
    every = {id(agent): agent for lineup in lineups for agent in lineup}
    order = list(every)
    numbers = np.array([[order.index(id(agent)) for agent in lineup] for lineup in lineups])
    seats = numbers.shape[1]
    at_table = np.tile(np.repeat(numbers, seats, axis=0), (games, 1))
    rows = np.arange(len(first))

    def choose(tables: Tables, playing: NDArray[np.bool_]) -> NDArray[np.int64]:
        obs, seat = tables.observe()
        keys = tables.keys()
        acting = at_table[rows, (seat - first) % seats]
        actions = np.zeros(len(tables), np.int64)
        for number, agent in enumerate(every.values()):
            mine = np.flatnonzero((acting == number) & playing)
            if len(mine):
                part = {name: array.take(mine, axis=0) for name, array in obs.items()}
                actions[mine] = agent.act(part, keys[mine])
        return actions

    return choose


def _deal(
    numbers: NDArray[np.int64], seed: int, rules: Rules, whole_matches: bool, history: bool
) -> Tables:
    """Tables with the first hands of matches, or with these deals."""
    episode = "match" if whole_matches else "hand"
    tables = Tables(numbers, rules, seed=seed, episode=episode, history=history, deal_on=False)
    if not whole_matches:
        for hand in range(1, len(rules.pass_cycle)):
            tables.reset(where=numbers % len(rules.pass_cycle) >= hand)
    return tables


def _match_figures(
    states: NDArray[Any], own_seat: NDArray[np.int64], rules: Rules
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Win shares (N,) and hands (N, 1) of the lone agents, from matches played out."""
    won = states["winners"][:, None] >> np.arange(rules.seats) & 1
    share = won[np.arange(len(states)), own_seat] / won.sum(axis=1)
    return share, states["match_hand"][:, None] + 1.0


def _hand_figures(
    states: NDArray[Any], own_seat: NDArray[np.int64], by_period: NDArray[np.float64], rules: Rules
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores (N,) and figures (N, K) of the lone agents, from hands played out."""
    rows = np.arange(len(states))
    penalties = states["penalties"][:, : rules.seats].astype(np.float64)
    own = penalties[rows, own_seat]
    planes = states["captured"][rows, own_seat]  # (N, 2)
    captured = (planes[:, :, None] >> np.arange(NUM_CARDS) & 1).sum(axis=1)
    by_source = captured @ np.stack([*_sources(rules).values()], axis=1)
    if rules.total_varies:
        moon = own - by_source.sum(axis=1)
        by_period[:, -1] -= moon  # it was told with the last trick
        figures = np.column_stack([by_source, moon, by_period])
        return others_less_own(penalties)[rows, own_seat], figures
    return own, np.column_stack([by_source, by_period])


def play_deals(
    agent: Agent,
    others: Agent,
    deals: range,
    *,
    seed: int,
    rules: Rules,
) -> NDArray[np.float64]:
    """Scores of one agent alone against copies of another, on duplicate deals.

    Args:
        agent: The agent measured.
        others: The agent in all other seats.
        deals: Numbers of the deals.
        seed: The deals' seed.
        rules: The rules to play by.

    Returns:
        (D, seats) float64: what ``agent`` scores when it sits in each seat: its penalty
        points, or where ``rules.total_varies`` its advantage.

    Raises:
        ValueError: No deals.
    """
    return _play_one(agent, others, deals, seed=seed, rules=rules)


def play_matches(
    agent: Agent,
    others: Agent,
    matches: range,
    *,
    seed: int,
    rules: Rules,
) -> NDArray[np.float64]:
    """Win shares of one agent alone against copies of another, over whole matches.

    Args and returns as for ``play_deals``, with a match for a deal: (M, seats), the agent's
    share of each win, 1 / winners or 0.
    """
    return _play_one(agent, others, matches, seed=seed, rules=rules, whole_matches=True)


def _play_one(agent: Agent, others: Agent, games: range, **options: Any) -> NDArray[np.float64]:
    if len(games) < 1:
        raise ValueError("there must be at least one game to play")
    most = max(1, TABLES // options["rules"].seats)
    blocks = (games[first : first + most] for first in range(0, len(games), most))
    played = (play_pairs([(agent, others)], block, **options) for block in blocks)
    return np.concatenate([block.scores[:, 0] for block in played])
