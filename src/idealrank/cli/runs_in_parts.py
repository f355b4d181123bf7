"""Runs that a command evaluates within a budget of memory, with a journal of those that are
finished.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from idealrank.api.evaluation import evaluate_read
from idealrank.cli.input_options import Inputs, notes
from idealrank.cli.progress import Count, RatedCount, Watch
from idealrank.cli.result_options import Results
from idealrank.conventions import Convention
from idealrank.data.join import Judgments
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.evaluation_journal import EvaluationJournal
from idealrank.io.memory_budget import MemoryBudget
from idealrank.measures.measure import Measure


def refuse_whole(memory: str | None, results: Results, kind: str) -> None:
    """Refuse options that need runs as a whole, and text that is no amount of memory, before
    anything is read.
    """
    if memory is None:
        return
    MemoryBudget.of(memory)
    if results.is_page:
        option = "--report" if results.report is not None else "--figures"
        raise OptionError(
            f"{option}: found --memory too, expected one of them, since a page shows "
            f"documents of every list"
        )
    if kind != "qrels":
        raise OptionError(
            f"--judgments {kind}: found --memory too, expected one of them: runs are read in "
            f"parts for grades alone"
        )


@dataclass(kw_only=True)
class RunsInParts:
    """Runs of one command, evaluated within a budget of memory."""

    memory: str  # The budget
    inputs: Inputs
    watch: Watch
    judgments: Judgments
    measures: Sequence[Measure]
    convention: Convention
    threads: int
    journal: EvaluationJournal | None = field(default=None)  # Values of finished runs

    @classmethod
    def of(
        cls, memory: str | None, output_path: str | None, runs: Sequence[str], **others: Any
    ) -> "RunsInParts":
        """Runs of a command, with the other fields by name. Nothing is opened without a budget."""
        parts = cls(memory=memory or "", **others)
        if memory is not None:
            parts.open_journal(output_path, runs)
        return parts

    def open_journal(self, output_path: str | None, runs: Sequence[str]) -> None:
        """Keep values of finished runs next to the output until it is written; without such a file,
        and for standard input, nowhere.
        """
        if output_path is None or "-" in (output_path, *runs):
            return
        subject = {
            "measures": list(map(str, self.measures)),
            "convention": self.convention.fingerprint,
            "judgments": self.judgments.fingerprint,
            "reading": [self.inputs.format_of("run"), self.inputs.columns_of("run")],
        }
        path = f"{output_path}.journal"
        self.journal = EvaluationJournal(path, subject)
        if len(self.journal):
            notes().inform(f"{path}: {len(self.journal)} of {len(runs)} runs were evaluated before")

    def evaluate(self, path: str, name: str) -> Evaluation:
        """Evaluate a run, or take it from the journal."""
        measures = tuple(self.measures)
        if (
            self.journal is not None
            and (found := self.journal.find(path, name, measures, self.convention)) is not None
        ):
            return found

        def work(tell: Count) -> Evaluation:
            run = self.inputs.stream_run(path, name, self.memory, RatedCount(tell, "B"))
            return evaluate_read(
                self.judgments, run, measures, self.convention, threads=self.threads
            )

        evaluation = self.watch.count(name, work)
        if self.journal is not None:
            self.journal.add(path, evaluation)
        return evaluation

    def close_journal(self) -> None:
        """Remove the journal, once the output is written."""
        if self.journal is not None:
            self.journal.remove()
