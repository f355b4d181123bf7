"""What a test asks of `ranking_gate`: its own arguments, and for the rest the policy of the project."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from idealrank.api import to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import OptionError
from idealrank.io.contracts import read_contracts
from idealrank.io.notes import Notes
from idealrank.io.policies import TABLE, PolicyFile, find_policy
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure, parse_measures
from idealrank.verdict.gated import Contract, Policy
from idealrank.verdict.table import companions_of

DEFAULT_MEASURE = "nDCG@10"  # as `idealrank gate` has it: fewer tests see smaller drops


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
    gated, measures : tuple of Measure
        What is tested, and what is evaluated: contracts may have measures of their own, and shares of unjudged documents stand beside.
    contracts : tuple of Contract
        What single queries must reach.
    convention : Convention
        Behind every value.
    policy : Policy
        What is asked.
    policy_file : str
        Where some of that stands; empty where the project has no policy.
    """

    qrels: Qrels
    run: Run
    judgments: tuple[str, ...]
    baselines: tuple[str, ...]
    gated: tuple[Measure, ...]
    measures: tuple[Measure, ...]
    contracts: tuple[Contract, ...]
    convention: Convention
    policy: Policy
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
        gated = parse_measures(options.get("measures", found.measures or DEFAULT_MEASURE))
        of_contracts = (parse_measure(one.measure) for one in contracts if one.measure)
        unjudged = (one for measure in gated for one in companions_of(measure) if not one.judged_only)
        duplicates = convention.alignment.duplicates
        judged = to_qrels(from_root(qrels, root), duplicates="error" if duplicates == "twice" else duplicates)
        return cls(
            qrels=judged,
            run=to_run(from_root(run, root)),
            judgments=tuple(judged.paths),
            baselines=baselines,
            gated=gated,
            measures=tuple(dict.fromkeys((*gated, *of_contracts, *unjudged))),
            contracts=contracts,
            convention=convention,
            policy=_policy(options, found),
            policy_file=f"{found.path} [{TABLE}]" if found.path else "",
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


def _policy(options: Mapping[str, Any], found: PolicyFile) -> Policy:
    """What the test gave wins; where it chooses the rule, also over what belongs to the other rule."""
    of_file: dict[str, Any] = {"tolerance": found.tolerance, "strict": found.strict, "margin": found.margin, "alpha": found.alpha}
    if "strict" in options:
        of_file["tolerance" if options["strict"] else "margin"] = None
    parts = {name: options.get(name, value) for name, value in of_file.items()}
    return Policy(**{name: value for name, value in parts.items() if value is not None})
