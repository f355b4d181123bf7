"""Theorem for a discount and a cutoff, with its conditions."""

from dataclasses import dataclass
from typing import Literal

from idealrank.errors import OptionError
from idealrank.theory.decay import Decay, Growth
from idealrank.theory.relevance import RelevanceModel

_SAME = "a factor cancels, and weights whose ratio to 1/log(1 + r) tends to 1 and whose sum diverges have the same limit"

_LISTED = 4  # kinks and jumps that are named one by one
_WHATEVER = "nothing else is needed of the ranker: the worst order, all relevant documents last, comes to 1 as well"


@dataclass(frozen=True)
class Statement:
    """A theorem, and what it needs beyond p > 0.

    Examples
    --------
    >>> Statement("Theorem 9", continuous="top").stated
    True
    """

    theorem: str
    continuous: Literal["everywhere", "top", "nowhere"] = "everywhere"  # where the expected gain needs to be
    notes: tuple[str, ...] = ()
    stated: bool = True

    def sentences(self, model: RelevanceModel) -> tuple[str, ...]:
        """Everything that was checked or assumed, in words."""
        graded = len(model.gains) > 1
        found = [f"{'P(Y > 0)' if graded else 'p = P(Y = 1)'} = {model.share:.6g} is above 0 (checked)"]
        if graded:
            gain, share = model.steps[0]
            found.append(f"the best grade that occurs gains {gain:g}, in a share R_1 = {share:.6g} (checked)")
        if self.continuous != "nowhere":
            found.append(f"{'E[Y | s]' if graded else 'ybar'} is continuous {self._where(model)}")
            found.append("scores have no ties, so that canonical scores are uniform (assumed; Lemma 3)")
        return (*found, *self.notes)

    def _where(self, model: RelevanceModel) -> str:
        if self.continuous == "top":
            return "at s = 1 (assumed)"
        if not model.points:
            return "on [0, 1] (assumed)"
        listed = ", ".join(f"{point:g}" for point in model.points)
        points = f"s = {listed}" if len(model.points) <= _LISTED else f"the {len(model.points)} points given"
        return f"on [0, 1] but at {points} (assumed; single places have no share of the list)"


def statement_of(decay: Decay, growth: Growth, *, graded: bool) -> Statement:
    """The theorem for a discount and a cutoff.

    Raises
    ------
    OptionError
        There is no limit, or it is unknown.
    """
    _check_sum(decay, growth)
    same = (f"discount {decay.text} falls under the logarithm's theorem: {_SAME}",) if decay.text != "log2" else ()
    notes = same if decay.kind == "logarithmic" else ()
    if growth.kind == "power":
        return _of_power(decay, growth, notes, graded=graded)
    if decay.kind == "linear":
        proof = "DCG/n^2 is a mean of bounded terms with weights 1 - r/n, so a law of large numbers gives it, for grades as well"
        return Statement("Linear discount", notes=(f"not in Wang et al.: {proof}",), stated=False)
    if decay.kind == "zipf" and decay.exponent == 1:
        return _of_reciprocal(growth, graded=graded)
    if decay.kind == "logarithmic":
        if growth.kind == "share":
            return Statement("Theorem 16" if graded else "Theorem 12", notes=notes)
        more = ("for grades: Theorem 14's expression at b = 0, where both sides are E[Y]",) if graded else ()
        return Statement("Theorem 4", continuous="nowhere", notes=(*notes, _WHATEVER, *more))
    numbers = {("whole", False): 7, ("whole", True): 14, ("share", False): 13, ("share", True): 17}
    return Statement(f"Theorem {numbers[growth.kind, graded]}")


def _of_power(decay: Decay, growth: Growth, notes: tuple[str, ...], *, graded: bool) -> Statement:
    by_length = ("weights n - r depend on n, beyond the theorem; up to k = o(n) they are n (1 + o(1)), and cancel",)
    return Statement(
        "Theorem 15" if graded else "Theorem 11",
        continuous="top",
        notes=(
            f"k = {growth.text.removeprefix('@')} grows without bound and is o(n), and so does the sum of D up to k (checked by family)",
            *notes,
            *(by_length if decay.kind == "linear" else ()),
        ),
        stated=decay.kind != "linear",
    )


def _of_reciprocal(growth: Growth, *, graded: bool) -> Statement:
    notes = []
    if graded:
        notes.append(
            "not stated in the paper for grades: E[Y | 1]/y_1, since ranks up to n R_1 hold all but O(1) of ln n; simulation agrees"
        )
    if growth.kind == "share":
        notes.append(
            "not stated in the paper for k = c n: up to k = n / ln n Theorem 11 holds, and the ranks beyond add at most ln ln n + O(1) "
            "of ln n"
        )
    return Statement("Theorem 9", continuous="top", notes=tuple(notes), stated=not notes)


def _check_sum(decay: Decay, growth: Growth) -> None:
    """The sum of D up to the cutoff must diverge."""
    never = "NDCG then hangs on a few documents at the top for ever and stays random, unless ybar(1) is 0 or 1"
    if growth.kind == "constant":
        raise OptionError(
            f"cutoff {growth.text.removeprefix('@')} has no limit: Theorems 11 and 12 need a cutoff that grows with n. {never} (as in "
            "Theorem 10); take 0.2n, sqrt(n) or n^0.3, or average over queries"
        )
    if decay.summable:
        raise OptionError(
            f"discount={decay.text} has no limit: the weights of all ranks have a finite sum (Theorem 10; Theorems 7 and 11 need it to "
            f"diverge). {never}; take log2, zipf(b) with b <= 1, or linear"
        )
    if decay.summable is None:
        raise OptionError(
            f"discount={decay.text}: Theorems 4 to 17 need to know whether the sum of its weights diverges and how, and no number of "
            "values of a function can tell; expected log2, log(b), jarvelin(b), zipf(b) or linear"
        )
