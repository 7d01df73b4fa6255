"""Whose seeds are whose: no training ever sees the deals that agents are measured on."""

from typing import Final

TEST_SEEDS: Final = 2**63
"""Seeds from here on are for measuring; those before are for training."""

VALIDATION_SEED: Final = TEST_SEEDS - 1
"""The last one before is for the scores that a training shows of itself now and then: nobody
trains on these deals, and the final measure is of others."""
