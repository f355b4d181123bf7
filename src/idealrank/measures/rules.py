"""The measuring half of a convention: what is left unset on a measure comes from here."""

from dataclasses import dataclass, fields
from typing import Literal, Protocol, TypeAlias, get_args

from idealrank.data.alignment import check_choice
from idealrank.measures.cutoffs import Cutoff, make_cutoff
from idealrank.measures.discounts import Discount, DiscountLike, make_discount
from idealrank.measures.gains import Gain, GainLike, make_gain

Ideal: TypeAlias = Literal["judged", "returned", "hits", "uncut"]
NoRelevant: TypeAlias = Literal["zero", "one", "nan", "left-out", "quotient"]
Rounding: TypeAlias = Literal["none", "round-2", "round-5", "floor-2"]
RecallPoints: TypeAlias = Literal["rounded", "truncated"]


def checked(switch: str, value: object, kind: object) -> None:
    """Refuse a value that its Literal type does not list; None (unset) passes.

    Examples
    --------
    >>> checked("ideal", "returned", Ideal)
    """
    if value is not None:
        check_choice(switch, value, get_args(kind))


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Measuring rules of a convention.

    Parameters
    ----------
    gain : Gain or what `make_gain` takes
        Gain of each grade.
    discount : Discount or what `make_discount` takes
        The weight of a rank.
    ideal : {"judged", "returned", "hits", "uncut"}
        The ideal list: all judged documents cut at the cutoff; the returned list sorted, then cut; all judged cut at the
        number of documents returned; all judged, never cut.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}
        A query whose ideal is 0 or less (or, for binary measures, that has no relevant document). ``quotient`` divides
        whenever the ideal is not exactly 0, and gives 0 where it is.
    rounding : {"none", "round-2", "round-5", "floor-2"}
        Rounds each query's value to so many decimals, or floors every term and the ratio.
    cutoff : int, str or None
        For NDCG and DCG where none is asked (XGBoost's bare ``ndcg`` is ``ndcg@32``).
    recall_points : {"rounded", "truncated"}
        How many of R relevant documents a recall level x of interpolated precision stands for: x R rounded to the nearest whole
        number, halves up, as in trec_eval 10; or the whole part of x R + 0.9, as in trec_eval 9, which nearly always rounds up.

    Examples
    --------
    >>> Rules(gain="exp2").gain.text
    'exp2'
    """

    gain: Gain = make_gain("linear")
    discount: Discount = make_discount("log2")
    ideal: Ideal = "judged"
    no_relevant: NoRelevant = "zero"
    rounding: Rounding = "none"
    cutoff: Cutoff | None = None
    recall_points: RecallPoints = "rounded"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", make_gain(self.gain))
        object.__setattr__(self, "discount", make_discount(self.discount))
        object.__setattr__(self, "cutoff", make_cutoff(self.cutoff))
        check_choice("ideal", self.ideal, get_args(Ideal))
        check_choice("no_relevant", self.no_relevant, get_args(NoRelevant))
        check_choice("rounding", self.rounding, get_args(Rounding))
        check_choice("recall_points", self.recall_points, get_args(RecallPoints))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The switches of this half.

        Examples
        --------
        >>> Rules.names()[0]
        'gain'
        """
        return tuple(field.name for field in fields(cls))


class HasRules(Protocol):
    """A convention, as far as a measure looks at it."""

    @property
    def rules(self) -> Rules: ...


__all__ = ["DiscountLike", "GainLike", "HasRules", "Ideal", "NoRelevant", "RecallPoints", "Rounding", "Rules", "checked"]
