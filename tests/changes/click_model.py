"""A click model: users examine every result, so that clicks are independent."""

from pathlib import Path

from idealrank import clicks
from tests.changes.checks import output, run_tests
from tests.changes.copies import Change, Edit

_MODELS = "src/idealrank/clicks/cascade_models.py"
_STUB = "src/idealrank/clicks/__init__.pyi"
_CHOICES = "src/idealrank/clicks/commands/log_options.py"
_FITS = "src/idealrank/clicks/partitioned_fits.py"
_LISTED = "from idealrank.clicks.cascade_models import {0} as {0}\n"

_CLASS = '''\
@dataclass(frozen=True)
class DCTR:
    """Click rates of documents: users examine every result.

    References
    ----------
    Craswell, Zoeter, Taylor and Ramsey (2008), An experimental comparison of click position-bias
    models, WSDM.

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 2, [["a", "b"], ["a", "b"]], [[1, 0], [1, 1]])
    >>> DCTR().fit(log).attractiveness
    {'q': {'a': 1.0, 'b': 0.5}}
    """

    def fit(self, sessions: Sessions) -> FittedCascade:
        """Estimate attractiveness: clicks of impressions."""
        check_sessions(sessions)
        return _fitted(
            sessions,
            sessions.pair >= 0,
            np.zeros(len(sessions.documents)),
            1.0,
            np.ones(sessions.n_ranks),
        )


'''

CHANGE = Change(
    row="a click model",
    edits=(
        Edit.before(_MODELS, "@dataclass(frozen=True)\nclass SDBN:", _CLASS),
        Edit.after(_STUB, _LISTED.format("DCM"), _LISTED.format("DCTR")),
        Edit(_CHOICES, "import DBN, DCM, PBM,", "import DBN, DCM, DCTR, PBM,"),
        Edit.after(_CHOICES, '    "dcm": DCM,\n', '    "dctr": DCTR,\n'),
        Edit(_FITS, "import DBN, DCM, SDBN,", "import DBN, DCM, DCTR, SDBN,"),
        Edit(_FITS, "= Cascade | DCM | SDBN", "= Cascade | DCM | DCTR | SDBN"),
        Edit(_FITS, "(model, Cascade | SDBN)", "(model, Cascade | DCTR | SDBN)"),
        Edit(_FITS, "expected Cascade, DCM, SDBN", "expected Cascade, DCM, DCTR, SDBN"),
        Edit(
            "tests/clicks/test_fit_in_parts.py",
            "import DBN, DCM, PBM,",
            "import DBN, DCM, DCTR, PBM,",
        ),
        Edit(
            "tests/clicks/test_fit_in_parts.py",
            "MODELS = [Cascade(), DCM(),",
            "MODELS = [Cascade(), DCM(), DCTR(),",
        ),
        Edit.after("tests/clicks/test_model_intervals.py", "    DCM,\n", "    DCTR,\n"),
        Edit(
            "tests/clicks/test_model_intervals.py",
            "UBM(30), Cascade(), DCM(), SDBN()",
            "UBM(30), Cascade(), DCM(), DCTR(), SDBN()",
        ),
        Edit.after("tests/clicks/test_click_models.py", "    DCM,\n", "    DCTR,\n"),
        Edit(
            "tests/clicks/test_click_models.py",
            "[PBM(3), Cascade(), DCM(), SDBN()]",
            "[PBM(3), Cascade(), DCM(), DCTR(), SDBN()]",
        ),
        Edit.after("tests/clicks/test_click_arguments.py", "    DCM,\n", "    DCTR,\n"),
        Edit(
            "tests/clicks/test_click_arguments.py",
            "for model in (Cascade, DCM, SDBN)}",
            "for model in (Cascade, DCM, DCTR, SDBN)}",
        ),
    ),
    spared={
        "tests/twins/naive_clicks.py": "it is not fitted in steps",
        "clicks/model_intervals.py": "its parameters are shares of each pair's impressions",
        "experiments/click_coverage.py": "as before",
        "docs/clicks/click-intervals.md": "as before",
    },
)

_LOG = "session,query,document,rank,click\n" + "".join(
    f"s{session},q,{document},{rank},{int((session + rank) % 3 == 0)}\n"
    for session in range(30)
    for rank, document in enumerate("abc", 1)
)


def check(folder: Path) -> None:
    """Fit the model by both commands and by its name, and run the tests of click models."""
    log = folder / "log.csv"
    log.write_text(_LOG, "utf-8")
    assert output("clicks", "grade", str(log), "--model", "dctr").split()[1] == "clicks-dctr"
    page = folder / "clicks.html"
    output("clicks", "report", str(log), "--model", "dctr", "-o", str(page))
    assert "dctr" in page.read_text("utf-8")
    for command in ("grade", "report"):
        assert "dctr" in output("clicks", command, "--help")
    sessions = clicks.Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[1], [0], [1], [1]])
    assert clicks.DCTR().fit(sessions).attractiveness == {"q": {"a": 0.75}}
    run_tests("tests/clicks/test_fit_in_parts.py", "tests/clicks/test_click_arguments.py")
    run_tests("tests/clicks/test_model_intervals.py", "tests/clicks/test_click_models.py")
