"""The benchmarks time only what is equal, and tell what they found; their times are nobody's
test.
"""

import importlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import idealrank
from tests.twins import naive_pairwise

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
COMPILER = os.environ.get("CXX", "g++")
needs_compiler = pytest.mark.skipif(
    shutil.which(COMPILER) is None, reason=f"the yardsticks are C++, and there is no {COMPILER}"
)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Imports a module of the benchmarks, whose folder is on the path while the test runs."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def workload(load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load("workload")
    monkeypatch.setattr(module, "CACHE", tmp_path)
    return module


def built(name: str, folder: Path) -> str:
    program = folder / name
    subprocess.run(
        [
            COMPILER,
            "-O2",
            "-std=c++20",
            "-pthread",
            BENCHMARKS / "yardstick" / f"{name}.cpp",
            "-o",
            program,
        ],
        check=True,
    )
    return str(program)


@pytest.mark.slow
@needs_compiler
def test_the_yardstick_for_text_computes_what_we_compute(
    workload: ModuleType, tmp_path: Path
) -> None:
    qrels, run = workload.trec_files(23)
    program = built("text", tmp_path)

    alone, three = (
        subprocess.run([program, qrels, run, threads], capture_output=True, check=True).stdout
        for threads in "13"
    )

    ours = idealrank.evaluate(
        qrels, run, ["nDCG@10", "nDCG", "AP", "RR"], "standard,score=float32,ties=input"
    ).mean()
    assert ours == pytest.approx(json.loads(alone), abs=1e-12)
    assert ours == pytest.approx(json.loads(three), abs=1e-12)


@pytest.mark.slow
@needs_compiler
def test_the_yardstick_for_arrays_computes_what_we_compute(
    workload: ModuleType, tmp_path: Path
) -> None:
    files = workload.array_files(500)

    said = json.loads(
        subprocess.run([built("arrays", tmp_path), *files], capture_output=True, check=True).stdout
    )

    labels, scores = (np.fromfile(path, np.float32).reshape(-1, 20) for path in files)
    assert said["value"] == pytest.approx(
        idealrank.ndcg(labels, scores, cutoff=10).mean(), abs=1e-12
    )


def test_arrays_without_asked_for_ties_have_none(workload: ModuleType) -> None:
    _, scores = workload.array_files(500)

    ranked = np.sort(np.fromfile(scores, np.float32).reshape(-1, 20), axis=1)

    assert (np.diff(ranked, axis=1) > 0).all()


def test_values_that_differ_stop_a_benchmark(load) -> None:
    measuring = load("measuring")

    measuring.require_equal("same", {"AP": 0.5}, {"AP": 0.5 + 1e-13}, 1e-12)
    with pytest.raises(measuring.BenchmarkError, match=r"AP is 0\.6"):
        measuring.require_equal("other", {"AP": 0.5}, {"AP": 0.6}, 1e-12)
    with pytest.raises(measuring.BenchmarkError):
        measuring.require_equal("none", {"AP": 0.5}, {"AP": float("nan")}, 1e-12)


def test_a_failing_contender_stops_a_benchmark(load) -> None:
    measuring = load("measuring")

    with pytest.raises(measuring.BenchmarkError, match="exit code 3"):
        measuring.Contender(("sh", "-c", "exit 3"), 1).run()


def test_memory_of_the_mapped_files_is_left_out(load) -> None:
    smaps = (
        "7f00-7f01 r--s 00000000 00:01 12                         /data/a b.run\nSize:  2048 "
        "kB\nRss:  1000 kB\nPss:  500 kB\n"
        "7f02-7f03 rw-p 00000000 00:00 0 \nRss:   24 kB\n"
        "7f04-7f05 r-xp 00000000 00:01 13                         /usr/lib/libc.so\nRss:   8 kB\n"
    )

    assert load("measuring")._resident(smaps, {"/data/a b.run"}) == 32 * 1024


def test_the_table_says_what_was_missed(load) -> None:
    report, timing = load("report"), load("measuring").Timing
    slow, fast = (
        timing(cpu=2.0, wall=1.0, peak=1, runs=5),
        timing(cpu=20.0, wall=10.0, peak=1, runs=5),
    )

    text = report.table(
        [report.faster("job", "a", 5, slow, fast), report.costing("job", "b", 1.5, fast, slow)]
    )

    assert "| job | a | at least 5 x faster | 10 x |" in text
    assert "|  | b | at most 1.5 x | 10.00 x **(missed)** |" in text


def test_a_plot_is_a_drawing_with_every_point(load, tmp_path: Path) -> None:
    plot = load("plot")

    plot.write_plot(
        tmp_path / "a.svg",
        [plot.Series("ours", [(1e5, 0.1), (1e6, 0.2), (1e7, 1.0)])],
        "lines",
        "seconds",
    )

    drawing = (tmp_path / "a.svg").read_text()
    assert drawing.count("<circle") == 3 + 1
    assert "NaN" not in drawing
    assert "10<tspan" in drawing


@pytest.mark.parametrize("distinct", [0, 40])
def test_pairs_are_timed_after_they_were_counted(load, workload: ModuleType, distinct: int) -> None:
    """The contender that counts grade against grade says what every pair says, and so do we."""
    pairs, (labels, scores) = (
        load("contenders.pairs"),
        workload.long_list_files(300, distinct=distinct),
    )
    held = np.fromfile(labels, np.int64), np.fromfile(scores)
    for ties in ("half", "strict", "weak"):
        expected = naive_pairwise.loss(held[0].tolist(), held[1].tolist(), ties)
        assert pairs.CONTENDERS[f"counting-{ties}"]()(*held) == expected
        assert pairs.CONTENDERS[f"idealrank-{ties}"]()(*held) == expected


def test_a_call_on_pairs_tells_time_and_memory(
    load, workload: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    files = map(str, workload.long_list_files(300))
    monkeypatch.setattr("sys.argv", ["pairs.py", "idealrank-half", *files, "2"])

    load("contenders.pairs").main()

    said = json.loads(capsys.readouterr().out)
    assert said["value"] > 0
    assert said["cpu"] >= 0
    assert said["bytes_an_item"] >= 0


@pytest.mark.slow
def test_rows_of_pairs(load, workload: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = load("jobs_pairs")
    monkeypatch.setattr(jobs, "ITEMS", 2000)

    of_one_list = ["ties=half", "ties=strict", "ties=weak", "memory beside labels and scores"]
    assert [row.what.split(",")[0] for row in jobs.rows(quick=True)] == 2 * of_one_list


def test_the_simulations_draw_the_same_lists(load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "contenders"))
    simulation = load("simulation")

    # From 2^17 / 2 documents on a list is a block of its own, which is what the loop relies on.
    ours, theirs = simulation.by_idealrank(2, 70_000), simulation.one_by_one(2, 70_000)

    assert ours == pytest.approx(theirs, abs=1e-12)


def test_sign_flips_of_all_contenders_agree(load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "contenders"))
    flips = load("flips")
    few, runs = flips.table(9, 2, 3), flips.table(30, 4, 2)

    assert flips.by_idealrank(few, 1000) == pytest.approx(flips.by_scipy(few, 1000), abs=1e-12)
    assert flips.all_pairs(runs, 500).tolist() == np.array(flips.pair_by_pair(runs, 500)).tolist()


@pytest.mark.slow
def test_rows_of_stats(load, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = load("jobs_stats")
    for name, size in (("DRAWS", 5000), ("QUERIES", 50), ("PAIR_DRAWS", 500), ("RUNS", 5)):
        monkeypatch.setattr(jobs, name, size)

    assert [row.what for row in jobs.rows(quick=True)][1:] == [
        "on the clock",
        "on the clock",
        "with tipping points, against without",
    ]


@pytest.mark.filterwarnings("ignore:.*situations of examination")  # of so few sessions
def test_click_models_and_estimates_of_all_contenders_agree(
    load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "contenders"))
    contenders = load("clicks").CONTENDERS
    for name in ("pbm", "ubm"):  # the maximum, which expectation maximisation nears from below
        ours, theirs = (
            contenders[name](300)["log-likelihood"],
            contenders[f"plain-{name}"](300)["log-likelihood"],
        )
        assert theirs - 1e-9 <= ours <= theirs + 1e-3 * abs(theirs)
    assert contenders["estimates"](300) == pytest.approx(
        contenders["plain-estimates"](300), rel=1e-9, abs=1e-9
    )
    ours, theirs = contenders["bootstrap"](300), contenders["plain-bootstrap"](300)
    assert ours == pytest.approx(theirs, abs=(theirs["high"] - theirs["low"]) / 5)


@pytest.mark.slow
def test_rows_of_clicks(load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = load("jobs_clicks")
    # with no environment of a peer next to it
    monkeypatch.setattr(jobs, "FOLDER", tmp_path / "benchmarks")
    for name in ("SESSIONS", "ROWS"):
        monkeypatch.setattr(jobs, name, 20_000)

    assert [row.subject.split(",")[0] for row in jobs.rows(quick=False)] == [
        "position-based model",
        "user browsing model",
        "IPS",
        "SNIPS with a bootstrap of 1",
    ]


def test_peers_of_clicks_need_finished_environments(
    load,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = load("jobs_clicks")
    monkeypatch.setattr(jobs, "FOLDER", tmp_path / "benchmarks")
    monkeypatch.setattr(jobs, "beside", lambda subject, peer, ours, theirs, tolerance: theirs)
    environments = [tmp_path / f".venv-peers-{name}" for name in ("obp", "models")]
    pythons = [environment / "bin" / "python" for environment in environments]
    for python in pythons:
        python.parent.mkdir(parents=True)
        python.touch()
    assert list(jobs.beside_peers()) == []

    for environment in environments:
        (environment / ".installed").touch()
    assert list(jobs.beside_peers()) == list(zip(pythons, ("obp", "clax"), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["obp", "models"])
def test_a_peer_of_clicks_has_equal_values(
    load,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = load("jobs_clicks")
    environment = BENCHMARKS.parent / f".venv-peers-{name}"
    if not jobs.is_installed(environment):
        pytest.skip(f"{environment} is missing; make test-peers-clicks makes it")
    (tmp_path / environment.name).symlink_to(environment)
    monkeypatch.setattr(jobs, "FOLDER", tmp_path / "benchmarks")
    monkeypatch.setitem(jobs.COMPARED, "obp", 50_000)

    (row,) = jobs.beside_peers()

    assert (
        row.what
        == {"obp": "sb-obp 0.5.10 / idealrank", "models": "clax-models 0.1.1 / idealrank"}[name]
    )


def test_bounds_are_those_of_every_choice_of_grades(load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "contenders"))
    contenders = load("judging").CONTENDERS
    for name in ("bounds", "difference"):
        assert contenders[name](4) == pytest.approx(contenders[f"plain-{name}"](4), abs=1e-12)


@pytest.mark.slow
def test_rows_of_judging(load, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = load("jobs_judging")
    monkeypatch.setattr(jobs, "RESULTS", 50)
    assert [row.subject.split(",")[0] for row in jobs.rows(quick=False)] == list(
        jobs.SUBJECTS.values()
    )


def test_a_store_is_asked_for_what_was_put_in(
    load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "contenders"))
    jobs, kept = load("jobs_store"), load("kept")
    monkeypatch.setattr(jobs, "QUERIES", 120)
    kept.build(tmp_path, 3, 120)
    for job, expected in jobs.expectations(3).items():
        assert getattr(kept, job)(tmp_path, 3, 120) == pytest.approx(
            expected, abs=1e-14 if job == "measure" else 0
        )
