"""Requests of a gate: options as typed or given, and for the rest the policy of the project."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank.analysis.comparison.label_basis import NOTHING_DECLARED, DeclaredLabels
from idealrank.analysis.gate.outcome import Contract, Policy
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PARTS, PolicyFile
from idealrank.io.query_files import QueryFiles
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures


@dataclass(frozen=True, kw_only=True)
class GateRequest:
    """Measures, baselines and rule of a gate."""

    policy: Policy  # The rule
    # The measures that are tested, the primary one first; measures of `also` come last unless named
    # before
    measures: tuple[Measure, ...]
    also: tuple[Measure, ...]  # Companions that may close the gate
    convention: Convention  # Convention of every value
    baselines: tuple[str, ...]  # Paths; the last is the one that may be replaced
    # Path of the contracts of single queries, or the contracts; empty for none
    contracts: str | tuple[Contract, ...]
    query_files: QueryFiles  # Weights and clusters of the queries
    policy_file: str  # File and table of the project's policy; empty where the project has none
    declared: DeclaredLabels = NOTHING_DECLARED  # What is declared about the labels
    # Folder that holds the state of the series; empty if the last baseline file holds it
    series: str = ""
    holdout: float = 0.0  # Share of the queries that decide nothing, see `held_out_queries`
    queries: str | None = None  # Path of the texts of queries, which the message shows

    def __post_init__(self) -> None:
        if not 0 <= self.holdout < 1:
            raise OptionError(
                f"holdout={self.holdout!r}: expected a share of the queries from 0 to below "
                f"1, such as 0.2"
            )

    @property
    def state(self) -> str:
        """Path of the file that holds the series: the last baseline, or its namesake in the folder
        of the series.
        """
        baseline = self.baselines[-1]
        return str(Path(self.series) / Path(baseline).name) if self.series else baseline

    @property
    def paths(self) -> list[str]:
        """Paths of weights, clusters and contracts."""
        return [
            *self.query_files.paths,
            *([self.contracts] if self.contracts and isinstance(self.contracts, str) else []),
        ]


def settled(
    given: Mapping[str, Any],
    found: PolicyFile,
    without_baseline: str,
    *,
    measures_in: Callable[[Sequence[str], str], Any] = lambda texts, _where: texts,
    convention_of: Callable[[Any], Convention] = Convention.of,
) -> GateRequest:
    """Settle what is asked: what was given, and for the rest the policy of the project.

    A given `strict` also wins over the parts of the file that belong to the other rule.
    """
    baselines = tuple(given.get("baselines", found.baselines))
    if not baselines:
        raise OptionError(without_baseline)
    texts = (
        given["measures"]
        if "measures" in given
        else measures_in(found.measures, found.where) or DEFAULT_MEASURE
    )
    with _said_in("" if "measures" in given else found.where):
        named = parse_measures(texts)
    texts = given["also"] if "also" in given else measures_in(found.also, found.where)
    with _said_in("" if "also" in given else found.where):
        also = parse_measures(texts) if texts else ()
    with _said_in("" if "convention" in given else found.where):
        convention = convention_of(given.get("convention", found.convention or "standard"))
    rule = {name: given[name] for name in PARTS if name in given}
    with _said_in("" if rule else found.where):
        policy = found.policy(**rule)
    contracts = given.get("contracts", found.contracts or ())
    return GateRequest(
        policy=policy,
        measures=tuple(dict.fromkeys((*named, *also))),
        also=also,
        convention=convention,
        baselines=baselines,
        contracts=contracts if isinstance(contracts, str) else tuple(contracts),
        query_files=QueryFiles(
            given.get("weights", found.weights), given.get("cluster", found.cluster)
        ),
        policy_file=found.where,
        declared=DeclaredLabels(
            *(given.get(name, getattr(found, name)) for name in DeclaredLabels._fields)
        ),
        series=given.get("series", ""),
        holdout=given.get("holdout", found.holdout) or 0.0,
        queries=given.get("queries", found.queries),
    )


@contextmanager
def _said_in(where: str) -> Iterator[None]:
    """Put the place of an option before its errors; `where` is empty for what the caller gave."""
    try:
        yield
    except OptionError as error:
        if not where:
            raise
        raise OptionError(f"{where}: {error}", switch=error.switch) from None
