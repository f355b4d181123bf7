"""A switch of the convention: the whole number of documents that a multiple of R becomes."""

from pathlib import Path

import idealrank
from tests.changes.checks import oracle, output, values
from tests.changes.copies import Change, Edit

_RULES = "src/idealrank/measures/rules.py"
_MEASURES = "src/idealrank/measures/precision.py"
_TWIN = "tests/twins/naive_precision.py"

_FIELD = """\
    multiples: Multiples = field(
        default="raised",
        metadata={
            "row": Switch(
                "multiples of the number of relevant documents",
                "multiples",
                "multiples",
                {
                    "raised": ("cut off after adding 0.9", "raised"),
                    "cut": ("cut to whole documents", "cut"),
                },
                "a query whose multiple is no whole number",
                usual="raised",
            )
        },
    )

"""

CHANGE = Change(
    row="a switch of the convention",
    edits=(
        Edit.after(
            _RULES,
            'RecallPoints: TypeAlias = Literal["rounded", "truncated"]\n',
            'Multiples: TypeAlias = Literal["raised", "cut"]\n',
        ),
        Edit.before(
            _RULES,
            '    def __post_init__(self) -> None:\n        object.__setattr__(self, "gain"',
            _FIELD,
        ),
        Edit(
            _MEASURES,
            "import RecallPoints, checked",
            "import Multiples, RecallPoints, checked",
        ),
        Edit.after(
            _MEASURES,
            "    mult: float | None = None\n",
            "    multiples: Multiples | None = None\n",
        ),
        Edit.after(
            _MEASURES,
            '    name: ClassVar[str] = "Rprec"\n',
            '    from_convention: ClassVar[tuple[str, ...]] = ("no_relevant", "multiples")\n',
        ),
        Edit.before(
            _MEASURES,
            "        if self.mult is not None:\n",
            '        checked("multiples", self.multiples, Multiples)\n',
        ),
        Edit(
            _MEASURES,
            "multiple * relevant.total + 0.9)",
            'multiple * relevant.total + (0.0 if self.multiples == "cut" else 0.9))',
        ),
        Edit(
            _TWIN,
            'float(asked.options.get("mult", "1")) * total + 0.9)',
            'float(asked.options.get("mult", "1")) * total'
            ' + {"raised": 0.9, "cut": 0}[asked.options["multiples"]])',
        ),
    ),
    spared={"data/alignment.py": "the switch decides how a measure computes"},
)


def check(folder: Path) -> None:
    """Set the switch in a convention, see it change a value, and see it shown."""
    cut = "standard,multiples=cut"
    assert idealrank.Convention.of(cut).switches()["multiples"] == "cut"
    measure = "Rprec(mult=0.9)"
    assert values(measure, "standard") != values(measure, cut)
    for convention in ("standard", cut):
        assert values(measure, convention) == oracle(measure, convention)
    assert "multiples" in output("conventions", cut)
    assert "multiples" in output("conventions", "standard")
