"""`idealrank init`: the files of a gate, written in one step."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from idealrank._files import write_together
from idealrank.cli import console, headings, options, output, text_options
from idealrank.cli.commands.gate import Job, asked_of
from idealrank.cli.input_options import Inputs, refuse_standard_input_twice
from idealrank.errors import OptionError
from idealrank.inputs.gate import GateRequest
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PolicyFile
from idealrank.io.gate_files.gate_setup import (
    POLICY,
    TEST,
    WORKFLOW,
    GateSetup,
    PlannedFile,
    refuse_to_overwrite,
)
from idealrank.io.texts import check_texts
from idealrank.reports.table.text import filled

_EPILOG = """\
Examples:

\b
  Set up a gate for judgments and the run of the main branch:
    idealrank init eval/qrels.txt new.run
    idealrank gate
\b
  The workflow also runs the search of the change, and messages show the texts of queries:
    idealrank init eval/qrels.txt new.run --search "python search.py" --queries eval/queries.tsv
\b
  Tables with their own names of columns, and two measures:
    idealrank init labels.csv ranked.csv --qrels-columns query=need,grade=stars --run-columns query=need -m nDCG@10,P@5
\b
  Print the files without writing them:
    idealrank init eval/qrels.txt new.run --dry-run

The command writes all files or none, and never replaces a file. A table [tool.idealrank.gate] is
added to an existing pyproject.toml. RUN becomes the baseline; later, the gate reads the file at the
same path as the run of the change.

Exit codes: 0 written, 2 bad input, or a file exists.
"""  # noqa: E501


@headings.command(
    epilog=_EPILOG, short_help="Set up a gate: its policy, baseline, workflow and test."
)
@click.argument("qrels")
@click.argument("run")
@click.option(
    "-m",
    "--measure",
    "measure_texts",
    metavar="MEASURE",
    cls=options.OnceOption,
    multiple=True,
    help="Measures of the gate; the first decides. Repeat, or separate with commas.  [default: "
    f"{DEFAULT_MEASURE}]",
)
@click.option(
    "--convention",
    "convention_text",
    metavar="NAME[,SWITCH=VALUE...]",
    cls=options.OnceOption,
    help="Convention to compute under; `idealrank conventions` lists all.  [default: standard]",
)
@click.option(
    "--qrels-columns",
    metavar="ROLE=NAME,...",
    default="",
    cls=options.OnceOption,
    help="Columns of judgments, which the policy keeps: query=, document= and grade=.",
)
@click.option(
    "--run-columns",
    metavar="ROLE=NAME,...",
    default="",
    cls=options.OnceOption,
    help="Columns of runs, which the policy keeps: query=, document=, and score= or rank=.",
)
@options.labels
@text_options.queries_option("messages and pages of the gate")
@text_options.documents_option("pages of the gate")
@click.option(
    "--search",
    metavar="COMMAND",
    default="",
    help="Command that writes RUN; the workflow runs it before the gate.",
)
@click.option(
    "--directory",
    metavar="DIR",
    default=".",
    help="Root of the repository, where the files are written.  [default: the current directory]",
)
@click.option(
    "--baseline",
    metavar="FILE",
    cls=options.OnceOption,
    help="Baseline file to write.  [default: main.baseline.gz in the directory]",
)
@click.option("--no-workflow", is_flag=True, help="Leave out the workflow of GitHub Actions.")
@click.option("--no-pytest", is_flag=True, help="Leave out the test of pytest.")
@click.option("--dry-run", is_flag=True, help="Print the files without writing them.")
def init(
    *,
    qrels: str,
    run: str,
    measure_texts: tuple[str, ...],
    convention_text: str | None,
    directory: str,
    baseline: str | None,
    no_workflow: bool,
    no_pytest: bool,
    dry_run: bool,
    labels_text: str,
    **files: Any,
) -> None:
    """Set up a gate: its policy, baseline, workflow and test.

    RUN, the ranking of the main branch, becomes the baseline. The files and the rule go into
    pyproject.toml, so that `idealrank gate` needs no arguments. A workflow of GitHub Actions and a
    test of pytest run the gate. Then edit these files as you like.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise OptionError(
            f"--directory {directory}: found no such folder, expected the root of the repository"
        )
    baseline_path = str(folder / "main.baseline.gz") if baseline is None else baseline
    request = asked_of(
        PolicyFile(),
        baselines=(baseline_path,),
        measure_texts=measure_texts,
        convention_text=convention_text,
    )
    setup = GateSetup(
        folder=folder,
        qrels=(qrels,),
        run=run,
        baseline=baseline_path,
        measures=tuple(map(str, request.measures)),
        convention=convention_text or "",
        labels=labels_text,
        **files,
    )
    _check(setup)
    planned = _planned(setup, workflow=not no_workflow, pytest=not no_pytest)
    refuse_to_overwrite([*planned, PlannedFile(path=Path(baseline_path), content=b"", purpose="")])
    policy, *others = planned
    planned = [policy, _baseline(setup, request), *others]
    if dry_run:
        output.write(_shown(planned), None)
        return
    write_together({file.path: file.content for file in planned})
    output.write(_said(planned, setup), None)


def _check(setup: GateSetup) -> None:
    """Refuse files that cannot be named in a policy, and warn of files that a checkout does not
    have.
    """
    refuse_standard_input_twice(*setup.qrels, setup.run)
    if "-" in (*setup.qrels, setup.run, setup.baseline, setup.queries, setup.documents):
        raise OptionError(
            "found - (standard input), expected files: the policy names them for later gates"
        )
    for path in (setup.queries, setup.documents):
        if path is not None:
            check_texts(path)
    for path in setup.outside():
        console.say(
            "warning",
            f"{path} is outside {setup.folder}: a checkout of the repository may not have it",
        )


def _planned(setup: GateSetup, *, workflow: bool, pytest: bool) -> list[PlannedFile]:
    """Plan every file but the baseline, which takes an evaluation."""
    policy = setup.folder / POLICY
    before = policy.read_bytes() if policy.is_file() else None
    planned = [
        PlannedFile(
            path=policy,
            content=setup.policy(before),
            purpose="policy",
            may_exist=before is not None,
        )
    ]
    if workflow:
        planned.append(
            PlannedFile(
                path=setup.folder / WORKFLOW,
                content=setup.workflow(),
                purpose="workflow of GitHub Actions",
            )
        )
    if pytest:
        planned.append(
            PlannedFile(path=setup.folder / TEST, content=setup.test(), purpose="test of pytest")
        )
    return planned


def _baseline(setup: GateSetup, request: GateRequest) -> PlannedFile:
    """Evaluate the run, as the gate will, and plan its baseline file."""
    inputs = Inputs(
        qrels_columns_text=setup.qrels_columns,
        run_columns_text=setup.run_columns,
        labels_text=setup.labels,
    )
    job = Job(request=request, qrels=setup.qrels[0], run=setup.run, inputs=inputs)
    content, means = job.first_baseline()
    values = ", ".join(f"{measure} {mean:.4f}" for measure, mean in means.items())
    return PlannedFile(
        path=Path(setup.baseline),
        content=content,
        purpose=f"baseline, from {setup.run}: {values}",
        is_text=False,
    )


def _shown(planned: Sequence[PlannedFile]) -> list[str]:
    """Show the files as they would be written; of the baseline, which is compressed, only the
    size.
    """
    pieces = []
    for file in planned:
        text = file.content.decode("utf-8") if file.is_text else f"({len(file.content):,} bytes)\n"
        pieces.append(f"--- {file.path}: {file.purpose}\n{text}\n")
    return [*pieces, "nothing was written: --dry-run\n"]


def _said(planned: Sequence[PlannedFile], setup: GateSetup) -> list[str]:
    """List the written files, and the next command."""
    width = max(len(str(file.path)) for file in planned)
    lines = [f"{file.path!s:<{width}}  {file.purpose}\n" for file in planned]
    move = (
        "" if setup.folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(setup.folder))} && "
    )
    steps = [f"\nNext: {move}idealrank gate\n"]
    if not setup.search and any(file.path == setup.folder / WORKFLOW for file in planned):
        step = (
            f"Then add the step that writes {setup.written_run} to the workflow, and commit the "
            "files."
        )
        without = "Without this step, the workflow tests the run as it is in the repository."
        steps += [f"{line}\n" for line in filled([step, without])]
    return ["Wrote:\n", *lines, *steps]
