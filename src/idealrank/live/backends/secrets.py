"""Secrets of backends: read from the environment, and hidden in every message."""

import json
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from idealrank._sections import Section
from idealrank.errors import BackendError, hiding, shown
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery

_SHORTEST = 6  # letters in base 64 that are hidden; fewer may be part of any text
_NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Secrets:
    """Values of environment variables that a configuration names, with patterns that hide them."""

    def __init__(self) -> None:
        self._hidden: dict[str, re.Pattern[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def fill(self, value: Any, section: Section) -> Any:
        """Replace ``${NAME}`` in every text of a value by the environment variable."""
        return self._filled(value, section, "")

    def _filled(self, value: Any, section: Section, key: str) -> Any:
        if isinstance(value, str):
            return _NAME.sub(lambda match: self._value(match[1], section, key), value)
        if isinstance(value, Mapping):
            return {
                name: self._filled(part, section, f"{key}.{name}" if key else str(name))
                for name, part in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, bytes):
            return [self._filled(part, section, key) for part in value]
        return value

    def _value(self, name: str, section: Section, key: str) -> str:
        value = os.environ.get(name, "")
        if not value:
            missing = "${" + name + "}, and no such environment variable"
            line = f", or delete the line {key.rpartition('.')[2]}" if key else ""
            raise section.error(
                key or "${" + name + "}", missing, f"its value: export {name}=...{line}"
            )
        plain = "".join(map(_any_form, value))
        self._hidden[name] = re.compile("|".join([plain, *_encoded(value)]))
        return value

    def hide(self, text: str) -> str:
        """Replace every secret in a text by the name of its variable."""
        # the longest first, as one secret may contain another
        for name in sorted(self._hidden, key=lambda name: -len(self._hidden[name].pattern)):
            text = self._hidden[name].sub("${" + name + "}", text)
        return text


def _any_form(letter: str) -> str:
    """Pattern of a letter as it is, and as addresses, JSON and Python escape it, in a text or in
    the repr of its bytes.
    """
    data = letter.encode("utf-8", "surrogateescape")
    coded = "".join(f"%{byte:02X}" for byte in data)
    escaped = {json.dumps(letter)[1:-1], repr(letter)[1:-1], repr(data)[2:-1]}
    forms = {letter, coded, coded.lower(), *escaped}
    if letter == " ":
        forms.add("+")
    return f"(?:{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})"


def _encoded(value: str) -> list[str]:
    """Patterns of the value in base 64, after 0, 1 or 2 bytes of a group of three."""
    data = value.encode("utf-8", "surrogateescape")
    patterns = []
    for before in range(3):
        coded = b64encode(b"\0" * before + data).decode()
        # Each letter has 6 bits; the first and the last may share theirs with other bytes.
        first = (8 * before + 5) // 6
        last = (8 * (before + len(data))) // 6
        if last - first >= _SHORTEST:
            patterns.append(re.escape(coded[first:last]))
    return patterns


class SecretsHidden:
    """Backend whose errors do not show the secrets of its configuration."""

    def __init__(self, backend: Backend, secrets: Secrets) -> None:
        self.name = backend.name
        self._backend = backend
        self._secrets = secrets

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Search, and hide the secrets in a message of failure."""
        try:
            with hiding(self._secrets.hide):
                return self._backend.search(query, limit)
        except BackendError as error:
            message = str(error)
            temporary = error.temporary
            wait = error.retry_after
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a message of a client may show a secret, too)
            text = shown(self._secrets.hide(str(error)))
            message = f"{self.name}: {type(error).__name__}: {text}"
            temporary = False
            wait = None
        raise BackendError(self._secrets.hide(message), temporary=temporary, retry_after=wait)

    def close(self) -> None:
        """Close the backend."""
        self._backend.close()
