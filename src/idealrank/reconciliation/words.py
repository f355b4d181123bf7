"""Switches in words: what each of their values does, and which data show it. One row per switch of a convention."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SwitchWords:
    """A switch in words.

    Attributes
    ----------
    noun : str
        The switch as a cause: "so much is the ties".
    lead : str
        Opens a difference: "ties" in "ties in input order instead of by document id".
    values : dict
        What follows the lead, by value; a value that is not listed speaks for itself.
    shown_by : str
        Data on which the values of this switch can give different numbers.
    """

    noun: str
    lead: str
    values: dict[str, str]
    shown_by: str


WORDS: dict[str, SwitchWords] = {
    "ties": SwitchWords(
        "ties", "ties",
        {
            "docid": "by document id", "docid-ascending": "by document id ascending", "input": "in input order",
            "expected": "averaged over all orders", "best": "in the best order", "worst": "in the worst order",
        },
        "documents of different grades with equal scores",
    ),
    "duplicates": SwitchWords(
        "documents listed twice", "documents listed twice:",
        {"error": "refused", "first": "the first kept", "last": "the last kept", "best": "the best score kept", "twice": "both counted"},
        "a document listed twice for a query",
    ),
    "score": SwitchWords("precision of scores", "scores compared as", {}, "scores that differ only after the seventh digit"),
    "unjudged": SwitchWords(
        "unjudged documents", "unjudged documents", {"not-relevant": "not relevant", "skipped": "skipped", "error": "refused"},
        "a returned document without a judgment above a judged one",
    ),
    "grades": SwitchWords(
        "fractional grades", "grades", {"given": "as they are", "truncated": "cut to whole numbers", "minimum": "below 1 as 0"},
        "a grade that is not a whole number",
    ),
    "negative": SwitchWords(
        "negative grades", "negative grades",
        {"kept": "kept", "zero": "as 0", "removed": "removed with their documents", "padding": "-1 removed as padding", "error": "refused"},
        "a negative grade",
    ),
    "missing": SwitchWords(
        "queries missing from the run", "queries missing from the run", {"zero": "as 0", "left-out": "left out", "error": "refused"},
        "a judged query that the run does not answer",
    ),
    "without_judgments": SwitchWords(
        "queries without judgments", "queries without judgments", {"left-out": "left out", "evaluated": "evaluated"},
        "a query of the run without judgments",
    ),
    "gain": SwitchWords("the gain", "gain", {}, "a relevant document with a grade other than 1"),
    "discount": SwitchWords("the discount", "discount", {"zipf(1)": "1/rank"}, "relevant documents at different ranks below the first"),
    "ideal": SwitchWords(
        "the ideal", "ideal of",
        {
            "judged": "all judged", "returned": "the returned documents",
            "hits": "all judged, cut at the number returned", "uncut": "all judged, never cut",
        },
        "a relevant document that the run does not return, or more relevant documents than the cutoff",
    ),
    "no_relevant": SwitchWords(
        "queries without relevant documents", "queries without relevant documents",
        {"zero": "as 0", "one": "as 1", "nan": "as NaN", "left-out": "left out", "quotient": "as 0 where the ideal is exactly 0"},
        "a query without relevant documents",
    ),
    "rounding": SwitchWords(
        "rounding", "rounding",
        {
            "none": "none", "round-2": "each query to 2 decimals", "round-5": "each query to 5 decimals",
            "floor-2": "every term down to 2 decimals",
        },
        "any query whose value has more decimals",
    ),
    "cutoff": SwitchWords("the default cutoff", "default cutoff", {}, "a list longer than the default cutoff"),
    "recall_points": SwitchWords(
        "recall points", "recall points", {"rounded": "rounded", "truncated": "cut off after adding 0.9"},
        "a query whose number of relevant documents is no multiple of 10",
    ),
}  # fmt: skip


def value_words(switch: str, value: str) -> str:
    """What one value of a switch does.

    Examples
    --------
    >>> value_words("ties", "input"), value_words("gain", "exp2")
    ('in input order', 'exp2')
    """
    return WORDS[switch].values.get(value, value)


def difference_words(switch: str, here: str, there: str) -> str:
    """A switch that stands at `here`, told against `there`.

    Examples
    --------
    >>> difference_words("ideal", "returned", "judged")
    'ideal of the returned documents instead of all judged'
    """
    return f"{WORDS[switch].lead} {value_words(switch, here)} instead of {value_words(switch, there)}"
