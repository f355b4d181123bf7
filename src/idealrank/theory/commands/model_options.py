"""Shared options of `idealrank theory`: models, discounts, cutoffs and list lengths."""

import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click

from idealrank.cli.options import Decorator
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import Cutoff, make_cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure_texts import split_outside_brackets
from idealrank.theory.expressions import parse_model
from idealrank.theory.relevance import RelevanceModel

Pair = tuple[str, Cutoff | None]

_WHOLE = ("all", "n")
_LONGEST = 10**18  # documents in a list
_MOST_LETTERS = 40  # of a length as typed: more digits are beyond every list
_SIZE = re.compile(
    r"(?P<mantissa>[0-9]+(?:_[0-9]+)*)(?:(?:e\+?|\*?10\^)(?P<power>[0-9]{1,2}))?|10\^(?P<alone>[0-9]{1,2})"
)

gain: Decorator = click.option(
    "--gain", default="linear", show_default=True, help="Gain of a grade: linear, exp2, ..."
)
seed: Decorator = click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Random seed; the same seed gives the same numbers.",
)


def discounts(default: Sequence[str]) -> Decorator:
    """The option ``--discount``."""
    return click.option(
        "--discount",
        "discount_texts",
        metavar="D",
        multiple=True,
        help=f"log2, zipf(0.5), geometric(2), jarvelin(2), linear, ...; repeat, or separate with "
        f"commas.  [default: {','.join(default)}]",
    )


def cutoffs(default: Sequence[str]) -> Decorator:
    """The option ``--cutoff``."""
    return click.option(
        "--cutoff",
        "cutoff_texts",
        metavar="K",
        multiple=True,
        help=f"all, 10, 0.2n, sqrt(n), n^0.3, ...; repeat, or separate with commas.  [default: "
        f"{','.join(default)}]",
    )


def pairs(
    discount_texts: Sequence[str],
    cutoff_texts: Sequence[str],
    default: tuple[Sequence[str], Sequence[str]],
) -> list[Pair]:
    """Every discount with every cutoff, as the library takes them."""
    default_discounts, default_cutoffs = default
    discount_names = [
        make_discount(text).text
        for text in _values(discount_texts, "--discount", default_discounts)
    ]
    parsed_cutoffs = [
        None if text.lower() in _WHOLE else make_cutoff(text)
        for text in _values(cutoff_texts, "--cutoff", default_cutoffs)
    ]
    return list(
        dict.fromkeys(
            (discount, cutoff) for discount in discount_names for cutoff in parsed_cutoffs
        )
    )


def _values(texts: Sequence[str], option: str, default: Sequence[str]) -> list[str]:
    split = chain.from_iterable(split_outside_brackets(text) for text in texts)
    values = [value.strip() for value in split if value.strip()]
    if texts and not values:  # such as an unset variable of a script
        raise OptionError(
            f"{option}: found no value, expected one such as {default[-1]}; the default is "
            f"{','.join(default)}"
        )
    return values or list(default)


def measure_text(pair: Pair) -> str:
    """The measure of a discount and a cutoff, as other commands take it."""
    discount, cutoff = pair
    return str(NDCG(discount=None if discount == "log2" else discount, cutoff=cutoff))


def list_sizes(texts: Sequence[str], option: str) -> list[int]:
    """List lengths, rising: ``100``, ``10_000``, ``1e6``, ``10^9``."""
    sizes = set()
    split = chain.from_iterable(text.split(",") for text in texts)
    lengths = [length.strip().lower() for length in split if length.strip()]
    if texts and not lengths:  # such as an unset variable of a script
        raise OptionError(f"{option}: found no value, expected list lengths, as in 100,10_000,1e6")
    for length in lengths:
        number = _SIZE.fullmatch(length) if len(length) <= _MOST_LETTERS else None
        if number is None:
            size = 0  # which is no length either
        elif number["alone"]:
            size = 10 ** int(number["alone"])
        else:
            size = int(number["mantissa"]) * 10 ** int(number["power"] or 0)
        if not 1 <= size <= _LONGEST:
            raise OptionError(
                f"{option} {length}: expected list lengths from 1 to 10^18, as in 100,10_000,1e6"
            )
        sizes.add(size)
    return sorted(sizes)


def model_of(texts: Sequence[str], option: str, gain_text: str) -> RelevanceModel:
    """A model from the texts of one option; a file of points is read."""
    try:
        typed = [_points_of_file(text) if text.lower().endswith(".csv") else text for text in texts]
        return parse_model(typed, gain=gain_text)
    except (OptionError, InputError) as error:
        message = str(error)
        if message.startswith("ybar "):  # the option takes the place of the name
            message = f"{option} {message.removeprefix('ybar ')}"
        else:
            message = f"{option}: {message}"
        raise type(error)(message) from None


def _points_of_file(path: str) -> str:
    """Return the points of a file as they are typed, ``s:probability,...``. Each line has s and the
    probability; a line of words above them is a heading.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # spreadsheets write a byte-order mark
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}"
        ) from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    rows = [line.replace(" ", "").split(",") for line in lines]
    if rows and not _is_number(rows[0][0]):
        del rows[0]
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise InputError(
                f"{path}: found {len(row)} values in row {number + 1} of the points, expected 2: "
                "s,probability"
            )
    return ",".join(f"{s}:{probability}" for s, probability in rows)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
