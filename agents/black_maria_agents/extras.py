"""Packages that only some of what is here needs: named by their extra where they are missing."""

import importlib
from typing import Any


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
