"""Names of agents with options, as in ``pimc:worlds=30,sims=333``."""

from collections.abc import Mapping
from typing import Final

MOST: Final = 1_000_000
"""The largest number that an option takes, unless told."""


def options_of(
    name: str, defaults: Mapping[str, int | str | None], most: int = MOST
) -> dict[str, int | str | None]:
    """The options that a name gives, and the defaults of the others.

    Args:
        name: ``family`` or ``family:option=value,…``.
        defaults: All options there are; one whose default isn't a text is a whole number from 1.
        most: The largest of these numbers.

    Raises:
        ValueError: An option that there isn't, or a value that doesn't fit; says what would.
    """
    family, _, text = name.partition(":")
    example = ",".join(f"{key}={value}" for key, value in defaults.items() if value is not None)
    example = f"as in {family}:{example}"
    given: dict[str, int | str | None] = {}
    for option in filter(None, text.split(",")):
        key, _, value = option.partition("=")
        if key not in defaults:
            there = ", ".join(defaults)
            raise ValueError(f"{name!r}: no option {key!r}; there are: {there}, {example}")
        if key in given:
            raise ValueError(f"{name!r}: {key} is given twice")
        if isinstance(defaults[key], str):
            given[key] = value
        elif number := _whole(value, most):
            given[key] = number
        else:
            raise ValueError(
                f"{name!r}: {key} must be a whole number from 1 to {most:,}, not {value!r}, "
                f"{example}"
            )
    return {**defaults, **given}


def _whole(text: str, most: int) -> int:
    """The number from 1 to ``most`` that a text is, or 0."""
    if not (text.isascii() and text.isdecimal()) or len(text) > 2 * len(str(most)):
        return 0
    number = int(text)
    return number if number <= most else 0
