"""What an extra (``black-maria[agents]``) brings, and one line where it is missing."""

import importlib
import re
import sys
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import Any, Final

_US: Final = "black-maria"
_REQUIREMENT: Final = re.compile(r"([\w.-]+)(?:\[([\w,\s-]*)\])?")
_MODULES: Final = {"pygame-ce": "pygame", "open-spiel": "pyspiel", "pillow": "PIL"}
"""What packages are imported as, where it isn't their name."""


def check(extra: str, by: str, *more: str, also: str = "") -> None:
    """See that a script has what it imports, before it does.

    Args:
        extra: One of ``pyproject.toml``; a package of another version than it asks for will do.
        by: The script's name, which the line begins with.
        *more: Packages beside those of the extra, by the names that pip knows.
        also: What pip must be given to install them.

    Raises:
        SystemExit: Something is missing; a line says what, and how to install it.
    """
    if missing := absent(extra, *more):
        sys.exit(
            f"{by} needs {', '.join(missing)}: pip install '{_US}[{extra}]'{also and ' ' + also} "
            f"(in a clone: pip install -e '.[{extra}]'{also and ' ' + also})"
        )


def absent(extra: str, *more: str) -> list[str]:
    """Packages of an extra that can't be imported, by the names that pip knows, sorted.

    Args:
        extra: One of ``pyproject.toml``; those that it includes belong to it.
        *more: Packages to look for beside.
    """
    return sorted(name for name in _packages(extra) | set(more) if not _there(name))


def _there(package: str) -> bool:
    return find_spec(_MODULES.get(package, package.replace("-", "_"))) is not None


def _packages(extra: str) -> set[str]:
    """The packages that an extra brings; none known where we ourselves aren't installed."""
    try:
        listed = requires(_US) or []
    except PackageNotFoundError:
        return set()
    found: set[str] = set()
    for requirement in listed:
        what, _, condition = requirement.partition(";")
        if not re.search(rf"extra == ['\"]{extra}['\"]", condition):
            continue
        match = _REQUIREMENT.match(what)
        assert match, requirement
        name, inner = match.groups()
        if name == _US:
            found |= {package for part in inner.split(",") for package in _packages(part.strip())}
        else:
            found.add(name)
    return found


class MissingExtraError(ImportError, ValueError):
    """A package isn't installed; the message names the extra that brings it."""


def need(module: str, extra: str) -> Any:
    """A module of an extra.

    Args:
        module: Its name: ``"safetensors.torch"``.
        extra: What brings it: ``"export"``.

    Raises:
        MissingExtraError: It isn't there.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"this needs {package}: install the extra, pip install 'black-maria[{extra}]'"
        ) from error
