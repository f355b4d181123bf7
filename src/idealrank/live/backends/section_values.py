"""Values of a backend's section that several backends read."""

from idealrank._sections import Section


def required(section: Section, key: str, expected: str) -> str:
    """Return the text under a key that must be there."""
    value = section.text(key, None)
    if value is None:
        raise section.error(key, "nothing", expected)
    return value


def optional_number(section: Section, key: str) -> int | None:
    """Return a whole number of 1 or more; None if the key is missing, so that the engine's own
    default holds.
    """
    return section.number(key, 1) if section.has(key) else None
