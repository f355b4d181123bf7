"""What a gate is asked on the command line: what was typed, and for the rest the policy of the project."""

from pathlib import Path
from typing import Any

from idealrank.api.gate import Asked, settled
from idealrank.cli import options
from idealrank.io.gate_files.gate_policies import DEFAULT_MEASURE, PolicyFile, find_policy
from idealrank.measures.parse import parse_measures

_NO_BASELINE = (
    "found no baseline, expected --baseline FILE: a run, or a file that --update-baseline made, as in "
    "idealrank gate QRELS RUN --baseline best.run.gz --update-baseline, which makes it of the first run"
)
_OPTIONS = {"measure_texts": ("measures", "-m"), "also_texts": ("also", "--also")}


def asked_here(**typed: Any) -> Asked:
    """Settle what was typed with the policy of the project around the working directory.

    Raises
    ------
    InputError
        The policy file is wrong.
    OptionError
        An option is wrong, or there is no baseline.
    """
    return asked_of(find_policy(Path.cwd()), **typed)


def asked_of(found: PolicyFile, **typed: Any) -> Asked:
    """Settle what was typed with a policy; None, an empty text or nothing where the policy decides.

    Raises
    ------
    OptionError
        An option is wrong, or there is no baseline; with the file where it stands there.

    Examples
    --------
    >>> asked = asked_of(PolicyFile(path="pyproject.toml", alpha=0.1), baselines=("best.run",), tolerance=0.01, measure_texts=["AP,RR"])
    >>> asked.policy.tolerance, asked.policy.alpha, [str(one) for one in asked.measures]
    (0.01, 0.1, ['AP', 'RR'])
    """
    given = {name: value for name, value in typed.items() if value is not None and value not in ((), [], "")}
    for option, (name, where) in _OPTIONS.items():
        if texts := given.pop(option, ()):
            given[name] = parse_measures(options.measure_parts(texts, DEFAULT_MEASURE, where=where))
    if "convention_text" in given:
        given["convention"] = given.pop("convention_text")
    return settled(given, found, _NO_BASELINE, measures_in=_measures_in, convention_of=options.parse_convention)


def _measures_in(texts: Any, where: str) -> list[str]:
    return options.measure_parts(texts, DEFAULT_MEASURE, where=where)
