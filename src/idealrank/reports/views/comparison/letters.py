"""Letters of runs in league tables, as papers have them: each run has one, and a mean carries the letters of the runs it is better than."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from idealrank.analysis.comparison import Comparison

Letters: TypeAlias = Literal["better", "groups"]

_LONG_ROW = 4  # runs in a row from which only the first and the last are written


def letter_of(place: int) -> str:
    """The letter of a run by its place in the table; after z follow aa, ab, and so on.

    Examples
    --------
    >>> [letter_of(place) for place in (0, 25, 26, 27, 51, 52, 701, 702)]
    ['a', 'z', 'aa', 'ab', 'az', 'ba', 'zz', 'aaa']
    """
    text, left = "", place + 1
    while left:
        left, digit = divmod(left - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def listed(places: Iterable[int], runs: int) -> str:
    """Letters of several runs; of four and more in a row the ends, with commas where letters alone would be read otherwise.

    Parameters
    ----------
    places : iterable of int
        Of the runs in the table.
    runs : int
        In the table: with more than 26 some have two letters.

    Examples
    --------
    >>> listed([1, 2, 4], 7), listed([1, 3, 4, 5, 6], 7), listed([25, 26], 30), listed([], 7)
    ('bce', 'b,d-g', 'z,aa', '')
    """
    rows: list[list[int]] = []
    for place in sorted(places):
        if rows and place == rows[-1][-1] + 1:
            rows[-1].append(place)
        else:
            rows.append([place])
    long = [len(row) >= _LONG_ROW for row in rows]
    texts = [
        [f"{letter_of(row[0])}-{letter_of(row[-1])}"] if is_long else [*map(letter_of, row)]
        for row, is_long in zip(rows, long, strict=True)
    ]
    return ("," if any(long) or runs > 26 else "").join(text for row in texts for text in row)


def better_letters(comparison: Comparison, measure: str, order: Sequence[str]) -> dict[str, str]:
    """By run: letters of the runs that it is significantly better than by this measure, after correction.

    Parameters
    ----------
    comparison : Comparison
        Of every two runs.
    measure : str
        Text of one of its measures.
    order : sequence of str
        Runs as the table has them: the first is a, the second b.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> better_letters(ir.compare(bad, good, bad), "RR", ["run (2)", "run", "run (3)"])
    {'run (2)': 'bc', 'run': '', 'run (3)': ''}
    """
    place = {run: number for number, run in enumerate(order)}
    beaten = comparison.groups(measure).better_than
    return {run: listed((place[other] for other in beaten[run]), len(order)) for run in order}


def letters_note(comparison: Comparison, letters: Letters) -> str:
    """Explain the letters of a league table.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> letters_note(ir.compare(one, one), "groups")
    'runs that share a letter cannot be told apart: their corrected p is above 0.05'
    """
    alpha = f"{1 - comparison.method.level:g}"
    if letters == "groups":
        return f"runs that share a letter cannot be told apart: their corrected p is above {alpha}"
    return f"letters beside a mean: runs that it is significantly better than (corrected p at most {alpha})"
