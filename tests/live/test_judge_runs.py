"""Judges against a service on this machine that answers well, badly, slowly and with nonsense."""

import csv
import json
import math
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import BackendError, IdealrankWarning, InputError, OptionError
from idealrank.io.formats.preferences import read_assessors
from idealrank.io.judgment_files import origin_of, read_labels_table, write_judgments
from idealrank.judging.files.judgment_pairs import read_pairs
from idealrank.live.judges.chat_endpoint import Prompt
from tests.live.live_fakes import send, service

Config = dict[str, Any]
PAIRS = [(f"q{place % 4}", f"d{place}") for place in range(12)]


def grade_of(document: str) -> int:
    return int(document[1:]) % 4


def completion(text: Any, **more: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 2}
    return {
        "model": "tiny-2026",
        "choices": [{"message": {"role": "assistant", "content": text}, **more}],
        "usage": usage,
    }


def asked_document(body: dict[str, Any]) -> str:
    return body["messages"][-1]["content"].split("text of ")[1].split()[0]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Path("pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["query", "document"], *PAIRS])
    Path("queries.tsv").write_text("".join(f"q{place}\tquery {place}\n" for place in range(4)))
    lines = [
        {
            "_id": document,
            "title": f"Title {document}",
            "text": f"text of {document} \n{{query}} ignored",
        }
        for _, document in PAIRS
    ]
    Path("corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def config(url: str, **keys: Any) -> Config:
    judge = {"kind": "openai", "url": f"{url}/v1", "model": "tiny", **keys.pop("judge", {})}
    files = {
        "pairs": "pairs.csv",
        "queries": "queries.tsv",
        "documents": "corpus.jsonl",
        "output": "model.qrels",
    }
    return {"judge": judge, **files, "backoff": 0.001, "timeout": 20, **keys}


def well(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
    send(handler, completion(str(grade_of(asked_document(body)))))


def test_a_model_that_answers_well_gives_qrels_that_know_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_KEY", "s3cret-key")
    with service(well) as (url, seen):
        given = config(
            url,
            judge={"key": "${TINY_KEY}", "params": {"temperature": 0, "max_tokens": 4}},
            price={"input": 1, "output": 10},
        )
        found = ir.judge(given)
    assert found.grades == {pair: grade_of(pair[1]) for pair in PAIRS}
    path, headers, body = seen[0]
    assert (path, headers["authorization"], body["model"]) == (
        "/v1/chat/completions",
        "Bearer s3cret-key",
        "tiny",
    )
    assert (body["temperature"], body["max_tokens"]) == (0, 4)
    prompt = body["messages"][0]["content"]
    number = int(asked_document(body)[1:])  # requests arrive in any order
    assert f"query {number % 4}" in prompt
    assert "{query} ignored" in prompt, "nothing inside a document is a field"
    assert "0, 1, 2, 3" in prompt
    report = found.to_dict()
    assert (report["input_tokens"], report["output_tokens"], report["cost"]) == (
        1200,
        24,
        pytest.approx(12 * 120e-6),
    )
    origin = origin_of("model.qrels")
    assert origin is not None
    assert {
        key: origin[key]
        for key in ("kind", "assessors", "model", "served_models", "prompt_file", "pairs")
    } == {
        "kind": "model",
        "assessors": ["tiny"],
        "model": "tiny",
        "served_models": ["tiny-2026"],
        "prompt_file": "plain",
        "pairs": 12,
    }
    assert origin["prompt"] == Prompt.read(None).digest
    assert read_assessors("model.qrels").assessors == ("tiny",)
    assert ir.read_qrels("model.qrels")["q1"] == {"d1": 1.0, "d5": 1.0, "d9": 1.0}
    for written in folder.iterdir():
        assert "s3cret" not in written.read_text(), f"{written.name} shows a secret"


def test_nothing_is_asked_twice_unless_prompt_model_or_texts_change(folder: Path) -> None:
    with service(well) as (url, seen):
        ir.judge(config(url))
        again = ir.judge(config(url), "again.qrels")
        assert (again.asked, len(seen)) == (12, 24), "another output has a cache of its own"
        again = ir.judge(config(url))
        assert (again.asked, len(seen)) == (0, 24)
        Path("prompt.txt").write_text("{query} and {text}: {scale}")
        assert ir.judge(config(url, judge={"prompt": "prompt.txt"})).asked == 12
        assert ir.judge(config(url, judge={"model": "other"})).asked == 12
        Path("queries.tsv").write_text(
            Path("queries.tsv").read_text().replace("query 3", "other words")
        )
        assert ir.judge(config(url)).asked == 3
        assert ir.judge(config(url), restart=True).asked == 12
        assert ir.judge(config(url, judge={"version": "2"})).asked == 12


def test_another_address_is_asked_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with service(well) as (url, _), service(well) as (other, _):
        assert ir.judge(config(url)).asked == 12
        assert ir.judge(config(other)).asked == 12
        assert ir.judge(config(url.replace("//", "//me:s3cret@"))).asked == 0, (
            "it is the same service for another name"
        )
        for value, asked in ((url, 12), (other, 12), (url, 0)):
            monkeypatch.setenv("SERVICE", value)
            assert ir.judge(config("${SERVICE}")).asked == asked
        origin = origin_of("model.qrels")
    assert origin is not None
    assert origin["url"] == "${SERVICE}/v1"
    assert not any("s3cret" in written.read_text() for written in folder.iterdir())


def test_a_changed_script_of_a_command_is_asked_anew(folder: Path) -> None:
    script = "import sys\nfor line in sys.stdin: print(GRADE, flush=True)\n"
    given = {**config(""), "judge": {"kind": "command", "command": ["python3", "constant.py"]}}
    for grade, asked in (("1", 12), ("1", 0), ("2", 12), ("1", 0)):
        Path("constant.py").write_text(script.replace("GRADE", grade))
        found = ir.judge(given)
        assert (found.asked, set(found.grades.values())) == (asked, {float(grade)})


def test_one_cache_serves_several_lists(folder: Path) -> None:
    Path("few.csv").write_text("query,document\nq0,d0\nq1,d1\n")
    with service(well) as (url, _):
        assert ir.judge(config(url, pairs="few.csv", cache="shared.jsonl"), "few.qrels").asked == 2
        assert ir.judge(config(url, cache="shared.jsonl")).asked == 10


@pytest.mark.parametrize("restart", [False, True])
def test_a_cache_that_is_another_file_is_refused_and_stays(folder: Path, restart: bool) -> None:
    Path("notes.jsonl").write_text('{"my": "only copy"}')
    with (
        service(well) as (url, seen),
        pytest.raises(InputError, match=r"notes.jsonl.*expected the journal of a judge"),
    ):
        ir.judge(config(url, cache="notes.jsonl"), restart=restart)
    assert (Path("notes.jsonl").read_text(), seen) == ('{"my": "only copy"}', [])


def test_a_service_that_is_busy_is_asked_again_and_one_that_refuses_is_not(folder: Path) -> None:
    times: Counter[str] = Counter()

    def busy(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        document = asked_document(body)
        times[document] += 1
        if document == "d5":
            send(handler, {"error": "too long"}, 400)
        elif times[document] < 3:
            send(handler, {"error": "busy"}, 429 if document == "d1" else 503)
        else:
            well("", body, handler)

    with service(busy) as (url, _):
        found = ir.judge(config(url, retries=3, most_failed=0.1, breaker={"failures": 100}))
    assert times == Counter({document: 1 if document == "d5" else 3 for _, document in PAIRS})
    assert ("q1", "d5") not in found.grades
    assert found.to_dict()["failed"] == 1
    (row,) = [
        row for row in read_labels_table("model.qrels.labels.csv") if row["status"] == "failed"
    ]
    assert (row["document"], row["grade"]) == ("d5", "")
    assert "found status 400" in row["note"]
    assert "too long" in row["note"]


NONSENSE = {
    "d0": completion("I cannot say."),
    "d1": completion("7"),
    "d2": completion(""),
    "d3": completion(None),
    "d4": {"choices": []},
    "d5": b"<html>",
    "d6": completion('{"grade": 1, "why": "near"}'),
    "d7": completion('```json\n{"grade": 2}\n```'),
    "d8": completion("2.0"),
    "d9": [1, 2],
    "d10": completion('{"grade": null}'),
    "d11": completion("NaN"),
}


def test_nonsense_is_a_row_each_and_never_a_grade(folder: Path) -> None:
    def nonsense(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        send(handler, NONSENSE[asked_document(body)])

    with service(nonsense) as (url, seen):
        with pytest.raises(
            BackendError,
            match=r"8 of 12 pairs without a grade .*no judgments were written.*--retry-failed",
        ) as caught:
            ir.judge(config(url, retries=0))
        assert "most_failed" in str(caught.value)
        assert not Path("model.qrels").exists()
        rows = {row["document"]: row for row in read_labels_table("model.qrels.labels.csv")}
        assert len(rows) == 12
        assert Counter(row["status"] for row in rows.values()) == {
            "unreadable": 5,
            "failed": 3,
            "graded": 3,
            "abstained": 1,
        }
        assert all(
            row["note"] for row in rows.values() if row["status"] in {"unreadable", "failed"}
        )
        assert rows["d1"]["note"] == "found the grade 7, expected one of 0, 1, 2, 3"
        assert rows["d0"]["input_tokens"] == "100", "nonsense is paid, too"
        found = ir.judge(config(url, retries=0, most_failed=0.9))
        assert (found.asked, found.grades) == (
            0,
            {("q2", "d6"): 1, ("q3", "d7"): 2, ("q0", "d8"): 2},
        )
        assert len(seen) == 12
        again = ir.judge(config(url, retries=0, most_failed=0.9), retry_failed=True)
        assert again.asked == 8


def test_a_slow_service_is_given_up_after_the_time_that_it_has(folder: Path) -> None:
    over = threading.Event()

    def slow(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        if asked_document(body) == "d3":
            over.wait(30)
        with suppress(ConnectionError):  # the client has gone
            well("", body, handler)

    with service(slow) as (url, _):
        found = ir.judge(config(url, timeout=0.5, retries=0, most_failed=0.95, concurrency=12))
        over.set()
    assert ("q3", "d3") not in found.grades
    assert "found no answer in 0.5 s" in next(
        row["note"]
        for row in read_labels_table("model.qrels.labels.csv")
        if row["document"] == "d3"
    )


def test_no_more_requests_are_under_way_than_allowed(folder: Path) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def counted(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        well("", body, handler)

    with service(counted) as (url, _):
        ir.judge(config(url, concurrency=3))
    assert most <= 3


def test_a_wrong_key_stops_the_job_before_all_is_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_KEY", "wrong-s3cret")

    def refused(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        send(handler, {"error": f"bad key {handler.headers['authorization']}"}, 401)

    with (
        service(refused) as (url, seen),
        pytest.raises(BackendError, match="refused all requests so far") as caught,
    ):
        ir.judge(config(url, judge={"key": "${TINY_KEY}"}, concurrency=1, breaker={"failures": 3}))
    assert len(seen) == 3
    assert "s3cret" not in str(caught.value)
    rows = read_labels_table("model.qrels.labels.csv")
    assert Counter(row["status"] for row in rows) == {"failed": 12}
    assert not any("s3cret" in written.read_text() for written in folder.iterdir())


@pytest.mark.parametrize("grade", ["1", "none"])
def test_a_service_that_sends_the_key_back_does_not_get_it_into_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, grade: str
) -> None:
    monkeypatch.setenv("TINY_KEY", "s3cret-key")

    def echoing(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        said = handler.headers["authorization"]
        send(
            handler, {**completion(f'{said} {{"grade": {grade}}} {said}'), "model": f"tiny {said}"}
        )

    with service(echoing) as (url, _):
        given = config(url, judge={"key": "${TINY_KEY}"}, most_failed=1)
        if grade == "1":
            found = ir.judge(given)
            assert found.provenance["served_models"] == ["tiny Bearer ${TINY_KEY}"]
        else:
            with pytest.raises(BackendError, match="without a grade") as caught:
                ir.judge(given)
            assert "s3cret" not in str(caught.value)
    for written in folder.iterdir():
        assert "s3cret" not in written.read_text(), f"{written.name} shows a secret"
    assert "${TINY_KEY}" in Path("model.qrels.cache.jsonl").read_text()


def test_a_budget_ends_the_run_and_a_higher_one_continues_it(folder: Path) -> None:
    with service(well) as (url, seen):
        # a request costs 1
        given = config(url, price={"input": 10_000, "output": 0}, concurrency=1, repeats=2)
        with pytest.raises(
            BackendError,
            match="cost of 16, expected at most the budget of 10; 8 requests were not sent",
        ):
            ir.judge(given | {"budget": 10})
        assert len(seen) == 16
        assert (
            Counter(row["note"] for row in read_labels_table("model.qrels.labels.csv"))["not asked"]
            == 8
        )
        assert ir.judge(given | {"budget": 100}).asked == 8


def test_a_number_of_tokens_that_no_service_counts_costs_nothing(folder: Path) -> None:
    def boundless(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        send(
            handler,
            {**completion("1"), "usage": {"prompt_tokens": 10**400, "completion_tokens": 10**12}},
        )

    with service(boundless) as (url, _):
        given = config(url, price={"input": 1, "output": 1})
        report = ir.judge(given).to_dict()
        assert (report["input_tokens"], report["output_tokens"], report["cost"]) == (
            0,
            12 * 10**12,
            pytest.approx(12e6),
        )
        cache = Path("model.qrels.cache.jsonl")
        cache.write_text(
            cache.read_text().replace(
                '"output_tokens": 1000000000000', f'"output_tokens": {10**400}'
            )
        )
        again = ir.judge(given)
    assert (again.asked, again.to_dict()["cost"]) == (0, 0)


def test_repeats_are_requests_of_their_own_and_their_lower_median_is_the_grade(
    folder: Path,
) -> None:
    def by_seed(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        send(
            handler,
            completion(
                str({7: 0, 8: 3, 9: 2}[body["seed"]] if asked_document(body) == "d0" else 1)
            ),
        )

    with service(by_seed) as (url, _):
        found = ir.judge(config(url, repeats=3, judge={"params": {"seed": 7}}))
        assert (found.grades["q0", "d0"], found.to_dict()["same_in_all_repeats"]) == (
            2,
            pytest.approx(11 / 12),
        )
        assert len(found.labels) == 36
        assert ir.judge(
            config(url, repeats=3, aggregate="mean", judge={"params": {"seed": 7}})
        ).grades["q0", "d0"] == pytest.approx(5 / 3)


def test_probabilities_of_tokens_give_the_grade_and_stay_in_the_table(folder: Path) -> None:
    tops = [
        {"token": "2", "logprob": math.log(0.6)},
        {"token": " 3", "logprob": math.log(0.2)},
        {"token": "x", "logprob": math.log(0.2)},
    ]
    content = [
        {"token": "Grade", "logprob": 0.0, "top_logprobs": []},
        {"token": "2", "logprob": math.log(0.6), "top_logprobs": tops},
    ]

    def sure(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        assert body["logprobs"] is True
        send(handler, completion("Grade 2", logprobs={"content": content}))

    with service(sure) as (url, _):
        found = ir.judge(config(url, judge={"probabilities": True}))
        assert set(found.grades.values()) == {2.0}
        mean = ir.judge(
            config(
                url, judge={"probabilities": True}, scale={"grades": [0, 1, 2, 3], "choose": "mean"}
            )
        )
    assert next(iter(mean.grades.values())) == pytest.approx(2.25)
    chances = json.loads(read_labels_table("model.qrels.labels.csv")[0]["probabilities"])
    assert chances == {"0": 0, "1": 0, "2": pytest.approx(0.75), "3": pytest.approx(0.25)}


def test_people_and_model_are_never_merged_and_the_table_says_who_gave_what(folder: Path) -> None:
    rows = [
        (query, "ann", document, float(grade_of(document) if document != "d3" else 0))
        for query, document in PAIRS[:8]
    ]
    write_judgments("people.qrels", rows, {"kind": "people", "assessors": ["ann"]})
    with service(well) as (url, _):
        found = ir.judge(config(url, qrels="people.qrels"))
    report = found.to_dict()["people"]
    assert (report["pairs"], report["equal"]) == (8, 7 / 8)
    assert 0 < report["kappa"] < 1
    table = read_labels_table("model.qrels.labels.csv")
    assert Counter((row["assessor"], row["kind"]) for row in table) == {
        ("tiny", "model"): 12,
        ("ann", "people"): 8,
    }
    assert {row["grade"] for row in table if row["document"] == "d3"} == {"0", "3"}
    assert read_assessors("model.qrels").assessors == ("tiny",)
    Path("more.qrels").write_text("q9 0 d9 1\n")
    assert len(ir.read_qrels(["people.qrels", "more.qrels"]).grades) == 9
    with pytest.warns(
        IdealrankWarning,
        match=r"different kinds \(people.qrels: people, model.qrels: model\) and were joined",
    ):
        ir.read_qrels(["people.qrels", "model.qrels"], duplicates="first")


def test_a_program_judges_too(folder: Path) -> None:
    Path("judge.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    pair = json.loads(line)\n"
        "    number = int(pair['document'][1:])\n"
        "    answers = {0: None, 1: {'probabilities': [0.1, 0.2, 0.6, 0.1]}, 2: {'error': 'no "
        "memory'}, 3: {'x': 1}}\n"
        "    print(json.dumps(answers.get(number, {'grade': number % 4})), flush=True)\n"
    )
    judge = {"kind": "command", "command": ["python3", "judge.py"], "name": "my judge"}
    found = ir.judge({**config(""), "judge": judge, "most_failed": 0.5, "retries": 0})
    assert found.grades == {pair: grade_of(pair[1]) for pair in PAIRS[4:]} | {("q1", "d1"): 2}
    assert (found.name, found.to_dict()["abstained"], found.to_dict()["failed"]) == (
        "my_judge",
        1,
        2,
    )


def test_a_changed_function_is_asked_anew(folder: Path) -> None:
    given = {
        **config(""),
        "judge": {"kind": "function", "function": "grades.py:grade", "takes": "ids"},
    }
    Path("grades.py").write_text("def grade(query, document):\n    return 1\n")
    assert ir.judge(given).asked == 12
    assert ir.judge(given).asked == 0

    def other(query: str, document: str) -> dict[int, float]:
        return {0: 0.1, 2: 0.9}

    found = ir.judge(
        {**given, "judge": {"kind": "function", "function": other, "takes": "ids", "name": "grade"}}
    )
    assert (found.asked, set(found.grades.values())) == (12, {2.0})


def test_a_function_that_fails_has_a_row_for_each_failure(folder: Path) -> None:
    def broken(query: str, document: str) -> int:
        if document.startswith("d1"):
            raise KeyError("model")
        return 1

    found = ir.judge(
        {
            **config(""),
            "judge": {"kind": "function", "function": broken, "takes": "ids"},
            "most_failed": 0.5,
        }
    )
    line = broken.__code__.co_firstlineno + 2
    assert found.failures == {f"broken: KeyError: 'model' ({__file__}:{line}, in broken)": 3}
    with pytest.raises(BackendError, match="3 of 12 pairs without a grade"):
        ir.judge({**config(""), "judge": {"kind": "function", "function": broken, "takes": "ids"}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scale": [1]}, "configuration: scale: found"),
        ({"scale": [0, 0]}, "scale: found"),
        ({"repeats": 101}, "from 1 to 100"),
        ({"budget": 1}, "budget: found a budget without `price`"),
        ({"output": "pairs.csv"}, "found an input file"),
        ({"judge": {"kind": "openai", "url": "x", "model": "m"}}, "judge.url: found 'x'"),
        (
            {"judge": {"kind": "openai", "url": "http://a", "model": "m", "key": "sk-1"}},
            "judge.key: found a text in the file",
        ),
        (
            {"judge": {"kind": "openai", "url": "http://a", "model": "m", "key": "${NO_SUCH}"}},
            "judge.key: found ${NO_SUCH}, and no such environment variable, expected its "
            "value: export NO_SUCH=..., or delete",
        ),
        (
            {"judge": {"kind": "openai", "url": "http://a", "model": "m", "pattern": "("}},
            "judge.pattern",
        ),
        (
            {"judge": {"kind": "openai", "url": "http://a", "model": "m", "params": {"n": 2}}},
            "judge.params.n",
        ),
        ({"cache": "./model.qrels"}, "cache ./model.qrels: found the file of output"),
        ({"cache": "model.qrels.labels.csv"}, "found the file of the label table"),
        ({"output": "other"}, "other.labels.csv: found a file that is no label table"),
        ({"judge": {"kind": "llm"}}, "one of openai, function, command"),
        ({"judge": {}}, "judge.kind: found nothing"),
        ({"pair": "x"}, "unknown key 'pair'"),
    ],
)
def test_a_mistake_in_the_configuration_is_named_with_its_place(
    folder: Path, change: Config, said: str
) -> None:
    Path("other.labels.csv").write_text("mine\n")
    with pytest.raises(OptionError, match=r".*") as caught:
        ir.judge(config("http://127.0.0.1:1") | change)
    assert Path("other.labels.csv").read_text() == "mine\n"
    assert said in str(caught.value)


def test_a_prompt_that_is_not_there_is_named_as_other_files_are(folder: Path) -> None:
    with pytest.raises(
        OptionError, match=r"^configuration: judge.prompt: prompt.txt: found no such file$"
    ):
        ir.judge(config("http://127.0.0.1:1", judge={"prompt": "prompt.txt"}))


def test_the_text_of_a_result_is_one_short_line(folder: Path) -> None:
    def grade(query: str, document: str) -> int | None:
        return None if document == "d1" else 7 if document == "d2" else 1

    judge = {"kind": "function", "function": grade, "takes": "ids"}
    assert repr(ir.judge(config("") | {"judge": judge, "most_failed": 0.5})) == (
        "JudgeRun('grade': 10 of 12 pairs graded, 1 abstained, 1 unreadable)"
    )


def test_a_prompt_that_shows_no_document_is_refused(folder: Path) -> None:
    Path("prompt.txt").write_text("Is {query} good?")
    with pytest.raises(OptionError, match=r"prompt.txt: found no field \{text\} or \{title\}"):
        ir.judge(config("http://127.0.0.1:1", judge={"prompt": "prompt.txt"}))


def test_a_model_is_not_asked_about_documents_without_a_text(folder: Path) -> None:
    given = config("http://127.0.0.1:1")
    del given["documents"]
    with pytest.raises(
        InputError,
        match=r"pairs.csv: found no text of 12 of 12 documents, such as 'd0'.*`documents`",
    ):
        ir.judge(given)


@pytest.mark.parametrize("name", ["#q1", "q 1", "q\x001"])
def test_an_id_that_judgments_would_lose_is_refused_before_anything_is_asked(
    folder: Path, name: str
) -> None:
    Path("pairs.jsonl").write_text(json.dumps({"query": name, "document": "d1"}) + "\n")
    judge = {
        "kind": "function",
        "function": lambda query, document: 1,
        "takes": "ids",
        "name": "one",
    }
    with pytest.raises(
        InputError,
        match=r"pairs.jsonl: found query .*, expected an id without blanks, control characters "
        r"and a leading #, since model.qrels is TREC text; write a table, .* such as model.csv",
    ):
        ir.judge({**config(""), "judge": judge, "pairs": "pairs.jsonl"})
    with pytest.raises(InputError, match="leading #"):
        write_judgments("a.qrels", [(name, "ann", "d1", 1.0)], {"kind": "people"})
    assert not Path("model.qrels.cache.jsonl").exists()


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_table_of_a_judge_holds_ids_of_any_text(folder: Path, ending: str) -> None:
    keys = {("phone cord", "s 1"): 1.0, ('#1 "dad", mug ', "a,b"): 0.0}
    records = [{"query": query, "document": document} for query, document in keys]
    Path("pairs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    judge = {
        "kind": "function",
        "function": lambda query, document: int("cord" in query),
        "takes": "ids",
        "name": "one",
    }
    name = f"model.{ending}"
    configuration = {**config(""), "judge": judge, "pairs": "pairs.jsonl"}
    for _ in range(2):  # the second run replaces its own table
        with pytest.warns(UserWarning, match="with blanks at its end"):
            ir.judge(configuration, name)
    qrels = ir.read_qrels(name, tell=lambda _: None)
    assert {key: qrels[key[0]][key[1]] for key in keys} == keys
    origin = origin_of(name)
    assert origin is not None
    assert (origin["kind"], origin["assessors"]) == ("function", ["one"])
    Path(f"{name}.origin.json").unlink()
    with pytest.raises(OptionError, match="found a file without its origin"):
        ir.judge(configuration, name)


def test_a_line_break_in_an_id_needs_json_lines(folder: Path) -> None:
    rows = [("two\nlines", "ann", "d1", 1.0)]
    with pytest.raises(InputError, match=r"an id on one line; write JSON lines, such as a.jsonl"):
        write_judgments("a.csv", rows, {"kind": "people"})
    write_judgments("a.jsonl", rows, {"kind": "people"})
    assert ir.read_qrels("a.jsonl", tell=lambda _: None)["two\nlines"] == {"d1": 1.0}


def test_texts_come_from_the_files_of_queries_and_documents(folder: Path) -> None:
    (found, *_) = read_pairs("pairs.csv", "queries.tsv", "corpus.jsonl")
    assert (found.query_text, found.content.title, found.content.text) == (
        "query 0",
        "Title d0",
        "text of d0 \n{query} ignored",
    )
