"""Whose seeds are whose: no training ever sees the deals that agents are measured on."""

from typing import Final

TEST_SEEDS: Final = 2**63
"""Seeds from here on are for measuring; those before are for training."""
