"""`evaluate` speaks of users, not queries, if the judgments have a column of users."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import idealrank as ir
from idealrank.reports.views.coverage_tables import coverage_table
from tests.cli.terminal import Said

Printed = Callable[..., str]

RATINGS = [("ann", "alien", 5), ("ann", "brazil", 3), ("bob", "casablanca", 4), ("cyd", "dune", 0)]
SCORES = [("ann", "brazil", 0.9), ("ann", "alien", 0.9), ("bob", "dune", 0.7)]
USERS, QUERIES = ("user_id", "item_id"), ("query_id", "doc_id")


def frames(names: tuple[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judgments and a run, whose columns have these names."""
    return (
        pd.DataFrame(RATINGS, columns=[*names, "rating"]),
        pd.DataFrame(SCORES, columns=[*names, "score"]),
    )


@pytest.fixture(params=["csv", "parquet", "jsonl"])
def printed(request: pytest.FixtureRequest, tmp_path: Path, say: Callable[..., Said]) -> Printed:
    """Print an evaluation of files of one format, with these names of columns and options."""

    def of(names: tuple[str, str], *options: str) -> str:
        paths = []
        for name, frame in zip(("ratings", "lists"), frames(names), strict=True):
            path = tmp_path / f"{name}.{request.param}"
            paths.append(path.name)
            if request.param == "csv":
                frame.to_csv(path, index=False)
            elif request.param == "parquet":
                frame.to_parquet(path)
            else:
                frame.to_json(path, orient="records", lines=True)
        slices = "query,slice\nann,new\nbob,old\n"
        (tmp_path / "slices.csv").write_text(slices, encoding="utf-8")
        done = say("evaluate", *paths, "-m", "RR", *options, cwd=tmp_path)
        assert done.code == 0, done.err
        return done.out

    return of


def test_tables_of_users_say_users(printed: Printed) -> None:
    options = ("--per-query", "--slices", "slices.csv")
    of_users, of_queries = printed(USERS, *options), printed(QUERIES, *options)

    for text in ("lists, by user", "by slice  users", "users 1 in no slice", "tied users"):
        assert text in of_users
    assert "lists misses 1 of 3 judged users, each counted 0: cyd" in of_users
    assert "quer" not in of_users
    assert "lists misses 1 of 3 judged queries, each counted 0: cyd" in of_queries
    assert "user" not in of_queries


@pytest.mark.parametrize("printed", ["csv", "parquet"], indirect=True)
def test_a_run_that_is_read_in_parts_says_users_too(printed: Printed) -> None:
    whole, in_parts = printed(USERS), printed(USERS, "--memory", "8GB")

    assert "judged users" in in_parts
    assert in_parts == whole


def test_columns_that_programs_read_keep_their_names(printed: Printed) -> None:
    options = ("--per-query", "--format", "csv")

    assert printed(USERS, *options).startswith("run,query,measure,value,convention\n")
    assert printed(USERS, *options) == printed(QUERIES, *options)


def test_a_dataframe_of_users_keeps_the_word_in_another_process() -> None:
    ratings, scores = frames(USERS)
    qrels = pickle.loads(pickle.dumps(ir.read_qrels(ratings).labelled("complete")))

    evaluation = ir.evaluate(qrels, scores, "RR")

    assert "judged users" in coverage_table([evaluation]).notes[0]
    assert "judged queries" in coverage_table([ir.evaluate(*frames(QUERIES), "RR")]).notes[0]
