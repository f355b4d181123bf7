"""What a gate is asked: what was typed, and for the rest the policy of the project."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank.analysis.gate import Policy
from idealrank.analysis.gate.outcome import WhenUnjudged
from idealrank.app import options
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.io.gate_files.policies import DEFAULT_MEASURE, PARTS, PolicyFile, find_policy
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures


@dataclass(frozen=True, kw_only=True)
class Typed:
    """What was typed; None, or nothing, where the project's policy decides.

    Examples
    --------
    >>> Typed(measure_texts=("AP",)).measure_texts
    ('AP',)
    """

    measure_texts: Sequence[str] = ()
    also_texts: Sequence[str] = ()
    baselines: Sequence[str] = ()
    tolerance: float | None = None
    strict: bool | None = None
    margin: float | None = None
    alpha: float | None = None
    when_unjudged: WhenUnjudged | None = None
    contracts: str | None = None
    weights: str | None = None
    cluster: str | None = None
    convention_text: str | None = None

    @property
    def has_rule(self) -> bool:
        """Whether a part of the policy was typed."""
        return any(part is not None for part in self.rule.values())

    @property
    def rule(self) -> dict[str, Any]:
        """The parts of the policy, None where the file decides."""
        return {name: getattr(self, name) for name in PARTS}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked of a run.

    Attributes
    ----------
    policy : Policy
        The rule.
    measures : tuple of Measure
        Those that are tested, the primary one first; those of `also` stand at the end unless they are named before.
    also : tuple of Measure
        Companions that may close the gate.
    convention : Convention
        Behind every value.
    baselines : tuple of str
        Paths.
    contracts_path, weights_path, cluster_path : str or None
        The files of contracts, weights and clusters.
    policy_file : str
        Where the policy stands; empty where the project has none.

    Examples
    --------
    >>> asked = settled(Typed(baselines=["best.run"], tolerance=0.01), PolicyFile(path="pyproject.toml", alpha=0.1))
    >>> asked.policy.tolerance, asked.policy.alpha, [str(one) for one in asked.measures], asked.policy_file
    (0.01, 0.1, ['nDCG@10'], 'pyproject.toml [tool.idealrank.gate]')
    """

    policy: Policy
    measures: tuple[Measure, ...]
    also: tuple[Measure, ...]
    convention: Convention
    baselines: tuple[str, ...]
    contracts_path: str | None
    weights_path: str | None
    cluster_path: str | None
    policy_file: str


def asked_here(typed: Typed) -> Asked:
    """What was typed, and for the rest the policy of the project around the working directory.

    Raises
    ------
    InputError
        The policy file is wrong.
    OptionError
        An option is wrong, or there is no baseline.
    """
    return settled(typed, find_policy(Path.cwd()))


def settled(typed: Typed, found: PolicyFile) -> Asked:
    """What was typed wins over the file; a typed ``--strict`` or ``--no-strict`` also over what belongs to the other rule.

    Raises
    ------
    OptionError
        An option is wrong, or there is no baseline; with the file where it stands there.
    """
    baselines = tuple(typed.baselines) or found.baselines
    if not baselines:
        raise OptionError(
            "found no baseline, expected --baseline FILE: a run, or a file that --update-baseline made, as in "
            "idealrank gate QRELS RUN --baseline best.run.gz --update-baseline, which makes it of the first run"
        )
    texts = options.measure_parts(typed.measure_texts, DEFAULT_MEASURE)
    with _said_in("" if texts else found.where):
        named = parse_measures(texts or options.measure_parts(found.measures, DEFAULT_MEASURE, where=found.where) or [DEFAULT_MEASURE])
    also_texts = options.measure_parts(typed.also_texts, DEFAULT_MEASURE, where="--also")
    with _said_in("" if also_texts else found.where):
        listed = also_texts or options.measure_parts(found.also, DEFAULT_MEASURE, where=found.where)
        also = parse_measures(listed) if listed else ()
    with _said_in("" if typed.convention_text else found.where):
        convention = options.parse_convention(typed.convention_text or found.convention or "standard")
    with _said_in("" if typed.has_rule else found.where):
        policy = found.policy(**typed.rule)
    return Asked(
        policy=policy,
        measures=tuple(dict.fromkeys((*named, *also))),
        also=also,
        convention=convention,
        baselines=baselines,
        contracts_path=typed.contracts or found.contracts,
        weights_path=typed.weights or found.weights,
        cluster_path=typed.cluster or found.cluster,
        policy_file=found.where,
    )


@contextmanager
def _said_in(where: str) -> Iterator[None]:
    """Errors of options with the place where they stand, which is empty for the command line."""
    try:
        yield
    except OptionError as error:
        if not where or where in str(error):
            raise
        raise OptionError(f"{where}: {error}") from None
