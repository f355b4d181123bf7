"""Stored evaluations, comparisons and gates, with their records."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.label_kinds import Labels
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation, Provenance
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.measures.measure import Measure
from idealrank.store.encoding import (
    Fields,
    KeptInput,
    read_array,
    read_convention,
    read_coverage,
    read_hits,
    read_measure_coverage,
    read_measures,
)
from idealrank.store.record import Entry, Record
from idealrank.store.value_files import ValueFiles


@dataclass(frozen=True, kw_only=True, eq=False)
class Stored:
    """Stored evaluation. Its files are read, and their hashes checked, on first access.

    Attributes
    ----------
    entry : Entry
        Summary of the entry.
    fields : dict
        The record as stored; do not change it.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     key = store.add(ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]))
    ...     store.evaluation(key).evaluation.mean()
    {'RR': 0.5}
    """

    entry: Entry
    fields: Fields
    _files: ValueFiles
    _own_measures: Sequence[Measure] = ()
    _convention: Convention | None = field(default=None)

    @property
    def id(self) -> str:
        """12 hexadecimal digits."""
        return self.entry.id

    @property
    def record(self) -> Record:
        """Origin of the evaluation, with its tags and notes."""
        return self.entry.record

    @property
    def measures(self) -> tuple[str, ...]:
        """Texts of the measures, in the order requested."""
        return tuple(measure["text"] for measure in self.fields["measures"])

    @property
    def _whose(self) -> str:
        return f"evaluation {self.id}"

    def _content(self, role: str) -> bytes | None:
        name = self.fields["files"].get(role)
        return None if name is None else self._files.read(name, self._whose)

    def _list(self, role: str) -> list[str]:
        content = self._content(role)
        return [] if content is None else json.loads(content)

    @cached_property
    def queries(self) -> list[str]:
        """Ids of the queries, in the order of every array."""
        return self._list("queries")

    @property
    def _shape(self) -> tuple[int, int]:
        return self.fields["n_queries"], len(self.measures)

    @cached_property
    def all_values(self) -> FloatArray:
        """Values, shape (n_queries, n_measures); NaN where a query is left out of a measure."""
        values: FloatArray = read_array(
            self._content("values") or b"", "<f8", self._shape, self._whose
        )
        return values

    @cached_property
    def scored(self) -> BoolArray:
        """Mask of the values that count in the mean, shape (n_queries, n_measures)."""
        content = self._content("scored")
        if content is None:  # every value counts
            return np.ones(self._shape, np.bool_)
        mask: BoolArray = read_array(content, "|b1", self._shape, self._whose)
        return mask

    def values(self, measure: str) -> FloatArray:
        """Values of one measure by its text, shape (n_queries,), including measures that cannot be
        recreated.

        Raises
        ------
        InputError
            The measure was not evaluated.
        """
        if measure not in self.measures:
            raise InputError(
                f"{self._whose}: found no {measure}, expected one of {', '.join(self.measures)}"
            )
        return self.all_values[:, self.measures.index(measure)]

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation, as it was stored, to the last bit; of its input files it has the names
        without folders.

        Raises
        ------
        OptionError
            A measure or a function of the convention is the user's own and was not given to
            `Store.evaluation`.
        InputError
            A file is missing or damaged.
        """
        fields = self.fields
        labels = fields.get(
            "labels"
        )  # records of earlier versions have neither these nor judgments
        inputs = [
            KeptInput(
                path=input_file["name"],
                size=input_file["size"],
                modified=input_file["modified"],
                sha256=input_file["sha256"],
            )
            for input_file in fields["inputs"]
        ]
        provenance = Provenance(
            version=fields["version"],
            convention=read_convention(fields["convention"], self._whose, self._convention),
            measures=tuple(measure["resolved"] for measure in fields["measures"]),
            inputs=tuple(inputs),
            max_documents=fields["max_documents"],
            judgments=fields.get("judgments"),
            labels=None if labels is None else Labels(**labels),
        )
        texts = self._content("texts")
        coverage = self._content("coverage")
        by_measure = {} if coverage is None else read_measure_coverage(coverage, self.queries)
        return Evaluation(
            name=fields["name"],
            queries=self.queries,
            measures=read_measures(fields["measures"], self._whose, self._own_measures),
            values=self.all_values,
            scored=self.scored,
            coverage=read_coverage(fields, self._list("missing"), by_measure),
            provenance=provenance,
            path=fields["path"],
            texts={} if texts is None else json.loads(texts),
        )

    @cached_property
    def hits(self) -> JudgedHits | None:
        """Judged documents it returned, with their ranks; None where they were not kept."""
        content = self._content("hits")
        return None if content is None else read_hits(content, self.queries)


_RENAMED = {"judgments do not reach": "too few judgments"}
_STATES = {"verdict", "outcome", "reason", "reasons"}  # keys of a result that hold a state
_OLD_REASON = ", but the judgments do not reach"
_NEW_REASON = ", but there are too few judgments"


def in_words_of_today(result: Any) -> Any:
    """Rename the states that earlier versions stored under another name; records never change, and
    names of runs stay.
    """
    if isinstance(result, dict):
        return {
            name: _renamed(value) if name in _STATES else in_words_of_today(value)
            for name, value in result.items()
        }
    if isinstance(result, list):
        return [in_words_of_today(value) for value in result]
    return result


def _renamed(state: Any) -> Any:
    """Rename a state, or the states in a list of reasons."""
    if isinstance(state, list):
        return [_renamed(value) for value in state]
    if isinstance(state, str):
        return _RENAMED.get(state, state).replace(_OLD_REASON, _NEW_REASON)
    return state


@dataclass(frozen=True, eq=False)
class StoredVerdict:
    """Comparison or gate in a store.

    Attributes
    ----------
    entry : Entry
        Summary of the entry; `parts` are the ids of its evaluations.
    options : dict
        Options as requested.
    result : dict
        Result as JSON: `Comparison.as_dict()` or `Gated.as_dict()`.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> one = ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"])
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     key = store.add_comparison(ir.compare(one, one), [store.add(one), store.add(one)])
    ...     store.comparison(key).result["method"]["test"]
    'permutation'
    """

    entry: Entry
    options: dict[str, Any]
    result: dict[str, Any]

    @property
    def id(self) -> str:
        """12 hexadecimal digits."""
        return self.entry.id

    @property
    def record(self) -> Record:
        """Origin of the verdict, with its tags and notes."""
        return self.entry.record
