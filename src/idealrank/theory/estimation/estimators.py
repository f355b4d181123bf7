"""The ways to estimate ybar, with the settings they take by default."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.theory.estimation.bandwidth import chosen_bandwidth
from idealrank.theory.estimation.sample import Sample
from idealrank.theory.estimation.smoothing import GRID, LEAST_WEIGHT, Binned, Isotonic, Kernel, Smoother, near, place_of, step_of

Method: TypeAlias = Literal["binned", "kernel", "isotonic"]

_MOST_BINS = 500
_WIDEST = 0.25


@dataclass(frozen=True)
class Way:
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


def way_of(sample: Sample, method: str, bins: "int | Sequence[float] | None", bandwidth: float | None) -> Way:
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
    >>> way_of(sample, "binned", 2, None).text
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
    return Way(Isotonic(width / 2), "isotonic", np.linspace(0.0, 1.0, GRID), np.zeros(0, np.int64), None, width)


def _binned(sample: Sample, bins: "int | Sequence[float] | None") -> Way:
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
    return Way(Binned(tuple(edges.tolist())), text, (edges[1:] + edges[:-1]) / 2, code, np.eye(edges.size - 1))


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


def _kernel(sample: Sample, bandwidth: float | None) -> Way:
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
    return Way(kernel, f"kernel (bandwidth {width:.3g})", np.linspace(0.0, 1.0, GRID), used[place], weights)
