"""`convert` for any judgments: through any format that holds them and back they are the same, and
every row is written or counted.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.conversion.targets import TARGETS
from idealrank.errors import InputError
from idealrank.io.judgment_layouts import is_word

WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=6
).filter(is_word)
# What a line of CSV, and Quepid's protection of a first sign, hold: no blank before a sign.
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda text: text == text.strip()
)
GRADES = st.one_of(st.integers(-3, 9).map(float), st.floats(-1e6, 1e6, allow_nan=False))
RATERS = st.sampled_from(["ann@example.com", "ben@example.com", "7", "12"])


def quiet(_: str) -> None:
    """Notes are tested elsewhere."""


def through(
    grades: Mapping[str, Any], kind: str, folder: Path, **options: Any
) -> tuple[Any, list[ir.Conversion]]:
    """Judgments written as one format and read back."""
    first, there, back = folder / "first.json", folder / "there", folder / "back.json"
    first.write_text(json.dumps(grades), encoding="utf-8")
    done = [
        ir.convert(
            first,
            there,
            source_format="json",
            target_format=kind,
            content="judgments",
            tell=quiet,
            **options,
        ),
        ir.convert(
            there, back, source_format=kind, target_format="json", content="judgments", tell=quiet
        ),
    ]
    return json.loads(back.read_text(encoding="utf-8")), done


@pytest.mark.parametrize(
    "kind", [name for name, target in TARGETS.items() if target.fractions != "rounded"]
)
@given(
    grades=st.dictionaries(
        WORDS, st.dictionaries(WORDS, GRADES, min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_grades_of_words_come_back_from_every_format(
    kind: str, grades: dict[str, dict[str, float]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if kind == "letor" and any("#" in query for query in grades):
            with pytest.raises(InputError, match="an id without #"):
                through(grades, kind, Path(folder))
            return
        found, _ = through(grades, kind, Path(folder))
    assert found == grades


@pytest.mark.parametrize(
    "kind",
    [
        name
        for name, target in TARGETS.items()
        if target.query != "word" and target.fractions == "kept"
    ],
)
@given(
    grades=st.dictionaries(
        TEXTS, st.dictionaries(TEXTS, GRADES, min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_grades_of_any_text_come_back_where_ids_may_have_blanks(
    kind: str, grades: dict[str, dict[str, float]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, _ = through(grades, kind, Path(folder))
    assert found == grades


@given(
    grades=st.dictionaries(
        TEXTS,
        st.dictionaries(TEXTS, st.integers(-2, 4), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_whole_grades_come_back_from_beir(grades: dict[str, dict[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, done = through(grades, "beir", Path(folder))
    assert (found, [one.losses for one in done]) == (grades, [(), ()])


Rated = dict[str, dict[str, dict[str, float | None]]]
RATED: st.SearchStrategy[Rated] = st.dictionaries(
    WORDS,
    st.dictionaries(WORDS, st.dictionaries(RATERS, GRADES, max_size=3), min_size=1, max_size=3),
    min_size=1,
    max_size=3,
)


def write_raters(rated: Rated, path: Path) -> None:
    """Write a record for each grade, and a record without a grade for each ungraded document."""
    with path.open("w", encoding="utf-8") as file:
        for query, documents in rated.items():
            for document, grades in documents.items():
                for rater, grade in grades.items() or [("", None)]:
                    record = {
                        "query_id": query,
                        "doc_id": document,
                        "grade": grade,
                        "assessor": rater,
                    }
                    file.write(json.dumps(record) + "\n")


def read_raters(path: Path) -> dict[tuple[str, str, str], float]:
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        (one["query_id"], one["doc_id"], one.get("assessor", "")): one["grade"]
        for one in records
        if one["grade"] is not None
    }


@pytest.mark.parametrize("kind", [name for name, target in TARGETS.items() if target.assessors])
@given(
    rated=RATED.filter(
        lambda rated: any(grades for documents in rated.values() for grades in documents.values())
    )
)
def test_every_rater_comes_back_where_there_is_a_place(kind: str, rated: Rated) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_raters(rated, folder / "first.jsonl")
        ir.convert(
            folder / "first.jsonl",
            folder / "there",
            target_format=kind,
            keep_unjudged=True,
            tell=quiet,
        )
        ir.convert(
            folder / "there",
            folder / "back.jsonl",
            source_format=kind,
            keep_unjudged=True,
            tell=quiet,
        )
        assert read_raters(folder / "back.jsonl") == read_raters(folder / "first.jsonl")


@pytest.mark.parametrize("kind", TARGETS)
@given(
    rated=RATED.filter(
        lambda rated: any(grades for documents in rated.values() for grades in documents.values())
    )
)
def test_every_row_is_written_or_counted(kind: str, rated: Rated) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_raters(rated, folder / "first.jsonl")
        done = ir.convert(
            folder / "first.jsonl",
            folder / "there",
            target_format=kind,
            assessors="lowest",
            tell=quiet,
        )
    lost = {loss.kind: loss.count for loss in done.losses}
    graded = [grades for documents in rated.values() for grades in documents.values() if grades]
    unjudged = sum(not grades for documents in rated.values() for grades in documents.values())
    assert done.n_read == sum(map(len, graded)) + unjudged
    assert done.n_written == len(graded) + unjudged - lost.get("unjudged", 0)
    assert lost.get("unjudged", 0) == (0 if TARGETS[kind].unjudged == "kept" else unjudged)
    assert lost.get("merged", 0) == sum(len(grades) > 1 for grades in graded)
    assert lost.get("assessors", 0) == sum(map(len, graded))
