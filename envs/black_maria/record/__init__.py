"""Hands as lines of JSON: written, read and checked, replayed, shown.

A ``Hand`` holds the cards as dealt, the passes, the cards played and what they cost. A file
has one a line; docs/records.md describes its entries.

    python -m black_maria.record show hands.jsonl --hand 3
"""

from black_maria.record.files import MAX_LINE, Damage, Records, read, scan, write
from black_maria.record.hand import Hand, of_states
from black_maria.record.words import text

__all__ = ["MAX_LINE", "Damage", "Hand", "Records", "of_states", "read", "scan", "text", "write"]
