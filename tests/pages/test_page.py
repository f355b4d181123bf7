"""What anyone can read on a page without scripts, and that no name or id gets out of its place."""

import base64
import hashlib
import html.parser
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import RunMean
from idealrank.errors import MissingExtraError, install_command
from idealrank.pages.figures import drawings
from idealrank.pages.figures.mean_intervals import curve_words
from idealrank.pages.page.html import page_html
from idealrank.pages.page.tables import changes, curves_grid
from idealrank.reports.subject import CutoffCurve, Listing, Made, QueryLists, Subject
from idealrank.reports.views.gate.gate import gate_text

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "-->",
    "]]>",
    "\"'><img src=x onerror=alert(1)>",
    "a\u202eb\u200fc",
    "line\u2028end\u2029",
    "bad\udcff\udc80",
    "nul\x00\x1b[31m",
    "{{ 7 * 7 }}{% raw %}",
    "&amp;&lt;",
]


class Reader(html.parser.HTMLParser):
    """Elements of a page as a reader of its own sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        self.words.append(" " if tag in {"td", "th", "dd"} else "")

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))


def two_runs(names=("bm25", "new"), n=12) -> Subject:
    qrels = {f"q{i}": {"x": 1} for i in range(n)}
    a = ir.evaluate(
        qrels, ir.Run({query: ["y", "x"] for query in qrels}, name=names[0]), ["RR", "nDCG@10"]
    )
    lost = ["y", "w", "z", "x"]
    b = ir.evaluate(
        qrels,
        ir.Run({query: lost if query == "q7" else ["x"] for query in qrels}, name=names[1]),
        ["RR", "nDCG@10"],
    )
    comparison = ir.compare(a, b)
    return Subject(
        evaluations=(a, b),
        measures=a.measures,
        means=comparison.means,
        comparison=comparison,
        query_texts={"q7": "how to lose"},
        made=Made(
            command="idealrank compare q.txt a.run b.run",
            inputs=(("q.txt", "ab" * 32),),
            commit="c0ffee",
            store_ids=("3fa8c1d20b7e",),
        ),
    )


def hostile() -> Subject:
    """Ids of bytes that are no UTF-8 come from files as halves of letters; here they replace
    others.
    """
    written = [name.replace("\udcff\udc80", "bytes") for name in HOSTILE]
    qrels = {query: dict.fromkeys(written, 1) for query in written}
    orders = {HOSTILE[0]: written, HOSTILE[4]: written[::-1][:3]}
    runs = [ir.Run(dict.fromkeys(written, order), name=name) for name, order in orders.items()]
    a, b = (replace(ir.evaluate(qrels, run, ["R@2", "AP"]), queries=HOSTILE) for run in runs)
    one = Listing(
        documents=tuple(HOSTILE),
        grades=(1.0,) * 11,
        tied=(False,) * 11,
        added=(0.1,) * 11,
        length=11,
    )
    texts = {name: f"text of {name}" for name in HOSTILE}
    comparison = ir.compare(a, b, slices=texts)
    return Subject(
        evaluations=(a, b),
        measures=a.measures,
        means=comparison.means,
        comparison=comparison,
        categories={query: (texts[query],) for query in HOSTILE},
        lists={query: QueryLists(runs=(one, one), relevant=((query, 1.0),)) for query in HOSTILE},
        query_texts=texts,
        document_texts=texts,
        made=Made(
            command=HOSTILE[0],
            inputs=((HOSTILE[4], HOSTILE[1]),),
            commit=HOSTILE[2],
            store_ids=(HOSTILE[0],),
        ),
    )


def test_the_verdict_its_numbers_and_the_worst_query_are_read_without_scripts():
    text = Reader(page_html(two_runs())).text

    assert "new is better than bm25." in text
    assert "RR is 0.938 against 0.500, a difference of +0.438 (95% interval" in text
    assert "how to lose q7 0.5000 0.2500 \u22120.2500" in text
    assert "Largest loss from bm25 to new: how to lose q7, RR from 0.5000 to 0.2500." in text


def test_a_page_says_how_it_was_made():
    reader = Reader(page_html(two_runs()))

    assert "idealrank compare q.txt a.run b.run" in reader.text
    assert {"ab" * 32, "c0ffee", "idealrank store show 3fa8c1d20b7e"} <= {
        attributes.get("data-copy") for _, attributes in reader.tags
    }


def test_nothing_in_a_hostile_name_becomes_an_element_or_leaves_a_script():
    plain, reader = Reader(page_html(two_runs())), Reader(page_html(hostile()))

    assert not any(tag == "img" for tag, _ in reader.tags)
    assert len(reader.scripts) == len(plain.scripts) == 4
    assert reader.scripts[-1] == plain.scripts[-1], "the script depends on the data"
    assert all(re.fullmatch(r"[A-Za-z0-9+/=]*", script) for script in reader.scripts[:-1])
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)


def test_a_hostile_page_is_utf8_and_holds_no_character_that_turns_or_ends_lines():
    text = page_html(hostile())

    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200f\u2028-\u202e\ud800-\udfff]", text)
    assert "bad\\udcff\\udc80" in text


def test_scripts_run_by_their_hashes_alone_and_nothing_is_fetched():
    reader = Reader(page_html(two_runs()))
    (policy,) = [
        attributes["content"]
        for tag, attributes in reader.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]

    digest = base64.b64encode(hashlib.sha256(reader.scripts[-1].encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"'sha256-{digest}'" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in re.search(r"script-src([^;]*)", policy)[1]
    assert not [
        attributes
        for _, attributes in reader.tags
        if "src" in attributes or attributes.get("href", "#")[0] != "#"
    ]


def test_the_same_subject_gives_the_same_page():
    assert page_html(two_runs()) == page_html(two_runs())


def test_a_gate_says_what_failed_before_anything_else():
    qrels = {f"q{i}": {"x": 1} for i in range(12)}
    good, bad = (
        ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR")
        for ranking in (["x", "y"], ["y", "x"])
    )
    gated = ir.gate(bad, good, contracts=[ir.Contract(query="q3", at_least=0.9)])
    comparison = ir.compare(good, bad)

    text = Reader(
        page_html(
            Subject(
                evaluations=(good, bad),
                measures=good.measures,
                means=comparison.means,
                comparison=comparison,
                gated=gated,
            )
        )
    ).text

    assert text.index("The gate is closed") < text.index("failed RR")
    assert "broken q3 RR 0.5000, demanded 0.9000" in text


def test_a_gate_has_the_digits_that_the_command_prints():
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {"x": 1} for i in range(60)}
    good, bad = (
        ir.evaluate(
            qrels,
            {
                query: [f"u{rank}" for rank in range(rng.integers(0, most))] + ["x"]
                for query in qrels
            },
            "RR",
        )
        for most in (3, 6)
    )
    gated = ir.gate(bad, good)
    check = gated.checks[0]
    told = f"drop of {-check.difference:.3f} (one-sided p"

    text = Reader(
        page_html(Subject(evaluations=(good, bad), measures=good.measures, gated=gated))
    ).text

    assert told in " ".join(gate_text(gated).split())
    assert text.count(told) == 2  # below the verdict, and in the table
    assert 0.0001 < check.p_corrected < check.p_two_sided < 0.05
    ps = f"{check.p_corrected:.3g} {check.p_two_sided:.3g}"
    numbers = (
        f"{check.mean_baseline:.3f} {check.mean_run:.3f} {check.difference:.3f} {check.bound:.3f} "
        f"{ps} {check.detectable:.3f}"
    )
    assert numbers.replace("-", "\u2212") in text


def test_one_run_alone_shows_its_worst_queries():
    one = ir.evaluate(
        {f"q{i}": {"x": 1} for i in range(3)},
        {"q0": ["x"], "q1": ["y", "x"], "q2": ["y", "z", "x"]},
        "RR",
    )

    text = Reader(page_html(Subject(evaluations=(one,), measures=one.measures))).text

    assert "run reaches RR 0.6111." in text
    assert re.search(r"Worst queries query run q2 0\.3333 q1 0\.5000 q0 1\.0000", text)


@pytest.mark.slow
def test_many_runs_have_groups_and_every_pair():
    qrels = {f"q{i}": {"x": 1} for i in range(20)}
    runs = [
        ir.Run(
            {query: ["y"] * 0 + [f"w{k}" for k in range(place)] + ["x"] for query in qrels},
            name=f"r{place}",
        )
        for place in range(4)
    ]
    evaluations = tuple(ir.evaluate(qrels, run, "RR") for run in runs)
    comparison = ir.compare(*evaluations)

    text = Reader(
        page_html(
            Subject(
                evaluations=evaluations,
                measures=evaluations[0].measures,
                means=comparison.means,
                comparison=comparison,
            )
        )
    ).text

    assert "By RR, r0 is better than all 3 others." in text
    assert "r0 1.0000 [1.0000, 1.0000] a" in text
    assert "All pairs as a table" in text


@pytest.mark.parametrize(
    ("module", "package"), [("jinja2", "jinja2"), ("vl_convert", "vl-convert-python")]
)
def test_what_is_not_installed_is_named_with_its_extra(monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(
        MissingExtraError,
        match=rf"a report needs {package}; {re.escape(install_command('report'))}",
    ):
        page_html(two_runs())


class Library:
    """A stand-in for vl-convert."""

    @staticmethod
    def javascript_bundle() -> str:
        return "made here"


@pytest.fixture
def nothing_bundled(monkeypatch):
    drawings._script.cache_clear()
    monkeypatch.setattr(drawings, "_ahead", [])
    monkeypatch.setattr(drawings, "vega", lambda *_: Library)
    yield
    drawings._script.cache_clear()


@pytest.mark.parametrize(
    ("code", "expected"),
    [("print('made ahead', end='')", "made ahead"), ("raise SystemExit(1)", "made here")],
)
def test_the_script_of_drawings_is_made_ahead_and_here_if_that_fails(
    monkeypatch, nothing_bundled, code, expected
):
    monkeypatch.setattr(drawings, "_BUNDLING", [sys.executable, "-S", "-c", code])

    drawings.bundle_ahead()
    drawings.bundle_ahead()

    assert len(drawings._ahead) == 1
    assert (
        drawings.bundle("a report", "report") == drawings.bundle("a picture", "plots") == expected
    )
    assert not drawings._ahead


def test_a_script_that_is_there_is_not_made_ahead(nothing_bundled):
    drawings.bundle("a report", "report")
    drawings.bundle_ahead()

    assert not drawings._ahead


def test_no_file_of_the_folder_is_run_to_make_the_script(tmp_path, monkeypatch):
    (tmp_path / "vl_convert.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    looked_up = [
        *drawings._BUNDLING[:3],
        "import importlib.util; print(importlib.util.find_spec('vl_convert').origin)",
    ]

    assert (
        str(tmp_path)
        not in subprocess.run(looked_up, check=True, capture_output=True, text=True).stdout
    )


@pytest.mark.parametrize("measure", ["RR", "Unjudged@5"])
def test_the_largest_changes_are_those_of_a_plain_sort(measure: str):
    rng = np.random.default_rng(3)
    values = [np.round(rng.random((30, 1)), 1) for _ in range(2)]
    one = ir.evaluate({f"q{place}": {"x": 1} for place in range(30)}, {"q0": ["x"]}, measure)
    pair = tuple(replace(one, values=column, scored=np.ones((30, 1), bool)) for column in values)
    direction = one.measures[0].direction
    gains = {
        query: round(float(b[0] - a[0]) * direction, 9)
        for query, a, b in zip(one.queries, *values, strict=True)
    }

    worst, best = changes(Subject(evaluations=pair, measures=one.measures), (0, 1), 5)

    assert [round(change.difference * direction, 9) for change in worst] == sorted(gains.values())[
        :5
    ]
    assert [round(change.difference * direction, 9) for change in best] == sorted(
        gains.values(), reverse=True
    )[:5]
    assert all(
        round(change.difference * direction, 9) == gains[change.query] for change in (*worst, *best)
    )


@pytest.mark.slow
def test_slices_that_were_not_compared_leave_no_empty_plot():
    one = ir.evaluate({"p": {"x": 1}, "q": {"x": 1}}, {"p": ["x"]}, "RR")
    page = ir.report(ir.compare(one, one), evaluations=[one, one], slices={"p": ("short",)})

    assert 'data-plot="scatter"' in page
    assert 'data-plot="slices"' not in page


def test_a_mean_that_is_nan_on_purpose_is_a_dash_in_words():
    poisoned = RunMean(float("nan"), (0.1, 0.9), 2)
    curve = CutoffCurve(measure="nDCG", cutoffs=(1, 10), means={"run": (poisoned, poisoned)})

    assert curve_words(curve)["said"] == "run from - at 1 to - at 10."


def test_the_table_of_curves_names_the_level_of_its_intervals():
    qrels = {f"q{number}": {"x": 1} for number in range(12)}
    runs = (dict.fromkeys(qrels, answers) for answers in (["y", "x"], ["x"]))
    a, b = (ir.evaluate(qrels, run, "nDCG@10") for run in runs)
    mean = RunMean(0.5, (0.4, 0.6), 12)
    curve = CutoffCurve(measure="nDCG", cutoffs=(1,), means={"bm25": (mean,)})
    subject = replace(two_runs(), comparison=ir.compare(a, b, level=0.9), curves=(curve,))

    assert [column.title for column in curves_grid(subject).columns][-1] == "90 % interval"
