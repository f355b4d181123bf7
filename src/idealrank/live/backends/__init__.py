"""Search backends: one file each, all with the protocol `Backend`.

A module of a backend has the function ``from_section(section)``, which checks its keys of the configuration and returns the backend.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from idealrank._sections import Section
from idealrank.errors import OptionError
from idealrank.live.backends.protocol import Backend
from idealrank.live.backends.secrets import Secrets, SecretsHidden

_HOME = "idealrank.live.backends"
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "sqlite-fts5": f"{_HOME}.sqlite_fts5",
        "http": f"{_HOME}.http_endpoint",
        "function": f"{_HOME}.python_function",
        "command": f"{_HOME}.outside_command",
        "replay": f"{_HOME}.recorded_answers",
        "redis": f"{_HOME}.redis",
        "redis-text": f"{_HOME}.redis",
        "redis-vector-set": f"{_HOME}.redis",
        "elasticsearch": f"{_HOME}.elasticsearch",
        "opensearch": f"{_HOME}.elasticsearch",
        "postgres": f"{_HOME}.postgres",
        "postgres-sql": f"{_HOME}.postgres",
        "pgvector": f"{_HOME}.postgres",
        "qdrant": f"{_HOME}.qdrant",
        "faiss": f"{_HOME}.faiss",
        "sqlite-vec": f"{_HOME}.sqlite_vec",
        "duckdb": f"{_HOME}.duckdb",
        "lancedb": f"{_HOME}.lancedb",
        "retriever": f"{_HOME}.retriever",
    }
)
"""Module of each kind of backend, by the word in `backend.kind`; loaded when it is used."""


def backend_from(section: Section) -> Backend:
    """Make the backend of a section ``backend`` of a configuration.

    ``${NAME}`` in a text of the section is the value of the environment variable. No message of the backend shows that value.

    Parameters
    ----------
    section : Section
        With the key ``kind``; the kind decides about all other keys. A backend that asks over a network, starts a program or may wait
        for a lock reads the key ``timeout``, in seconds.

    Raises
    ------
    OptionError
        The kind is unknown, a key does not fit, or an environment variable is missing.
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
    if not isinstance(kind, str) or kind not in KINDS:
        raise section.error("kind", "nothing" if kind is None else repr(kind), f"one of {', '.join(KINDS)}")
    secrets = Secrets()
    filled = Section(secrets.fill(section.given, section), section.path, section.name)
    try:
        backend: Backend = import_module(KINDS[kind]).from_section(filled)
    except OptionError as error:
        if not secrets:
            raise
        raise OptionError(secrets.hide(str(error))) from None
    return SecretsHidden(backend, secrets) if secrets else backend
