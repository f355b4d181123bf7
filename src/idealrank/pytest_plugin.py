"""The plug-in for pytest: the fixture `ranking_gate` fails a test where a run is worse than its
baseline.

pytest loads this module in every session of an environment with idealrank, so it imports neither
NumPy nor anything of the library; `idealrank.integrations.pytest_gate` does the work, and is loaded
when a test asks for it.
"""

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from idealrank.analysis.gate.contracts import Contract
    from idealrank.analysis.gate.outcome import Gated, WhenUnjudged
    from idealrank.data.label_kinds import LabelKind

# User property of a test. Reports carry these from the processes of pytest-xdist, and JUnit XML
# shows them.
_SAID = "ranking_gate"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--update-ranking-baseline``."""
    parser.getgroup("idealrank", "ranking gates (idealrank)").addoption(
        "--update-ranking-baseline",
        action="store_true",
        help="write the runs that tests give to ranking_gate as their baselines, and hold them to "
        "nothing: each becomes the anchor of a new series, with its whole alpha",
    )


@pytest.fixture
def ranking_gate(request: pytest.FixtureRequest) -> "RankingGate":
    """Fail a test if a run is significantly worse than its baseline: ranking_gate(qrels, run,
    baseline="main.baseline.gz").
    """
    return RankingGate(request.config, request.node.user_properties)


class RankingGate:
    """Function of the fixture `ranking_gate`, which compares a run with its baselines."""

    def __init__(self, config: pytest.Config, properties: list[tuple[str, object]]) -> None:
        self._config = config
        self._properties = properties

    def __call__(
        self,
        qrels: Any = None,
        run: Any = None,
        *,
        baseline: Any = None,
        measures: Any = None,
        also: Any = None,
        convention: Any = None,
        contracts: "str | PathLike[str] | Iterable[Contract] | None" = None,
        tolerance: float | None = None,
        strict: bool | None = None,
        margin: float | None = None,
        alpha: float | None = None,
        when_unjudged: "WhenUnjudged | None" = None,
        largest_loss: float | None = None,
        judge_qrels: Any = None,
        labels_are: "LabelKind | None" = None,
        sampled_negatives: float | None = None,
        labels_from: str | None = None,
    ) -> "Gated":
        """Fail the test unless the run may take the place of its baselines.

        With too few judgments to show that a drop is harmless it fails, too;
        ``when_unjudged="neutral"`` skips it then.
        """
        __tracebackhide__ = True
        from idealrank.integrations import pytest_gate as gating  # noqa: PLC0415  (NumPy, and all that a gate needs)

        options = {
            "measures": measures,
            "also": also,
            "convention": convention,
            "contracts": contracts,
            "tolerance": tolerance,
            "strict": strict,
            "margin": margin,
            "alpha": alpha,
            "when_unjudged": when_unjudged,
            "largest_loss": largest_loss,
            "labels_are": labels_are,
            "sampled_negatives": sampled_negatives,
            "labels_from": labels_from,
        }
        settings = {name: value for name, value in options.items() if value is not None}
        update = bool(self._config.getoption("update_ranking_baseline"))
        answer = gating.ask(
            qrels,
            run,
            baseline,
            settings,
            root=self._config.rootpath,
            update=update,
            judge_qrels=judge_qrels,
        )
        self._properties.extend((_SAID, line) for line in answer.said)
        if answer.failure:
            pytest.fail(answer.failure, pytrace=False)
        if answer.skipped:
            pytest.skip(answer.skipped)
        return cast("Gated", answer.gated)  # there unless the test fails or is skipped


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of every gate, open or closed, which drop it detects."""
    lines_of_tests: dict[str, list[str]] = {}
    for report in _reports(terminalreporter):
        lines = [str(value) for name, value in report.user_properties if name == _SAID]
        # Set-up, call and tear-down of a test have the same lines.
        if len(lines) > len(lines_of_tests.get(report.nodeid, ())):
            lines_of_tests[report.nodeid] = lines
    if lines_of_tests:
        terminalreporter.section("ranking gates")
    for test, lines in lines_of_tests.items():
        terminalreporter.line(test)
        for line in lines:
            terminalreporter.line(f"  {line}")


def _reports(terminalreporter: pytest.TerminalReporter) -> Iterator[pytest.TestReport]:
    for reports in terminalreporter.stats.values():
        yield from (report for report in reports if isinstance(report, pytest.TestReport))
