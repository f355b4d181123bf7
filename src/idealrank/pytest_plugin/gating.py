"""What a test asks of `ranking_gate`: evaluated, held to its baselines, and told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from idealrank.api import evaluate
from idealrank.errors import IdealrankError, OptionError
from idealrank.reports.gated_words import could_see, method, one_line, verdict
from idealrank.reports.workflow_log import harmless
from idealrank.verdict.gated import Gated
from idealrank.verdict.gating import gate


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a gate says to a test.

    Attributes
    ----------
    gated : Gated or None
        The whole of it; None where the gate could not be asked.
    said : str
        A line for the summary of the session.
    failure : str
        Why the test fails; empty where it does not.
    """

    gated: Gated | None = None
    said: str
    failure: str = ""


def ask(qrels: Any, run: Any, baseline: Any, options: Mapping[str, Any], *, root: Path) -> Answer:
    """Hold a run to its baselines.

    Parameters
    ----------
    qrels, run, baseline
        As the test gave them.
    options : mapping
        Measures, convention, contracts and the parts of the policy that the test gave.
    root : Path
        Where relative paths start.

    Examples
    --------
    >>> ask({"q": {"x": 1}}, "nowhere.run", "main.run", {}, root=Path.cwd()).failure
    'ranking gate: nowhere.run: found no such file'
    """
    try:
        gated = _gated(_from_root(qrels, root), _from_root(run, root), _from_root(baseline, root), dict(options))
    except IdealrankError as error:  # a sentence that says what to do; a traceback would hide it
        return Answer(said=harmless(f"not asked: {error}"), failure=harmless(f"ranking gate: {error}"))
    said = f"{verdict(gated)}. {could_see(gated)}"
    return Answer(gated=gated, said=said, failure="" if gated.passed else _report(gated))


def _gated(qrels: Any, run: Any, baseline: Any, options: dict[str, Any]) -> Gated:
    baselines = baseline if isinstance(baseline, list | tuple) else [baseline]
    if not baselines:
        raise OptionError("baseline: found none, expected a file, or a list of files")
    measures, convention = options.pop("measures", None), options.pop("convention", "standard")
    evaluations = [evaluate(qrels, one, measures, convention) for one in (run, *baselines)]
    return gate(evaluations[0], *evaluations[1:], **options)


def _from_root(given: Any, root: Path) -> Any:
    """Paths as they open from here; others as they are. Where pytest was started at its root, messages name files as they were typed."""
    if isinstance(given, list | tuple) and all(isinstance(one, str | PathLike) for one in given):
        return [_from_root(one, root) for one in given]
    if not isinstance(given, str | PathLike) or Path.cwd() == root:
        return given
    return root / given


def _report(gated: Gated) -> str:
    lines: Sequence[str] = [verdict(gated), "", *(f"  {one_line(reason, 200)}" for reason in gated.reasons), "", method(gated)]
    return harmless("\n".join(lines))
