"""Input of the public functions: evaluations, or judgments and runs in any form.

Names, the layout of arrays, a convention beside evaluations and declared labels are checked here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isfunction
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from idealrank._lazy import annotation
from idealrank.conventions import Convention
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


class ReadRuns(NamedTuple):
    """Judgments and runs with the measure and the convention of a study of them."""

    judgments: AnyTable  # Judgments in the form that was given; read ones for evaluations
    runs: list[Run]
    measure: MeasureLike
    convention: "Convention | str"


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedRuns:
    """Evaluations, or judgments and runs in any form."""

    form: str  # Calls in each form, for messages
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
            raise OptionError(f"{function_of(form)}: found no run_b, expected {form}")
        return cls(form=form, tables=tables, **options), measure

    @property
    def has_evaluations(self) -> bool:
        """Return whether any of the tables is an evaluation."""
        return any(isinstance(table, Evaluation) for table in self.tables)

    def read(self, measure: "MeasureLike | None" = None) -> ReadRuns:
        """Read the runs, or take those that evaluations keep; the default measure is nDCG@10, or
        the first one of the evaluations.
        """
        refuse_layout(self.layout, self.form)
        if self.has_evaluations:
            runs = to_runs(self.kept_runs, self.names)
            from idealrank.analysis.comparison.query_table import chosen_measures, comparable  # noqa: PLC0415  (SciPy; few pass evaluations)

            evaluations: Sequence[Any] = comparable(self.tables, None)
            if measure is None:
                measure = chosen_measures(self.tables, None)[0]
            # All have the same judgments, so the first ones will do.
            judgments, _ = evaluations[0].sources
            return ReadRuns(
                judgments=judgments,
                runs=runs,
                measure=measure,
                convention=evaluations[0].convention,
            )
        qrels, *tables = self.tables
        runs = to_runs(tables, self.names, unnamed=self.unnamed, judgments=qrels)
        measure = DEFAULT_MEASURES[0] if measure is None else measure
        return ReadRuns(judgments=qrels, runs=runs, measure=measure, convention=self._convention)

    def lists(self) -> tuple[Lists, ...]:
        """Return the lists of each run if all tables are arrays; nothing otherwise."""
        if self.has_evaluations or not all(map(is_array, self.tables)):
            return ()
        self._refuse_arrays()
        return lists_of(self.tables, self.layout, self.form)

    def evaluations(
        self, measures: "MeasureLike | Iterable[MeasureLike]" = ()
    ) -> Sequence[Evaluation]:
        """Return the evaluations, or evaluate the runs that follow judgments, with the companions
        of the measures.
        """
        if all(isinstance(table, Evaluation) for table in self.tables):
            refuse_layout(self.layout, self.form)
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
            refuse_layout(self.layout, self.form)
            refuse_convention(self.convention, evaluations[0])
        if evaluations or len(self.tables) < 3:
            hint = ""
            if any(_is_runs_by_name(table) for table in self.tables[1:]):
                hint = "give each run by itself, and names=[...]"
            raise self._other_form(hint)

    def _other_form(self, hint: str = "") -> InputError:
        type_names = ", ".join(type(table).__name__ for table in self.tables)
        return InputError(
            f"{function_of(self.form)}: found {type_names}; expected {self.form}", hint=hint
        )

    def _refuse_arrays(self) -> None:
        """Refuse options that arrays cannot have, and several items without their queries."""
        labels, *scores = self.tables
        refuse_names(self.names, scores)
        function = function_of(self.form)
        if self.declared is not None and self.declared[:2] != (None, None):
            raise OptionError(
                f"{function}: found labels_are or sampled_negatives with arrays, in which every "
                "item has a label; expected judgments and runs"
            )
        if not self.layout and np.ndim(labels) == 1 and len(labels) > 1:
            raise InputError(
                f"{function}: found one query of {len(labels)} items, expected group=, offsets= "
                "or qid= with the arrays"
            )

    def _of_arrays(self, measures: Sequence[MeasureLike]) -> list[Evaluation]:
        self._refuse_arrays()
        _refuse_unknown(self.layout, self.form)
        labels, *scores = self.tables
        convention = Convention.of(self._convention)
        names = self.names or self.unnamed or unnamed_runs(len(scores))
        return [
            evaluate(labels, run, measures, convention, name=name, **self.layout)
            for run, name in zip(scores, names, strict=True)
        ]

    def _of_runs(self, measures: Sequence[MeasureLike]) -> list[Evaluation]:
        refuse_layout(self.layout, self.form)
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
        evaluations = self.tables
        if not all(isinstance(evaluation, Evaluation) for evaluation in evaluations):
            raise self._other_form()
        refuse_convention(self.convention, evaluations[0])
        sources = [evaluation.sources for evaluation in evaluations]
        if None in sources:
            without = evaluations[sources.index(None)]
            raise InputError(
                f"evaluation {without.name!r}: found no judgments and run in it, "
                "expected evaluate(..., keep_unjudged=True), which keeps them, or "
                f"{self.form}; evaluations of arrays keep none, since arrays have no document ids"
            )
        return [
            run.renamed(evaluation.name)
            for evaluation, (_, run) in zip(evaluations, sources, strict=True)
        ]


def function_of(form: str) -> str:
    """Return the name of the function that a call shows."""
    return form.partition("(")[0]


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


def lists_of(tables: Sequence[AnyTable], layout: Mapping[str, Any], form: str) -> tuple[Lists, ...]:
    """Return the lists of each array of scores after an array of labels; nothing for other tables,
    which have no layout.
    """
    if not all(map(is_array, tables)):
        refuse_layout(layout, form)
        return ()
    _refuse_unknown(layout, form)
    labels, *scores = tables
    return tuple(Lists.from_arrays(labels, run, **layout) for run in scores)


def refuse_layout(layout: Mapping[str, Any], form: str) -> None:
    """Refuse the grouping of arrays for anything else, and arguments that are no grouping."""
    _refuse_unknown(layout, form)
    if layout:
        raise InputError(
            f"{function_of(form)}: found {', '.join(layout)} without arrays, expected arrays of "
            "labels and scores with it"
        )


def _refuse_unknown(layout: Mapping[str, Any], form: str) -> None:
    function = function_of(form)
    if unknown := next((name for name in layout if name not in _LAYOUT), ""):
        near = {"measures": "measure", "measure": "measures"}.get(unknown, "")
        if function == "advise" or not near:
            hint = f"help(idealrank.{function}) lists them"
        else:
            hint = f"did you mean {near}=?"
        raise OptionError(f"{function}: found {unknown}=, expected one of its arguments", hint=hint)


def several_runs(runs: object, form: str) -> list[AnyTable]:
    """List runs; refuse one run, since a path or a mapping is iterable, too."""
    is_single = isinstance(runs, (str, PathLike, Mapping, Run, Evaluation))
    if is_single or not isinstance(runs, Iterable):
        count = "none" if runs is None else f"one {type(runs).__name__}"
        raise InputError(
            f"{function_of(form)}: runs: found {count}, expected several runs, as in {form}"
        )
    return list(runs)


def judgments_source(qrels: AnyTable) -> JudgmentsSource:
    """Return judgments; of a path, a function that reads it under each policy for documents that
    are judged twice.
    """
    if isinstance(qrels, (str, PathLike)):
        return lambda policy: to_qrels(qrels, duplicates=policy)
    return qrels if isfunction(qrels) else to_qrels(qrels)
