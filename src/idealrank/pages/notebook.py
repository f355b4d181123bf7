"""Results as a notebook shows them: the verdict in a sentence, tables, small drawings, and the
convention in words.

Everything is one element with its own few styles. Styles and drawings have colours for light and
dark notebooks; there are no drawings without the extra `plots`. `idealrank._lazy` lists the
function of each result.
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
    slice_table,
    slices_cells,
)
from idealrank.reports.views.comparison.label_phrases import labels_note
from idealrank.reports.views.comparison.league import headline, is_many, league_tables, letters_note
from idealrank.reports.views.comparison.markup import star_notes
from idealrank.reports.views.comparison.pair_sentences import verdict_sentences
from idealrank.reports.views.conventions import cautioned, in_words, title, unanswered, warned
from idealrank.reports.views.coverage_tables import coverage_of, coverage_table
from idealrank.reports.views.evaluation import interval_table, means_table
from idealrank.reports.views.explanation import explanation_head, ranking_table
from idealrank.reports.views.gate.check_tables import checks_table, worst_table
from idealrank.reports.views.gate.gate import gate_sentences
from idealrank.reports.views.gate.sentences import gate_places
from idealrank.reports.views.gate.sentences import method as gate_method
from idealrank.reports.views.overlap import matrix_notes, matrix_tables, overlap_means, overlap_said
from idealrank.reports.views.robustness import movers_table, robust_sentences
from idealrank.reports.views.systems import system_places, system_sentences, systems_table

_INCHES = 4.6  # width of a drawing, in inches of print: 534 pixels
_MOST_SLICES = 40  # of more, a table is easier to read


def evaluation_drawings(evaluation: Evaluation) -> str:
    """Draw the distribution of the first measure's values as HTML; empty without the drawing
    library.
    """
    subject = Subject(evaluations=(evaluation,), measures=evaluation.measures[:1])
    return drawn(islice(specifications.figures(subject), 1))


def comparison_drawings(comparison: Comparison) -> str:
    """Draw means by the first measure, and differences on slices if there are any, as HTML."""
    return drawn(specifications.comparison_figures(comparison, most_slices=_MOST_SLICES))


def robustness_drawings(robustness: Robustness) -> str:
    """Draw the difference in every variant as HTML."""
    return drawn([specifications.robustness_figure(robustness)])


def drawn(figures: Iterable[specifications.Figure]) -> str:
    """Draw figures as HTML; empty if vl-convert-python is not installed."""
    try:
        pictures = [drawings.svg(figure.spec(_INCHES, NOTEBOOK)) for figure in figures]
    except MissingExtraError:
        return ""
    # Text in another font may be wider than ours; it is shown beyond the sides, too.
    shown = (picture.replace("<svg ", '<svg style="overflow: visible" ', 1) for picture in pictures)
    opening = '<figure style="margin: .8em 1.5em .8em .5em">'
    return "".join(f"{opening}{picture}</figure>\n" for picture in shown)


Block: TypeAlias = str | Table | Sequence[str]
"""HTML that is ready, a table, or sentences of a paragraph; empty blocks are left out."""

# Colours that contrast with white and with black; a word says the same as each colour.
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
    """Join all blocks to one element, with the convention and the method folded away below."""
    parts = list(filter(None, map(_part, blocks)))
    if method:
        parts.append(f"<details><summary>method</summary><p>{html_text(method)}</p></details>\n")
    if convention is not None:
        name = html_text(title(convention))
        words = html_text(in_words(convention))
        parts.append(f"<details><summary>convention {name}</summary><p>{words}</p></details>\n")
    return f'<div class="idealrank">\n{_STYLE}{"".join(parts)}</div>'


def _folded(sentences: Sequence[str]) -> str:
    """Fold sentences away, which a reader can open; empty without any."""
    if not sentences:
        return ""
    return f"<details><summary>more</summary><p>{html_text(' '.join(sentences))}</p></details>\n"


def _part(block: Block) -> str:
    if isinstance(block, str):
        return block
    if isinstance(block, Table):
        return as_html(block)
    first, *others = [html_text(sentence) for sentence in block] or [""]
    if not first:
        return ""
    return f"<p>{' '.join([f'<strong>{first}</strong>', *others])}</p>\n"


def evaluation_html(evaluation: Evaluation) -> str:
    """Show means with their intervals, and what they cover, as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> "<td" in evaluation_html(ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR"))
    True
    """
    have_means = any(measure.aggregate == "mean" for measure in evaluation.measures)
    means = intervals(evaluation) if have_means else {}
    tables = [means_table([evaluation], [means])]
    if means:
        tables.append(interval_table([evaluation], [means]))
    drawing = evaluation_drawings(evaluation)
    covered = coverage_table([evaluation])
    return _element([*tables, drawing, covered], evaluation.convention)


def coverage_html(coverage: Coverage) -> str:
    """Show coverage as HTML."""
    return _element([coverage_of([("all queries", coverage)])], None)


def comparison_html(comparison: Comparison) -> str:
    """Show the verdict, and every pair with its unjudged shares, as HTML; of many runs the groups
    without a significant difference.
    """
    shown = Shown.of(comparison)
    several = len(comparison.pairs) > 1
    measure = next(iter(comparison.means))
    blocks: list[Block] = [warned(comparison.mismatches)]
    if is_many(comparison):
        blocks += [cautioned(comparison.cautions)]
        blocks += [[headline(comparison, text) for text in comparison.means]]
        if comparison.method.baseline is None:
            letters = f"{letters_note(comparison, 'better').capitalize()}."
            blocks += [*league_tables(comparison), [letters]]
    else:
        told = verdict_sentences(comparison, leading_pairs(comparison)[0], shown)
        blocks += [told.brief, _folded(told.more)]
        if several:
            blocks += [[line] for line in pair_lines(comparison, measure, shown)]

    if comparison.method.baseline is not None or _has_few_pairs(comparison):
        for pair in comparison.pairs:
            about = f"{pair.b} against {pair.a}" if several else ""
            blocks += [
                pair_table(pair, shown._replace(marked=True), title=about),
                judged_table(pair, shown),
            ]
            if comparison.method.slices is not None:
                blocks.append(slice_table(pair, measure, shown, clip=None))

    tables = [block for block in blocks if isinstance(block, Table)]
    blocks.append(reach_legend(tables))
    blocks += [
        f'<p class="note">{html_text(note)}</p>\n' for note in star_notes(comparison, tables)
    ]
    blocks.append(comparison_drawings(comparison))
    if several:
        blocks += [unanswered(comparison.missing), [comparison.reach_unknown]]
    blocks.append(labels_note(comparison.labels, [row.basis for _, row in comparison.rows()]))
    return _element(blocks, comparison.convention, method_text(comparison))


def _has_few_pairs(comparison: Comparison) -> bool:
    return len(comparison.pairs) <= _PAIRS and not is_many(comparison)


def gated_html(gated: Gated) -> str:
    """Show the verdict of a gate, its checks, and the queries that fell, as HTML."""
    places = gate_places(gated)
    told = gate_sentences(gated, places)
    tables = [checks_table(gated, places, clip=None)] if gated.checks else []
    failed = [check for check in gated.deciding if check.worst and not check.passed]
    tables += [worst_table(check, many=len(gated.baselines) > 1) for check in failed]
    broken = [reason for reason in gated.reasons if reason.startswith("query ")]
    blocks: list[Block] = [
        told.brief,
        _folded(told.more),
        *tables,
        *([reason] for reason in broken),
    ]
    blocks += [labels_note(gated.labels, [check.basis for check in gated.checks])]
    return _element(blocks, gated.convention, gate_method(gated))


def robustness_html(robustness: Robustness) -> str:
    """Show the grid of variants as HTML, with the variants that change the verdict or move the
    difference most.

    Examples
    --------
    >>> import idealrank as ir
    >>> robustness = ir.robust(
    ...     {"q": {"x": 1}}, {"q": ["y", "x"]}, {"q": ["x"]}, "RR", variants=["cutoff=1"]
    ... )
    >>> robustness_html(robustness)[:23]
    '<div class="idealrank">'
    """
    rows = [
        robustness.asked,
        *(variant.row for variant in robustness.variants if variant.row is not None),
    ]
    shown = Shown.of_rows(rows, robustness.method.level)
    told = robust_sentences(robustness, shown)
    blocks: list[Block] = [
        told.brief,
        _folded(told.more),
        movers_table(robustness, shown),
        robustness_drawings(robustness),
    ]
    return _element(blocks, robustness.convention)


def systems_html(systems: SystemComparison) -> str:
    """Show two systems over copies and queries as HTML."""
    places = system_places(systems)
    blocks: list[Block] = [system_sentences(systems, places), systems_table(systems, places)]
    return _element(blocks, systems.convention)


def slices_html(slices: Slices) -> str:
    """Show differences on slices of the queries as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> "short" in slices_html(
    ...     ir.slices({"p": 0.5, "q": 0.5}, {"p": 0.5, "q": 1.0}, {"q": "short", "p": "long"})
    ... )
    True
    """
    return _element([slices_cells(slices)], None)


def overlap_html(overlap: Overlap) -> str:
    """Show the overlap of two runs as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> "1 query in both" in overlap_html(
    ...     ir.overlap({"q": ["a", "b"]}, {"q": ["a", "c"]}, "overlap@2")
    ... )
    True
    """
    return _element([overlap_said(overlap)[:1], overlap_means(overlap)], None)


def overlap_matrix_html(matrix: OverlapMatrix) -> str:
    """Show the similarity of several runs as HTML."""
    return _element([*matrix_tables(matrix), matrix_notes(matrix)], None)


def explanation_html(explanation: Explanation) -> str:
    """Show the source of the value of one query, document by document, as HTML.

    Examples
    --------
    >>> import idealrank as ir
    >>> "<caption>" in explanation_html(ir.explain({"q": {"a": 1}}, {"q": ["x", "a"]}, "q", "RR"))
    True
    """
    value = "no value" if explanation.value is None else number(explanation.value)
    caption = f"contribution of each document to {explanation.measure} ({value})"
    ranking = ranking_table(explanation, caption)
    return _element([explanation_head(explanation), ranking], explanation.convention)
