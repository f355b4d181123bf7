"""Files named on the command line, as judgments and runs."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from idealrank.cli import console
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.data.label_kinds import LabelKind
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run, name_of
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.complaints import Notes
from idealrank.io.formats.detection import FORMATS_OF
from idealrank.io.label_grades import parse_labels
from idealrank.io.read import common_format, read_qrels, read_run
from idealrank.io.row_parts import Table
from idealrank.io.sources import open_sources
from idealrank.io.table_columns import parse_columns

if TYPE_CHECKING:
    from idealrank.bounds.lift import Lift
    from idealrank.data.candidates import Candidates
    from idealrank.io.gate_files.gate_policies import PolicyFile


class Inputs(NamedTuple):
    """Options for reading the files of a command."""

    file_format: Any = "auto"  # ``"auto"``, or the format of all of them
    columns_text: str = ""  # Names of columns, ``query=...,document=...``; empty to guess
    group: str | None = None  # Group sizes of LETOR files
    more_qrels: tuple[str, ...] = ()  # Further files of judgments
    # qrels_columns_text, run_columns_text: Names of columns of the judgments alone, and of the
    # runs; they take precedence over `columns_text`
    qrels_columns_text: str = ""
    run_columns_text: str = ""
    labels_text: str = ""  # Grades of labels that are words, ``Exact=3,Substitute=2``
    labels_are: LabelKind | None = None
    sampled_negatives: float | None = None

    @property
    def labels(self) -> dict[str, float]:
        """Grades of labels that are words."""
        return parse_labels(self.labels_text)

    def format_of(self, table: Table) -> Any:
        """Return the format of judgments or runs; ``"auto"`` if the option names a format that only
        the other table has.
        """
        others = FORMATS_OF["run" if table == "qrels" else "qrels"]
        return "auto" if self.file_format in others else self.file_format

    def columns_of(self, table: Table) -> dict[str, str] | None:
        """Return names of columns by their role; None to guess."""
        of_table = self.qrels_columns_text if table == "qrels" else self.run_columns_text
        # The option for one table comes last, so that it takes precedence.
        typed = {"--columns": self.columns_text, f"--{table}-columns": of_table}
        columns: dict[str, str] = {}
        for option, text in typed.items():
            columns |= parse_columns(text, option) if text else {}
        return columns if any(typed.values()) else None

    def with_columns(self, *, qrels: str, run: str, labels: str = "") -> "Inputs":
        """Fill in columns and labels that a policy names; an option that was typed for the same
        wins.
        """
        inputs = self._replace(labels_text=self.labels_text or labels)
        if self.columns_text:  # it names the columns of both
            return inputs
        return inputs._replace(
            qrels_columns_text=self.qrels_columns_text or qrels,
            run_columns_text=self.run_columns_text or run,
        )

    def words(self, convention: str = "standard") -> list[str]:
        """Return the words of a command that reads the same files in the same way."""
        words = [] if convention == "standard" else ["--convention", convention]
        words += [word for path in self.more_qrels for word in ("--qrels", path)]
        words += [] if self.file_format == "auto" else ["--input-format", self.file_format]
        texts = (
            ("--columns", self.columns_text),
            ("--qrels-columns", self.qrels_columns_text),
            ("--run-columns", self.run_columns_text),
            ("--labels", self.labels_text),
            ("--group-sizes", self.group),
            ("--labels-are", self.labels_are),
        )
        for option, text in texts:
            words += [option, text] if text else []
        share = self.sampled_negatives
        return words if share is None else [*words, "--sampled-negatives", f"{share:g}"]

    def open_qrels(self, path: str, convention: Convention) -> Qrels:
        """Open the judgments; a document judged twice falls under the convention's policy for
        duplicates.
        """
        policy = convention.alignment.duplicates
        duplicates = "error" if policy == "twice" else policy
        paths = [path, *self.more_qrels]
        qrels = read_qrels(
            paths,
            format=self.format_of("qrels"),
            columns=self.columns_of("qrels"),
            labels=self.labels,
            duplicates=duplicates,
            group=self.group,
            tell=_note,
        )
        return qrels.labelled(self.labels_are, sampled_negatives=self.sampled_negatives)

    def open_judge(self, path: str | None, convention: Convention) -> Qrels | None:
        """Open the judgments of a judge, without the further files of judgments; None without a
        path.
        """
        if path is None:
            return None
        inputs = self._replace(more_qrels=(), labels_are=None, sampled_negatives=None)
        return inputs.open_qrels(path, convention)

    def open_judgments(self, path: str, kind: str, convention: Convention) -> Judgments:
        """Open judgments of any kind, by trec_eval's names: qrels, prefs, qrels_prefs, qrels_jg."""
        if kind == "qrels":
            return self.open_qrels(path, convention)
        from idealrank.io.formats.preferences import read_assessors, read_preferences  # noqa: PLC0415  (few commands read these)

        paths = [path, *self.more_qrels]
        if kind == "qrels_jg":
            return read_assessors(paths, labels=self.labels, tell=_note)
        return read_preferences(paths, layout="prefs" if kind == "prefs" else "qrels", tell=_note)

    def open_run(self, path: "str | Sequence[str]", name: str, qrels: str) -> Run:
        """Open one run, of one file or of several; a file of bare scores takes its queries and
        documents from the judgments' lines.
        """
        labels = None if qrels == "-" else qrels
        return read_run(
            path,
            name=name,
            format=self.format_of("run"),
            columns=self.columns_of("run"),
            labels=labels,
            group=self.group,
            tell=_note,
        )

    def detected(self, path: str) -> str:
        """Detect the format of a run by its ending and its first line."""
        return common_format(open_sources(path, Notes(None)), "auto", Notes(None))

    def stream_run(
        self, path: str, name: str, memory: str, count: Callable[[int, int], None]
    ) -> Run:
        """Open one run that is read in parts within a budget of memory; `count` is called with the
        bytes read and the total.
        """
        from idealrank.io.run_stream import stream_run  # noqa: PLC0415  (few runs are that large)

        return stream_run(
            path,
            memory,
            name=name,
            format=self.format_of("run"),
            columns=self.columns_of("run"),
            tell=_note,
            count=count,
        )


class InputFiles(NamedTuple):
    """The files of a command."""

    qrels: str  # Path of the judgments
    inputs: Inputs  # How files are read, and further judgments
    others: tuple[str | None, ...]  # Paths of runs, and of whatever else is read

    @property
    def judgments(self) -> tuple[str, ...]:
        """Paths of the judgments."""
        return (self.qrels, *self.inputs.more_qrels)

    @property
    def every_path(self) -> tuple[str, ...]:
        """Paths of everything that is read, as often as it is."""
        return tuple(
            path for path in (*self.judgments, *self.others, self.inputs.group) if path is not None
        )

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths, each once."""
        return tuple(dict.fromkeys(self.every_path))

    def under_each_policy(
        self, convention: Convention, read: Qrels
    ) -> "Callable[[QrelsDuplicates], Qrels]":
        """Return a function that reads the judgments under a policy for documents judged twice; it
        reads no file again that was read under this policy, nor standard input.
        """
        policy = convention.alignment.duplicates
        by_policy = {"error" if policy == "twice" else policy: read}

        def read_under(policy: QrelsDuplicates) -> Qrels:
            if "-" in self.judgments:
                return read
            if policy not in by_policy:
                by_policy[policy] = self.inputs.open_qrels(
                    self.qrels, Convention.of("standard", duplicates=policy)
                )
            return by_policy[policy]

        return read_under


class GateInputs(NamedTuple):
    """Judgments and run of a gate, and how they are read."""

    qrels: str
    run: str
    inputs: Inputs


def gate_inputs(
    typed_qrels: str | None, typed_run: str | None, inputs: Inputs, policy: "PolicyFile"
) -> GateInputs:
    """Fill in the files and columns of the policy; what was typed wins, and a single argument is
    the run.
    """
    qrels = typed_qrels
    run = typed_run
    if typed_run is None:
        qrels = None
        run = typed_qrels
    if run is None:
        policy.require("run")
        run = policy.run
    if qrels is None and policy.qrels:
        policy.require("qrels")
        qrels, *more = policy.qrels
        inputs = inputs._replace(more_qrels=(*more, *inputs.more_qrels))
    if qrels is None or run is None:
        from idealrank.io.gate_files.gate_policies import TABLE  # noqa: PLC0415  (SciPy; of a gate alone)

        key = "qrels" if qrels is None else "run"
        expected = (
            f"expected idealrank gate QRELS RUN, or the key {key} in [{TABLE}] of pyproject.toml; "
            "idealrank init writes it"
        )
        raise OptionError(f"found no {key.upper()}, {expected}")
    inputs = inputs.with_columns(
        qrels=policy.qrels_columns, run=policy.run_columns, labels=policy.labels
    )
    return GateInputs(qrels, run, inputs)


def notes() -> Notes:
    """Send the notes of file readers to stderr."""
    return Notes(_note)


def _note(message: str) -> None:
    console.say("note", message)


def refuse_standard_input_twice(*paths: str) -> None:
    """Refuse standard input for two files: it can be read once."""
    if paths.count("-") > 1:
        raise OptionError(
            f"found - (standard input) {times(paths.count('-'))}, expected it once, since it can "
            "be read only once"
        )


def times(count: int) -> str:
    """Return a number of times in words."""
    return "twice" if count == 2 else f"{count} times"


def run_names(paths: Sequence[str]) -> list[str]:
    """Name each run by the stem of its file, or by its path if two stems are the same."""
    places: dict[str, list[str]] = {}
    for path in paths:
        places.setdefault(path if path == "-" else os.path.normpath(path), []).append(path)
    for spelled in places.values():
        if len(spelled) > 1:
            spellings = " and ".join(dict.fromkeys(spelled))
            raise OptionError(
                f"run {spellings}: found the same file {times(len(spelled))}, expected each run "
                "once"
            )
    stems = ["stdin" if path == "-" else name_of(path) for path in paths]
    counts = Counter(stems)
    return [stem if counts[stem] == 1 else path for stem, path in zip(stems, paths, strict=True)]


def named_run(
    typed: str | None, option: str, names: Sequence[str], runs: Sequence[str]
) -> str | None:
    """Return the name of the run that an option gives by its name or path; None if it was not
    given.
    """
    if typed is None or typed in names:
        return typed
    if typed in runs:
        return names[runs.index(typed)]
    lower = {name.lower(): name for name in names}
    near = console.nearest(typed.lower(), lower)
    hint = f"; did you mean {lower[near]}?" if near else ""
    expected = f"expected one of {', '.join(names)}"
    raise OptionError(f"{option} {typed}: found no run of that name, {expected}{hint}")


def doubt(evaluation: Evaluation, path: str) -> None:
    """Refuse a run that holds nothing, as a broken pipe leaves it; warn of files that were hardly
    meant for each other.
    """
    if not evaluation.coverage.queries_in_run:
        raise InputError(
            f"{path}: found no result, expected at least one; did the program that writes the run "
            "fail?"
        )
    if words := evaluation.coverage.doubt(evaluation.name):
        console.say("warning", f"{words} `idealrank validate QRELS {path}` shows how they differ")


class CandidateOptions(NamedTuple):
    """The candidates of a command, and whether chance levels are shown."""

    source: str | None
    wants_chance: bool

    @property
    def path(self) -> str | None:
        """The file of candidates; None for a number, and without candidates."""
        return None if self.source is None or self.source.isdecimal() else self.source

    def check(self, **others: object) -> None:
        """Refuse options next to which candidates or chance levels have no place, by spelling;
        those that are not set count as false.
        """
        if self.source is None:
            if self.wants_chance:
                raise OptionError(
                    "--chance: found no candidates, expected --candidates: the documents from "
                    "which each list was ranked, or their number"
                )
            return
        for name, value in others.items():
            if value:
                option = f"--{name}"
                raise OptionError(
                    f"--candidates {self.source}: found {option} too, expected one of them"
                )

    def check_design(self, **others: object) -> None:
        """Refuse weights and clusters next to lifts, which do not use them."""
        for name, value in others.items():
            if value is not None and self.wants_chance:
                raise OptionError(
                    f"--chance: found --{name} too, which lifts do not use; expected one of them"
                )

    def read(self) -> "Candidates | None":
        """Read the candidates, if there are any."""
        if self.source is None:
            return None
        from idealrank.io.document_sets import read_candidates  # noqa: PLC0415  (few runs have candidates)

        is_number = self.path is None
        return read_candidates(int(self.source) if is_number else self.source, tell=notes().inform)

    def lifts(self, evaluations: "Sequence[Evaluation]") -> "list[Lift]":
        """Compute the lift of each run, if chance levels are shown."""
        return [evaluation.lift() for evaluation in evaluations] if self.wants_chance else []
