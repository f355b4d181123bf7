"""How often each command aligns a run: once, whatever is kept of it; more often only where other
alignments are what was asked for.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.data import align as aligning
from idealrank.errors import IdealrankWarning
from idealrank.pages.page import html
from tests.cli.terminal import DATA
from tests.in_process import run

COMPARE, GATE = (
    "compare qrels.txt bm25.run neural.run",
    "gate qrels.txt bm25.run --baseline neural.run",
)
EXPECTED = {
    "evaluate qrels.txt bm25.run": 1,
    "evaluate qrels.txt bm25.run neural.run --report out.html --store kept": 2,
    "evaluate qrels.txt bm25.run -m RR,nDCG@10 --report out.html": 1,
    COMPARE: 2,
    f"{COMPARE} --rankings --slices slices.csv": 2,
    f"{COMPARE} --report out.html --no-robust": 2,
    f"{COMPARE} --convention standard,ties=worst --report out.html --no-robust": 2,
    f"{COMPARE} --store kept": 2,
    f"{COMPARE} -m AP --report out.html --no-robust --store kept": 2,
    f"{COMPARE} new-seed1.run --report out.html --no-robust": 3,
    GATE: 2,
    f"{GATE} --report out.html --no-robust --store kept": 2,
    "measures choose qrels.txt bm25.run neural.run": 2,
    "why qrels.txt bm25.run neural.run": 2,
}


class Counting:
    """The kernel as `data.align` sees it, with the number of queries of each alignment; one query
    alone is looked at for its list.

    The rankings of two runs are compared by the same job of the kernel (`data.run_pairs`): these
    are not counted.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.queries: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def align(self, table: Any, *others: Any, **options: Any) -> Any:
        self.queries.append(table.n_queries)
        return self._kernel.align(table, *others, **options)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting(aligning._kernel)
    monkeypatch.setattr(aligning, "_kernel", counting)
    return counting


@pytest.mark.parametrize("command", EXPECTED)
def test_a_command_aligns_each_run_once(
    command: str, kernel: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in DATA.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IDEALRANK_STORE", raising=False)
    # what draws the plots takes long to pack, and aligns nothing
    monkeypatch.setattr(html, "bundle", lambda *_: "0")

    code, _, said = run(command.split())

    assert code < 2, said
    assert sum(queries > 1 for queries in kernel.queries) == EXPECTED[command]


@pytest.mark.parametrize("runs", [["bm25.run"], ["bm25.run", "neural.run"]])
def test_a_page_of_files_aligns_each_run_once_and_records_its_inputs(
    runs: list[str], kernel: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "bundle", lambda *_: "0")

    page = ir.report(DATA / "qrels.txt", *(DATA / name for name in runs), robustness=False)

    assert sum(queries > 1 for queries in kernel.queries) == len(runs)
    assert all(name in page for name in ("qrels.txt", *runs))


def test_a_page_of_files_warns_once_of_judgments_that_hardly_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "bundle", lambda *_: "0")
    (tmp_path / "qrels.txt").write_text("q 0 x 1\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q Q0 y 1 1.0 a\n", encoding="utf-8")

    with pytest.warns(IdealrankWarning, match="run a has no judged document") as said:
        ir.report(tmp_path / "qrels.txt", tmp_path / "a.run")

    assert [one.filename for one in said] == [__file__]
