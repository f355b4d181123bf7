"""Judges whose service goes away, and comes back: what it did not take is asked again, and what it
answered is not.
"""

import socket
from collections import Counter
from contextlib import nullcontext, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import BackendError, IdealrankWarning
from idealrank.io.judgment_files import read_labels_table
from tests.live.live_fakes import send, service
from tests.live.test_judge_runs import (
    PAIRS,
    asked_document,
    completion,
    config,
    folder,
    grade_of,
    well,
)

__all__ = ["folder"]


@pytest.mark.parametrize("failure", ["gone", 401, 503], ids=str)
def test_after_an_outage_the_same_command_asks_what_the_service_did_not_answer(
    folder: Path, failure: "int | str"
) -> None:
    """Six answers, one refusal of a document, and then nothing more: all but these seven are asked
    again.
    """
    is_down = False

    def failing(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        nonlocal is_down
        if asked_document(body) == "d6":
            is_down = not Path("well").exists()
            send(handler, {"error": "too long"}, 400)
        elif not is_down:
            well("", body, handler)
        elif failure == "gone":
            # closing alone leaves it open: the handler's files hold it
            handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            send(handler, {"error": "down"}, int(failure))

    with service(failing) as (url, seen):
        given = config(
            url,
            concurrency=1,
            retries=0,
            breaker={"failures": 3, "pause": 0.01, "probes": 2},
            most_failed=0.1,
        )
        with pytest.raises(BackendError, match="stopped, as 2 probes failed") as caught:
            ir.judge(given)
        assert "the same command asks the remaining requests" in caught.value.hint
        assert "--retry-failed the 1 whose own answers failed" in caught.value.hint
        n_seen = len(seen)
        assert Counter(row["status"] for row in read_labels_table("model.qrels.labels.csv")) == {
            "graded": 6,
            "failed": 6,
        }
        Path("well").touch()
        is_down = False
        found = ir.judge(given)
        assert (found.asked, len(seen) - n_seen, len(found.grades)) == (5, 5, 11), (
            "the refused document is not asked again"
        )
        assert ir.judge(given).asked == 0
        assert ir.judge(given, retry_failed=True).asked == 1


@pytest.mark.parametrize(
    ("failures", "said"),
    [(100, "12 of 12 pairs without a grade"), (3, "stopped, as 2 probes failed")],
)
def test_pairs_of_a_service_that_is_not_there_count_as_not_asked(
    folder: Path, failures: int, said: str
) -> None:
    more = {
        "cache": "kept.jsonl",
        "retries": 0,
        "breaker": {"failures": failures, "pause": 0.01, "probes": 2},
    }
    with service(well) as (url, _):
        pass
    with pytest.raises(BackendError, match=said) as caught:
        ir.judge(config(url, **more))
    assert "the same command asks" in caught.value.hint
    assert "--retry-failed" not in caught.value.hint
    with suppress(BackendError):
        ir.judge(config(url, **more))
    with service(well, int(url.rpartition(":")[2])) as (again, _):
        assert (again, ir.judge(config(url, **more)).asked) == (url, 12)


@pytest.mark.parametrize("busy", ["d5", "d11"], ids=["in the middle", "at the end"])
def test_what_a_service_did_not_take_is_asked_again_also_if_it_came_back(
    folder: Path, busy: str
) -> None:
    """It was not paid, and it does not matter whether an answer came after it."""
    times: Counter[str] = Counter()

    def hiccup(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        times[asked_document(body)] += 1
        if asked_document(body) == busy and not Path("well").exists():
            send(handler, {"error": "busy"}, 503)
        else:
            well("", body, handler)

    with service(hiccup) as (url, _):
        given = config(url, concurrency=1, retries=0, most_failed=0.1)
        first, second = ir.judge(given), ir.judge(given)
        assert (first.to_dict()["failed"], second.asked, second.to_dict()["failed"]) == (1, 1, 1)
        Path("well").touch()
        third = ir.judge(given)
        assert (third.asked, third.to_dict()["failed"], times[busy]) == (1, 0, 3)
        assert sum(times.values()) == 12 + 2, "nothing else is asked twice"


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("", "the same command asks them again"),
        (
            "d3",
            "the same command asks the 3 that were not taken, and --retry-failed the 1 whose "
            "own answers failed",
        ),
    ],
)
def test_an_outage_at_the_end_is_told_with_the_command_that_asks_again(
    folder: Path, lost: str, said: str
) -> None:
    def grade(query: str, document: str) -> int:
        if document == lost:
            raise ValueError("too long")
        if document in {"d9", "d10", "d11"} and not Path("well").exists():
            raise ConnectionError("no connection")
        return 1

    given = {
        **config("", concurrency=1, retries=0),
        "judge": {"kind": "function", "function": grade, "takes": "ids"},
    }
    with pytest.raises(BackendError, match="of 12 pairs without a grade") as caught:
        ir.judge(given)
    assert f"{said}, and `most_failed` allows more" in caught.value.hint
    Path("well").touch()
    assert ir.judge(given | {"most_failed": 0.1}).asked == 3


@pytest.mark.parametrize(
    ("error", "is_kept", "said"),
    [
        (
            ConnectionError,
            True,
            "the same command asks the remaining requests when the function answers again",
        ),
        (
            ConnectionError,
            False,
            "the same command asks all requests again when the function answers again",
        ),
        (
            ValueError,
            True,
            "mend the function; the same command then asks the remaining requests, or all if "
            "its code changed",
        ),
        (ValueError, False, "mend the function; the same command then asks all requests again"),
    ],
)
def test_the_advice_for_a_function_that_stopped_fits_its_failure(
    folder: Path, error: type[Exception], is_kept: bool, said: str
) -> None:
    """An answer of an object that may change unnoticed is not kept."""
    model = None if is_kept else object()

    def grade(query: str, document: str, model: object = model) -> int:
        if document != "d0":
            raise error("no connection")
        return 1

    judge = {"kind": "function", "function": grade, "takes": "ids"}
    more = {"concurrency": 1, "retries": 0, "breaker": {"failures": 2, "pause": 0.001, "probes": 2}}
    warned = (
        nullcontext()
        if is_kept
        else pytest.warns(IdealrankWarning, match="its answers are not kept")
    )
    with warned, pytest.raises(BackendError, match="stopped, as 2 probes failed") as caught:
        ir.judge(config("", **more) | {"judge": judge})
    own = (
        ", and --retry-failed the 4 whose own answers failed"
        if is_kept and error is ValueError
        else ""
    )
    assert caught.value.hint == f"{said}{own}"
    assert str(caught.value).count(caught.value.hint) == 1


@pytest.mark.filterwarnings("ignore:.*its answers are not kept")
def test_failures_that_are_not_kept_are_asked_again_without_an_option(folder: Path) -> None:
    def grade(query: str, document: str, model: object = object()) -> int:
        return 1 // (document != "d3")

    judge = {"kind": "function", "function": grade, "takes": "ids"}
    with pytest.raises(BackendError, match="1 of 12 pairs without a grade") as caught:
        ir.judge(config("") | {"judge": judge})
    assert (
        "the same command asks all requests again, and `most_failed` allows more"
        in caught.value.hint
    )


def test_answers_in_words_are_told_of_the_key_that_reads_them(folder: Path) -> None:
    def wordy(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        send(handler, completion(f"I think the grade is {grade_of(asked_document(body))}."))

    with service(wordy) as (url, _):
        with pytest.raises(
            BackendError, match=r"12 of 12 pairs without a grade .*expected at least one"
        ) as caught:
            ir.judge(config(url))
        assert (
            r"`pattern` reads a grade that stands among words, as in pattern: 'grade is (\d)'"
            in caught.value.hint
        )
        assert ir.judge(config(url, judge={"pattern": r"grade is (\d)"})).grades == {
            pair: grade_of(pair[1]) for pair in PAIRS
        }
