"""What a measure is: a frozen value whose text says every option that was set on it."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import Cutoff, RelativeCutoff, cutoff_text, make_cutoff
from idealrank.measures.rules import HasRules, NoRelevant
from idealrank.measures.texts import number_text

Kind: TypeAlias = Literal["per query", "list-level", "pair of runs", "set-level"]
Aggregate: TypeAlias = Literal["mean", "sum"]
TieValues: TypeAlias = Literal["closed form", "not affected", "not offered"]


@dataclass(frozen=True, eq=False)
class PerQuery:
    """Values of one measure.

    Attributes
    ----------
    values : float64 array, shape (n_queries,)
        One per query; NaN where the query does not count or the convention says NaN.
    scored : bool array, shape (n_queries,), or None
        Which queries count; None when all do.
    """

    values: FloatArray
    scored: BoolArray | None = None


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Base of every measure.

    Options that are set win over the convention; what is unset is None and comes from it (`under`). A measure states facts
    about its class, which tests check and tables print:

    * ``name``: its text without options;
    * ``kind``: what it looks at; ``needs``: tables beside qrels and run;
    * ``aggregate``: how queries are put together; ``direction``: 1 when more is better, -1 when less, 0 for counts;
    * ``bounds``: least and greatest value under the default convention;
    * ``ties``: how the expected value over tie orders is had;
    * ``from_convention``: the options that a convention sets where they are unset.

    Examples
    --------
    >>> from idealrank.measures.dcg import NDCG
    >>> isinstance(NDCG(cutoff=10), Measure), NDCG.summary, NDCG.bounds
    (True, 'DCG divided by the DCG of the ideal list', (0.0, 1.0))
    """

    cutoff: Cutoff | None = None

    name: ClassVar[str]
    kind: ClassVar[Kind] = "per query"
    needs: ClassVar[tuple[str, ...]] = ()
    aggregate: ClassVar[Aggregate] = "mean"
    direction: ClassVar[int] = 1
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    ties: ClassVar[TieValues] = "closed form"
    from_convention: ClassVar[tuple[str, ...]] = ()
    summary: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cutoff", make_cutoff(self.cutoff))

    def under(self, convention: HasRules) -> Self:
        """The same measure with every option set, the unset ones from the convention.

        Parameters
        ----------
        convention : Convention
            Or its rules.

        Examples
        --------
        >>> from idealrank.conventions import Convention
        >>> from idealrank.measures.dcg import NDCG
        >>> NDCG(cutoff=10).under(Convention.of("lightgbm")).gain.text
        'exp2'
        """
        rules = convention.rules
        return replace(self, **{name: getattr(rules, name) for name in self.from_convention if getattr(self, name) is None})

    def compute(self, judged: Judged) -> PerQuery:
        """Values and which of them count; every option must be set (`under`)."""
        raise OptionError(f"{type(self).__name__} gives no values by itself; choose a measure from idealrank.MEASURES")

    def per_query(self, judged: Judged) -> FloatArray:
        """Values per query, shape (n_queries,)."""
        return self.compute(judged).values

    def depth(self, *, lists: bool = False) -> int:
        """Deepest rank whose hits this measure needs, of a run or of lists held as arrays; 0 for all of them."""
        return self.cutoff if isinstance(self.cutoff, int) else 0

    @property
    def trec_name(self) -> str:
        """The name trec_eval prints; the text where trec_eval has no such measure."""
        return str(self)

    def __str__(self) -> str:
        options = []
        for field in sorted(fields(self), key=lambda field: field.name):
            value = getattr(self, field.name)
            if value is None or field.name == "cutoff":
                continue
            text = number_text(value) if isinstance(value, (int, float)) else getattr(value, "text", value)
            options.append(f"{field.name}={text}")
        return self.name + (f"({','.join(options)})" if options else "") + cutoff_text(self.cutoff)

    def _trec(self, plain: str, cut: str, *, options: bool) -> str:
        """trec_eval's name with or without a cutoff, or this measure's text when it has options trec_eval lacks."""
        if options or isinstance(self.cutoff, RelativeCutoff):
            return str(self)
        return plain if self.cutoff is None else f"{cut}_{self.cutoff}"


def fill_undefined(values: FloatArray, defined: BoolArray, policy: NoRelevant) -> PerQuery:
    """Give queries without relevant documents the value of the policy.

    Parameters
    ----------
    values : float64 array, shape (n_queries,)
        Meaningful where `defined`.
    defined : bool array, shape (n_queries,)
        Which are.
    policy : {"zero", "one", "nan", "left-out", "quotient"}
        See `Rules`; ``quotient`` gives 0 here.

    Examples
    --------
    >>> fill_undefined(np.array([0.5, 0.0]), np.array([True, False]), "one").values
    array([0.5, 1. ])
    """
    if defined.all():
        return PerQuery(values)
    fill = {"zero": 0.0, "quotient": 0.0, "one": 1.0, "nan": np.nan, "left-out": np.nan}[policy]
    return PerQuery(np.where(defined, values, fill), defined if policy == "left-out" else None)
