"""Compiling kernels that call the engine's, and when to compile them anew.

Numba's cache on disk notices an edit of the file that a kernel stands in, not of the files of
kernels that it calls: a cached caller of the engine would go on playing by the old rules. So
these kernels are cached in a folder that is named by a hash of all sources compiled into them.
Numba takes the folder from ``numba.config.CACHE_DIR`` (its variable ``NUMBA_CACHE_DIR``) at the
moment a function is decorated.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np

from black_maria import cards, engine, rules

_PLAIN_PYTHON: Final = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
_HERE: Final = Path(__file__).parent
SOURCES: Final = (
    *(Path(str(module.__file__)) for module in (cards, rules, engine)),
    *(
        _HERE / f"{name}.py"
        for name in (
            "kernels",
            "facts",
            "reading",
            "dealing",
            "world_views",
            "playouts",
            "tree",
        )
    ),
)
"""All that is compiled into these kernels."""


def source_hash(sources: Iterable[Path] = SOURCES) -> str:
    """A name for what is written in these files."""
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@lru_cache
def cache_folder() -> str | None:
    """The folder of this version of the sources, made if need be; None: it can't be written."""
    base = numba.config.CACHE_DIR or _HERE / "__pycache__"  # type: ignore[attr-defined]
    folder = Path(base) / f"search-{source_hash()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


def kernel(function: Any) -> Any:
    """Compile with numba; in plain Python, let integers wrap around as they do in machine code."""
    if _PLAIN_PYTHON:
        return np.errstate(over="ignore")(function)
    folder = cache_folder()
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    try:
        numba.config.CACHE_DIR = folder or before  # type: ignore[attr-defined]
        return numba.njit(cache=folder is not None, nogil=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
