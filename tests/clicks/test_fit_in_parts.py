"""Click models of a log in parts have the parameters of the whole log."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import idealrank as ir
from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    Sessions,
    fit_in_parts,
)

MODELS = [
    Cascade(),
    DCM(),
    SDBN(),
    DBN(iterations=8),
    PBM(iterations=12),
    UBM(iterations=12),
]

pytestmark = pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")


def log() -> tuple[list[str], list[list[str]], np.ndarray]:
    """900 sessions of 30 queries, whose documents change their ranks; lists of 3 to 6 documents."""
    rng = np.random.default_rng(2)
    queries = [f"q{n}" for n in sorted(rng.integers(0, 30, 900).tolist())]
    lists = [[f"d{n}" for n in rng.permutation(7)[: 3 + int(query[1:]) // 8]] for query in queries]
    width = max(map(len, lists))
    clicks = np.zeros((900, width), int)
    for row, docs in enumerate(lists):
        for rank, doc in enumerate(docs):
            clicks[row, rank] = rng.random() < (1 + int(doc[1])) / 9 / (1 + rank / 2)
    return queries, [[*docs, *[None] * (width - len(docs))] for docs in lists], clicks


def sessions(rows: slice, *, trimmed: bool = True) -> Sessions:
    """Some sessions; trimmed to their longest list, so that parts differ in their number of
    ranks.
    """
    queries, lists, clicks = log()
    width = (
        max(sum(doc is not None for doc in docs) for docs in lists[rows])
        if trimmed
        else len(lists[0])
    )
    return Sessions.from_arrays(
        queries[rows], [docs[:width] for docs in lists[rows]], clicks[rows, :width].tolist()
    )


def parts() -> list[Sessions]:
    queries = log()[0]
    edges = [0, queries.index("q5"), queries.index("q6"), queries.index("q20"), 900]
    return [sessions(slice(*edge)) for edge in itertools.pairwise(edges)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_parameters_are_those_of_the_whole_log(model) -> None:
    whole = model.fit(sessions(slice(None)))
    with ThreadPoolExecutor(2) as pool:
        for joined in (fit_in_parts(model, parts()), fit_in_parts(model, parts(), each=pool.map)):
            assert joined.documents == whole.documents
            # sums in another order, and a maximum found to 10 digits
            for name, value in vars(whole).items():
                if isinstance(value, (np.ndarray, float)):
                    np.testing.assert_allclose(
                        getattr(joined, name), value, rtol=0, atol=1e-9, err_msg=name
                    )
            assert joined.log_likelihood(sessions(slice(None))) == pytest.approx(
                whole.log_likelihood(sessions(slice(None))), abs=1e-7
            )
    other = fit_in_parts(model, parts()[::-1])
    expected = dict(zip(whole.documents, whole.attractiveness_values.tolist(), strict=True))
    assert dict(
        zip(other.documents, other.attractiveness_values.tolist(), strict=True)
    ) == pytest.approx(expected, abs=1e-9)


def test_intervals_of_propensities_come_from_the_joined_counts() -> None:
    whole, joined = (
        PBM(iterations=12).fit(sessions(slice(None))),
        fit_in_parts(PBM(iterations=12), parts()),
    )
    np.testing.assert_allclose(
        joined.propensity_intervals(n_resamples=20),
        whole.propensity_intervals(n_resamples=20),
        atol=1e-10,
    )


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ir.IncompatibleError, match=r"query 'q0' is in two parts \(5 are\)"):
        fit_in_parts(PBM(), [parts()[0], parts()[0]])
    with pytest.raises(ir.InputError, match="found no part of a log"):
        fit_in_parts(PBM(), [])
    with pytest.raises(ir.OptionError, match="model: found 'PBM'"):
        fit_in_parts("PBM", parts())  # type: ignore[arg-type]
    with pytest.raises(ir.OptionError, match="iterations"):
        fit_in_parts(UBM(iterations=-1), parts())
