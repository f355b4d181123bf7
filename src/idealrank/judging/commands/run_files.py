"""Files of `idealrank judge next`, `bounds`, `pool`, `infer` and `reuse`: judgments, runs, and the
queries of both.
"""

from collections.abc import Collection, Sequence

from idealrank.api.evaluation import evaluate_read
from idealrank.cli import console, input_options
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError, near_ids, shown
from idealrank.evaluation.coverage import VALIDATE
from idealrank.io.query_files import read_query_ids
from idealrank.judging.inputs import queries_of_run
from idealrank.measures.measure import Measure

_SOME = 5  # queries named in a message


def read_qrels_and_runs(
    inputs: input_options.Inputs,
    qrels: str,
    runs: Sequence[str],
    convention: Convention,
    watch: Watch,
) -> tuple[Qrels, list[Run]]:
    """Read judgments, and runs with a name for each."""
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))
    return judgments, read_runs(inputs, runs, watch, qrels)


def read_runs(
    inputs: input_options.Inputs, runs: Sequence[str], watch: Watch, qrels: str = ""
) -> list[Run]:
    """Read runs with a name for each."""
    names = input_options.run_names(tuple(runs))
    return [
        watch.run(name, lambda _, path=path, name=name: inputs.open_run(path, name, qrels))  # type: ignore[misc]
        for path, name in zip(runs, names, strict=True)
    ]


def refuse_foreign(
    qrels: Qrels,
    runs: Sequence[Run],
    paths: Sequence[str],
    measures: Sequence[Measure],
    convention: Convention,
) -> None:
    """Refuse a run that answers no judged query; warn of a run without a judged document as
    `evaluate` does.
    """
    judged = set(qrels.queries)
    for run, path in zip(runs, paths, strict=True):
        answered = queries_of_run(run)
        if judged and answered and not judged & answered:
            some = len(judged)
            said = (
                "does not answer the judged query"
                if some == 1
                else f"answers none of the {some:,} judged queries"
            )
            raise InputError(
                f"run {run.name} {said}, expected the query ids of the judgments",
                hint=VALIDATE.replace("RUN", path),
            )
        input_options.doubt(evaluate_read(qrels, run, measures, convention=convention), path)


def read_known_queries(
    path: str | None, runs: Sequence[Run], judged: Sequence[str] = ()
) -> list[str] | None:
    """Queries that a file lists, without those that no other file has, with a warning; None without
    a file.
    """
    if path is None:
        return None
    listed, known = read_query_ids(path), {*judged}.union(*map(queries_of_run, runs))
    if not listed:
        raise InputError(f"{path}: found no query, expected an id on each line")
    unknown = [query for query in listed if query not in known]
    if not unknown:
        return listed
    said = ", ".join(_near(query, known) for query in unknown[:_SOME]) + (
        ", ..." if len(unknown) > _SOME else ""
    )
    if len(unknown) == len(listed):
        raise InputError(
            f"{path}: found no query of the other files, expected their ids, one a line: {said}"
        )
    are, do = ("is", "does") if len(unknown) == 1 else ("are", "do")
    console.say(
        "warning",
        f"{path}: {len(unknown):,} of {len(listed):,} queries {are} in no other file and {do} "
        f"not count: {said}",
    )
    return [query for query in listed if query in known]


def _near(query: str, known: Collection[str]) -> str:
    near = near_ids(query, known, 1)
    return shown(query) + (f" (did you mean {shown(near[0])}?)" if near else "")


def tell_gaps(
    qrels: Qrels, runs: Sequence[Run], queries: Sequence[str] | None, *, hint: str = ""
) -> None:
    """Note the compared queries that a run misses, and, without a list, the queries of the runs
    that are not compared.
    """
    compared = list(qrels.queries) if queries is None else list(queries)
    answered = [queries_of_run(run) for run in runs]
    for run, of_run in zip(runs, answered, strict=True):
        if missed := [query for query in compared if query not in of_run]:
            console.say(
                "note",
                f"run {run.name} misses {len(missed):,} of {len(compared):,} compared "
                f"queries: {_listed(missed)}",
            )
    others = sorted(set().union(*answered) - set(compared)) if queries is None else []
    if others:
        has, are = (
            ("query of the runs has", "is")
            if len(others) == 1
            else ("queries of the runs have", "are")
        )
        console.say(
            "note",
            f"{len(others):,} {has} no judgment and {are} not compared: {_listed(others)}{hint}",
        )


def _listed(queries: Sequence[str]) -> str:
    return ", ".join(map(shown, queries[:_SOME])) + (", ..." if len(queries) > _SOME else "")
