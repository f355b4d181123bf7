"""Files of the commands of `idealrank judge`: judgments of a human and of named judges, runs, and
the queries of both.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from idealrank.cli import console, input_options, options
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.errors import InputError, OptionError, near_ids, shown
from idealrank.evaluation.coverage import VALIDATE
from idealrank.inputs.evaluation import evaluate_read
from idealrank.io.query_files import read_query_ids
from idealrank.judging import ScaleTable
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

    def read(path: str, name: str) -> Run:
        return watch.run(name, lambda _: inputs.open_run(path, name, qrels))

    return [read(path, name) for path, name in zip(runs, names, strict=True)]


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
            complaint = f"answers none of the {len(judged):,} judged queries"
            if len(judged) == 1:
                complaint = "does not answer the judged query"
            raise InputError(
                f"run {run.name} {complaint}, expected the query ids of the judgments",
                hint=VALIDATE.replace("RUN", path),
            )
        input_options.doubt(evaluate_read(qrels, run, measures, convention=convention), path)


def read_known_queries(
    path: str | None, runs: Sequence[Run], judged: Sequence[str] = ()
) -> list[str] | None:
    """Return the queries that a file lists; warn of queries that no other file has, and leave them
    out. None without a file.
    """
    if path is None:
        return None
    listed = read_query_ids(path)
    in_other_files = {*judged}.union(*map(queries_of_run, runs))
    if not listed:
        raise InputError(f"{path}: found no query, expected an id on each line")
    unknown = [query for query in listed if query not in in_other_files]
    if not unknown:
        return listed
    names = ", ".join(_near(query, in_other_files) for query in unknown[:_SOME])
    names += ", ..." if len(unknown) > _SOME else ""
    if len(unknown) == len(listed):
        raise InputError(
            f"{path}: found no query of the other files, expected their ids, one a line: {names}"
        )
    verdict = "are in no other file and do not count"
    if len(unknown) == 1:
        verdict = "is in no other file and does not count"
    console.say(
        "warning", f"{path}: {len(unknown):,} of {len(listed):,} queries {verdict}: {names}"
    )
    return [query for query in listed if query in in_other_files]


def _near(query: str, known: Collection[str]) -> str:
    """Return a query with the known query that is nearest to it, if any is near."""
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
                f"run {run.name} misses {len(missed):,} of {len(compared):,} compared queries: "
                f"{_listed(missed)}",
            )
    others = sorted(set().union(*answered) - set(compared)) if queries is None else []
    if others:
        state = "queries of the runs have no judgment and are not compared"
        if len(others) == 1:
            state = "query of the runs has no judgment and is not compared"
        console.say("note", f"{len(others):,} {state}: {_listed(others)}{hint}")


def _listed(queries: Sequence[str]) -> str:
    return ", ".join(map(shown, queries[:_SOME])) + (", ..." if len(queries) > _SOME else "")


@dataclass(frozen=True, kw_only=True)
class JudgeFiles:
    """Files of a command that compares judges with a human."""

    qrels: str  # Path of the human's judgments
    judges: dict[str, str]  # Paths by name of the judge
    runs: dict[str, str]  # Paths by name of the run
    tables: dict[str, ScaleTable]  # Tables of grades, by name of the judge or ``human``
    inputs: input_options.Inputs  # How files are read, and further judgments of the human

    @classmethod
    def of(
        cls,
        qrels: str,
        *,
        judges: Sequence[str],
        runs: Sequence[str],
        tables: Sequence[str],
        inputs: input_options.Inputs,
        output: str | None,
        others: Sequence[str | None],
    ) -> "JudgeFiles":
        """Name the files; a judge without a name has the stem of its file.

        `output` must not be a judge's file, nor one of `others`.
        """
        judge_paths = named_texts(
            [text if "=" in text else f"{name_of(text)}={text}" for text in judges],
            "--judge-qrels",
            "model=model.qrels",
        )
        paths = judge_paths.values()
        options.refuse_to_replace(output, (*paths, *others))
        input_options.refuse_standard_input_twice(qrels, *inputs.more_qrels, *paths, *runs)
        scales = {
            name: ScaleTable.of(text)
            for name, text in named_texts(tables, "--map", "model=0:0,1:2,2:4").items()
        }
        stray = next((name for name in scales if name not in {"human", *judge_paths}), None)
        if stray is not None:
            names = ", ".join(judge_paths)
            raise OptionError(
                f"--map {shown(stray)}: expected the name of a judge, or human: {names}"
            )
        return cls(
            qrels=qrels,
            judges=judge_paths,
            runs=dict(zip(input_options.run_names(runs), runs, strict=True)),
            tables=scales,
            inputs=inputs,
        )

    def read(
        self, convention: Convention, watch: Watch
    ) -> tuple[Qrels, dict[str, Qrels], dict[str, Run]]:
        """Read the judgments of the human, of each judge, and the runs."""

        def judge(path: str) -> Qrels:
            return cast(
                "Qrels", watch.run("judgments", lambda _: self.inputs.open_judge(path, convention))
            )

        def run(name: str, path: str) -> Run:
            return watch.run(name, lambda _: self.inputs.open_run(path, name, self.qrels))

        def mapped(name: str, qrels: Qrels) -> Qrels:
            return self.tables[name].map(qrels, source=name) if name in self.tables else qrels

        qrels = watch.run("judgments", lambda _: self.inputs.open_qrels(self.qrels, convention))
        human = mapped("human", qrels)
        judges = {name: mapped(name, judge(path)) for name, path in self.judges.items()}
        return human, judges, {name: run(name, path) for name, path in self.runs.items()}


def named_texts(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Split texts ``NAME=VALUE``; return the values by name."""
    value_of: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals or not value:
            raise OptionError(
                f"{option} {shown(text)}: expected a name and a value, as in {example}"
            )
        if name in value_of:
            raise OptionError(
                f"{option} {shown(text)}: found the name {shown(name)} twice, expected each once"
            )
        value_of[name] = value
    return value_of


def refuse_unknown(families: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse the family of a name that no judge and no run has."""
    for name, family in families.items():
        if name not in known:
            raise OptionError(
                f"--family {shown(name)}={shown(family)}: expected the name of a judge or run: "
                f"{', '.join(sorted(known))}"
            )
