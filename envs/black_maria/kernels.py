"""The one way to compile: machine code is kept on disk until something in it changes.

Numba's own cache notices an edit of the file that a kernel stands in, and of no other. So each
kernel has a *stamp*, a hash of all that is compiled into it: its own code, the constants that it
reads and the kernels that it calls, in whatever file these stand. A kernel and its callers are
compiled anew when a stamp changes, and at no other edit.

Kernels lie in ``__pycache__`` beside their source, in ``NUMBA_CACHE_DIR`` if that is set, in the
user's cache folder if neither can be written, and in memory alone where nothing can. With
``NUMBA_DISABLE_JIT=1`` all of them are plain Python.
"""

import builtins
import dis
import hashlib
import logging
from collections.abc import Callable
from functools import cache, cached_property
from types import CodeType, ModuleType
from typing import Any, Final

import numba
import numpy as np
from numba.core import caching
from numba.extending import intrinsic

PLAIN_PYTHON: Final = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
_LOG: Final = logging.getLogger("black_maria")
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy"}
_KERNELS: Final[dict[Callable[..., Any], Any]] = {}
"""Every kernel by the function that it was made of."""
_OURS: Final = "black_maria"
"""What the names of our own modules begin with."""
_Instruction: Final = numba.core.extending._Intrinsic


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Compile with numba; in plain Python, let integers wrap around as they do in machine code."""
    if PLAIN_PYTHON:
        compiled = np.errstate(over="ignore")(function)
    else:
        compiled = numba.njit(**_OPTIONS, **options)(function)
        compiled._cache = _Cache(compiled)
    _KERNELS[function] = compiled
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """A kernel whose body is pasted into its callers: calls with arrays are slow."""
    return kernel(function, inline="always")


def direct(compiled: Any, *like: Any) -> Callable[..., Any]:
    """The machine code of a kernel, for arguments whose types nobody looks at.

    Numba asks each argument for its type whenever a kernel is called: 220 of the 440 ns of a
    step of one table. Here that is done once. Give it no others: what it would do then isn't
    defined.

    Args:
        compiled: The kernel.
        *like: Arguments of the types that it will be called with.
    """
    if PLAIN_PYTHON:
        return compiled  # type: ignore[no-any-return]
    return compiled.compile(tuple(map(numba.typeof, like)))  # type: ignore[no-any-return]


def instruction(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make an instruction for kernels of a function that writes LLVM code (numba's ``intrinsic``).

    Args:
        plain: What does the same in plain Python.
    """
    return lambda writes: plain if PLAIN_PYTHON else intrinsic(writes)


def stamp(compiled: Any) -> str:
    """A hash of all that is compiled into a kernel or an instruction.

    Raises:
        TypeError: It reads something that can't be hashed by its content: a constant through
            one of our modules (import the constant itself), a list, a function that isn't a
            kernel.
    """
    return _stamp(compiled, ())


def _stamp(compiled: Any, callers: tuple[Any, ...]) -> str:
    if compiled in callers:  # recursion: the caller's own code is in its stamp already
        return f"caller {len(callers) - callers.index(compiled)}"
    function = _function(compiled)
    parts: list[str] = []
    if not isinstance(compiled, _Instruction):
        parts.append(repr(sorted(compiled.targetoptions.items())))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts += _code(function.__code__, function.__doc__)
    read = {name: function.__globals__[name] for name in _globals(function.__code__)
            if name in function.__globals__ or not hasattr(builtins, name)}  # fmt: skip
    read |= dict(zip(function.__code__.co_freevars, cells, strict=True))
    read |= {"": function.__defaults__}
    for name, value in sorted(read.items()):
        parts.append(f"{name} = {_content(value, name, compiled, callers)}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _function(compiled: Any) -> Any:
    """What a kernel or an instruction was made of."""
    return compiled._defn if isinstance(compiled, _Instruction) else compiled.py_func


def _code(code: CodeType, doc: str | None) -> list[str]:
    """Instructions, names and constants, without the docstring."""
    constants = [c for k, c in enumerate(code.co_consts) if k or doc is None or c != doc]
    parts = [code.co_code.hex(), repr(code.co_names)]
    for constant in constants:
        parts += _code(constant, None) if isinstance(constant, CodeType) else [repr(constant)]
    return parts


def _globals(code: CodeType) -> set[str]:
    """Names of the globals that a function reads."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    return names.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _content(value: Any, name: str, compiled: Any, callers: tuple[Any, ...]) -> str:
    """What a global stands for, in a text that is the same in every process."""
    if isinstance(value, numba.core.dispatcher.Dispatcher | _Instruction):
        return _stamp(value, (*callers, compiled))
    if isinstance(value, np.ndarray):
        return f"{value.dtype!r} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return repr([_content(each, name, compiled, callers) for each in value])
    by_name = isinstance(value, type) or type(value).__name__ == "builtin_function_or_method"
    foreign = isinstance(value, ModuleType) and not value.__name__.startswith(_OURS)
    plain = bool | int | float | str | np.generic | np.dtype | np.ufunc | None
    if by_name or foreign or isinstance(value, plain):
        return repr(value) if not foreign else value.__name__
    raise TypeError(
        f"kernel {_function(compiled).__qualname__} reads {name!r}, a {type(value).__name__}: its "
        "content can't be noticed when it changes; import the constant or kernel by its own name"
    )


class _Cache:
    """Numba's cache of one kernel, made when it is first asked.

    Only then do all names exist that the kernel reads: it may call one that stands below it.
    """

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    @cached_property
    def _made(self) -> Any:
        before = numba.config.CACHE_LOCATOR_CLASSES  # type: ignore[attr-defined]
        numba.config.CACHE_LOCATOR_CLASSES = _LOCATORS  # type: ignore[attr-defined]
        try:
            return caching.FunctionCache(self._compiled.py_func)  # type: ignore[no-untyped-call]
        except RuntimeError:  # there is no folder that can be written
            return caching.NullCache()
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before  # type: ignore[attr-defined]

    def load_overload(self, *signature: Any) -> Any:
        """What is on disk for a signature, or None; then says what is waited for."""
        found = self._made.load_overload(*signature)
        if found is None:
            _tell(isinstance(self._made, caching.NullCache))
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


@cache
def _tell(in_memory: bool) -> None:
    """Say once a process that there is something to compile."""
    if in_memory:
        lasts = "in memory alone: no folder can be written, set NUMBA_CACHE_DIR"
    else:
        lasts = "once on this machine; python -m black_maria.warm does it for all"
    _LOG.warning("black_maria: compiling kernels, %s", lasts)


class _Stamped:
    """Mixed into numba's locators: files are named by a kernel's stamp.

    So two versions of a kernel never share a file, and no process can find another's version
    under its own index.
    """

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        locator = super().from_function(function, file)  # type: ignore[misc]
        if locator is not None:
            locator.stamp = stamp(_KERNELS[function])
        return locator

    def get_source_stamp(self) -> str:
        return self.stamp  # type: ignore[attr-defined, no-any-return]

    def get_disambiguator(self) -> str:
        return self.stamp[:16]  # type: ignore[attr-defined, no-any-return]


class GivenFolder(_Stamped, caching.UserProvidedCacheLocator):
    """Under ``NUMBA_CACHE_DIR``."""


class InTree(_Stamped, caching.InTreeCacheLocator):
    """Beside the source."""


class UserWide(_Stamped, caching.UserWideCacheLocator):
    """In the user's cache folder."""


_LOCATORS: Final = ",".join(f"{__name__}.{c.__name__}" for c in (GivenFolder, InTree, UserWide))
