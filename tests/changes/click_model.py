"""A click model: users examine every result, so that clicks are independent."""

from pathlib import Path

from idealrank import clicks
from tests.changes.checks import output, run_tests
from tests.changes.copies import Change, Edit

_MODELS = "src/idealrank/clicks/cascade_models.py"
_STUB = "src/idealrank/clicks/__init__.pyi"
_CHOICES = "src/idealrank/clicks/commands/log_options.py"
_FITS = "src/idealrank/clicks/partitioned_fits.py"
_COUNTED = "src/idealrank/clicks/model_intervals.py"
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
            examined=sessions.pair >= 0,
            satisfaction=np.zeros(len(sessions.documents)),
            after_click=np.ones(sessions.n_ranks),
        )


'''

# Lists have an item a line: what opens one is there whatever models it has.
_IMPORTED, _NAME = "from idealrank.clicks import (\n", "    DCTR,\n"
_FITTED = "tests/clicks/test_fit_in_parts.py"
_INTERVALS = "tests/clicks/test_model_intervals.py"
_MODELLED = "tests/clicks/test_click_models.py"
_ARGUMENTS = "tests/clicks/test_click_arguments.py"

CHANGE = Change(
    row="a click model",
    edits=(
        Edit.before(_MODELS, "@dataclass(frozen=True)\nclass SDBN:", _CLASS),
        Edit.after(_STUB, _LISTED.format("DCM"), _LISTED.format("DCTR")),
        Edit.after(_CHOICES, _IMPORTED, _NAME),
        Edit.after(
            _CHOICES, "\nMODELS: Mapping[str, type[ClickModel]] = {\n", '    "dctr": DCTR,\n'
        ),
        Edit.after(_FITS, "from idealrank.clicks.cascade_models import (\n", _NAME),
        Edit.after(_FITS, "\nClickModel: TypeAlias = ", "DCTR | "),
        Edit.after(_FITS, "isinstance(model, Cascade", " | DCTR"),
        Edit.after(_FITS, "expected Cascade", ", DCTR"),
        Edit.after(_COUNTED, "from idealrank.clicks.cascade_models import (\n", _NAME),
        Edit.after(_COUNTED, "\n_COUNTED = (\n", _NAME),
        Edit.after(_FITTED, _IMPORTED, _NAME),
        Edit.after(_FITTED, "\nMODELS = [\n", "    DCTR(),\n"),
        Edit.after(_INTERVALS, _IMPORTED, _NAME),
        Edit.after(_INTERVALS, "    for model in (\n        PBM(30),\n", "        DCTR(),\n"),
        Edit.after(_MODELLED, _IMPORTED, _NAME),
        Edit.after(_MODELLED, "    [\n        PBM(3),\n", "        DCTR(),\n"),
        Edit.after(_ARGUMENTS, _IMPORTED, _NAME),
        Edit.after(
            _ARGUMENTS, "        for model in (\n            Cascade,\n", "            DCTR,\n"
        ),
    ),
    spared={
        "tests/twins/naive_clicks.py": "it is not fitted in steps",
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
