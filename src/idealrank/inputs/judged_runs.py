"""Input of the public functions: evaluations, or judgments and runs in any form.

Names, the layout of arrays, a convention beside evaluations and declared labels are checked here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isfunction
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from idealrank._lazy import annotation
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.lists import Lists
from idealrank.data.run import Run
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.inputs.evaluation import (
    AnyTable,
    evaluate,
    is_array,
    refuse_names,
    to_judgments,
    to_qrels,
    to_runs,
    unnamed_runs,
    with_labels,
)
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike

if TYPE_CHECKING:
    from idealrank.analysis.comparison.label_basis import DeclaredLabels
else:
    DeclaredLabels = annotation("idealrank.analysis.comparison.label_basis", "DeclaredLabels")

# Types that a run may have for one query; the values of a mapping of runs by name are tables.
_LISTED = (list, tuple, set, frozenset, Mapping, np.ndarray)
_LAYOUT = ("group", "offsets", "qid", "mask", "padding")
_NEAR = MappingProxyType({"measures": "measure", "measure": "measures"})


class ReadRuns(NamedTuple):
    """Judgments and runs with the measure and the convention of a study of them."""

    judgments: AnyTable  # Judgments in the form that was given; read ones for evaluations
    runs: list[Run]
    measure: MeasureLike
    convention: "Convention | str"


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedRuns:
    """Evaluations, or judgments and runs in any form."""

    form: str  # Call with judgments and runs, for messages
    tables: tuple[AnyTable, ...]  # Evaluations; or judgments, then runs
    names: Sequence[str] | None = None  # Names of the runs
    unnamed: Sequence[str] = ()  # Names of runs that have none
    convention: "Convention | str | None" = None  # Only for judgments and runs
    layout: Mapping[str, Any] = field(default_factory=dict)  # Grouping of arrays
    declared: "DeclaredLabels | None" = None  # What is declared about the labels

    @classmethod
    def of_pair(
        cls, form: str, tables: tuple[AnyTable, ...], measure: "MeasureLike | None", **options: Any
    ) -> "tuple[JudgedRuns, MeasureLike | None]":
        """Take judgments and two runs, or two evaluations with the measure as third argument."""
        if any(isinstance(table, Evaluation) for table in tables[:2]):
            *evaluations, third = tables
            measure = third if measure is None else measure
            return cls(form=form, tables=tuple(evaluations), **options), measure
        if tables[2] is None:
            raise OptionError(f"run_b: found none, expected {form}")
        return cls(form=form, tables=tables, **options), measure

    @property
    def has_evaluations(self) -> bool:
        """Return whether any of the tables is an evaluation."""
        return any(isinstance(table, Evaluation) for table in self.tables)

    def read(self, measure: "MeasureLike | None" = None) -> ReadRuns:
        """Read the runs, or take those that evaluations keep; the default measure is nDCG@10, or
        the first one of the evaluations.
        """
        refuse_layout(self.layout)
        if self.has_evaluations:
            judgments, kept = self._kept()
            if measure is None:
                from idealrank.analysis.comparison.query_table import chosen_measures  # noqa: PLC0415  (SciPy; few pass evaluations)

                measure = chosen_measures(self.tables, None)[0]
            runs = to_runs(kept, self.names)
            return ReadRuns(judgments, runs, measure, self.tables[0].convention)
        qrels, *tables = self.tables
        runs = to_runs(tables, self.names, unnamed=self.unnamed, judgments=qrels)
        measure = DEFAULT_MEASURES[0] if measure is None else measure
        return ReadRuns(qrels, runs, measure, self._convention)

    def lists(self) -> tuple[Lists, ...]:
        """Return the lists of each run if all tables are arrays; nothing otherwise."""
        if self.has_evaluations or not all(map(is_array, self.tables)):
            return ()
        refuse_names(self.names, self.tables[1:])
        return lists_of(self.tables, self.layout)

    def evaluations(
        self, measures: "MeasureLike | Iterable[MeasureLike]" = ()
    ) -> Sequence[Evaluation]:
        """Return the evaluations, or evaluate the runs that follow judgments, with the companions
        of the measures.
        """
        if all(isinstance(table, Evaluation) for table in self.tables):
            refuse_layout(self.layout)
            refuse_convention(self.convention, self.tables[0])
            refuse_names(self.names, self.tables)
            if self.names is None:
                return self.tables
            return [
                replace(evaluation, name=name)
                for evaluation, name in zip(self.tables, self.names, strict=True)
            ]
        self._refuse_mixture()
        from idealrank.analysis.comparison import with_companions  # noqa: PLC0415  (SciPy; `explain` needs it not)

        all_measures = with_companions(measures)
        if is_array(self.tables[0]):
            return self._of_arrays(all_measures)
        return self._of_runs(all_measures)

    @property
    def _convention(self) -> "Convention | str":
        return "standard" if self.convention is None else self.convention

    def _refuse_mixture(self) -> None:
        """Refuse evaluations beside tables, and fewer than two runs."""
        evaluations = [table for table in self.tables if isinstance(table, Evaluation)]
        if evaluations:
            refuse_layout(self.layout)
            refuse_convention(self.convention, evaluations[0])
        if evaluations or len(self.tables) < 3:
            type_names = ", ".join(type(table).__name__ for table in self.tables)
            hint = ""
            if any(_is_runs_by_name(table) for table in self.tables[1:]):
                hint = "give each run by itself, and names=[...]"
            raise InputError(
                f"found {type_names}; expected evaluations, as `evaluate` returns, or judgments "
                f"and two or more runs: {self.form}",
                hint=hint,
            )

    def _of_arrays(self, measures: Sequence[MeasureLike]) -> list[Evaluation]:
        labels, *scores = self.tables
        refuse_names(self.names, scores)
        if self.declared is not None and self.declared[:2] != (None, None):
            raise OptionError(
                f"{self.form}: found labels_are or sampled_negatives with arrays, in which every "
                "item has a label; expected judgments and runs"
            )
        if not self.layout and np.ndim(labels) == 1 and len(labels) > 1:
            raise InputError(
                f"{self.form}: found one query of {len(labels)} items, expected group=, offsets= "
                "or qid= with the arrays"
            )
        convention = Convention.of(self._convention)
        names = self.names or self.unnamed or unnamed_runs(len(scores))
        return [
            evaluate(labels, run, measures, convention, name=name, **self.layout)
            for run, name in zip(scores, names, strict=True)
        ]

    def _of_runs(self, measures: Sequence[MeasureLike]) -> list[Evaluation]:
        refuse_layout(self.layout)
        table, *tables = self.tables
        convention = Convention.of(self._convention)
        duplicates = convention.alignment.duplicates
        qrels = to_judgments(table, "error" if duplicates == "twice" else duplicates)
        if self.declared is not None:
            qrels = with_labels(qrels, self.declared.labels_are, self.declared.sampled_negatives)
        return [
            evaluate(qrels, run, measures, convention, keep_unjudged=True)
            for run in to_runs(tables, self.names, unnamed=self.unnamed, judgments=qrels)
        ]

    @property
    def kept_runs(self) -> list[Run]:
        """Runs that the evaluations keep, under the names of the evaluations."""
        _, runs = self._kept()
        return runs

    def _kept(self) -> tuple[Judgments, list[Run]]:
        """Return the judgments and the runs that evaluations keep, the runs under the names of the
        evaluations.
        """
        from idealrank.analysis.comparison.query_table import comparable  # noqa: PLC0415  (SciPy; few pass evaluations)

        evaluations = self.tables
        if not all(isinstance(evaluation, Evaluation) for evaluation in evaluations):
            type_names = ", ".join(type(evaluation).__name__ for evaluation in evaluations)
            raise InputError(
                f"found {type_names}; expected evaluations, as `evaluate` returns, or judgments "
                f"and runs: {self.form}"
            )
        refuse_convention(self.convention, evaluations[0])
        kept = [evaluation.sources for evaluation in evaluations]
        if None in kept:
            raise InputError(
                f"evaluation {evaluations[kept.index(None)].name!r}: found no judgments and run in "
                "it, expected evaluate(..., keep_unjudged=True), which keeps them, or "
                f"{self.form}; evaluations of arrays keep none, since arrays have no document ids"
            )
        comparable(evaluations)
        # `comparable` has found the same judgments in all evaluations, so the first ones will do.
        judgments, _ = kept[0]
        runs = [
            run.renamed(evaluation.name)
            for evaluation, (_, run) in zip(evaluations, kept, strict=True)
        ]
        return judgments, runs


def _is_runs_by_name(table: AnyTable) -> bool:
    if not isinstance(table, Mapping) or not table:
        return False
    return not isinstance(next(iter(table.values())), _LISTED)


def refuse_convention(convention: object, evaluation: Evaluation) -> None:
    """Refuse a convention beside an evaluation, which has one."""
    if convention is not None:
        raise OptionError(
            f"convention={convention}: found evaluations, which have theirs, "
            f"{evaluation.convention}; evaluate again"
        )


def lists_of(
    tables: Sequence[AnyTable], layout: Mapping[str, Any], near: Mapping[str, str] = _NEAR
) -> tuple[Lists, ...]:
    """Return the lists of each array of scores after an array of labels; nothing for other tables,
    which have no layout.
    """
    if not all(map(is_array, tables)):
        refuse_layout(layout, near)
        return ()
    labels, *scores = tables
    return tuple(Lists.from_arrays(labels, run, **layout) for run in scores)


def refuse_layout(layout: Mapping[str, Any], near: Mapping[str, str] = _NEAR) -> None:
    """Refuse the grouping of arrays for anything else, and arguments that are no grouping."""
    if unknown := next((name for name in layout if name not in _LAYOUT), ""):
        raise OptionError(
            f"found no argument {unknown!r}, expected one of the function's",
            hint=f"did you mean {near[unknown]}=?" if unknown in near else "",
        )
    if layout:
        raise InputError(
            f"{', '.join(layout)}: belongs to arrays of labels and scores; found other qrels or "
            "runs"
        )


def refuse_single(runs: object) -> None:
    """Refuse one run where several are expected: a path or a mapping is iterable, too."""
    if isinstance(runs, (str, PathLike, Mapping)):
        raise InputError(
            f"runs: found one {type(runs).__name__}, expected several runs, as in "
            f'["bm25.run", "neural.run"]'
        )


def judgments_source(qrels: AnyTable) -> JudgmentsSource:
    """Return judgments; of a path, a function that reads it under each policy for documents that
    are judged twice.
    """
    if isinstance(qrels, (str, PathLike)):
        return lambda policy: to_qrels(qrels, duplicates=policy)
    return qrels if isfunction(qrels) else to_qrels(qrels)
