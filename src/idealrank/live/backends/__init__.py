"""Search backends: one file each, all with the protocol `Backend`.

A module of a backend has the function ``from_section(section)``, which checks its keys of the configuration and returns the backend.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from idealrank._sections import Section
from idealrank.live.backends.protocol import Backend

KINDS: Mapping[str, str] = MappingProxyType({})
"""Module of each kind of backend, by the word in `backend.kind`; loaded when it is used."""


def backend_from(section: Section) -> Backend:
    """Make the backend of a section ``backend`` of a configuration.

    Parameters
    ----------
    section : Section
        With the key ``kind``; the kind decides about all other keys.

    Raises
    ------
    OptionError
        The kind is unknown, or a key does not fit.
    MissingExtraError
        The client of the engine is not installed.

    Examples
    --------
    >>> backend_from(Section({"kind": "nothing"}, "search.yaml", "backend"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    idealrank.errors.OptionError: search.yaml: backend.kind: found 'nothing', expected ...
    """
    kind = section.given.get("kind")
    if kind not in KINDS:
        raise section.error("kind", "nothing" if kind is None else repr(kind), f"one of {', '.join(KINDS)}")
    backend: Backend = import_module(KINDS[kind]).from_section(section)
    return backend
