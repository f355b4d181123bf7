"""NDCG of growing lists: every value is that of the list as it is at that length."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.theory.growth import RankedCollection, growing_ndcg, growing_sizes, read_rankers

MEASURES = [
    "nDCG",
    "nDCG(discount=zipf(0.5))",
    "nDCG(discount=geometric(2))",
    "nDCG@0.2n",
    "nDCG(gain=exp2)@3",
    "nDCG(discount=linear)",
]


def of_prefix(measure: str, labels: np.ndarray, scores: np.ndarray) -> float:
    """NDCG of a list by the ordinary way; NaN where it is undefined."""
    asked = ir.parse_measure(measure)
    value = ir.ndcg(
        labels, scores, asked.cutoff, gain=asked.gain, discount=asked.discount, no_relevant="nan"
    )
    return float(value[0])


@given(
    st.integers(1, 25).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 3), min_size=n, max_size=n),
            st.lists(st.integers(0, 6), min_size=n, max_size=n),
        )
    ),
    st.sampled_from(MEASURES),
)
def test_every_value_is_that_of_the_first_documents_ties_included(
    lists: tuple[list[int], list[int]], measure: str
) -> None:
    labels, scores = (np.array(values, np.float64) for values in lists)

    grown = growing_ndcg(labels, scores, measures=measure)

    expected = [of_prefix(measure, labels[:n], scores[:n]) for n in range(1, labels.size + 1)]
    assert grown.sizes.tolist() == list(range(1, labels.size + 1))
    np.testing.assert_allclose(grown.values[0, 0], expected, rtol=0, atol=1e-12)


def test_long_lists_and_many_measures_at_once() -> None:
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 3, (2, 1500)), rng.normal(size=(2, 1500))

    grown = growing_ndcg(labels, scores, measures=MEASURES)

    assert grown.values.shape == (len(MEASURES), 2, growing_sizes(1500).size)
    for row, measure in enumerate(MEASURES):
        for column in (0, 150, 230, -1):
            n = int(grown.sizes[column])
            expected = [
                of_prefix(measure, label[:n], score[:n])
                for label, score in zip(labels, scores, strict=True)
            ]
            np.testing.assert_allclose(grown.values[row, :, column], expected, rtol=0, atol=1e-12)


def test_the_mean_is_over_the_queries_that_have_a_value() -> None:
    grown = growing_ndcg(
        [[0, 0, 1], [1, 0, 0], [0, 0, 0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
    )

    assert grown.defined.tolist() == [[1, 1, 2]]
    np.testing.assert_allclose(grown.mean()[0], [1.0, 1 / np.log2(3), (1 + 0.5) / 2], rtol=1e-15)
    assert np.isnan(growing_ndcg([0, 0], [1.0, 2.0]).mean()).all()


def test_lists_of_several_lengths_have_no_value_beyond_their_end() -> None:
    grown = growing_ndcg([[1, 0], [1, 0, 1]], [[1.0, 2.0], [3.0, 2.0, 1.0]], sizes=[2, 3])

    assert np.isnan(grown.values[0, :, 1]).tolist() == [True, False]
    assert growing_ndcg([[1, 0], [1, 0, 1]], [[1.0, 2.0], [3.0, 2.0, 1.0]]).sizes.tolist() == [1, 2]


def test_it_tells_how_far_it_is_and_stops_when_told() -> None:
    told: list[tuple[int, int]] = []
    growing_ndcg(
        [[1, 0], [0, 1]],
        [[1.0, 2.0], [2.0, 1.0]],
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 2), (2, 2)]

    def stop(*_: int) -> None:
        raise ir.IdealrankError("enough")

    with pytest.raises(ir.IdealrankError, match="enough"):
        growing_ndcg([[1, 0], [0, 1]], [[1.0, 2.0], [2.0, 1.0]], progress=stop)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_columns_and_rows_of_dataframes_are_places_whatever_their_labels(backend: str) -> None:
    library = pytest.importorskip(backend)
    rows = np.array([[1, 0, 2], [0, 2, 1]])
    scores = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]
    column, frame = library.Series(rows[0]), library.DataFrame(rows)
    if backend == "pandas":
        column, frame = library.Series(rows[0], index=[5, 6, 7]), library.DataFrame(rows, [7, 8])

    for labels, of_rows, given_scores in [(column, rows[0], scores[0]), (frame, rows, scores)]:
        expected = growing_ndcg(of_rows, given_scores).values
        np.testing.assert_array_equal(growing_ndcg(labels, given_scores).values, expected)


def test_sizes_are_dense_first_and_end_with_the_list() -> None:
    for last in (1, 7, 200, 201, 202, 999, 5000):
        sizes = growing_sizes(last)
        assert sizes[0] == 1
        assert sizes[-1] == last
        assert (np.diff(sizes) >= 1).all()
        assert (np.diff(sizes)[:-1] <= np.maximum(1, 0.0151 * sizes[:-2])).all()


@pytest.mark.parametrize(
    ("labels", "scores", "options", "said"),
    [
        ([1, 0], [1.0], {}, "expected one of each a document"),
        ([[1, 0]], [[1.0, 2.0], [1.0, 2.0]], {}, "labels of 1 queries and scores of 2"),
        ([1, -1], [1.0, 2.0], {}, "gain -1"),
        ([1, 0], [1.0, np.nan], {}, "not finite"),
        ([], [], {}, "at least one"),
        ([1, 0], [1.0, 2.0], {"measures": "AP"}, "AP: expected nDCG"),
        ([1, 0], [1.0, 2.0], {"measures": "nDCG(ideal=returned)"}, "no other options"),
        ([1, 0], [1.0, 2.0], {"sizes": [2, 1]}, "rise"),
        ([1, 0], [1.0, 2.0], {"sizes": [0]}, "from 1 on"),
        ([1, 0], [1.0, 2.0], {"sizes": np.array([2, 1], np.uint64)}, "rise"),
        ([1, 0], [1.0, 2.0], {"sizes": np.array([1, 2**63], np.uint64)}, "rise"),
    ],
)
def test_what_cannot_be_is_refused(labels: list, scores: list, options: dict, said: str) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        growing_ndcg(labels, scores, **options)


# --- collections ----------------------------------------------------------------------------------


def test_a_file_of_ones_own_is_read_with_its_names(tmp_path: Path) -> None:
    about = json.dumps({"what": "mine", "rankers": {"a": "Ranker A"}})
    np.savez(
        tmp_path / "mine.npz",
        grades=[1, 0, 2, 0, 1],
        a=[5, 4, 3, 2, 1],
        b=[1, 2, 3, 4, 5],
        offsets=[0, 2, 5],
        about=about,
    )

    found = read_rankers(tmp_path / "mine.npz")

    assert list(found.scores) == ["Ranker A", "b"]
    assert found.lengths.tolist() == [2, 3]
    assert [row.tolist() for row in found.rows(found.grades)] == [[1, 0], [2, 0, 1]]
    cut = found.at_least(3)
    assert (cut.n_queries, cut.grades.tolist(), cut.scores["b"].tolist()) == (
        1,
        [2, 0, 1],
        [3, 4, 5],
    )
    assert found.at_least(2).grades.tolist() == [1, 0, 2, 0]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"a": [[1, 2]]}, "found arrays a, expected grades"),
        ({"grades": [[1, 0]]}, "no ranker"),
        ({"grades": [[1, 0]], "a": [[1, 2, 3]]}, "a: found shape"),
        ({"grades": [[1, 0]], "a": [[1, np.inf]]}, "not finite"),
        ({"grades": [[-1, 0]], "a": [[1, 2]]}, "at least 0"),
        ({"grades": [1, 0], "a": [1, 2], "offsets": [0, 3]}, "offsets"),
        ({"grades": [1, 0], "a": [1, 2], "offsets": [0, 0, 2]}, "offsets"),
        ({"grades": [[1, 0]], "a": [[1, 2]], "about": "{"}, "JSON object"),
        ({"grades": [[1, 0]], "a": [[1, 2]], "about": "[" * 100_000}, "JSON object"),
        ({"grades": [[1, 0]], "a": [[1, 2]], "about": '{"rankers": {"a": 5}}'}, "object of names"),
        (
            {"grades": [[1, 0]], "a": [[1, 2]], "about": '{"rankers": {"a": ["x"]}}'},
            "object of names",
        ),
        (
            {"grades": [[1, 0]], "a": [[1, 2]], "b": [[2, 1]], "about": '{"rankers": {"a": "b"}}'},
            "2 rankers with 1 names",
        ),
        ({"grades": [[[1, 0]]], "a": [[[1, 2]]]}, "one dimension"),
        ({"grades": 1, "a": 1}, "one dimension"),
        ({"grades": [1, 0], "a": [1, 2], "offsets": [[0, 2]]}, "offsets: .*one dimension"),
        ({"grades": [1, 0], "a": [1, 2], "offsets": [0, 1.5, 2]}, "offsets: .*whole numbers"),
        ({"grades": [1, 0], "a": [1, 2], "offsets": ["a", "b"]}, "offsets: .*numbers"),
        ({"grades": [[1, 0]], "a": [[1j, 2]]}, "complex"),
        ({"grades": [[1, 0]], "a": [[1, 2]], "about": "[]"}, "JSON object"),
        ({"grades": [["x", "y"]], "a": [["x", "y"]]}, "expected numbers"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_name(
    arrays: dict, said: str, tmp_path: Path
) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InputError, match=rf"bad\.npz: .*({said})"):
        read_rankers(tmp_path / "bad.npz")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut short", b"\x93NUMPY"])
def test_a_file_that_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"numpy\.savez"):
        read_rankers(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="cannot be read"):
        read_rankers(tmp_path / "none.npz")


def test_other_files_of_numpy_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.eye(2))
    with pytest.raises(InputError, match=r"numpy\.savez"):
        read_rankers(tmp_path / "one.npy")
    np.savez(tmp_path / "notes.npz", grades=[[1, 0]], a=[[1, 2]])
    with zipfile.ZipFile(tmp_path / "notes.npz", "a") as archive:
        archive.writestr("notes.txt", "no array")
    with pytest.raises(InputError, match=r"notes\.npz: notes\.txt: .*expected numbers"):
        read_rankers(tmp_path / "notes.npz")


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path.touch, (tmp_path / "sprung",))

    np.savez(tmp_path / "trap.npz", grades=[[1]], a=np.array([[Trap()]], object))
    with pytest.raises(InputError, match=r"numpy\.savez"):
        read_rankers(tmp_path / "trap.npz")
    assert not (tmp_path / "sprung").exists()


def test_a_collection_of_short_lists_has_none_of_many_documents() -> None:
    mine = RankedCollection(
        grades=np.array([1.0, 0.0]), scores={"mine": np.array([0.2, 0.9])}, offsets=np.array([0, 2])
    )
    with pytest.raises(
        InputError,
        match="found 2 documents in the longest list, expected at least 3; ask for fewer",
    ):
        mine.at_least(3)
