"""Search backends: one file each, all with the protocol `Backend`.

A module of a backend has the keys of each kind in ``SECTIONS``, and the function
``from_section(section)``, which reads them and returns the backend.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from idealrank._keys import has_value, read, schema_of, schema_of_kinds
from idealrank._sections import Section
from idealrank.errors import (
    BackendError,
    IdealrankError,
    InputError,
    MissingExtraError,
    OptionError,
    hiding,
    shown,
)
from idealrank.live.backends.protocol import Backend
from idealrank.live.backends.secrets import Secrets, SecretsHidden

LONGEST_TIMEOUT = 86_400.0
"""Seconds, at most, that a search may wait for anything."""

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

    ``${NAME}`` in a text of the section is the value of the environment variable. No message of the
    backend shows that value.
    """
    kind = section.kind(KINDS)
    section.amount("timeout", 1.0, most=LONGEST_TIMEOUT, unit="seconds")
    secrets = Secrets()
    filled = Section(secrets.fill(section.given, section), section.path, section.name)
    try:
        with hiding(secrets.hide):
            backend: Backend = import_module(KINDS[kind]).from_section(filled)
    except IdealrankError as error:
        if not secrets:
            raise
        raise without_secrets(error, secrets) from None
    except Exception as error:  # noqa: BLE001  (a client may refuse its configuration with any exception)
        problem = f"{type(error).__name__}: {secrets.hide(str(error))}"
        raise OptionError(
            f"{section.path}: {section.name}: found {shown(problem)}, expected a backend that can "
            "be made"
        ) from None
    return SecretsHidden(backend, secrets) if secrets else backend


def check_keys(section: Section) -> None:
    """Check the keys of a section ``backend`` without making the backend."""
    kind = section.kind(KINDS)
    secrets = Secrets()
    filled = Section(secrets.fill(section.given, section), section.path, section.name)
    try:
        read(import_module(KINDS[kind]).SECTIONS[kind], filled, known=("kind",))
    except IdealrankError as error:
        raise without_secrets(error, secrets) if secrets else error from None


def backend_schema() -> dict[str, Any]:
    """Return the JSON Schema of a section ``backend``, of all kinds."""
    kinds = {kind: _schema_of(kind) for kind in KINDS}
    return schema_of_kinds(kinds, "Kind of engine, which decides on the other keys.")


def _schema_of(kind: str) -> dict[str, Any]:
    """Schema of a kind; the values of its key `sweep` may take the place of any other key."""
    schema = schema_of(import_module(KINDS[kind]).SECTIONS[kind], kind)
    needed = [name for name in schema["required"] if name != "kind"]
    sweep = {
        "type": ["object", "null"],
        "additionalProperties": {"type": "array", "minItems": 1},
        "description": "Values of keys; each combination is a backend.",
    }
    rules = [{"anyOf": [{"required": [name]}, has_value("sweep")]} for name in needed]
    return {
        **schema,
        "properties": {**schema["properties"], "sweep": sweep},
        "required": ["kind"],
        **({"allOf": rules} if rules else {}),
    }


def without_secrets(error: IdealrankError, secrets: Secrets) -> IdealrankError:
    """Return an error of the same kind whose text hides the secrets."""
    message = secrets.hide(str(error))
    if isinstance(error, BackendError):
        return BackendError(message, temporary=error.temporary, retry_after=error.retry_after)
    if isinstance(error, MissingExtraError):
        return error
    return InputError(message) if isinstance(error, InputError) else OptionError(message)
