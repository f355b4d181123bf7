"""Options that several commands share, and what their texts mean."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from idealrank.app import console
from idealrank.conventions import PRESETS, SWITCHES, Convention
from idealrank.errors import OptionError
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures

DEFAULT_MEASURES = ("nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100")

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

measures: Decorator = click.option(
    "-m", "--measure", "measure_texts", metavar="MEASURE", multiple=True,
    help=f"nDCG@10, AP, nDCG(gain=exp2)@10, ndcg_cut_10, ...; repeat it, or put commas between.  [default: {','.join(DEFAULT_MEASURES)}]",
)  # fmt: skip
convention: Decorator = click.option(
    "--convention", "convention_text", metavar="NAME[,SWITCH=VALUE...]", default="standard", show_default=True,
    help="How the tool you compare with computes; `idealrank conventions` lists them.",
)  # fmt: skip
threads: Decorator = click.option(
    "--threads", metavar="N", type=click.IntRange(min=0), default=0, help="0 uses all cores; the numbers are the same for any N."
)  # fmt: skip


def parse_measure_texts(texts: Sequence[str], default: Sequence[str] = DEFAULT_MEASURES) -> tuple[Measure, ...]:
    """Measures of all ``-m`` options; commas outside brackets separate.

    Examples
    --------
    >>> [str(measure) for measure in parse_measure_texts(["nDCG(gain=exp2,ideal=returned)@10,AP"])]
    ['nDCG(gain=exp2,ideal=returned)@10', 'AP']
    """
    parts = [part.strip() for text in texts for part in split_outside_brackets(text)]
    return parse_measures([part for part in parts if part] or default)


def split_outside_brackets(text: str) -> list[str]:
    """Split at commas that stand in no bracket.

    Examples
    --------
    >>> split_outside_brackets("AP,nDCG(gain={0:0,1:2})")
    ['AP', 'nDCG(gain={0:0,1:2})']
    """
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def parse_convention(text: str) -> Convention:
    """A convention from its text; what is nearly right is suggested.

    Raises
    ------
    OptionError
        The preset, a switch or a value is unknown.

    Examples
    --------
    >>> parse_convention("lightgbm,ties=expected").alignment.ties
    'expected'
    """
    name, *changes = split_outside_brackets(text)
    _suggest("convention", name.strip().lower(), PRESETS)
    for change in changes:
        _suggest("switch", change.partition("=")[0].strip().replace("-", "_"), SWITCHES)
    return Convention.of(text)


def _suggest(kind: str, name: str, known: Sequence[str] | dict[str, Any]) -> None:
    if name not in known:
        near = console.nearest(name, known)
        raise OptionError(f"unknown {kind} {name!r}" + (f", did you mean {near}?" if near else "") + f" Expected one of {', '.join(known)}")
