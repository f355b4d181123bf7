"""Requests of a gate: the given options, and for the rest the policy of the project."""

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
                f"holdout={self.holdout!r}: expected a share of the queries from 0 to below 1, "
                "such as 0.2"
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
        paths = list(self.query_files.paths)
        if self.contracts and isinstance(self.contracts, str):
            paths.append(self.contracts)
        return paths


def settled(
    options: Mapping[str, Any],
    policy_file: PolicyFile,
    without_baseline: str,
    *,
    measures_in: Callable[[Sequence[str], str], Any] = lambda texts, _where: texts,
    convention_of: Callable[[Any], Convention] = Convention.of,
) -> GateRequest:
    """Settle a request: the given options, and for the rest the policy of the project.

    A given `strict` also wins over the parts of the file that belong to the other rule.
    """
    baselines = tuple(options.get("baselines", policy_file.baselines))
    if not baselines:
        raise OptionError(without_baseline)

    # An error names the policy file only if the option comes from there.
    if "measures" in options:
        texts = options["measures"]
    else:
        texts = measures_in(policy_file.measures, policy_file.where) or DEFAULT_MEASURE
    with _said_in("" if "measures" in options else policy_file.where):
        named = parse_measures(texts)
    texts = (
        options["also"] if "also" in options else measures_in(policy_file.also, policy_file.where)
    )
    with _said_in("" if "also" in options else policy_file.where):
        also = parse_measures(texts) if texts else ()
    with _said_in("" if "convention" in options else policy_file.where):
        convention = convention_of(options.get("convention", policy_file.convention or "standard"))
    rule = {name: options[name] for name in PARTS if name in options}
    with _said_in("" if rule else policy_file.where):
        policy = policy_file.policy(rule)

    contracts = options.get("contracts", policy_file.contracts or ())
    declared = (options.get(name, getattr(policy_file, name)) for name in DeclaredLabels._fields)
    return GateRequest(
        policy=policy,
        measures=tuple(dict.fromkeys((*named, *also))),
        also=also,
        convention=convention,
        baselines=baselines,
        contracts=contracts if isinstance(contracts, str) else tuple(contracts),
        query_files=QueryFiles(
            options.get("weights", policy_file.weights), options.get("cluster", policy_file.cluster)
        ),
        policy_file=policy_file.where,
        declared=DeclaredLabels(*declared),
        series=options.get("series", ""),
        holdout=options.get("holdout", policy_file.holdout) or 0.0,
        queries=options.get("queries", policy_file.queries),
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
