"""`idealrank measures advise`: the report, the JSON, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.terminal import Said, check_snapshot
from tests.conftest import PYDOCS

Say = Callable[..., Said]


def test_the_report(say: Say) -> None:
    said = say("measures", "advise", "qrels.txt", "bm25.run", "--surface", "desktop", cwd=PYDOCS)

    check_snapshot(
        "advise-desktop",
        said.text("idealrank measures advise qrels.txt bm25.run --surface desktop"),
    )
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 100


def test_the_json_says_the_same(say: Say) -> None:
    record = json.loads(
        say(
            "measures",
            "advise",
            "qrels.txt",
            "minilm.run",
            "--surface",
            "rag",
            "--visible",
            "8",
            "--format",
            "json",
            cwd=PYDOCS,
        ).out
    )

    assert record["cutoffs"] == [8]
    assert [fit["measure"] for fit in record["fits"]] == ["R@8", "P@8", "nDCG@8"]
    assert set(record["observed"]["grades"]) == {"0", "1", "2", "3"}
    assert record["observed"]["unjudged"]["10"] == 0.0


def test_what_cannot_be_is_refused(say: Say) -> None:
    assert say("measures", "advise", "qrels.txt", "bm25.run", "--visible", "0").code == 2
    said = say("measures", "advise", "qrels.txt", "bm25.run", "--surface", "tablet")
    assert said.code == 2
    assert "'tablet' is not one of" in said.err
    assert say("measures", "advise", "qrels.txt", "nowhere.run").code == 2


def test_judgments_one_deep_are_advised_in_a_sentence_that_says_how_to_change_it(
    say: Say, tmp_path: Path
) -> None:
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{number} 0 a 1\n" for number in range(9)), encoding="utf-8"
    )
    lines = [
        f"q{number} Q0 {doc} {rank} {9 - rank} t\n"
        for number in range(9)
        for rank, doc in enumerate("axyz")
    ]
    (tmp_path / "new.run").write_text("".join(lines), encoding="utf-8")

    said = " ".join(say("measures", "advise", "qrels.txt", "new.run", cwd=tmp_path).out.split())

    assert said.startswith(
        "run new: look at rank 1 only, because nine in ten documents are judged at rank 1, "
        "and fewer below; for the ranks"
    )
    assert "name the surface: phone, desktop, carousel, rag what fits" in said
