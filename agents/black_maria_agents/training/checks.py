"""What settings may be, said in words: whole numbers and real ones, within bounds."""

import math
from numbers import Real
from operator import index
from typing import Any

from black_maria.given import shown

MOST = 10**9


def check_whole(settings: Any, *names: str, least: int = 1, most: int = MOST) -> None:
    """See that fields of a dataclass are whole numbers within bounds, and make them plain ones.

    Raises:
        ValueError: One isn't; names it and says what it must be.
    """
    for name in names:
        value = getattr(settings, name)
        try:
            number = index(value)
        except TypeError:
            number = None
        if number is None or isinstance(value, bool):
            raise ValueError(f"{name}={shown(value)}: must be a whole number")
        if number < least:
            raise ValueError(f"{name}={shown(value)}: must be at least {least}")
        if number > most:
            raise ValueError(f"{name}={shown(value)}: must be at most {most:,}")
        object.__setattr__(settings, name, number)


def check_real(settings: Any, *names: str, most: float = math.inf, zero: bool = True) -> None:
    """See that fields of a dataclass are finite numbers within 0 … ``most``, and plain floats.

    Args:
        settings: The dataclass's instance; it may be frozen.
        *names: The fields.
        most: The largest value.
        zero: Whether 0 will do.

    Raises:
        ValueError: One isn't; names it and says what it must be.
    """
    for name in names:
        value = getattr(settings, name)
        if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
            raise ValueError(f"{name}={shown(value)}: must be a finite number")
        number = float(value)
        if not 0 <= number <= most or (number == 0 and not zero):
            lowest = "at least 0" if zero else "above 0"
            within = f"lie in 0 … {most:g}" if most < math.inf else f"be {lowest}"
            raise ValueError(f"{name}={shown(value)}: must {within}")
        object.__setattr__(settings, name, number)
