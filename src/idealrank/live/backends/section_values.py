"""Values of a backend's section that several backends read."""

from idealrank._sections import Section


def required(section: Section, key: str, expected: str) -> str:
    """Return the text under a key that must be there.

    Examples
    --------
    >>> required(Section({}, "search.yaml", "backend"), "index", "the name of an index")
    Traceback (most recent call last):
    ...
    idealrank.errors.OptionError: search.yaml: backend.index: found nothing, expected the name of an index
    """
    value = section.text(key, None)
    if value is None:
        raise section.error(key, "nothing", expected)
    return value


def optional_number(section: Section, key: str) -> int | None:
    """Return a whole number of 1 or more; None if the key is missing, so that the engine's own default holds.

    Examples
    --------
    >>> optional_number(Section({"ef": 50}, "search.yaml", "backend"), "ef"), optional_number(Section({}, "search.yaml", ""), "ef")
    (50, None)
    """
    return section.number(key, 1) if section.has(key) else None
