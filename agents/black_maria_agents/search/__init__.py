"""Agents that look ahead in sampled worlds."""
