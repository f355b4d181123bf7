"""What a test asks of `ranking_gate`: its own arguments, and for the rest the policy of the project."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from idealrank.analysis.gate.checks import measures_of_gate
from idealrank.analysis.gate.outcome import Contract, Policy
from idealrank.api import to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.io.gate_files.contracts import read_contracts
from idealrank.io.gate_files.policies import DEFAULT_MEASURE, PARTS, TABLE, find_policy
from idealrank.io.notes import Notes
from idealrank.io.query_files import read_clusters, read_traffic
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is held to what, and how.

    Attributes
    ----------
    qrels, run : Qrels, Run
        What is judged, and by what.
    judgments : tuple of str
        Paths of the judgments; none where they did not come from files.
    baselines : tuple of str
        Paths; the last is the one that ``--update-ranking-baseline`` writes.
    gated, also, measures : tuple of Measure
        What is tested, the companions among them that may fail the test, and what is evaluated: contracts may have measures of their
        own, and shares of unjudged documents stand beside.
    contracts : tuple of Contract
        What single queries must reach.
    convention : Convention
        Behind every value.
    policy : Policy
        What is asked.
    weights, clusters : dict or None
        Of the queries, as the project's policy names files of them.
    policy_file : str
        Where some of that stands; empty where the project has no policy.
    """

    qrels: Qrels
    run: Run
    judgments: tuple[str, ...]
    baselines: tuple[str, ...]
    gated: tuple[Measure, ...]
    also: tuple[Measure, ...]
    measures: tuple[Measure, ...]
    contracts: tuple[Contract, ...]
    convention: Convention
    policy: Policy
    weights: dict[str, float] | None
    clusters: dict[str, str] | None
    policy_file: str

    @classmethod
    def of(cls, qrels: Any, run: Any, baseline: Any, options: Mapping[str, Any], root: Path) -> "Question":
        """The question, from what a test gave; `options` has measures, convention, contracts and parts of the policy.

        Raises
        ------
        InputError
            A file cannot be used.
        OptionError
            An option is impossible, or there is no baseline.

        Examples
        --------
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> asked = Question.of({"q": {"x": 1}}, {"q": ["x"]}, "best.run.gz", {"tolerance": 0.01, "measures": "RR"}, folder)
        >>> asked.policy.tolerance, asked.baselines == (str(folder / "best.run.gz"),)
        (0.01, True)
        """
        found = find_policy(root)
        baselines = found.baselines if baseline is None else _paths(baseline, root)
        if not baselines:
            raise OptionError(f'baseline: found none, expected ranking_gate(qrels, run, baseline="best.run.gz"), or one in [{TABLE}]')
        convention = Convention.of(options.get("convention", found.convention or "standard"))
        contracts = _contracts(from_root(options.get("contracts", found.contracts or ()), root))
        also = options.get("also", found.also)
        also = parse_measures(also) if also else ()
        gated = tuple(dict.fromkeys((*parse_measures(options.get("measures", found.measures or DEFAULT_MEASURE)), *also)))
        duplicates = convention.alignment.duplicates
        judged = to_qrels(from_root(qrels, root), duplicates="error" if duplicates == "twice" else duplicates)
        return cls(
            qrels=judged,
            run=to_run(from_root(run, root)),
            judgments=tuple(judged.paths),
            baselines=baselines,
            gated=gated,
            also=also,
            measures=measures_of_gate(gated, contracts),
            contracts=contracts,
            convention=convention,
            policy=found.policy(**{name: options[name] for name in PARTS if name in options}),
            weights=None if found.weights is None else read_traffic(found.weights, zeros="refused"),
            clusters=None if found.cluster is None else read_clusters(found.cluster),
            policy_file=found.where,
        )


def from_root(given: Any, root: Path) -> Any:
    """Paths as they open from here; others as they are. Where pytest was started at its root, messages name files as they were typed.

    Examples
    --------
    >>> from_root("a.run", Path.cwd()), from_root("a.run", Path("/project")) == Path("/project/a.run"), from_root({"q": ["x"]}, Path())
    ('a.run', True, {'q': ['x']})
    """
    if isinstance(given, list | tuple) and all(isinstance(one, str | PathLike) for one in given):
        return [from_root(one, root) for one in given]
    if not isinstance(given, str | PathLike) or Path.cwd() == root:
        return given
    return root / given


def _paths(baseline: Any, root: Path) -> tuple[str, ...]:
    listed = list(baseline) if isinstance(baseline, list | tuple) else [baseline]
    if wrong := [one for one in listed if not isinstance(one, str | PathLike)]:
        raise OptionError(f"baseline: found {type(wrong[0]).__name__}, expected a path, or a list of paths: a baseline is a file")
    return tuple(str(from_root(one, root)) for one in listed)


def _contracts(given: Any) -> tuple[Contract, ...]:
    return read_contracts(given, Notes()) if isinstance(given, str | PathLike) else tuple(given)
