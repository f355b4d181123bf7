"""Work that is begun before its result is asked for."""

import threading

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import procedure
from idealrank.analysis.comparison.procedure import _FEW_QUERIES
from idealrank.stats.randomness import Background


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_and_errors_come_where_they_are_asked_for(threads: int) -> None:
    with Background(threads) as background:
        begun = [background.begin(lambda number=number: 6 // number) for number in range(4)]  # type: ignore[misc]
        assert [one() for one in begun[1:]] == [6, 3, 2]
        assert begun[2]() == 3
        with pytest.raises(ZeroDivisionError):
            begun[0]()


def test_one_thread_does_the_work_once_and_only_when_it_is_asked_for() -> None:
    done: list[threading.Thread] = []
    with Background(1) as background:
        begun = background.begin(lambda: done.append(threading.current_thread()))
        assert not done
        begun()
        begun()
    assert done == [threading.current_thread()]


def test_work_goes_on_while_something_else_is_done() -> None:
    met = threading.Barrier(2, timeout=20)
    with Background(2) as background:
        begun = background.begin(met.wait)
        assert {met.wait(), begun()} == {0, 1}


def test_an_error_outside_drops_what_was_not_begun() -> None:
    dropped, done = threading.Event(), list[int]()

    def fail() -> None:
        with Background(2) as background:
            for _ in range(2):
                # takes both threads until the third work is dropped
                background.begin(lambda: dropped.wait(20))
            third = background.begin(lambda: done.append(1))
            third.__self__.add_done_callback(lambda _: dropped.set())  # type: ignore[attr-defined]
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert dropped.is_set()
    assert not done


def _compared(queries: int, threads: int) -> ir.Comparison:
    rng = np.random.default_rng(7)
    names = [f"q{number}" for number in range(queries)]
    qrels = {
        name: {f"d{document}": int(grade) for document, grade in enumerate(rng.integers(0, 3, 6))}
        for name in names
    }
    shown = [  # d6 to d8 are not judged
        ir.Run(
            {name: [f"d{document}" for document in rng.permutation(9)[:5]] for name in names},
            name=run,
        )
        for run in "ab"
    ]
    a, b = (ir.evaluate(qrels, run, ["nDCG@3", "AP"], keep_unjudged=True) for run in shown)
    return ir.compare(a, b, threads=threads, rankings=[ir.overlap(*shown, "RBO")])


def test_a_comparison_is_the_same_to_the_last_bit_for_any_number_of_threads() -> None:
    one, *others = (_compared(_FEW_QUERIES, threads).as_dict() for threads in (1, 2, 5))
    assert one["pairs"][0]["measures"]["nDCG@3"]["bounds"] is not None
    assert others == [one, one]


def test_a_comparison_of_few_queries_does_its_work_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int | None] = []
    monkeypatch.setattr(
        procedure, "Background", lambda threads: asked.append(threads) or Background(threads)
    )
    _compared(_FEW_QUERIES - 1, 2)
    _compared(_FEW_QUERIES, 2)
    assert asked == [1, 2]
