"""`idealrank store sql` and the Parquet tables: against pandas and DuckDB reading them, and against
those who would do more than ask.
"""

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import idealrank as ir
from idealrank.store import Store, relations, sql
from tests.cli.terminal import Said, check_snapshot, environment
from tests.conftest import ROOT
from tests.store.store_samples import evaluations
from tests.store.stores import example_store, example_verdicts, with_stable_ids

Say = Callable[..., Said]

COMMANDS = {
    "table": "select run, measure, max(value) as best from evaluations join means using (id) "
    "group by "
    "all order by all",
    "describe": "describe means",
    "tags": "select tag, count(*) as evaluations from tags group by tag order by tag",
    "error-column": "select nothing from tags",
    "error-syntax": "selec 1",
    "error-two": "select 1; select 2",
    "error-none": "",
    "error-copy": "copy tags to 'tags.csv'",
    "error-read": "select * from read_csv('/etc/passwd')",
}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("sql") / "results"
    ids = example_store(folder)
    return folder, [*ids, *example_verdicts(folder, ids)]


@pytest.fixture(scope="module")
def parquet(example: tuple[Path, list[str]]) -> Path:
    folder = example[0].parent / "tables"
    with Store.open(example[0]) as store:
        store.to_parquet(folder)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_what_sql_says(name: str, example: tuple[Path, list[str]], say: Say) -> None:
    said = with_stable_ids(
        say("store", "sql", COMMANDS[name], "--store", "results", cwd=example[0].parent), example[1]
    )

    if name == "error-syntax":  # words of the parser, which change from version to version
        said = Said(said.code, said.out, said.err[:18] + "\n")
    check_snapshot(
        f"sql-{name}", said.text(f'idealrank store sql "{COMMANDS[name]}" --store results')
    )
    assert said.code == (2 if name.startswith("error") else 0)


def test_every_table_is_the_parquet_file_of_its_name(
    example: tuple[Path, list[str]], parquet: Path
) -> None:
    with Store.open(example[0]) as store:
        for name, columns in relations.COLUMNS.items():
            answer = store.sql(f"select * from {name} order by all")
            written = duckdb.execute(
                f"select * from '{parquet / name}.parquet' order by all"
            ).fetchall()
            assert answer.columns == tuple(columns)
            assert (len(answer.rows), answer.rows) == (len(written), written)
            assert len(written) > 0


def test_values_and_hits_are_those_of_the_evaluations(
    example: tuple[Path, list[str]], parquet: Path
) -> None:
    values, hits = (pd.read_parquet(parquet / f"{name}.parquet") for name in ("values", "hits"))
    means = pd.read_parquet(parquet / "means.parquet").set_index(["id", "measure"])["value"]

    with Store.open(example[0]) as store:
        for key in example[1][:6]:
            kept = store.evaluation(key)
            of_one = values[values["id"] == key].astype({"query": str, "measure": str})
            wide = of_one.pivot(index="query", columns="measure", values="value")
            for measure, mean in kept.evaluation.mean().items():
                np.testing.assert_array_equal(
                    wide[measure].loc[list(kept.queries)], kept.evaluation[measure]
                )
                assert means[key, measure] == mean == pytest.approx(wide[measure].mean(), abs=1e-15)
            found = hits[hits["id"] == key]
            if kept.hits is not None:
                assert found["document"].tolist() == list(kept.hits.documents)
                assert found["rank"].tolist() == kept.hits.rank.tolist()
                assert found["query"].astype(str).tolist() == [
                    kept.queries[place] for place in kept.hits.query
                ]


def test_a_query_that_does_not_count_is_null_and_strange_ids_stay_apart(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        odd = evaluations()[2]
        key = store.add(odd)
        rows = store.sql("select query, value from values where measure = 'AP'").rows
        store.to_parquet(tmp_path)

    assert len({query for query, _ in rows}) == len(odd.queries)
    assert [value for _, value in rows] == [
        None if np.isnan(value) else value for value in odd["AP"].tolist()
    ]
    assert pq.read_table(tmp_path / "values.parquet").num_rows == odd.values.size
    assert pq.read_table(tmp_path / "evaluations.parquet")["id"].to_pylist() == [key]


def test_what_was_there_stays_where_writing_fails(
    example: tuple[Path, list[str]], parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in parquet.iterdir()}
    assert {path.suffix for path in parquet.iterdir()} == {".parquet"}
    assert (
        pq.ParquetFile(parquet / "values.parquet").metadata.row_group(0).column(3).compression
        == "ZSTD"
    )

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fail)
    with (
        Store.open(example[0]) as store,
        pytest.raises(ir.errors.InputError, match="No space left on device; expected a folder"),
    ):
        store.to_parquet(parquet)
    assert {path.name: path.read_bytes() for path in parquet.iterdir()} == before


def test_a_store_without_anything_has_empty_tables(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        assert set(store.to_parquet(tmp_path / "tables").values()) == {0}
        assert [store.sql(f"select count(*) from {name}").rows for name in relations.COLUMNS] == [
            [(0,)]
        ] * len(relations.COLUMNS)


# --- asking, and nothing else ---------------------------------------------------------------------


def joined(text: str) -> str:
    """A question that DuckDB puts together itself, so that no word of it stands in the text."""
    parts = [text[place : place + 5].replace("'", "''") for place in range(0, len(text), 5)]
    return f"""select * from query('{"' || '".join(parts)}')"""


WRITING = (
    "copy (select 1) to '{folder}/out.csv'",
    "copy tags to '{folder}/out.parquet'",
    "attach '{folder}/out.db' as other",
    "attach 'https://example.org/out.db' as other",
    "detach memory",
    "use memory",
    "export database '{folder}/out'",
    "import database '{folder}'",
    "create table t as select 1",
    "create view v as select 1",
    "create macro one() as 1",
    "create secret (type s3)",
    "insert into tags values ('a', 'b')",
    "update tags set tag = 'x'",
    "drop table tags",
    "checkpoint",
    "vacuum",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set temp_directory = '{folder}'",
    "reset lock_configuration",
    "pragma profiling_output = '{folder}/out.json'",
    "pragma enable_profiling",
    "install httpfs",
    "load httpfs",
    "load '{folder}/secret.csv'",
    "call enable_logging(storage = 'file', storage_config = {{'path': '{folder}/out'}})",
    "prepare p as select 1",
    "with gone as (delete from tags returning *) select * from gone",
)
READING = (
    "select * from enable_logging('QueryLog', storage = 'file', storage_config = {{'path': "
    "'{folder}/out'}})",
    "select * from enable_logging(storage_path := '{folder}/out')",
    "select * from enable_logging(storage = 'file')",
    "select * from enable_profiling(format = 'json', save_location = '{folder}/out')",
    "select * from read_csv('{folder}/secret.csv')",
    "select * from read_csv('/etc/passwd')",
    "select * from '{folder}/secret.csv'",
    "select * from read_text('{folder}/secret.csv')",
    "select * from read_blob('{folder}/secret.csv')",
    "select * from read_json('{folder}/secret.csv')",
    "select * from read_parquet('{folder}/secret.csv')",
    "select * from parquet_metadata('{folder}/secret.csv')",
    "select * from sniff_csv('{folder}/secret.csv')",
    "select * from glob('{folder}/*')",
    "select * from read_csv('https://example.org/secret.csv')",
    "select * from query_table('{folder}/secret.csv')",
    "select * from duckdb_secrets() where 1 / 0 > 'x'",
    "select * from secret",
    "select getenv('HOME')",
    "select * from arrow_scan(1, 1, 1)",
    "select * from pandas_scan(1)",
    "select * from python_map_function(1)",
    "select * from json_execute_serialized_sql(json_serialize_sql('select * from "
    "read_text(''{folder}/secret.csv'')'))",
)
ATTACKS = (
    *((query, False) for query in (*WRITING, *READING)),
    *((query, True) for query in (*WRITING, *READING)),
    ("select 1; copy tags to '{folder}/out.csv'", False),
)


@pytest.mark.spread(35)
@pytest.mark.parametrize(("query", "is_joined"), ATTACKS)
def test_a_question_reaches_nothing_but_the_tables(
    query: str, is_joined: bool, example: tuple[Path, list[str]], tmp_path: Path
) -> None:
    (tmp_path / "secret.csv").write_text("a\nhidden\n", encoding="utf-8")
    secret = pd.DataFrame({"a": ["hidden"]})

    asked = query.format(folder=tmp_path)
    with (
        Store.open(example[0]) as store,
        pytest.raises(ir.errors.OptionError, match="sql") as refused,
    ):
        store.sql(joined(asked) if is_joined else asked)

    assert len(secret) == 1
    assert "hidden" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_the_number_of_attacks_in_the_security_policy_is_that_of_the_list() -> None:
    said = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    assert f"{len(ATTACKS)} SQL statements that attempt more than reading the store" in said


@pytest.mark.parametrize(
    "query",
    [
        "select repeat('x', 100000000000)",
        "select date '290000-01-01', interval '1000000 years'",
        "select 'infinity'::timestamp, '-infinity'::date",
        "select chr(0), '\x00'",
        "select '\udcff'",
        "select error('mine')",
        "select " + "(" * 3000 + "1" + ")" * 3000,
        "select 1/0, 'nan'::double, union_value(a := 1), map([1], [2]), '\\xff'::blob, "
        "uuid(), 1::hugeint << 100",
        "select * from range(10000000000)",
    ],
)
def test_whatever_an_answer_holds_there_is_no_traceback(
    query: str, example: tuple[Path, list[str]], say: Say, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sql, "_MOST_ROWS", 10_000)
    for layout in ("table", "json", "csv"):
        said = say("store", "sql", query, "--format", layout, "--store", str(example[0]))
        assert said.code in (0, 2), said.err
        assert "Traceback" not in said.err
        assert said.code == 0 or (said.out == "" and said.err.startswith("error: "))


@pytest.mark.skipif(
    int(duckdb.__version__.partition(".")[0]) < 2,
    reason="earlier ones open a stream once, and are given a copy",
)
def test_values_are_a_stream_and_no_copy_of_the_store(example: tuple[Path, list[str]]) -> None:
    with Store.open(example[0]) as store:
        assert store.sql(
            "select count(*) from duckdb_tables() where table_name <> 'values'"
        ).rows == [(0,)]
        assert store.sql(
            "select count(*) from values a join values b using (id, query, measure)"
        ).rows == [(48,)]


def test_value_files_are_read_where_they_are_asked_and_nowhere_else(
    example: tuple[Path, list[str]], tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(example[0], tmp_path / "store")
    for path in (tmp_path / "store" / "values").rglob("*.np?"):
        path.unlink()

    with Store.open(tmp_path / "store") as store:
        assert store.sql("select count(*) from evaluations").rows == [(6,)]
        with pytest.raises(ir.errors.OptionError, match="import the exported evaluation"):
            store.sql("select count(*) from values")


def test_others_write_while_a_question_is_asked(
    example: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    shutil.copytree(example[0], tmp_path / "store")
    plain = sql._check

    def write_meanwhile(*arguments: object) -> None:
        with Store.open(tmp_path / "store") as other:
            other.tag(example[1][0], "meanwhile")
        with sqlite3.connect(tmp_path / "store" / "store.sqlite3", timeout=0) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        connection.close()
        plain(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sql, "_check", write_meanwhile)
    with Store.open(tmp_path / "store") as store:
        before = store.sql("select count(*) from tags where tag = 'meanwhile'").rows
        after = store.sql("select count(*) from tags where tag = 'meanwhile'").rows

    assert (before, after) == ([(0,)], [(1,)])


def test_formats_keep_every_digit(example: tuple[Path, list[str]], say: Say) -> None:
    query = (
        "select id, time, value, changed, [1, 2] as pair from evaluations join means using (id) "
        "where measure = 'AP' order by time"
    )
    records, table = (
        say("store", "sql", query, "--format", layout, "--store", str(example[0])).out
        for layout in ("json", "csv")
    )

    with Store.open(example[0]) as store:
        expected = [store.evaluation(key).evaluation.mean()["AP"] for key in example[1][:6]]
        assert store.sql("select run from evaluations").to_frame("polars").columns == ["run"]
    assert [record["value"] for record in json.loads(records)] == expected
    assert json.loads(records)[0]["time"] == "2026-01-01T09:30:00"
    assert [float(row["value"]) for row in csv.DictReader(io.StringIO(table))] == expected


def test_a_question_may_come_from_standard_input_and_nothing_stands_on_stderr(
    example: tuple[Path, list[str]],
) -> None:
    command = [
        sys.executable,
        "-m",
        "idealrank",
        "store",
        "sql",
        "-",
        "--format",
        "csv",
        "--store",
        str(example[0]),
    ]
    done = subprocess.run(
        command,
        input=b"select count(*) as n from values",
        capture_output=True,
        env=environment(),
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"n\n48\n", b"")


@pytest.mark.parametrize("module", ["duckdb", "pyarrow"])
def test_what_is_not_installed_is_named(
    module: str, example: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, say: Say
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    said = say("store", "sql", "select 1", "--store", str(example[0]))

    assert said.code == 2
    assert re.search(rf"needs {module}; (uv )?pip install .*\[", said.err)
