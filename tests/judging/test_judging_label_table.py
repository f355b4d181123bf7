"""Grades of several raters joined by id, whatever the order of their rows, and grades outside the
scale.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.errors import InputError
from idealrank.judging import LabelTable, agreement
from tests.conftest import shared_file


def test_rows_in_another_order_are_joined_by_query_and_document() -> None:
    human, other = (
        shared_file("data", "llm-judges", name).read_text(encoding="utf-8")
        for name in ("human.qrels", "Olz-halfbin.qrels")
    )
    assert [line.split()[:3] for line in human.splitlines()] != [
        line.split()[:3] for line in other.splitlines()
    ]
    recorded = json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8"))[
        "agreement"
    ]["Olz-halfbin"]

    def nested(text: str) -> dict[str, dict[str, float]]:
        grades: dict[str, dict[str, float]] = {}
        for query, _, document, grade in map(str.split, text.splitlines()):
            grades.setdefault(query, {})[document] = float(grade)
        return grades

    table = LabelTable.of({"human": nested(human), "judge": nested(other)})

    assert agreement(table.grades, "cohen_kappa") == pytest.approx(
        recorded["cohen_kappa"], abs=1e-11
    )


@given(data=st.data())
def test_a_join_does_not_depend_on_the_order_of_rows(data: st.DataObject) -> None:
    ann = {("q", "a"): 1.0, ("q", "b"): 2.0, ("r", "a"): 0.0}
    ben = {("q", "b"): 0.0, ("r", "a"): 3.0, ("r", "c"): 1.0}

    def nested(
        pairs: list[tuple[str, str]], grades: dict[tuple[str, str], float]
    ) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for query, document in pairs:
            found.setdefault(query, {})[document] = grades[query, document]
        return found

    table = LabelTable.of(
        {
            name: nested(data.draw(st.permutations(list(grades))), grades)
            for name, grades in (("ann", ann), ("ben", ben))
        }
    )

    found = dict(
        zip(zip(table.queries, table.documents, strict=True), table.grades.tolist(), strict=True)
    )
    for pair in {*ann, *ben}:
        for grade, grades in zip(found[pair], (ann, ben), strict=True):
            assert grade == grades[pair] if pair in grades else math.isnan(grade)


def test_grades_outside_the_scale_follow_the_named_policy_and_are_counted() -> None:
    table = LabelTable.of(
        {"human": {"q": {"a": 3, "b": 0, "c": 1}}, "model": {"q": {"a": 5, "b": -1, "c": 1}}}
    )
    with pytest.raises(
        InputError,
        match=r"model, query 'q', document 'a': found grade 5, and 1 more outside the scale",
    ):
        table.in_scale([0, 1, 2, 3])
    clipped, dropped = table.in_scale([0, 1, 2, 3], "clip"), table.in_scale([0, 1, 2, 3], "drop")
    assert clipped.grades[:, 1].tolist() == [3, 0, 1]
    assert np.isnan(dropped.grades[:, 1]).tolist() == [True, True, False]
    assert clipped.outside == dropped.outside == {"model": 2}
    with pytest.raises(InputError, match=r"found grade 0.5"):
        LabelTable.of({"model": {"q": {"a": 0.5}}}).in_scale([0, 1], "clip")
