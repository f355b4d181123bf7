"""Files of `idealrank judge next`, `pool`, `infer` and `reuse`: judgments and runs."""

from collections.abc import Sequence

from idealrank.cli import input_options
from idealrank.cli.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run


def read_qrels_and_runs(
    inputs: input_options.Inputs, qrels: str, runs: Sequence[str], convention: Convention, watch: Watch
) -> tuple[Qrels, list[Run]]:
    """Read judgments, and runs with a name for each."""
    judgments = watch.run("judgments", lambda _: inputs.open_qrels(qrels, convention))
    return judgments, read_runs(inputs, runs, watch, qrels)


def read_runs(inputs: input_options.Inputs, runs: Sequence[str], watch: Watch, qrels: str = "") -> list[Run]:
    """Read runs with a name for each."""
    names = input_options.run_names(tuple(runs))
    return [
        watch.run(name, lambda _, path=path, name=name: inputs.open_run(path, name, qrels))  # type: ignore[misc]
        for path, name in zip(runs, names, strict=True)
    ]
