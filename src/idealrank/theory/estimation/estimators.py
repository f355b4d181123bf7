"""The ways to estimate ybar, with the settings they take by default, and how far a kernel should look."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.theory.estimation.sample import Sample
from idealrank.theory.estimation.smoothing import GRID, LEAST_WEIGHT, Binned, Cells, Isotonic, Kernel, Smoother, near, place_of, step_of

_CELLS = 256
_NARROWEST = 1 / (GRID - 1)
# The bandwidth that predicts best has a bias as large as its noise; a band needs less bias than that.
_SHRINK = 0.7
_SHARES = (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25)


def chosen_bandwidth(sample: Sample) -> float:
    """0.7 of the bandwidth, among some, that predicts each document best from the others; at most 0.6 n^-1/4.

    Wider than that where lists are so short that some place has no two canonical scores near.

    References
    ----------
    Fan and Gijbels (1996), Local Polynomial Modelling and Its Applications, section 4.10.

    Examples
    --------
    >>> s = (np.arange(1000) + 0.5) / 1000
    >>> chosen_bandwidth(Sample.of(np.arange(1000) % 2, s, 1.0)), chosen_bandwidth(Sample.of(s > 0.3, s, 1.0)) < 0.04
    (0.106696764602..., True)
    """
    cells = near(sample.cells, _CELLS)
    most = min(0.6 * sample.n**-0.25, _WIDEST)
    found = [(_error(cells, most * share / _SHRINK), -share) for share in _SHARES if most * share >= _NARROWEST]
    width = max(min(-min(found)[1], 1.0) * most, _NARROWEST) if found else _NARROWEST
    while width < 1 and not (Kernel(width).weights(cells) @ cells.count > LEAST_WEIGHT).all():
        width = min(1.25 * width, 1.0)
    return width


def _error(cells: Cells, bandwidth: float) -> float:
    """Sum of squared errors when each document is predicted from the others; infinite where they do not suffice."""
    weights = Kernel(bandwidth).weights(cells, cells.score)
    total, hits = weights @ cells.count, cells.reached[-1]
    if not (total > LEAST_WEIGHT).all():
        return math.inf
    own, share = np.diag(weights) / total, weights @ hits / total
    if not (own < 1 - LEAST_WEIGHT).all():
        return math.inf
    return float(((hits * (1 - share) ** 2 + (cells.count - hits) * share**2) / (1 - own) ** 2).sum())


Method: TypeAlias = Literal["binned", "kernel", "isotonic"]

_MOST_BINS = 500
_WIDEST = 0.25


@dataclass(frozen=True)
class SmoothingMethod:
    """A smoother, and what its band is made of.

    Parameters
    ----------
    smoother : Smoother
        Makes the curves.
    text : str
        Method and setting.
    score : float64 array, shape (m,)
        Where estimate and band are listed.
    code : int64 array, shape (n,)
        The cell of each document.
    weights : float64 array, shape (m, n_cells), or None
        The weight of a document of each cell in each value; None for a method that is not linear.
    width : float
        How far to either side documents bound a rising ybar; 0 where unused.
    """

    smoother: Smoother
    text: str
    score: FloatArray
    code: IntArray
    weights: FloatArray | None
    width: float = 0.0


def method_of(sample: Sample, method: str, bins: "int | Sequence[float] | None", bandwidth: float | None) -> SmoothingMethod:
    """A method with its settings.

    Raises
    ------
    OptionError
        There is no such method, or a setting is not of it, or impossible.
    InputError
        A bin or a neighbourhood has too few documents.

    Examples
    --------
    >>> sample = Sample.of([0, 1, 0, 1], [1, 2, 3, 4], 1.0)
    >>> method_of(sample, "binned", 2, None).text
    'binned (2 bins)'
    """
    if method not in {"binned", "kernel", "isotonic"}:
        raise OptionError(f"method={method!r}: expected binned, kernel or isotonic")
    if bins is not None and method != "binned":
        raise OptionError(f"bins={bins!r}: only the binned method has bins, found method={method!r}")
    if bandwidth is not None and method != "kernel":
        raise OptionError(f"bandwidth={bandwidth!r}: only the kernel method has a bandwidth, found method={method!r}")
    if method == "binned":
        return _binned(sample, bins)
    if method == "kernel":
        return _kernel(sample, bandwidth)
    width = min(sample.n ** (-1 / 3), _WIDEST)
    return SmoothingMethod(Isotonic(width / 2), "isotonic", np.linspace(0.0, 1.0, GRID), np.zeros(0, np.int64), None, width)


def _binned(sample: Sample, bins: "int | Sequence[float] | None") -> SmoothingMethod:
    edges = _most_bins(sample) if bins is None else _edges(bins)
    code = step_of(edges, sample.score)
    empty = np.flatnonzero(np.bincount(code, minlength=edges.size - 1) == 0)
    if empty.size:
        first = int(empty[0])
        raise InputError(
            f"bins: no document has a canonical score from {edges[first]:g} to {edges[first + 1]:g}; the shortest of the lists has "
            f"{sample.shortest} documents; take fewer or wider bins"
        )
    text = f"binned ({edges.size - 1} bins)"
    return SmoothingMethod(Binned(tuple(edges.tolist())), text, (edges[1:] + edges[:-1]) / 2, code, np.eye(edges.size - 1))


def _most_bins(sample: Sample) -> FloatArray:
    """As many equal bins as the square root of n, or as leave none empty."""
    places = sample.cells.score
    count = max(1, min(round(math.sqrt(sample.n)), places.size, _MOST_BINS))
    while count > 1 and np.unique(step_of(np.linspace(0, 1, count + 1), places)).size < count:
        count -= 1
    return np.linspace(0.0, 1.0, count + 1)


def _edges(bins: "int | Sequence[float]") -> FloatArray:
    if isinstance(bins, (int, np.integer)):
        if isinstance(bins, bool) or bins < 1:
            raise OptionError(f"bins={bins!r}: expected a number from 1 on, or edges from 0 to 1")
        return np.linspace(0.0, 1.0, int(bins) + 1)
    edges = np.asarray(bins, np.float64)
    if edges.ndim != 1 or edges.size < 2 or edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
        raise OptionError(f"bins={list(bins)}: expected rising edges from 0 to 1, as [0, 0.5, 0.8, 1]")
    return edges


def _kernel(sample: Sample, bandwidth: float | None) -> SmoothingMethod:
    width = chosen_bandwidth(sample) if bandwidth is None else float(bandwidth)
    if not 0 < width <= 1:
        raise OptionError(f"bandwidth={bandwidth!r}: expected a share of the list, above 0 and at most 1")
    kernel, cells = Kernel(width), near(sample.cells)
    weights = kernel.weights(cells)
    thin = np.flatnonzero(~(weights @ cells.count > LEAST_WEIGHT))
    if thin.size:
        raise InputError(
            f"bandwidth={width:g}: fewer than two canonical scores lie within it of {thin[0] / (GRID - 1):g}; take a wider one, or bins"
        )
    place = place_of(sample.score)
    used = np.cumsum(np.bincount(place) > 0) - 1
    return SmoothingMethod(kernel, f"kernel (bandwidth {width:.3g})", np.linspace(0.0, 1.0, GRID), used[place], weights)
