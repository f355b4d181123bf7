"""A statistic: the z test of paired differences, also for `compare --test`."""

import json
from pathlib import Path

from tests.changes.checks import files, output, run_tests
from tests.changes.copies import Change, Edit

_FAMILY = "src/idealrank/stats/paired_tests.py"
_COMPARISON = "src/idealrank/stats/comparison.py"
_TESTS = "tests/core/test_stats_paired.py"
_PARITY = "tests/parity/test_stats_classical.py"
_REFERENCE = "docs/reference/stats.md"
_LISTED = "from idealrank.stats.paired_tests import {0} as {0}\n"

_FUNCTION = '''\
def paired_z(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    design: Design | None = None,
) -> PairedTest:
    """Test the mean difference b - a over the same queries by the normal distribution.

    Parameters
    ----------
    a, b, alternative, level, design
        As for `paired_t`.

    Returns
    -------
    PairedTest
        As from `paired_t`, which allows for the estimated variance.

    References
    ----------
    Laplace (1812), Théorie analytique des probabilités.

    Examples
    --------
    >>> found = paired_z([0.2, 0.5, 0.5, 0.9], [0.4, 0.5, 0.8, 0.9], alternative="greater")
    >>> round(found.p, 4), round(found.statistic, 4)
    (0.0478, 1.6667)
    """
    first, second = paired(a, b)
    sample = _PairedSample.of(first, second, design_of(design, first.shape[0]))
    means = student_mean(sample.differences, sample.design, sample.largest)
    statistic = in_units(means.mean, means.se)
    sides = 2 if alternative == "two-sided" else 1
    tail = sides * ndtr(-against_null(statistic, alternative))
    reach = float(ndtri(1 - (1 - level) / sides)) * means.se
    figures = _Figures(
        difference=means.mean,
        p=np.where(means.constant & (means.mean == 0), 1.0, tail),
        statistic=statistic,
        estimate=means.mean,
        low=means.mean - (reach if alternative != "less" else np.inf),
        high=means.mean + (reach if alternative != "greater" else np.inf),
    )
    facts = _Facts(
        about="mean difference",
        null=0.0,
        level=level,
        method="z",
        alternative=alternative,
        note="",
    )
    return _test(sample, figures, facts)


'''

_PEER = """\
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_z(alternative: str) -> None:
    a, b = values(50, KINDS[0])
    found = paired_z(a, b, alternative=alternative, level=0.9)
    error = (b - a).std(axis=0, ddof=1) / 50**0.5
    tail = {"two-sided": lambda z: 2 * peer.norm.sf(abs(z)), "greater": peer.norm.sf}
    expected = tail.get(alternative, peer.norm.cdf)((b - a).mean(axis=0) / error)
    assert found.p == pytest.approx(expected, rel=1e-9)


"""

_QUESTION = "| The same, by the conventional test | `paired_t` |"
_ANSWER = (
    "| The same, with a known variance | `paired_z` | `compare --test z` | is simple | use it with"
    " few queries |\n"
)

CHANGE = Change(
    row="a statistic",
    edits=(
        Edit.before(_FAMILY, "def t_tail(", _FUNCTION),
        Edit.before(
            "src/idealrank/stats/__init__.pyi",
            _LISTED.format("sign_test"),
            _LISTED.format("paired_z"),
        ),
        Edit.before(
            _REFERENCE,
            "| [`wilcoxon`](",
            "| [`paired_z`](../../src/idealrank/stats/paired_tests.py) | Test the mean difference "
            "b - a over the same queries by the normal distribution. |\n",
        ),
        Edit.after(
            _REFERENCE,
            ".. autofunction:: idealrank.stats.paired_t\n",
            ".. autofunction:: idealrank.stats.paired_z\n",
        ),
        Edit(
            _TESTS,
            "effect_sizes, paired_t, sign_test,",
            "effect_sizes, paired_t, paired_z, sign_test,",
        ),
        Edit(_TESTS, "TESTS = (paired_t, wilcoxon,", "TESTS = (paired_t, paired_z, wilcoxon,"),
        Edit.before(_PARITY, "    sign_test,\n", "    paired_z,\n"),
        Edit.before(
            _PARITY,
            '@pytest.mark.parametrize("alternative", ALTERNATIVES)\n'
            '@pytest.mark.parametrize("kind", KINDS)\n'
            '@pytest.mark.parametrize("n", [5, 50, 400])\ndef test_signs(',
            _PEER,
        ),
        Edit.before("docs/concepts/which-test.md", _QUESTION, _ANSWER),
        Edit(
            _COMPARISON,
            "SignedRanks, paired_t, sign_test,",
            "SignedRanks, paired_t, paired_z, sign_test,",
        ),
        Edit(_COMPARISON, 'Literal["permutation", "t",', 'Literal["permutation", "t", "z",'),
        Edit.after(
            _COMPARISON, '    "t": _classical(paired_t),\n', '    "z": _classical(paired_z),\n'
        ),
        Edit.after(
            "src/idealrank/reports/views/comparison/phrases.py",
            '    "t": NamesOfTest("paired t test", "Student\'s t"),\n',
            '    "z": NamesOfTest("paired z test", "the normal distribution"),\n',
        ),
    ),
    spared={"analysis/comparison/query_table.py": "it takes weights and clusters"},
)


ROBUST = ("robust", "--explain-method", "--test", "z", "--try", "ties")


def check(folder: Path) -> None:
    """Compare by the statistic, ask for it by its name, and run its tests."""
    runs = files(folder)
    assert "paired z test" in output("compare", *runs, "--test", "z")
    record = json.loads(output("compare", *runs, "--test", "z", "--format", "json"))
    assert record["method"]["test"] == "z"
    assert "the normal distribution" in output(*ROBUST, *runs)
    for command in ("compare", "robust"):
        assert "[permutation|t|z|" in output(command, "--help")
    run_tests("tests/core/test_stats_paired.py")
    run_tests("tests/parity/test_stats_classical.py", "-k", "test_z", "-m", "")
    run_tests("tests/docs/test_reference_tables.py")
