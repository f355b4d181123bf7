"""`idealrank seeds`: compare systems that were trained several times."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import get_args

import click

from idealrank.analysis.systems import relation_of
from idealrank.cli import headings, input_options, options
from idealrank.cli.output import Formats
from idealrank.cli.progress import Watch
from idealrank.data.run import name_of
from idealrank.data.types import Progress
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import evaluate_read as evaluate
from idealrank.inputs.systems import compare_systems
from idealrank.stats.replicates import Single

_SEPARATOR = "vs"
# The end of a run's name that tells copies apart, as -seed3 in new-seed3.
_COPY = re.compile(r"[-_. ]*(seed|fold|copy|run|s|f)?[-_. ]*[0-9]*$")
_EPILOG = """\
Examples:

\b
  Two systems, each trained with several seeds:
    idealrank seeds qrels.txt old-seed*.run vs new-seed*.run
\b
  A baseline that is not trained:
    idealrank seeds qrels.txt bm25.run vs new-seed*.run --single fixed
\b
  Several seeds of five folds each; runs with equal matches of the pattern are folds of one copy:
    idealrank seeds qrels.txt old-seed*.run vs new-seed*.run --copies 'seed[0-9]+' -m nDCG@10 --format json

Runs of one system that answer the same queries are copies of the system. Runs without common
queries are folds of one copy: each query is in the fold in which it was held out. `idealrank
compare` decides between two copies. `idealrank seeds` decides between two systems, and accounts for
the variance between training runs.
"""  # noqa: E501


def _views() -> ModuleType:
    from idealrank.reports.views import systems  # noqa: PLC0415  (NumPy; not for the help)

    return systems


_FORMATS = Formats(
    "Text and tables to read;",
    views=_views,
    table="systems_parts",
    json="systems_json",
    rows="systems_rows",
)


@headings.command(epilog=_EPILOG, short_help="Compare systems that were trained several times.")
@click.argument("qrels")
@click.argument("runs", metavar="RUN_OF_A... vs RUN_OF_B...", nargs=-1, required=True)
@options.measures
@options.convention
@click.option(
    "--single",
    type=click.Choice(get_args(Single)),
    help="Meaning of a single run on one side: fixed (not trained), or alike (training varies it "
    "like the other system).",
)
@click.option(
    "--crossed",
    is_flag=True,
    help="Pair the copies of both sides in order; use it if they were trained on the same samples.",
)
@click.option(
    "--copies",
    "pattern",
    metavar="REGEX",
    help="Pattern of run names; runs with equal matches are folds of one copy.",
)
@_FORMATS.option
@options.explain_method
@options.output
@options.inputs
@options.threads
def seeds(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measure_texts: tuple[str, ...],
    convention_text: str,
    single: str | None,
    crossed: bool,
    pattern: str | None,
    layout: str,
    output_path: str | None,
    inputs: input_options.Inputs,
    threads: int,
) -> None:
    """Compare systems A and B that were each trained several times.

    Name the runs of A before the word `vs`, the runs of B after it. Values are averaged over the
    copies of a system. The interval accounts for both samples, queries and training runs, and the
    output states the benefit of more of either. All queries have equal weight: there are no
    weights, clusters or slices.
    """
    sides = _sides(runs)
    convention = options.parse_convention(convention_text)
    measures = options.parse_measure_texts(measure_texts)
    input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs)
    input_options.run_names([path for side in sides for path in side])
    watch = Watch()
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))

    def evaluated(paths: Sequence[str], name: str) -> Evaluation:
        def work(progress: Progress) -> Evaluation:
            run = inputs.open_run(paths, name, qrels)
            return evaluate(
                judgments, run, measures, convention, threads=threads, progress=progress
            )

        evaluation = watch.run(name, work)
        input_options.doubt(evaluation, paths[0])
        return evaluation

    evaluations = [_copies(side, pattern, evaluated) for side in sides]
    _check_numbers([len(copies) for copies in evaluations], single)
    a, b = (_name(side) for side in sides)
    comparison = compare_systems(
        *evaluations,
        measures=measures,
        names=(a, b) if a and b and a != b else ("A", "B"),
        seeds="crossed" if crossed else "nested",
        single=single,  # type: ignore[arg-type]
    )
    _FORMATS.write(layout, output_path, comparison)


def _check_numbers(copies: Sequence[int], single: str | None) -> None:
    if max(copies) == 1:
        raise OptionError(
            "found one copy of each system, which says nothing of training; `idealrank compare` "
            "compares two runs over queries"
        )
    if min(copies) == 1 and single is None:
        raise OptionError(
            "one system has a single copy; expected --single fixed if it is not trained, or "
            "--single alike if it is"
        )


def _sides(runs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the runs before and after the separator; patterns that no shell expanded are expanded
    here.
    """
    if runs.count(_SEPARATOR) != 1 or runs[0] == _SEPARATOR or runs[-1] == _SEPARATOR:
        problem = (
            f"{runs.count(_SEPARATOR)} times {_SEPARATOR}"
            if runs.count(_SEPARATOR) != 1
            else f"no run on one side of {_SEPARATOR}"
        )
        raise OptionError(
            f"found {problem}, expected idealrank seeds QRELS RUN_OF_A... {_SEPARATOR} RUN_OF_B..."
        )
    place = runs.index(_SEPARATOR)
    return _expanded(runs[:place]), _expanded(runs[place + 1 :])


def _expanded(paths: Sequence[str]) -> list[str]:
    expanded = []
    for path in paths:
        matching = []
        if path != "-" and not Path(path).exists():
            matching = sorted(map(str, Path(path).parent.glob(Path(path).name)))
        expanded += matching or [path]
    return expanded


def _copies(
    paths: Sequence[str], pattern: str | None, evaluated: Callable[[Sequence[str], str], Evaluation]
) -> list[Evaluation]:
    """Evaluate each copy; its folds are read as one run."""
    if pattern is None:
        by_run = [evaluated([path], name_of(path)) for path in paths]
        are_folds = len(by_run) > 1 and relation_of(by_run) == "folds"
        return [evaluated(paths, _name(paths) or name_of(paths[0]))] if are_folds else by_run
    evaluations = []
    for copy, copy_paths in _by_copy(paths, pattern).items():
        folds = [evaluated([path], name_of(path)) for path in copy_paths]
        if len(folds) > 1 and relation_of(folds) == "copies":
            raise OptionError(
                f"--copies {pattern}: found runs of the same queries in copy {copy!r}, "
                f"{', '.join(copy_paths)}; expected folds without common queries"
            )
        evaluations.append(evaluated(copy_paths, copy) if len(folds) > 1 else folds[0])
    return evaluations


def _by_copy(paths: Sequence[str], pattern: str) -> dict[str, list[str]]:
    by_copy: dict[str, list[str]] = {}
    for path in paths:
        try:
            match = re.search(pattern, name_of(path))
        except re.error as error:
            raise OptionError(
                f"--copies {pattern}: found no valid regular expression ({error}), expected one "
                "such as 'seed[0-9]+'"
            ) from None
        if match is None:
            raise OptionError(
                f"--copies {pattern}: found nothing in {name_of(path)!r}, expected the part that "
                "distinguishes copies, as in 'seed[0-9]+'"
            )
        by_copy.setdefault(match[0], []).append(path)
    return by_copy


def _name(paths: Sequence[str]) -> str:
    """Return the common beginning of the run names, without the word for a copy."""
    names = [name_of(path) for path in paths]
    if len(names) == 1:
        return names[0]
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return _COPY.sub("", "".join(letters[0] for letters in same))
