"""Sections of configuration files, checked key by key: the files of commands, and the table of a
gate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealrank.errors import OptionError, near_ids, shown

LARGEST_AMOUNT = 1e6
"""Largest usual amount: as seconds about 11 days, which every clock and engine takes."""
LARGEST_WHOLE = 2**63 - 1
"""Largest whole number."""


@dataclass(frozen=True)
class Section:
    """Section of a configuration file: keys with values, each checked where it is read."""

    given: Any  # Keys and values, as YAML, TOML or JSON give them
    path: str  # Name of the file, for messages
    name: str  # Name of the section with dots, empty at the top level

    def __post_init__(self) -> None:
        if not isinstance(self.given, Mapping):
            content = "nothing" if self.given is None else type(self.given).__name__
            expected = "expected keys with values, as in `key: value`"
            raise OptionError(
                f"{self.path}: {self.name or 'the file'}: found {content}, {expected}"
            )
        for key in self.given:
            if not isinstance(key, str):
                place = self.name or "top level"
                content = f"the key {shown(repr(key))}"
                raise OptionError(
                    f"{self.path}: {place}: found {content}, expected a text; quote it if it is a "
                    "name, as in `'on': 1`"
                )

    def error(self, key: str, value: str, expected: str) -> OptionError:
        """Return an error that names the file, the key, the value found and the value expected."""
        place = self._place(key)
        return OptionError(f"{self.path}: {place}: found {shown(value)}, expected {expected}")

    def refusal(self, key: str, error: OptionError) -> OptionError:
        """Return an error that puts the file and the key before a message about the value."""
        return OptionError(
            f"{self.path}: {self._place(key)}: {error}",
            hint=error.hint,
            switch=error.switch,
            command_hint=error.command_hint,
        )

    def _place(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def refuse_unknown(self, *known: str) -> None:
        """Refuse keys that are not among the known ones, with the nearest known key as a hint."""
        for key in self.given:
            if key not in known:
                near = near_ids(str(key), known, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                place = f"{self.name}: " if self.name else ""
                raise OptionError(
                    f"{self.path}: {place}unknown key {shown(repr(key))}, expected "
                    f"{', '.join(known)}{hint}"
                )

    def has(self, key: str) -> bool:
        """Return True if the key has a value."""
        return self.given.get(key) is not None

    def _value(self, key: str, default: Any) -> Any:
        """Value of a key, or the default if it is missing or null: `key:` without a value."""
        value = self.given.get(key)
        return default if value is None else value

    def section(self, key: str, *, required: bool = False) -> "Section":
        """Return the section under a key; an empty one if the key is missing and not required."""
        if required and not self.has(key):
            raise self.error(key, "nothing", f"a section `{key}:` with keys and values")
        return Section(self.given[key] if self.has(key) else {}, self.path, self._place(key))

    def text(self, key: str, default: str | None, *, words: str = "a text") -> str | None:
        """Return a text, or the default if the key is missing."""
        value = self.given.get(key)
        if value is None:
            return default
        if not isinstance(value, str) or not value:
            raise self.error(key, repr(value), words)
        return value

    def number(
        self, key: str, default: int | None, *, least: int = 1, most: int = LARGEST_WHOLE
    ) -> int:
        """Return a whole number from `least` to `most`."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(key, _written(value), f"a whole number of {least} or more")
        if value > most:
            limit = "2^63 - 1" if most == LARGEST_WHOLE else f"{most:,}"
            raise self.error(key, _written(value), f"a whole number from {least} to {limit}")
        return value

    def share(self, key: str) -> float:
        """Return a share of the queries, from 0 to below 1."""
        value = self._value(key, 0.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
            raise self.error(key, repr(value), "a share of the queries, from 0 to below 1")
        return float(value)

    def numbers(self, key: str, *, least: int) -> list[int]:
        """Return whole numbers of at least `least`; one number is a list of one."""
        value = self.given.get(key)
        listed = [value] if isinstance(value, int) else value
        is_list = isinstance(listed, Sequence) and not isinstance(listed, str | bytes | bytearray)
        if not is_list or not all(type(number) is int and number >= least for number in listed):
            raise self.error(key, repr(value), f"a list of whole numbers of {least} or more")
        return list(listed)

    def texts(self, key: str, *, words: str = "a list of texts") -> tuple[str, ...]:
        """Return a list of texts; one text is a list of one."""
        value = self.given.get(key)
        if value is None:
            return ()
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, Sequence) or not all(
            isinstance(text, str) and text for text in listed
        ):
            raise self.error(key, repr(value), words)
        return tuple(listed)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Return one of the choices; the first is the default."""
        value = self._value(key, choices[0])
        if value not in choices:
            raise self.error(key, repr(value), f"one of {', '.join(choices)}")
        return str(value)

    def kind(self, kinds: Iterable[str]) -> str:
        """Return the kind of the section, which must be there."""
        if not self.has("kind"):
            raise self.error("kind", "nothing", f"one of {', '.join(kinds)}")
        return self.choice("kind", tuple(kinds))

    def amount(
        self,
        key: str,
        default: float | None,
        *,
        least: float = 0.0,
        most: float = LARGEST_AMOUNT,
        is_above: bool = False,
        unit: str = "",
    ) -> float:
        """Return a finite number from `least`, or above it, to `most`; the unit appears in the
        message only.
        """
        value = self._value(key, default)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not least <= value <= most
            or (is_above and value == least)
        ):
            # The message for a small number leaves out the usual upper limit.
            is_large = isinstance(value, (int, float)) and value > least
            limits = f"above {least:g}" if is_above else f"of {least:g} or more"
            if is_large or (most < LARGEST_AMOUNT and not is_above):
                limits = f"from {least:g} to {most:g}"
            unit_text = f" ({unit})" if unit else ""
            raise self.error(key, _written(value), f"a number {limits}{unit_text}")
        return float(value)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.error(key, repr(value), "true or false")
        return value


def _written(value: object) -> str:
    """A value for a message; Python writes no number of more than 4,300 digits, but for its
    hexadecimal form.
    """
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return f"{hex(value)[:12]}..."
    return repr(value)
