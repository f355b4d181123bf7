"""Results as a notebook shows them: the verdict in a sentence, tables, small drawings, and the
convention in words.

Everything is one element with its own few styles, which hold in light and dark notebooks;
`idealrank._lazy` says which function is whose.

Drawings have colours that hold on light and dark; there are none without the extra `plots`.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from idealrank.analysis.comparison import Comparison, intervals
from idealrank.analysis.comparison.slice_differences import Slices
from idealrank.analysis.explanation import Explanation
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.analysis.systems import SystemComparison
from idealrank.conventions import Convention
from idealrank.errors import MissingExtraError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.overlap import Overlap, OverlapMatrix
from idealrank.pages.figures import drawings, specifications
from idealrank.pages.figures.theme import NOTEBOOK
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.cells import number
from idealrank.reports.table.forms import Table, as_html, html_text
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.comparison import (
    judged_table,
    method_text,
    pair_lines,
    pair_table,
    reach_legend,
)
from idealrank.reports.views.comparison.label_phrases import labels_note
from idealrank.reports.views.comparison.league import headline, is_many, league_tables, letters_note
from idealrank.reports.views.comparison.markup import star_notes
from idealrank.reports.views.comparison.pair_sentences import verdict_sentences
from idealrank.reports.views.comparison.slice_tables import slice_table, slices_cells
from idealrank.reports.views.conventions import cautioned, in_words, title, unanswered, warned
from idealrank.reports.views.evaluation import (
    coverage_of,
    coverage_table,
    interval_table,
    means_table,
)
from idealrank.reports.views.explanation import explanation_head, ranking_table
from idealrank.reports.views.gate.check_tables import checks_table, worst_table
from idealrank.reports.views.gate.gate import gate_sentences
from idealrank.reports.views.gate.sentences import gate_places
from idealrank.reports.views.gate.sentences import method as gate_method
from idealrank.reports.views.overlap import matrix_notes, matrix_tables, overlap_means, overlap_said
from idealrank.reports.views.robustness import movers_table, robust_sentences
from idealrank.reports.views.systems import system_places, system_sentences, systems_table

_INCHES = 4.6  # as figures in print are measured: 534 pixels
_MOST_SLICES = 40  # of more, a table says it better


def evaluation_drawings(found: Evaluation) -> str:
    """Draw the distribution of the first measure's values as HTML; empty without the drawing
    library.
    """
    subject = Subject(evaluations=(found,), measures=found.measures[:1])
    return drawn(islice(specifications.figures(subject), 1))


def comparison_drawings(found: Comparison) -> str:
    """Means by the first measure, and differences on slices where there are any, as HTML."""
    return drawn(specifications.comparison_figures(found, most_slices=_MOST_SLICES))


def robustness_drawings(found: Robustness) -> str:
    """The difference in every variant, as HTML."""
    return drawn([specifications.robustness_figure(found)])


def drawn(figures: Iterable[specifications.Figure]) -> str:
    """Figures as HTML with drawings in it; empty where vl-convert-python is not installed."""
    try:
        pictures = [drawings.svg(figure.spec(_INCHES, NOTEBOOK)) for figure in figures]
    except MissingExtraError:
        return ""
    # Where another font is wider than ours, what stands out at the sides is shown.
    shown = (picture.replace("<svg ", '<svg style="overflow: visible" ', 1) for picture in pictures)
    return "".join(
        f'<figure style="margin: .8em 1.5em .8em .5em">{picture}</figure>\n' for picture in shown
    )


Block: TypeAlias = str | Table | Sequence[str]
"""HTML that is ready, a table, or sentences of a paragraph; what is empty is left out."""

# Colours that stand out from white and from black; no meaning hangs on them, since a word says the
# same.
_STYLE = """<style>
.idealrank table { border-collapse: collapse; margin: .6em 0; font-variant-numeric: tabular-nums }
.idealrank caption { text-align: left; padding: .2em 0; font-weight: 600 }
.idealrank th, .idealrank td { padding: .15em .7em .15em 0; text-align: left; border: 0 }
.idealrank thead th { border-bottom: 1px solid; font-weight: 600 }
.idealrank tbody th { font-weight: 400 }
.idealrank .number { text-align: right; white-space: nowrap }
.idealrank .better { color: #0f7fae } .idealrank .worse { color: #c0651f } .idealrank .quiet, .idealrank .note { opacity: .7 }
.idealrank p { margin: .4em 0; max-width: 60em } .idealrank summary { cursor: pointer }
</style>
"""  # noqa: E501
_PAIRS = 6  # shown in full


def _element(blocks: Iterable[Block], convention: Convention | None, method: str = "") -> str:
    """One element of all blocks, the convention and the method folded away below."""
    parts = [part for block in blocks if (part := _part(block))]
    if method:
        parts.append(f"<details><summary>method</summary><p>{html_text(method)}</p></details>\n")
    if convention is not None:
        words = (
            f"<summary>convention "
            f"{html_text(title(convention))}</summary><p>{html_text(in_words(convention))}</p>"
        )
        parts.append(f"<details>{words}</details>\n")
    return f'<div class="idealrank">\n{_STYLE}{"".join(parts)}</div>'


def _folded(said: Sequence[str]) -> str:
    """Sentences that a reader has to open; empty without any."""
    return (
        f"<details><summary>more</summary><p>{html_text(' '.join(said))}</p></details>\n"
        if said
        else ""
    )


def _part(block: Block) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Table):
        return as_html(block)
    first, *others = [html_text(sentence) for sentence in block] or [""]
    return f"<p>{' '.join([f'<strong>{first}</strong>', *others])}</p>\n" if first else ""


def evaluation_html(found: Evaluation) -> str:
    """Means with their intervals, and what they cover.

    Examples
    --------
    >>> import idealrank as ir
    >>> "<td" in evaluation_html(ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR"))
    True
    """
    means = (
        intervals(found) if any(measure.aggregate == "mean" for measure in found.measures) else {}
    )
    tables = [means_table([found], [means]), *([interval_table([found], [means])] if means else [])]
    return _element(
        [*tables, evaluation_drawings(found), coverage_table([found])], found.convention
    )


def coverage_html(found: Coverage) -> str:
    """Show coverage as HTML."""
    return _element([coverage_of([("all queries", found)])], None)


def comparison_html(found: Comparison) -> str:
    """The verdict, and every pair with its unjudged shares; of many runs the groups without a
    significant difference.
    """
    shown, several, measure = Shown.of(found), len(found.pairs) > 1, next(iter(found.means))
    blocks: list[Block] = [warned(found.mismatches)]
    if is_many(found):
        blocks += [cautioned(found.cautions)]
        blocks += [[headline(found, text) for text in found.means]]
        blocks += (
            [*league_tables(found), [f"{letters_note(found, 'better').capitalize()}."]]
            if found.method.baseline is None
            else []
        )
    elif several:
        told = verdict_sentences(found, leading_pairs(found)[0], shown)
        blocks += [
            told.brief,
            _folded(told.more),
            *([line] for line in pair_lines(found, measure, shown)),
        ]
    else:
        told = verdict_sentences(found, found.pairs[0], shown)
        blocks += [told.brief, _folded(told.more)]
    with_pairs = (
        found.pairs
        if (len(found.pairs) <= _PAIRS and not is_many(found)) or found.method.baseline is not None
        else ()
    )
    for pair in with_pairs:
        about = f"{pair.b} against {pair.a}" if several else ""
        blocks += [
            pair_table(pair, shown._replace(marked=True), title=about),
            judged_table(pair, shown),
        ]
        blocks += (
            [slice_table(pair, measure, shown, clip=None)]
            if found.method.slices is not None
            else []
        )
    blocks += [reach_legend(block for block in blocks if isinstance(block, Table))]
    notes = star_notes(found, [block for block in blocks if isinstance(block, Table)])
    blocks += [f'<p class="note">{html_text(note)}</p>\n' for note in notes]
    blocks += [
        comparison_drawings(found),
        *([unanswered(found.missing), [found.reach_unknown]] if several else []),
    ]
    blocks += [labels_note(found.labels, [row.basis for _, row in found.rows()])]
    return _element(blocks, found.convention, method_text(found))


def gated_html(found: Gated) -> str:
    """The verdict of a gate, its checks, and the queries that fell."""
    places = gate_places(found)
    told = gate_sentences(found, places)
    tables = [checks_table(found, places, clip=None)] if found.checks else []
    tables += [
        worst_table(check, many=len(found.baselines) > 1)
        for check in found.deciding
        if check.worst and not check.passed
    ]
    broken = [reason for reason in found.reasons if reason.startswith("query ")]
    blocks: list[Block] = [
        told.brief,
        _folded(told.more),
        *tables,
        *([reason] for reason in broken),
    ]
    blocks += [labels_note(found.labels, [check.basis for check in found.checks])]
    return _element(blocks, found.convention, gate_method(found))


def robustness_html(found: Robustness) -> str:
    """Show the grid of variants as HTML, with the variants that change the verdict or move the
    difference most.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.robust(
    ...     {"q": {"x": 1}}, {"q": ["y", "x"]}, {"q": ["x"]}, "RR", variants=["cutoff=1"]
    ... )
    >>> robustness_html(found)[:23]
    '<div class="idealrank">'
    """
    rows = [found.asked, *(one.row for one in found.variants if one.row is not None)]
    shown = Shown.of_rows(rows, found.method.level)
    told = robust_sentences(found, shown)
    blocks: list[Block] = [
        told.brief,
        _folded(told.more),
        movers_table(found, shown),
        robustness_drawings(found),
    ]
    return _element(blocks, found.convention)


def systems_html(found: SystemComparison) -> str:
    """Two systems over copies and queries."""
    places = system_places(found)
    return _element(
        [system_sentences(found, places), systems_table(found, places)], found.convention
    )


def slices_html(found: Slices) -> str:
    """Differences on slices of the queries.

    Examples
    --------
    >>> import idealrank as ir
    >>> "short" in slices_html(
    ...     ir.slices({"p": 0.5, "q": 0.5}, {"p": 0.5, "q": 1.0}, {"q": "short", "p": "long"})
    ... )
    True
    """
    return _element([slices_cells(found)], None)


def overlap_html(found: Overlap) -> str:
    """Show the overlap of two runs as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> "1 query in both" in overlap_html(
    ...     ir.overlap({"q": ["a", "b"]}, {"q": ["a", "c"]}, "overlap@2")
    ... )
    True
    """
    return _element([overlap_said(found)[:1], overlap_means(found)], None)


def overlap_matrix_html(found: OverlapMatrix) -> str:
    """Show the similarity of several runs as HTML."""
    return _element([*matrix_tables(found), matrix_notes(found)], None)


def explanation_html(found: Explanation) -> str:
    """Where the value of one query comes from, document by document.

    Examples
    --------
    >>> import idealrank as ir
    >>> "<caption>" in explanation_html(ir.explain({"q": {"a": 1}}, {"q": ["x", "a"]}, "q", "RR"))
    True
    """
    value = "no value" if found.value is None else number(found.value)
    return _element(
        [
            explanation_head(found),
            ranking_table(found, f"contribution of each document to {found.measure} ({value})"),
        ],
        found.convention,
    )
