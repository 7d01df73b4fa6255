"""Worlds that agree with what a seat knows."""
