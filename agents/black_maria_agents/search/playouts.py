"""Hands played to their end, everybody's likeliest cards: what a card costs in a given world."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from black_maria.engine import PLAYING
from black_maria.tables import Tables
from black_maria_agents.network import PolicyAgent
from black_maria_agents.scoring import others_less_own
from black_maria_agents.search.players import Players, next_keys


class PlayedOut(NamedTuple):
    """What N hands came to. S seats."""

    costs: NDArray[np.float64]
    """Penalty points of the whole hand by seat, or where ``rules.total_varies`` each one's less
    the others' mean, (N, S)."""
    trick: NDArray[np.float64]
    """Penalty points of the trick that was going on or to be led to, for the seat whose cards
    were given, (N,); 0 while passing."""


def play_out(
    players: PolicyAgent | Players,
    states: NDArray[Any],
    first: NDArray[np.int64],
    keys: NDArray[np.uint64] | None = None,
    *,
    seat: NDArray[np.int64] | None = None,
) -> PlayedOut:
    """Play hands on: a seat's given cards, and otherwise what each would play.

    Args:
        players: Who sits where, counted from whose cards are given; a policy alone has every seat.
        states: Where the hands are, (N,) ``engine.STATE``.
        first: The cards that this seat passes or plays first, (N, k); −1 stands for no more.
        keys: (N,) uint64, for those who play by chance; networks need none.
        seat: Whose cards are given, (N,); seat 0's without it.
    """
    if isinstance(players, PolicyAgent):
        players = Players.all_alike(players)
    rules, rows = players.rules, np.arange(len(states))
    given_to = np.zeros(len(states), np.int64) if seat is None else seat
    luck = np.zeros(len(states), np.uint64) if keys is None else keys
    tables = Tables(np.zeros(len(states), np.int64), rules, deal_on=False)
    tables.load(states)
    first = np.pad(first, ((0, 0), (0, 1)), constant_values=-1)
    used, ply = np.zeros(len(states), np.int64), 0
    to_fall = np.where(states["phase"] == PLAYING, states["num_playing"] - states["in_trick"], 0)
    trick, playing = np.zeros(len(states)), np.ones(len(states), np.bool_)
    while playing.any():
        obs, turn = tables.observe()
        observation, mask = obs["observation"], obs["action_mask"]
        given = np.where(turn == given_to, first[rows, used], -1)
        actions = np.where(given >= 0, given, mask.argmax(axis=1))
        asked = np.flatnonzero(playing & (given < 0) & (mask.sum(axis=1, dtype=np.int8) > 1))
        place = (turn[asked] - given_to[asked]) % rules.seats
        seen = observation[asked], mask[asked], place
        actions[asked] = players.likeliest(*seen, next_keys(luck[asked], ply))
        used += given >= 0
        rewards, done = tables.step(actions, playing)
        trick -= np.where(to_fall > 0, rewards[rows, given_to], 0.0)
        to_fall -= 1
        playing, ply = playing & ~done, ply + 1
    penalties = tables.states()["penalties"][:, : rules.seats].astype(np.float64)
    return PlayedOut(-others_less_own(penalties) if rules.total_varies else penalties, trick)
