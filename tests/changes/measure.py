"""A measure: precision with one more rank in its denominator."""

from pathlib import Path

from tests.changes.checks import files, oracle, output, values
from tests.changes.copies import Change, Edit

_FILE = "src/idealrank/measures/precision.py"
_TWIN = "tests/twins/naive_precision.py"

_CLASS = '''\
class ShrunkP(NeedsRelevant):
    """Precision that is shrunk towards 0: the number of relevant documents in the first k ranks,
    over k + 1.

    ``ShrunkP@k = |relevant in the top k| / (k + 1)``, in [0, 1].

    Parameters
    ----------
    cutoff : int or str
        k; must be given.
    rel, no_relevant
        As for `Success`.

    References
    ----------
    Defined here.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [ir.ShrunkP(cutoff=1)]).mean()["ShrunkP@1"]
    0.5
    """

    name: ClassVar[str] = "ShrunkP"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "required"
    summary: ClassVar[str] = "precision at k that is shrunk towards 0"
    use: ClassVar[str] = "Choose it to see a measure that is added."
    proof: ClassVar[str] = "the definition"

    def compute(self, judged: Judged) -> PerQuery:
        """Shrunk precision of every query."""
        depth = resolve_cutoff(self.cutoff, judged.lengths)
        return self.filled(self.found(judged) / (depth + 1), judged.relevant(self.threshold).total)


'''

_ORACLE = '''\
def shrunk(asked: Asked, order: list[Entry], query: Query) -> float | None:
    """Relevant documents in the top k, over k + 1."""
    if not n_relevant(asked, query):
        return undefined(asked)
    return len(relevant_ranks(asked, order, query)) / (asked.limit(query.length) + 1)


'''

_LISTED = "from idealrank.measures.precision import {0} as {0}  # {0}\n"

CHANGE = Change(
    row="a measure",
    edits=(
        Edit.before(_FILE, "class RelativeP(NeedsRelevant):", _CLASS),
        Edit.after(
            "src/idealrank/__init__.pyi",
            _LISTED.format("Success"),
            _LISTED.format("ShrunkP"),
        ),
        Edit.before(_TWIN, "def iprec(", _ORACLE),
        Edit.after(_TWIN, '    "RelP": relative,\n', '    "ShrunkP": shrunk,\n'),
    ),
    spared={"CONTRIBUTING.md": "has the steps"},
)


def check(folder: Path) -> None:
    """Evaluate the measure by its name, see it listed and explained, and ask its oracle."""
    qrels, run, _ = files(folder)
    assert "0.3333" in output("evaluate", qrels, run, "-m", "ShrunkP@2")
    assert "ShrunkP" in output("measures")
    assert "|relevant in the top k| / (k + 1)" in output("measures", "ShrunkP@2")
    assert oracle("ShrunkP@2", "standard") == values("ShrunkP@2", "standard")
