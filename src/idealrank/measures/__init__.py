"""Measures: frozen values that turn a run joined to its judgments into one number per query.

`MEASURES` is the table of all of them, by name, and `PAIR_MEASURES` that of measures of two runs;
both are read from the list of measures in ``idealrank/__init__.pyi``. A class is loaded when it is
first asked for. `parse_measure` reads the texts of measures and other tools' spellings, which stand
in `spellings`.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from idealrank._lazy import stub_names

if TYPE_CHECKING:
    from idealrank.measures.measure import Measure


class _Table(Mapping[str, "type[Measure]"]):
    """Classes by name, loaded one family at a time."""

    def __init__(self, *, of_pairs: bool) -> None:
        self._places = {
            name: (module, class_name)
            for module, class_name, name in stub_names()
            if name and module.startswith("idealrank.measures.pairs") == of_pairs
        }

    def __getitem__(self, name: str) -> "type[Measure]":
        module, class_name = self._places[name]
        cls: type[Measure] = getattr(import_module(module), class_name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


MEASURES: Mapping[str, "type[Measure]"] = _Table(of_pairs=False)
PAIR_MEASURES: Mapping[str, "type[Measure]"] = _Table(of_pairs=True)
