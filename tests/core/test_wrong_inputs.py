"""Wrong inputs of every public function that takes judged runs: each is refused by an error of the
library, or by Python's error about the arguments of that very function.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import idealrank as ir

QRELS = {f"q{number}": {"x": 1, "y": 0} for number in range(6)}
OLD, NEW = ({query: list(order) for query in QRELS} for order in ("yx", "xy"))
LABELS, SCORES, FEWER = [1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1], [0.3, 0.2, 0.1]


def evaluated(name: str) -> ir.Evaluation:
    run = OLD if name == "old" else NEW
    return ir.evaluate(QRELS, run, ["RR", "AP"], keep_unjudged=True, name=name)


BOTH = (evaluated("old"), evaluated("new"))
quick = {"n_splits": 4, "n_resamples": 4, "cutoffs": [1]}
FUNCTIONS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "compare": ((QRELS, OLD, NEW), {}),
    "gate": ((QRELS, OLD, NEW), {}),
    "robust": ((QRELS, OLD, NEW), {"variants": ["ties"]}),
    "why": ((QRELS, OLD, NEW), {}),
    "attribute": ((QRELS, OLD, NEW), {}),
    "explain": ((QRELS, OLD, "q1"), {}),
    "seeds": ((QRELS, [OLD, NEW], [NEW, OLD]), {}),
    "compare_systems": ((list(BOTH), list(BOTH)), {}),
    "choose": ((QRELS, [OLD, NEW]), quick),
    "advise": ((QRELS, OLD), {}),
    "reconcile": ((QRELS, OLD, "0.5"), {}),
    "split_difference": ((QRELS, OLD, "nDCG@10", "standard", "xgboost"), {}),
    "evaluate": ((QRELS, OLD), {}),
    "overlap": ((OLD, NEW), {}),
    "overlap_matrix": (([OLD, NEW],), {}),
    "index_recall": ((OLD, NEW), {"qrels": QRELS}),
}
WRONG: dict[str, Callable[[], Any]] = {
    "nothing": dict,
    "None": lambda: None,
    "a path that is missing": lambda: "no/such.run",
    "a number": lambda: 3,
    "a run": lambda: ir.Run(OLD),
    "judgments": lambda: ir.Qrels(QRELS),
    "an evaluation": lambda: BOTH[0],
    "evaluations": lambda: list(BOTH),
    "an array": lambda: np.array(FEWER),
    "a generator": lambda: iter([OLD]),
    "runs by name": lambda: {"old": OLD},
    "a query without an answer": lambda: {"q1": None},
}


def refused(name: str, call: Callable[[], object]) -> None:
    """Call; only the library's errors, or Python's about this function, may come out."""
    try:
        call()
    except ir.IdealrankError:
        return
    except TypeError as error:
        text = str(error)
        assert text.startswith(f"{name}() "), f"{name}: {text}"


def wrong_tables(name: str) -> Iterator[Callable[[], object]]:
    """Calls with one wrong table each, with too few or too many tables, or an unknown argument."""
    arguments, options = FUNCTIONS[name]
    call = partial(getattr(ir, name), **options)
    for make in WRONG.values():
        for place, argument in enumerate(arguments):
            wrong = [make()]
            if isinstance(argument, list):  # and one of several
                wrong.append([argument[0], make()])
            for table in wrong:
                yield partial(call, *arguments[:place], table, *arguments[place + 1 :])
    for count in range(len(arguments)):
        yield partial(call, *arguments[:count])
    yield partial(call, *arguments, NEW)
    yield partial(call, *arguments, nonsense=1)


@pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_tables_are_refused_by_an_error_of_the_library(name: str) -> None:
    for call in wrong_tables(name):
        refused(name, call)


@pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")
@pytest.mark.parametrize("name", ["compare", "gate", "robust", "why", "overlap", "seeds"])
@pytest.mark.parametrize("names", [["a", "a"], ["a"], "ab", 3, [1, 2], [], ["a", None], {"a", "b"}])
def test_names_are_a_different_text_for_each(name: str, names: Any) -> None:
    arguments, options = FUNCTIONS[name]
    what = "systems" if name == "seeds" else "runs"
    with pytest.raises(
        ir.InputError, match=f"^names: found .*, expected a different name for each of 2 {what}$"
    ):
        getattr(ir, name)(*arguments, names=names, **options)


@pytest.mark.parametrize("name", ["compare", "gate", "robust"])
@pytest.mark.parametrize("runs", [(FEWER, SCORES), (SCORES, OLD), (SCORES, SCORES)])
def test_wrong_arrays_are_refused_by_an_error_of_the_library(name: str, runs: Any) -> None:
    for layout in ({}, {"group": [2, 3]}, {"group": "x"}, {"names": ["a"]}):
        with pytest.raises(ir.IdealrankError):
            getattr(ir, name)(LABELS, *runs, **layout)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("compare", (LABELS, SCORES, SCORES)),
        ("compare", (QRELS, OLD, NEW)),
        ("gate", (LABELS, SCORES, SCORES)),
        ("robust", (LABELS, SCORES, SCORES)),
        ("robust", BOTH),
        ("reconcile", (LABELS, SCORES, "0.5")),
        ("advise", (LABELS, SCORES)),
    ],
)
def test_an_unknown_argument_names_the_function(name: str, arguments: Any) -> None:
    layout = {"group": [2, 2]} if arguments[0] is LABELS else {}
    with pytest.raises(
        ir.OptionError,
        match=rf"^{name}: found nonsense=, expected one of its arguments; help\(idealrank.{name}\)",
    ):
        getattr(ir, name)(*arguments, nonsense=1, **layout)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.choose(QRELS, ir.Run(OLD)), r"^choose: runs: found one Run, expected several"),
        (lambda: ir.choose(QRELS, None), "^choose: runs: found none, expected several"),
        (lambda: ir.choose(QRELS, [OLD, NEW], cutoffs=None), "^cutoffs: found None"),
        (lambda: ir.overlap_matrix(BOTH[0]), "^overlap_matrix: runs: found one Evaluation"),
        (lambda: ir.overlap(OLD, NEW, threads="x"), "^threads='x': expected a whole number"),
        (
            lambda: ir.compare(*BOTH, rankings=3),
            "^rankings: found int, expected results of overlap",
        ),
        (lambda: ir.compare(*BOTH, margin="x"), "^margin='x': expected a difference above 0"),
        (lambda: ir.compare(*BOTH, effect="x"), "^effect='x': expected a difference above 0"),
        (lambda: ir.compare(*BOTH, largest_loss="x"), "^largest_loss='x': expected the greatest"),
        (lambda: ir.compare(*BOTH, sampled_negatives="x"), "^sampled_negatives='x': expected a"),
        (lambda: ir.gate(*BOTH, policy=3), "^policy: found int, expected a Policy"),
        (lambda: ir.gate(*BOTH, contracts=3), "^gate: contracts: found int, expected Contract"),
        (lambda: ir.gate(*BOTH, contracts=["x"]), "^gate: contracts: found str, expected"),
        (lambda: ir.gate(*BOTH, also=3), "^found int, expected a measure"),
        (lambda: ir.gate(*BOTH, judge_qrels=[BOTH[0]]), "^judge: found evaluations of 1 runs"),
        (lambda: ir.robust(*BOTH, variants=3), "^variants: found int, expected a list"),
        (lambda: ir.robust(*BOTH, pairs="x"), "^pairs='x': expected a whole number from 0 on"),
        (lambda: ir.seeds([BOTH[0], OLD], list(BOTH)), "^seeds: A: found dict among the copies"),
        (lambda: ir.seeds(list(BOTH), list(BOTH), level="x"), "^level='x': expected a number"),
        (lambda: ir.evaluate(QRELS, {"q1": None}), "^run 'run': query 'q1': found NoneType"),
    ],
)
def test_an_option_of_another_type_is_refused(call: Any, message: str) -> None:
    with pytest.raises((ir.InputError, ir.OptionError, ir.IncompatibleError), match=message):
        call()
