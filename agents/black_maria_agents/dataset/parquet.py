"""A shard: one Parquet file of decisions, and the arrays of one again.

What is an array in a row (an observation, a mask) is bytes of fixed length: they compress as well
as lists do and are read fifty times as fast, as they lie.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from black_maria.cards import NUM_CARDS
from black_maria.extras import need
from black_maria.layout import layout_of
from black_maria.rules import Rules
from black_maria_agents.dataset.playing import Columns
from black_maria_agents.files import replacing

ENTRY: Final = b"black_maria"
"""Our entry of the schema's metadata, JSON."""
DTYPES: Final[Mapping[str, str]] = {
    "hand": "int64", "ply": "int16", "seat": "int8", "agent": "int8",
    "observation": "int8", "action_mask": "int8", "card": "int8", "reward_to_come": "float32",
    "probabilities": "float32", "holding": "int8",
}  # fmt: skip
"""The columns, in their order, and the dtype of their numbers, little-endian."""


def shapes(rules: Rules) -> dict[str, tuple[int, ...]]:
    """The columns whose rows are arrays: of that shape, in C order."""
    return {
        "observation": (layout_of(rules).size,), "action_mask": (NUM_CARDS,),
        "probabilities": (NUM_CARDS,), "holding": (rules.seats, NUM_CARDS),
    }  # fmt: skip


def write(path: Path, rows: Columns, names: list[str], about: Mapping[str, Any]) -> None:
    """Write a shard; the file appears whole, and the same rows give the same bytes.

    Args:
        path: The file.
        rows: As ``playing.play`` gives them.
        names: The agents'.
        about: What stands in the file's metadata; JSON takes it.

    Raises:
        OSError: It can't be written.
    """
    pa, pq = need("pyarrow", "data"), need("pyarrow.parquet", "data")
    arrays = []
    for name, dtype in DTYPES.items():
        column = np.ascontiguousarray(rows[name], np.dtype(dtype).newbyteorder("<"))
        if name == "agent":
            arrays.append(pa.DictionaryArray.from_arrays(pa.array(column), pa.array(names)))
        elif column.ndim == 1:
            arrays.append(pa.array(column))
        else:
            kind = pa.binary(column[0].nbytes)
            arrays.append(
                pa.FixedSizeBinaryArray.from_buffers(
                    kind, len(column), [None, pa.py_buffer(column)]
                )
            )
    table = pa.table(arrays, names=list(DTYPES))
    table = table.replace_schema_metadata({ENTRY: json.dumps(about)})
    with replacing(path) as file:
        pq.write_table(
            table, file, row_group_size=len(table), compression="zstd",
            use_dictionary=["agent"], write_statistics=False,
        )  # fmt: skip


def about(path: Path) -> dict[str, Any]:
    """What stands in a shard's metadata; empty if nothing of ours does."""
    metadata = need("pyarrow.parquet", "data").read_schema(path).metadata or {}
    found: dict[str, Any] = json.loads(metadata.get(ENTRY, b"{}"))
    return found


def read(path: Path, rules: Rules, names: list[str]) -> Columns:
    """A shard's rows, as ``write`` was given them."""
    table = need("pyarrow.parquet", "data").read_table(path).combine_chunks()
    rows: Columns = {}
    for name, dtype in DTYPES.items():
        column = table.column(name).chunk(0)
        if name == "agent":  # Parquet numbers them as they come up
            numbers = np.array([names.index(each) for each in column.dictionary.to_pylist()])
            rows[name] = numbers[column.indices.to_numpy()].astype(dtype)
        else:
            rows[name] = _array(column, np.dtype(dtype).newbyteorder("<"))
    for name, shape in shapes(rules).items():
        rows[name] = rows[name].reshape(len(table), *shape)
    return rows


def _array(column: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A column's numbers, flat; a view of what Arrow has read."""
    width = column.type.bit_width // 8
    start, stop = column.offset * width, (column.offset + len(column)) * width
    return np.frombuffer(column.buffers()[1], np.uint8)[start:stop].view(dtype)
