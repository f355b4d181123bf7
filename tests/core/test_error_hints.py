"""Errors carry what to do next: in words, and as the switch that lets the call succeed."""

import copy
import pickle
import re
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.errors import (
    FileFormatError,
    IdealrankError,
    InputError,
    MissingExtraError,
    OptionError,
)

MADE: list[IdealrankError] = [
    InputError("a.run: found no such file", hint="make one"),
    FileFormatError(
        "a.run", 2, "d1 a second time", "each once", "allow it", switch="duplicates=first"
    ),
    MissingExtraError("reading Parquet", "pyarrow", "arrow"),
    OptionError("nDCG: found tied scores", switch="ties=docid"),
]


def test_a_hint_ends_the_text_of_an_error() -> None:
    assert [str(error).endswith(f"; {error.hint}") for error in MADE] == [True, True, True, False]


def test_an_error_names_the_next_step_in_python_and_on_the_command_line() -> None:
    errors: list[IdealrankError] = []
    for fails in (
        lambda: ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RBO"),
        lambda: ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "prefs_simp"),
        lambda: ir.read_run("shared/nothing.csv"),
    ):
        with pytest.raises(IdealrankError) as caught:
            fails()
        errors.append(caught.value)

    assert "use idealrank.overlap(run_a, run_b, 'RBO')" in str(errors[0])
    assert "idealrank overlap RUN_A RUN_B" not in str(errors[0])
    assert "use `idealrank overlap RUN_A RUN_B -m 'RBO'`" in errors[0].on_command_line()
    assert str(errors[1]).endswith("(ir.read_preferences)")
    assert errors[1].on_command_line().endswith("; set --judgments prefs or qrels_prefs")
    assert errors[2].on_command_line() == str(errors[2])


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_is_the_same_in_another_process(error: IdealrankError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(again), str(again), again.hint, again.switch) == (
            type(error),
            str(error),
            error.hint,
            error.switch,
        )


@pytest.mark.parametrize(
    ("convention", "switch"),
    [
        ("lightgbm", "negative=zero"),
        ("standard,missing=error", "missing=zero"),
        ("standard,unjudged=error,negative=kept", "unjudged=not-relevant"),
        ("standard,duplicates=error", "duplicates=first"),
    ],
)
def test_an_error_names_the_switch_that_lets_the_call_succeed(
    convention: str, switch: str, tmp_path: Path
) -> None:
    qrels = {"q1": {"a": 1, "b": -1}} | ({"q2": {"a": 1}} if "missing" in convention else {})
    run = tmp_path / "a.run"
    run.write_text(
        "q1 Q0 a 1 2 t\nq1 Q0 c 2 1 t\n"
        + ("q1 Q0 a 3 0.5 t\n" if "duplicates" in convention else ""),
        encoding="utf-8",
    )

    with pytest.raises(IdealrankError) as caught:
        ir.evaluate(qrels, run, "nDCG@10", convention)

    assert caught.value.switch == switch
    assert switch in str(caught.value)
    name = switch.partition("=")[0]
    kept = [part for part in convention.split(",") if not part.startswith(name)]
    ir.evaluate(qrels, run, "nDCG@10", ",".join([*kept, switch]))


def test_a_warning_and_a_note_name_the_next_step_of_the_interface_in_use(tmp_path: Path) -> None:
    (tmp_path / "tab.csv").write_text("query\tdocument\tgrade\nq1\td1\t2\n", encoding="utf-8")
    (tmp_path / "clicks.csv").write_text("user,item\nq1,d1\n", encoding="utf-8")
    (tmp_path / "book.csv").write_text("query,docid,rating\nq1,d1,1\n", encoding="utf-8")
    told: list[str] = []

    for name in ("tab", "clicks", "book"):
        ir.read_qrels(tmp_path / f"{name}.csv", tell=told.append)
    with pytest.warns(ir.IdealrankWarning) as caught:
        ir.read_qrels(tmp_path / "clicks.csv")

    said = [text for text in told if "; to set the " in text]
    assert [text.rpartition("; ")[2] for text in said] == [
        "to set the format, use format='tsv'",
        "to set the columns, use columns={'user': 'user', 'item': 'item', 'grade': '1'} "
        "(in evaluate, qrels_columns=)",
        "to set the format, use format='quepid'",
    ]
    commands = [
        "--input-format tsv",
        "--qrels-columns user=user,item=item,grade=1",
        "--input-format quepid",
    ]
    assert [text.on_command_line().rpartition("use ")[2] for text in said] == commands  # type: ignore[attr-defined]
    assert "--" not in str(caught[0].message)
    again = pickle.loads(pickle.dumps(said[0]))
    assert (again, again.on_command_line()) == (said[0], said[0].on_command_line())  # type: ignore[attr-defined]


def test_no_text_of_the_library_names_options_of_the_command_line_in_python() -> None:
    """Hints of errors and notes have a form for each interface; what stands in brackets behind a
    Python name would be read in both.
    """
    source = Path(ir.__file__).parent
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in source.rglob("*.py")
        if "cli" not in path.parts
    }
    assert [
        path.name for path, text in texts.items() if re.search(r"=\)? \(--\w|\(in Python", text)
    ] == []


def test_measures_in_one_text_are_led_to_a_list() -> None:
    with pytest.raises(ir.OptionError, match=r"several measures are a list: \['nDCG@10', 'P@10'\]"):
        ir.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "nDCG@10, P@10")


def test_an_argument_of_another_function_is_no_grouping_of_arrays() -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"^robust: found measures=, expected one of its arguments; did you mean measure=",
    ):
        ir.robust({"q": {"d": 1}}, {"q": ["d"]}, {"q": ["d"]}, measures=["AP"])


def test_advise_hints_at_no_argument_that_it_lacks() -> None:
    for name in ("measure", "measures"):
        with pytest.raises(OptionError, match=f"advise: found {name}=, .*help") as refused:
            ir.advise({"q": {"a": 1}}, {"q": ["a"]}, **{name: "AP"})
        assert "did you mean" not in str(refused.value)
