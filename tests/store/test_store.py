"""A store gives back what was put in, to the last bit, in files that other programs read."""

import hashlib
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.judged_hits import hit_depth, judged_hits
from idealrank.store import Record, Store
from tests.store.store_samples import evaluations, same_evaluation


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "store") as opened:
        yield opened


@pytest.mark.parametrize("number", range(4))
def test_an_evaluation_comes_back_to_the_last_bit(store: Store, number: int) -> None:
    evaluation = evaluations()[number]
    stored = store.evaluation(store.add(evaluation))
    same_evaluation(stored.evaluation, evaluation)


def test_every_float_comes_back_with_its_bits(store: Store) -> None:
    bits = [
        0,
        1 << 63,
        1,
        0x7FF0000000000000,
        0xFFF0000000000000,
        0x7FF8000000000000,
        0x7FF8DEADBEEF0001,
        0x3FB999999999999A,
        0x7FEFFFFFFFFFFFFF,
    ]
    values = np.array(bits, np.uint64).view(np.float64).reshape(-1, 1)
    one = ir.evaluate({f"q{n}": {"a": 1} for n in range(len(bits))}, {"q0": ["a"]}, "AP")
    kept = store.evaluation(
        store.add(replace(one, values=values, scored=np.arange(len(bits))[:, None] % 2 == 0))
    )
    assert kept.evaluation.values.view(np.uint64).ravel().tolist() == bits
    assert kept.scored.ravel().tolist() == [True, False] * 4 + [True]
    assert kept.entry.means == {"AP": None}


def test_comparing_stored_evaluations_gives_the_same_numbers(store: Store) -> None:
    one, other, *_ = evaluations()
    kept = [store.evaluation(store.add(evaluation)).evaluation for evaluation in (one, other)]
    assert ir.compare(*kept).as_dict() == ir.compare(one, other).as_dict()
    assert ir.gate(*kept).as_dict() == ir.gate(one, other).as_dict()


def test_numpy_and_sqlite_read_what_is_on_the_disk(store: Store) -> None:
    evaluation = evaluations()[0]
    key = store.add(evaluation)
    store.close()
    with sqlite3.connect(store.folder / "store.sqlite3") as plain:
        assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        values_file, scored_file = plain.execute(
            "SELECT values_file, scored_file FROM evaluation WHERE id = ?", (key,)
        ).fetchone()
        record = plain.execute("SELECT record FROM entry").fetchone()[0]
    plain.close()
    path = store.folder / "values" / values_file[:2] / values_file
    assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
    assert np.load(path).tobytes() == np.ascontiguousarray(evaluation.values).tobytes()
    assert (
        scored_file is None or (np.load(store.files.path(scored_file)) == evaluation.scored).all()
    )
    assert hashlib.sha256(record.encode()).hexdigest()[:12] == key
    assert json.loads(record)["coverage"]["scored"] == evaluation.coverage.scored


def test_hits_come_back(store: Store) -> None:
    qrels = ir.Qrels({"q1": {"a": 2, "b": 0, "é": 1}, "q2": {"a": 1}, "q3": {"z": 1}})
    run = ir.Run({"q1": {"x": 3.0, "a": 2.0, "b": 2.0}, "q2": {"y": 2.0, "a": 1.0}})
    hits = judged_hits(qrels, run, depth=2)
    assert list(
        zip(
            hits.query,
            hits.documents,
            hits.rank,
            hits.tie_first,
            hits.tie_last,
            hits.grade,
            strict=True,
        )
    ) == [(0, "b", 2, 2, 3, 0.0), (0, "a", 3, 2, 3, 2.0), (1, "a", 2, 2, 2, 1.0)]
    evaluation = ir.evaluate(qrels, run, "nDCG@2")
    kept = store.evaluation(store.add(evaluation, hits=hits)).hits
    assert list(kept.queries) == list(evaluation.queries) == ["q1", "q2", "q3"]
    assert kept.documents == hits.documents
    for name in ("lengths", "query", "rank", "tie_first", "tie_last", "grade"):
        assert (getattr(kept, name) == getattr(hits, name)).all()
    assert kept.of("q2").documents == ["a"]
    assert kept.of("q3").documents == []
    with pytest.raises(InputError, match="expected one of the 3"):
        kept.of("q9")


def test_hits_are_as_deep_as_the_measures() -> None:
    measures = [ir.parse_measure(text) for text in ("nDCG@10", "P@250", "R@20")]
    assert hit_depth(measures[:1]) == 10
    assert hit_depth(measures) == 100
    assert hit_depth([ir.parse_measure("nDCG")], "standard,cutoff=32") == 32


def test_text_measures_and_conventions_come_back(store: Store) -> None:
    evaluation = ir.evaluate(
        {"q": {"a": 1}}, {"q": ["x", "a"]}, ["relstring", "nDCG@5"], "lightgbm,ties=best,cutoff=7"
    )
    kept = store.evaluation(store.add(evaluation)).evaluation
    assert kept.texts == evaluation.texts
    assert kept.convention == evaluation.convention
    assert kept.convention.fingerprint == evaluation.convention.fingerprint
    assert kept.provenance.measures == evaluation.provenance.measures


@pytest.mark.parametrize("name", list(ir.PRESETS))
def test_every_convention_comes_back(name: str) -> None:
    from idealrank.store.encoding import convention_fields, read_convention

    convention = ir.PRESETS[name]
    assert (
        read_convention(json.loads(json.dumps(convention_fields(convention))), "it") == convention
    )


def test_a_measure_of_ones_own_is_readable_by_text_and_comes_back_when_given(store: Store) -> None:
    own = ir.measure(name="Halves")(lambda grades: 0.5)
    evaluation = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [own, "AP"])
    key = store.add(evaluation)
    assert store.evaluation(key).values(str(own)).tolist() == [0.5]
    assert store.evaluation(key).entry.means == {str(own): 0.5, "AP": 1.0}
    with pytest.raises(OptionError, match=r"measure of your own.*measures=\[...\].*values\("):
        _ = store.evaluation(key).evaluation
    same_evaluation(store.evaluation(key, measures=[own]).evaluation, evaluation)


def test_a_gain_of_ones_own_in_the_convention_comes_back_when_given(store: Store) -> None:
    def squares(grades: np.ndarray) -> np.ndarray:
        return grades**2

    convention = ir.Convention.of("standard", gain=squares)
    key = store.add(ir.evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "nDCG", convention))
    with pytest.raises(OptionError, match="gain of your own"):
        _ = store.evaluation(key).evaluation
    assert store.evaluation(key, convention=convention).evaluation.convention == convention
    with pytest.raises(IncompatibleError, match="expected standard"):
        _ = store.evaluation(key, convention=ir.Convention.of("standard")).evaluation


def test_ids_are_found_by_their_beginnings(store: Store) -> None:
    key = store.add(evaluations()[0])
    assert store.evaluation(key[:4].upper()).id == key
    with pytest.raises(OptionError, match="4 to 12 hexadecimal digits"):
        store.evaluation(key[:3])
    with pytest.raises(InputError, match="found none in"):
        store.evaluation("0" * 12 if key[0] != "0" else "f" * 12)
    with pytest.raises(InputError, match="found one evaluation, expected one comparison"):
        store.comparison(key)


def test_a_beginning_of_several_ids_names_them(store: Store) -> None:
    key = store.add(evaluations()[0])
    other = key[:6] + ("0" if key[6] != "0" else "1") + key[7:]
    columns = (
        "kind, time, name, digest, record, convention, fingerprint, version, commit_id, dirty, "
        "command"
    )
    # one such pair comes by chance once in 16 million
    with store.database.writing() as connection:
        connection.execute(
            f"INSERT INTO entry (id, {columns}) SELECT ?, {columns} FROM entry WHERE id = ?",
            (other, key),
        )

    with pytest.raises(
        InputError,
        match=f"found {min(key, other)}, {max(key, other)}, expected one; give more digits",
    ):
        store.resolve(key[:6])
    assert store.resolve(key[:7]) == key
    assert store.shortest(key) == key[:7]


def test_equal_evaluations_are_entries_of_their_own_that_share_their_files(store: Store) -> None:
    evaluation = evaluations()[0]
    first, second = store.add(evaluation), store.add(evaluation)
    assert first != second
    files = [path for path in (store.folder / "values").rglob("*") if path.is_file()]
    assert len(files) == len(store.evaluation(first).fields["files"])


def test_entries_are_found_by_what_is_known_of_them(store: Store) -> None:
    one, other, *_ = evaluations()
    first = store.add(
        one,
        record=Record(
            tags=("release", "v1"),
            commit="abcdef0123",
            dirty=True,
            time="2020-01-01T00:00:00.000000+00:00",
        ),
    )
    second = store.add(other, record=Record(tags=("v2",), notes=("the new stemmer",)))
    compared = store.add_comparison(ir.compare(one, other), [first, second])
    assert [entry.id for entry in store.entries()] == [compared, second, first]
    assert [entry.id for entry in store.entries(kind="evaluation", limit=1)] == [second]
    assert (
        [entry.id for entry in store.entries(tag="v1")]
        == [entry.id for entry in store.entries(commit="abcd")]
        == [first]
    )
    assert [entry.id for entry in store.entries(run=other.name)] == [second]
    assert [entry.id for entry in store.entries(measure="ndcg_cut_10")] == [second, first]
    assert store.entries(measure="P@77") == []
    entry = store.entry(first)
    assert (entry.record.dirty, entry.record.tags, entry.record.time[:4]) == (
        True,
        ("release", "v1"),
        "2020",
    )
    assert entry.means == one.mean()
    assert store.entry(compared).parts == (first, second)


def test_tags_and_notes_come_and_go(store: Store) -> None:
    key = store.add(evaluations()[0], record=Record(tags=("a",), notes=("first",)))
    store.tag(key, "b", "a")
    store.note(key, "second")
    store.untag(key, "a")
    assert (store.entry(key).record.tags, store.entry(key).record.notes) == (
        ("b",),
        ("first", "second"),
    )
    with pytest.raises(InputError, match="found no tag 'a', expected one of b"):
        store.untag(key, "a")
    with pytest.raises(OptionError, match="printable words"):
        store.tag(key, "a\nb")


def test_an_evaluation_of_a_comparison_stays_until_that_is_removed(store: Store) -> None:
    one, other, *_ = evaluations()
    keys = [store.add(one), store.add(other)]
    compared = store.add_comparison(ir.compare(one, other), keys)
    with pytest.raises(InputError, match=f"found it in {compared}"):
        store.remove(keys[0])
    for key in (compared, *keys):
        store.remove(key)
    assert store.entries() == []


def test_no_path_of_the_user_is_in_any_byte(tmp_path: Path) -> None:
    secret = tmp_path / "secretfolder"
    secret.mkdir()
    (secret / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n", encoding="utf-8")
    (secret / "my.run").write_text("q1 Q0 a 1 1.0 my\n", encoding="utf-8")
    evaluation = ir.evaluate(str(secret / "qrels.txt"), str(secret / "my.run"), ["nDCG@10"])
    command = (
        f"idealrank evaluate {secret}/qrels.txt --documents={secret}/d.tsv '{secret}/my run' "
        f"~/x.run file://{secret}/y "
        f"-o{secret}/z '--report={secret} of/{secret}/x.html'"
    )
    with Store.open(tmp_path / "store") as store:
        key = store.add(evaluation, record=Record(command=command))
        options = {"weights": str(secret / "weights.csv"), "said": [f"from {secret}/x"]}
        compared = store.add_comparison(
            ir.compare(evaluation, evaluation),
            [key, key],
            options=options,
            record=Record(command=command),
        )
        kept = store.evaluation(key)
        assert (
            kept.record.command
            == "idealrank evaluate qrels.txt --documents=d.tsv 'my run' x.run y -oz --report=x.html"
        )
        assert [one.path for one in kept.evaluation.provenance.inputs] == ["qrels.txt", "my.run"]
        for one in kept.evaluation.provenance.inputs:
            content = (secret / one.path).read_bytes()
            assert (one.size, one.sha256) == (len(content), hashlib.sha256(content).hexdigest())
        assert store.comparison(compared).options == {"weights": "weights.csv", "said": ["from x"]}
        for path in (path for path in (tmp_path / "store").rglob("*") if path.is_file()):
            assert b"secretfolder" not in path.read_bytes()
            assert str(tmp_path).encode() not in path.read_bytes()
