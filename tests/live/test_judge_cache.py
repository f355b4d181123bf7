"""Caches of judges: what earlier versions wrote into them."""

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import BackendError, OptionError
from idealrank.live.judges.judge_answers import JudgeAnswer
from idealrank.live.judges.judge_requests import JudgeCache, JudgeRecord
from tests.live.live_fakes import send, service
from tests.live.test_judge_runs import asked_document, completion, config, folder

__all__ = ["folder"]  # a fixture


@pytest.mark.parametrize("grade", ["1", "none"])
def test_a_secret_in_the_cache_of_an_earlier_version_is_hidden_when_the_cache_is_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, grade: str
) -> None:
    monkeypatch.setenv("TINY_KEY", "s3cret/key")

    def echoing(_: str, body: Any, handler: BaseHTTPRequestHandler) -> None:
        if asked_document(body) == "d3":
            send(handler, {"error": f"no place for {handler.headers['authorization']}"}, 400)
        else:
            send(handler, completion(f'{handler.headers["authorization"]} {{"grade": {grade}}}'))

    cache = Path("model.qrels.cache.jsonl")
    with service(echoing) as (url, seen):
        given = config(url, judge={"key": "${TINY_KEY}"}, most_failed=1)

        def grades() -> Any:
            if grade == "1":
                return ir.judge(given).grades
            with pytest.raises(BackendError, match="without a grade"):
                ir.judge(given)
            return None

        first = grades()
        hidden = cache.read_text()
        assert hidden.count("${TINY_KEY}") >= 12
        # as a version wrote it that hid secrets in messages alone
        cache.write_text(hidden.replace("${TINY_KEY}", "s3cret/key"))
        cache.chmod(0o600)
        assert grades() == first
        assert len(seen) == 12
    for written in folder.iterdir():
        assert "s3cret" not in written.read_text(), f"{written.name} shows a secret"
    assert sorted(cache.read_text().splitlines()) == sorted(hidden.splitlines())
    assert cache.stat().st_mode & 0o777 == 0o600
    with JudgeCache(str(cache)) as one, pytest.raises(OptionError, match="another judge"):
        JudgeCache(str(cache))
    assert len(one.records) == 12


def test_a_cache_is_locked_after_it_was_rewritten(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.jsonl")
    with JudgeCache(path) as cache:
        cache.add(
            JudgeRecord(
                key="ab",
                answer=JudgeAnswer(grade=1.0, text="Bearer s3cret"),
                seconds=0.5,
                attempts=1,
            )
        )
    with JudgeCache(path, hide=lambda text: text.replace("s3cret", "*")) as cache:
        cache.add(
            JudgeRecord(key="cd", answer=None, seconds=0.5, attempts=1, failure="refused s3cret")
        )
        with pytest.raises(OptionError, match="another judge"):
            JudgeCache(path)
    with JudgeCache(path) as cache:
        assert [
            one.failure if one.answer is None else one.answer.text for one in cache.records.values()
        ] == ["Bearer *", "refused *"]
    assert [one.name for one in tmp_path.iterdir()] == ["cache.jsonl"]
