"""Matrices of ids and sparse matrices, in Python and in files of NumPy, against the same lists and
grades as plain dicts.
"""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import idealrank as ir
from idealrank.io import sources
from tests.in_process import run as command

RNG = np.random.default_rng(1)
N_USERS = 40
IDS = np.array([RNG.permutation(30)[:8] for _ in range(N_USERS)])
SCORES = RNG.random(IDS.shape)
GRADES = (RNG.random((N_USERS, 30)) < 0.2) * RNG.integers(1, 5, (N_USERS, 30))
GRADES[3] = 0
SPARSE = sparse.csr_matrix(GRADES)

QRELS = {
    str(user): {str(item): float(GRADES[user, item]) for item in np.flatnonzero(GRADES[user])}
    for user in range(N_USERS)
    if GRADES[user].any()
}
LISTS = {str(user): [str(item) for item in IDS[user]] for user in range(N_USERS)}
SCORED = {user: dict(zip(items, SCORES[int(user)], strict=True)) for user, items in LISTS.items()}
MEASURES = ["nDCG@10", "RR", "HR@3"]
BY_PLACE = ir.evaluate(QRELS, LISTS, MEASURES)
BY_SCORE = ir.evaluate(QRELS, SCORED, MEASURES)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint16, str, object])
def test_ids_by_rank_are_the_lists(kind: str, dtype: Any) -> None:
    evaluation = ir.evaluate(SPARSE.asformat(kind), IDS.astype(dtype), MEASURES)

    assert evaluation.per_query() == BY_PLACE.per_query()
    assert evaluation.coverage == BY_PLACE.coverage


def test_a_sparse_array_may_be_judgments_and_a_run() -> None:
    scores = np.zeros(GRADES.shape)
    np.put_along_axis(scores, IDS, SCORES, 1)

    evaluation = ir.evaluate(sparse.csr_array(GRADES), sparse.csr_matrix(scores), MEASURES)

    assert evaluation.per_query() == BY_SCORE.per_query()


def test_a_stored_zero_is_a_judgment() -> None:
    entries = ([2.0, 0.0], ([0, 0], [4, 7]))
    qrels = ir.evaluate(sparse.coo_matrix(entries, shape=(1, 9)), IDS[:1], "RR", keep_unjudged=True)

    judgments, _ = qrels.sources or ({}, None)
    assert judgments["0"] == {"4": 2.0, "7": 0.0}


@pytest.mark.parametrize("filler", [-1, "", None])
def test_places_without_an_item_are_left_out(filler: Any) -> None:
    ids = IDS.astype(int if filler == -1 else object if filler is None else "U8")
    if filler is None:
        ids = np.array([[str(item) for item in row] for row in IDS], object)
    padded = np.hstack([ids, np.full((N_USERS, 2), filler, ids.dtype)])
    padded[5] = filler

    evaluation = ir.evaluate(SPARSE, padded, MEASURES)

    expected = ir.evaluate(QRELS, {**LISTS, "5": []}, MEASURES)
    assert evaluation.per_query() == expected.per_query()
    assert evaluation.coverage.missing == 0


def test_runs_as_matrices_are_compared() -> None:
    found = ir.compare(SPARSE, IDS, IDS[:, ::-1], measures="RR")
    turned = {user: items[::-1] for user, items in LISTS.items()}

    assert str(found) == str(ir.compare(QRELS, LISTS, turned, measures="RR"))


FILES: dict[str, tuple[Callable[[Path], object], ir.Evaluation]] = {
    "ids.npy": (lambda path: np.save(path, IDS), BY_PLACE),
    "by-column.npy": (lambda path: np.save(path, np.asfortranarray(IDS)), BY_PLACE),
    "texts.npy": (lambda path: np.save(path, IDS.astype(str)), BY_PLACE),
    "named.npz": (
        lambda path: np.savez(path, user=np.arange(N_USERS), item=IDS, score=SCORES),
        BY_SCORE,
    ),
    "unnamed.npz": (lambda path: np.savez_compressed(path, items=IDS), BY_PLACE),
}
MATRICES: dict[str, Callable[[Path], object]] = {
    "csr.npz": lambda path: sparse.save_npz(path, SPARSE),
    "csc.npz": lambda path: sparse.save_npz(path, SPARSE.tocsc(), compressed=False),
    "coo.npz": lambda path: sparse.save_npz(path, SPARSE.tocoo()),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("of_qrels", MATRICES)
def test_files_of_numpy(tmp_path: Path, of_qrels: str, name: str) -> None:
    save, expected = FILES[name]
    save(tmp_path / name)
    MATRICES[of_qrels](tmp_path / of_qrels)

    evaluation = ir.evaluate(tmp_path / of_qrels, tmp_path / name, MEASURES)

    assert evaluation.per_query() == expected.per_query()


def test_the_command_line_reads_them(tmp_path: Path) -> None:
    np.savez(tmp_path / "run.npz", who=np.arange(N_USERS), recommended=IDS, strength=SCORES)
    sparse.save_npz(tmp_path / "test.npz", SPARSE)
    columns = ["--run-columns", "query=who,document=recommended,score=strength"]

    code, printed, _ = command(
        [
            *("evaluate", str(tmp_path / "test.npz"), str(tmp_path / "run.npz")),
            *("-m", "nDCG@10", "--format", "csv", *columns),
        ]
    )

    assert code == 0
    assert f"run,nDCG@10,{BY_SCORE.mean()['nDCG@10']!r}," in printed


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "scores.npy": (lambda path: np.save(path, SCORES), "found an array of float64 with shape"),
    "flat.npy": (
        lambda path: np.save(path, IDS[0]),
        r"with shape \(8,\), expected a matrix of ids",
    ),
    "negative.npy": (lambda path: np.save(path, IDS - 3), "found the id -3 in a matrix of ids"),
    "pickled.npy": (
        lambda path: np.save(path, IDS.astype(object), allow_pickle=True),
        "found an array of Python objects, expected numbers or text",
    ),
    "cut.npy": (lambda path: path.write_bytes(npy(IDS)[:-8]), "expected a whole file"),
    "claims.npy": (
        lambda path: path.write_bytes(npy(IDS).replace(b"(40, 8)", b"(4e9,8)"[:7])),
        "data that cannot be read|expected a whole file",
    ),
    "text.npz": (lambda path: path.write_bytes(b"PK\x03\x04 nothing"), "data that cannot be read"),
    "flipped.npz": (
        lambda path: path.write_bytes(damaged_archive()),
        "Error -3 while decompressing",
    ),
    "shapes.npz": (
        lambda path: np.savez(path, item=IDS, score=SCORES[:, :5], user=np.arange(N_USERS)),
        "ids of shape",
    ),
    "other.npz": (lambda path: np.savez(path, weights=SCORES), "found arrays 'weights'"),
    "outside.npz": (
        lambda path: np.savez(
            path,
            format=np.array("csr"),
            shape=np.array([1, 2]),
            data=np.ones(1),
            indices=np.array([9]),
            indptr=np.array([0, 1]),
        ),
        "found a damaged sparse matrix",
    ),
    "diagonal.npz": (
        lambda path: sparse.save_npz(path, sparse.dia_matrix(np.eye(3))),
        "in the layout 'dia'",
    ),
}


def damaged_archive() -> bytes:
    """An archive whose compressed bytes are damaged."""
    stream = io.BytesIO()
    np.savez_compressed(stream, user=np.arange(1000), item=np.arange(1000).reshape(-1, 1))
    content = bytearray(stream.getvalue())
    content[120:200] = bytes(byte ^ 0x5A for byte in content[120:200])
    return bytes(content)


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("name", WRONG)
def test_other_arrays_are_refused(tmp_path: Path, name: str) -> None:
    save, message = WRONG[name]
    save(tmp_path / name)

    with pytest.raises(ir.InputError, match=message):
        ir.read_run(tmp_path / name)


def test_an_archive_that_unpacks_to_far_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("items.npy", npy(np.zeros((1000, 1000), np.int64)))
    monkeypatch.setattr("idealrank.io.formats.numpy_files.LIMIT", 1000)

    assert sources.LIMIT > 1000
    with pytest.raises(ir.FileFormatError, match="found an archive that unpacks to 8,000,128"):
        ir.read_run(tmp_path / "bomb.npz")


def test_lists_are_no_judgments(tmp_path: Path) -> None:
    np.save(tmp_path / "ids.npy", IDS)

    with pytest.raises(ir.FileFormatError, match="judgments come first, then runs"):
        ir.read_qrels(tmp_path / "ids.npy")
