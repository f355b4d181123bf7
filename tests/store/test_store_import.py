"""What comes from elsewhere is taken in whole and sound, or not at all."""

import copy
import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank.errors import IdealrankError, InputError
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.store import Record, Store
from idealrank.store.encoding import canonical

QRELS, RUN = {"q1": {"a": 1}, "q2": {"c": 2}}, {"q1": ["a", "b"], "q2": ["x", "c"]}
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "first") as store:
        hits = judged_hits(ir.Qrels(QRELS), ir.Run(RUN))
        key = store.add(
            ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"]), hits=hits, record=Record(notes=("seen",))
        )
        store.export_file(key, tmp_path / "one.zip")
    return tmp_path / "one.zip"


def changed(exported: Path, change: Change) -> Path:
    """The same archive with another record, whose hashes are right again."""
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields, words = json.loads(contents["record.json"]), json.loads(contents["words.json"])
    fields = copy.deepcopy(fields)
    change(fields)
    record = canonical(fields).encode()
    digest = hashlib.sha256(record).hexdigest()
    contents |= {
        "record.json": record,
        "words.json": canonical(words | {"id": digest[:12], "digest": digest}).encode(),
    }
    other = exported.with_name("other.zip")
    with zipfile.ZipFile(other, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return other


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda fields: fields["means"].__setitem__(0, ["", 2]), r"means\.0"),
        (lambda fields: fields["means"].__setitem__(1, [0.5, 10**30]), r"means\.1"),
        (lambda fields: fields["convention"].pop("switches"), r"nothing as convention\.switches"),
        (
            lambda fields: fields["convention"]["switches"].update(ties=None),
            r"convention\.switches\.ties",
        ),
        (lambda fields: fields["measures"].__setitem__(0, {}), r"measures\.0\.text"),
        (lambda fields: fields.update(coverage=None), "None as coverage"),
        (lambda fields: fields.update(n_queries=True), "True as n_queries"),
        (lambda fields: fields.update(inputs={}), "inputs"),
        (
            lambda fields: fields.update(time=""),
            "found '' as time of its record, expected a time in ISO 8601",
        ),
        (
            lambda fields: fields.update(time="yesterday"),
            "found 'yesterday' as time of its record, expected a time in ISO 8601",
        ),
    ],
)
def test_a_record_that_is_built_otherwise_is_refused_before_it_is_stored(
    exported: Path, tmp_path: Path, change: Change, place: str
) -> None:
    with Store.open(tmp_path / "second") as store:
        kept = store.import_file(exported)
        with pytest.raises(IdealrankError, match=place):
            store.import_file(changed(exported, change))
        assert [entry.id for entry in store.entries()] == [kept]
        assert len(store.history("RR").points) == 1


def test_a_record_with_other_words_is_taken(exported: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "second") as store:
        key = store.import_file(
            changed(exported, lambda fields: fields.update(version="9\udcff", later={"more": 1}))
        )
        assert store.entry(key).version == "9\\udcff"
        hits = store.evaluation(key).hits
        assert hits is not None
        assert hits.documents == ["a", "c"]


ODD: tuple[Any, ...] = (None, True, -1, 10**30, 0.5, "", "x", [], [1], {}, {"x": 1})
FOREIGN = (
    b"",
    b"[]",
    b"{}",
    b"null",
    b"NaN",
    b"[" * 100_000,
    b"\xff",
    b"PK\x05\x06" + bytes(18),
    b"\x93NUMPY\x01\x00",
)


def leaves(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = (
        found.items()
        if isinstance(found, dict)
        else enumerate(found)
        if isinstance(found, list)
        else ()
    )
    return [path, *(leaf for name, part in inside for leaf in leaves(part, (*path, name)))]


def written(path: Path, contents: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def taken_in_or_refused(store: Store, path: Path) -> None:
    """Nothing but our own errors, which name the file."""
    said = f"{path}: "
    try:
        store.remove(store.import_file(path))
    except IdealrankError as error:
        said = str(error)
    assert said.startswith(f"{path}: ")


def test_whatever_stands_in_a_record_or_beside_it_is_taken_or_refused_in_words(
    exported: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields, words = json.loads(contents["record.json"]), json.loads(contents["words.json"])
    with Store.open(tmp_path / "second") as store:
        for number, (whole, path) in enumerate(
            [
                *((fields, path) for path in leaves(fields)),
                *((words, path) for path in leaves(words)),
            ]
        ):
            odd = ODD[number % len(ODD)]
            changed_ = copy.deepcopy(whole)
            if path:
                part = changed_
                for name in path[:-1]:
                    part = part[name]
                part[path[-1]] = odd
            record = canonical((changed_ if path else odd) if whole is fields else fields).encode()
            digest = hashlib.sha256(record).hexdigest()
            beside = (
                words | {"id": digest[:12], "digest": digest}
                if whole is fields
                else changed_
                if path
                else odd
            )
            other = contents | {"record.json": record, "words.json": canonical(beside).encode()}
            taken_in_or_refused(store, written(tmp_path / "other.zip", other))
        assert store.entries() == []


def test_whatever_stands_in_a_value_file_is_taken_or_refused_in_words(
    exported: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    fields = json.loads(contents["record.json"])
    with Store.open(tmp_path / "second") as store:
        for what, name in fields["files"].items():
            for foreign in (*FOREIGN, *contents.values()):
                if foreign == contents[name]:
                    continue
                own = f"{hashlib.sha256(foreign).hexdigest()}{Path(name).suffix}"
                record = canonical(fields | {"files": fields["files"] | {what: own}}).encode()
                digest = hashlib.sha256(record).hexdigest()
                words = json.loads(contents["words.json"]) | {"id": digest[:12], "digest": digest}
                other = {key: content for key, content in contents.items() if key != name}
                other |= {
                    own: foreign,
                    "record.json": record,
                    "words.json": canonical(words).encode(),
                }
                path = written(tmp_path / "other.zip", other)
                with pytest.raises(IdealrankError, match=r"other\.zip: ") as refused:
                    store.import_file(path)
                said = str(refused.value)
                assert said.count("found ") == 1  # not one error around another
                assert ", expected " in said


def test_every_packing_and_member_that_no_store_writes_is_refused_in_words(
    exported: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(exported) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    with Store.open(tmp_path / "second") as store:
        for name in contents:
            path = written(
                tmp_path / "other.zip",
                {key: content for key, content in contents.items() if key != name},
            )
            with pytest.raises(InputError, match=f"found no '{name}'"):
                store.import_file(path)
        with zipfile.ZipFile(tmp_path / "other.zip", "w", zipfile.ZIP_BZIP2) as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        with pytest.raises(InputError, match="in another compression"):
            store.import_file(tmp_path / "other.zip")


GRADED = {f"q{i}": {f"d{j}": (i * j) % 5 - 1 for j in range(i % 4, 6)} for i in range(12)} | {
    "none": {"d1": 0}
}
RETURNED = {f"q{i}": {f"d{j}": float((i + j) % 3) for j in range(i % 5 + 2)} for i in range(9)} | {
    "extra": {"d1": 1.0}
}
JUDGMENTS = (
    ir.Qrels(GRADED),
    ir.PreferenceQrels(
        {
            "q1": {"ann": {"d0": 2.0, "d1": 1.0, "d2": 0.0}, "ben": {"d0": 0.0, "d2": 1.0}},
            "q20": {"ann": {"d1": 1.0}},
        }
    ),
    ir.AssessorQrels(
        {"q1": {"ann": {"d0": 2, "d1": 0}, "ben": {"d0": 1, "d5": 1}}, "q20": {"ann": {"d1": 1}}}
    ),
)


def evaluated(qrels: Any, convention: str) -> ir.Evaluation:
    """By every measure that these judgments and this convention allow."""
    allowed = []
    for text in (f"{name}{cutoff}" for name in ir.MEASURES for cutoff in ("", "@3")):
        try:
            ir.evaluate(qrels, ir.Run(RETURNED), [text], convention)
        except IdealrankError:
            continue
        allowed.append(text)
    return ir.evaluate(qrels, ir.Run(RETURNED), allowed, convention)


@pytest.mark.spread(4)
@pytest.mark.filterwarnings("ignore::idealrank.errors.IdealrankWarning")
@pytest.mark.parametrize(
    "convention",
    [
        "standard",
        "standard,no_relevant=nan,gain=exp2",
        "trec_eval,missing=left-out,no_relevant=left-out",
        "lightgbm,negative=zero,unjudged=not-relevant",
    ],
)
@pytest.mark.parametrize("qrels", JUDGMENTS, ids=["qrels", "preferences", "assessors"])
def test_what_any_measure_and_convention_gives_is_taken_in(
    qrels: Any, convention: str, tmp_path: Path
) -> None:
    """Checks of what comes from elsewhere refuse nothing that is made here."""
    evaluation = evaluated(qrels, convention)
    assert len(evaluation.measures) > 3
    with Store.open(tmp_path / "first") as store, Store.open(tmp_path / "second") as other:
        key = store.add(evaluation, hits=judged_hits(qrels, ir.Run(RETURNED), convention))
        store.export_file(key, tmp_path / "one.zip")
        assert other.import_file(tmp_path / "one.zip") == key
        assert other.evaluation(key).evaluation.values.tobytes() == evaluation.values.tobytes()
