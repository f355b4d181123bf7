"""The measuring half of a convention: what is left unset on a measure comes from here."""

from dataclasses import dataclass, field, fields
from typing import Literal, Protocol, TypeAlias, get_args

from idealrank.data.alignment import Switch, check_choice, choices_of, same_words
from idealrank.measures.cutoffs import Cutoff, make_cutoff
from idealrank.measures.discounts import Discount, DiscountLike, make_discount
from idealrank.measures.gains import Gain, GainLike, make_gain

Ideal: TypeAlias = Literal["judged", "returned", "hits", "uncut", "full"]
NoRelevant: TypeAlias = Literal["zero", "one", "nan", "left-out", "quotient"]
Rounding: TypeAlias = Literal["none", "round-2", "round-5", "floor-2"]
RecallPoints: TypeAlias = Literal["rounded", "truncated"]
ShortLists: TypeAlias = Literal["padded", "zero"]

_VARIED_CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000, None)


def checked(switch: str, value: object, kind: object) -> None:
    """Refuse a value that its Literal type does not list; None (unset) passes."""
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
    ideal : {"judged", "returned", "hits", "uncut", "full"}
        The ideal list: all judged documents cut at the cutoff; the returned list sorted, then cut;
        all judged cut at the number of documents returned; all judged, never cut; as many
        documents as the cutoff, each with the highest gain judged for the query.
    no_relevant : {"zero", "one", "nan", "left-out", "quotient"}
        A query whose ideal is 0 or less (or, for binary measures, that has no relevant document).
        ``quotient`` divides whenever the ideal is not exactly 0, and gives 0 where it is.
    rounding : {"none", "round-2", "round-5", "floor-2"}
        Rounds each query's value to so many decimals, or floors every term and the ratio.
    cutoff : int, str or None
        For NDCG and DCG where none is asked (XGBoost's bare ``ndcg`` is ``ndcg@32``).
    recall_points : {"rounded", "truncated"}
        How many of R relevant documents a recall level x of interpolated precision stands for: x R
        rounded to the nearest whole number, halves up, as in trec_eval 10; or the whole part of x R
        + 0.9, as in trec_eval 9, which nearly always rounds up.
    short_lists : {"padded", "zero"}
        NDCG@k of a list with fewer than k documents: as if documents of gain 0 followed, or 0, as
        in the evaluation scripts of LETOR and MSLR.

    Examples
    --------
    >>> Rules(gain="exp2").gain.text
    'exp2'
    """

    gain: Gain = field(
        default=make_gain("linear"),
        metadata={
            "row": Switch(
                about="gain",
                noun="the gain",
                lead="gain",
                values={
                    "linear": ("the grade", "linear"),
                    "exp2": ("2^grade - 1", "exp2"),
                    "binary": ("1 for a grade of 1 or more", "binary"),
                },
                shown_by="a relevant document with a grade other than 1",
                open_values=("linear", "exp2", "power(2)", "binary"),
                open_tried=("linear", "exp2", "power(0.5)", "power(2)"),
            )
        },
    )
    discount: Discount = field(
        default=make_discount("log2"),
        metadata={
            "row": Switch(
                about="discount",
                noun="the discount",
                lead="discount",
                values={
                    "log2": ("1/log2(rank + 1)", "log2"),
                    "zipf(1)": same_words("1/rank"),
                    "linear": ("list length - rank", "linear"),
                },
                shown_by="relevant documents at different ranks below the first",
                # Any log base gives the same NDCG; the natural and the decimal logarithm are here
                # for DCG.
                open_values=(
                    "log2",
                    "jarvelin(2)",
                    "jarvelin(10)",
                    "zipf(1)",
                    "linear",
                    "log(2.718281828459045)",
                    "log(10)",
                ),
                open_tried=(
                    "log2",
                    "jarvelin(2)",
                    "jarvelin(10)",
                    "zipf(0.5)",
                    "zipf(1)",
                    "geometric(0.8)",
                    "linear",
                ),
            )
        },
    )
    ideal: Ideal = field(
        default="judged",
        metadata={
            "row": Switch(
                about="ideal list",
                noun="the ideal",
                lead="ideal of",
                values={
                    "judged": ("all judged documents, cut at the cutoff", "all judged"),
                    "returned": (
                        "the returned documents, cut at the cutoff",
                        "the returned documents",
                    ),
                    "hits": (
                        "all judged documents, cut at the number of documents returned",
                        "all judged, cut at the number returned",
                    ),
                    "uncut": ("all judged documents, not cut", "all judged, never cut"),
                    "full": (
                        "documents of the query's highest gain, down to the cutoff",
                        "the highest gain at every rank",
                    ),
                },
                shown_by="a relevant document that the run does not return, or more relevant "
                "documents than the cutoff",
            )
        },
    )
    no_relevant: NoRelevant = field(
        default="zero",
        metadata={
            "row": Switch(
                about="a query without relevant documents",
                noun="queries without relevant documents",
                lead="queries without relevant documents",
                values={
                    "zero": ("0", "as 0"),
                    "one": ("1", "as 1"),
                    "nan": ("NaN", "as NaN"),
                    "left-out": same_words("left out"),
                    "quotient": (
                        "DCG / ideal DCG, and 0 for 0 / 0",
                        "as 0 if the ideal is exactly 0",
                    ),
                },
                shown_by="a query without relevant documents",
            )
        },
    )
    rounding: Rounding = field(
        default="none",
        metadata={
            "row": Switch(
                about="rounding",
                noun="rounding",
                lead="rounding",
                values={
                    "none": same_words("none"),
                    "round-2": ("each query's value to 2 decimals", "each query to 2 decimals"),
                    "round-5": ("each query's value to 5 decimals", "each query to 5 decimals"),
                    "floor-2": (
                        "every term, sum and value down to 2 decimals",
                        "every term down to 2 decimals",
                    ),
                },
                shown_by="any query whose value has more decimals",
                usual="none",
            )
        },
    )
    cutoff: Cutoff | None = field(
        default=None,
        metadata={
            "row": Switch(
                about="cutoff where none is asked",
                noun="the default cutoff",
                lead="default cutoff",
                values={},
                shown_by="a list longer than the default cutoff",
                usual="none",
                open_values=(),
                open_tried=_VARIED_CUTOFFS,
            )
        },
    )
    recall_points: RecallPoints = field(
        default="rounded",
        metadata={
            "row": Switch(
                about="recall levels",
                noun="recall points",
                lead="recall points",
                values={
                    "rounded": ("rounded to whole documents", "rounded"),
                    "truncated": (
                        "the whole part of level x relevant + 0.9",
                        "cut off after adding 0.9",
                    ),
                },
                shown_by="a query whose number of relevant documents is no multiple of 10",
                usual="rounded",
            )
        },
    )
    short_lists: ShortLists = field(
        default="padded",
        metadata={
            "row": Switch(
                about="NDCG of a list shorter than the cutoff",
                noun="lists shorter than the cutoff",
                lead="NDCG of lists shorter than the cutoff",
                values={
                    "padded": ("as if documents of gain 0 followed", "as if padded"),
                    "zero": ("0", "as 0"),
                },
                shown_by="a list shorter than the cutoff",
                usual="padded",
            )
        },
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", make_gain(self.gain))
        object.__setattr__(self, "discount", make_discount(self.discount))
        object.__setattr__(self, "cutoff", make_cutoff(self.cutoff))
        for name, allowed in _CHOICES.items():
            check_choice(name, getattr(self, name), allowed)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The switches of this half.

        Examples
        --------
        >>> Rules.names()[0]
        'gain'
        """
        return tuple(field.name for field in fields(cls))


_CHOICES = choices_of(Rules)


class HasRules(Protocol):
    """A convention, as far as a measure looks at it."""

    @property
    def rules(self) -> Rules: ...


__all__ = [
    "DiscountLike",
    "GainLike",
    "HasRules",
    "Ideal",
    "NoRelevant",
    "RecallPoints",
    "Rounding",
    "Rules",
    "ShortLists",
    "checked",
]
