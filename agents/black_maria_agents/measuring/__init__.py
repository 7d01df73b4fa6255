"""Measuring: duplicate deals in every rotation, intervals, tables and pictures."""

from black_maria_agents.measuring.arena import Arena, measure
from black_maria_agents.measuring.duplicate import play_deals, play_matches
from black_maria_agents.measuring.report import gains, plot, result_table, source_table
from black_maria_agents.measuring.results import Estimate, Result, edge, edges, par, unit_of
from black_maria_agents.measuring.scores import both_ways

__all__ = [
    "Arena", "Estimate", "Result", "both_ways", "edge", "edges", "gains", "measure", "par",
    "play_deals", "play_matches", "plot", "result_table", "source_table", "unit_of",
]  # fmt: skip
