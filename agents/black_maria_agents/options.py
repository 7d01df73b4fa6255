"""Names of agents with options, as in ``pimc:worlds=30,sims=333``."""

from collections.abc import Mapping


def options_of(name: str, defaults: Mapping[str, int | str | None]) -> dict[str, int | str | None]:
    """The options that a name gives, and the defaults of the others.

    Args:
        name: ``family`` or ``family:option=value,…``.
        defaults: All options there are; one whose default isn't a text is a whole number from 1.

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
        elif value.isascii() and value.isdecimal() and int(value) >= 1:
            given[key] = int(value)
        else:
            raise ValueError(
                f"{name!r}: {key} must be a whole number from 1, not {value!r}, {example}"
            )
    return {**defaults, **given}
