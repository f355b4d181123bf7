"""A page: what can be read without scripts is written here, the rest is packed for scripts in the
same file.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from idealrank._lazy import load_extra
from idealrank.pages.figures.drawings import bundle, licences
from idealrank.pages.page import tables, wording
from idealrank.pages.page.cautions import cautions
from idealrank.pages.page.payload import Payload, fitted, pairs_of, queries_of
from idealrank.pages.page.short_ids import LENGTHS, shortened
from idealrank.pages.page.tables import changes
from idealrank.pages.page.value_codes import packed
from idealrank.pages.page.wording import glossary, terms
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.forms import Table, as_html
from idealrank.reports.views.comparison.verdicts import mark_of_gate
from idealrank.reports.views.conventions import in_words, title

MOST_BYTES = 1_900_000
"""Size limit of a page, whatever its ids: values of 10,000 queries, 10 runs and 3 measures leave
room for some rankings.
"""

# One module: names at the top of a file are unique among all of them, and functions may be used
# before they are written.
_SCRIPTS = (
    "decode.js",
    "words.js",
    "downloads.js",
    "state.js",
    "rows.js",
    "queries.js",
    "changes.js",
    "query_words.js",
    "query_lists.js",
    "query_lines.js",
    "query_more.js",
    "query.js",
    "view.js",
    "plots_rows.js",
    "plots_tools.js",
    "plots.js",
    "main.js",  # the last: it begins
)
_STYLES = ("page.css", "query.css", "query_lists.css", "plots.css", "downloads.css")
_CHANGES = 8  # queries that lost, and that gained, near the top
_EVERY_PAIR = 66  # pairs that are listed one by one

# Characters that no text of a page may have: control characters, halves of surrogate pairs, marks
# that turn the direction of reading or end lines.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

_NUMBER_CELL = re.compile(r'(<td class="number[^>]*>)([^<]*)')
_HEAD_CELL = re.compile(r'(<th scope="col"[^>]*>)([^<]*)')
_HYPHEN = re.compile(r"-(?=\d)")
_LONE = re.compile("[\ud800-\udfff]")


def page_html(subject: Subject) -> str:
    """Write one HTML file that opens offline: it sends no request, and evaluates no text."""
    template = template_of("page.html")
    vega = bundle("writing a report", "report")
    script = "\n".join(map(_asset, _SCRIPTS))
    fixed = {
        "styles": styles(),
        "script": script,
        "vega": _packed_vega(vega),
        "policy": _policy(script, vega),
        "licences": licences(),
    }
    lengths = _lengths(subject)
    shortest = lengths[-1]
    pages = (
        _rendered(template, fixed, subject, most, shorter=most != shortest) for most in lengths
    )
    return next(page for page in pages if page is not None)


def _rendered(
    template: Any, fixed: Mapping[str, Any], subject: Subject, most: int | None, *, shorter: bool
) -> str | None:
    """Render the page with ids of at most so many letters; None if they take too much of its room
    and there are shorter ones.
    """
    ids = shortened(_named(subject), most)
    plain = {**fixed, **page_context(subject, ids, most)}
    nothing = Payload(data="", lists="", texts=0, rankings=0, errors={})
    empty: str = template.render(plain | _room(subject, nothing))
    payload = fitted(subject, ids, MOST_BYTES - len(empty.encode()), shorter=shorter)
    if payload is None:
        return None
    whole: str = template.render(plain | _room(subject, payload))
    return whole


def _named(subject: Subject) -> list[str]:
    """Queries of all evaluations, and further ones that a gate names."""
    queries = queries_of(subject)
    gated = subject.gated
    if gated is not None:
        queries += gated.closing_queries
        queries += [kept.contract.query for kept in gated.contracts]
    return list(dict.fromkeys(queries))


def _lengths(subject: Subject) -> list[int | None]:
    """Letters of the longest id that a page may show: any number, then less and less, as long as
    that shortens an id.
    """
    longest = max(map(len, _named(subject)), default=0)
    return [None, *(most for most in LENGTHS if most < longest)]


def fit(text: str) -> str:
    r"""Escape characters of a text that could break the page or turn the direction of reading."""
    return _UNFIT.sub(lambda match: ascii(match[0])[1:-1], text)


def _finalize(value: Any) -> Any:
    """Apply `fit` to everything that a template writes; text that is marked as HTML stays so."""
    return type(value)(fit(value)) if isinstance(value, str) else value


def page_context(
    subject: Subject, ids: Mapping[str, str] | None = None, most: int | None = None
) -> dict[str, Any]:
    """Return the content that templates write regardless of room: verdict, tables, cautions, method
    and origin.
    """
    ids = {query: query for query in _named(subject)} if ids is None else ids
    comparison = subject.comparison
    pairs = pairs_of(subject)
    gated, robustness = subject.gated, subject.robustness
    pair = pairs[0] if pairs else None
    worst, best = changes(subject, pair, _CHANGES)
    convention = subject.evaluations[0].convention
    first = str(subject.measures[0])
    texts = subject.query_texts
    closing = () if gated is None else gated.closing_queries
    every_pair = None
    if comparison is not None and 1 < len(pairs) <= _EVERY_PAIR:
        every_pair = tables.every_pair_grid(comparison, first)
    return {
        "title": wording.page_title(subject),
        "kind": wording.kind(subject),
        "headline": wording.headline(subject),
        "sentences": wording.sentences(subject),
        "more_sentences": wording.more_sentences(subject),
        "listed": wording.pair_sentences(subject),
        "plainly": wording.in_plain_words(subject),
        "closing": [(ids[query], texts.get(query, "")) for query in closing],
        "section": "" if gated is None else mark_of_gate(gated).section,
        "cautions": cautions(subject),
        "names": subject.names,
        "pair_names": None if pair is None else tuple(subject.names[run] for run in pair),
        "measure": first,
        "measures": [str(measure) for measure in subject.measures],
        "pairs": pairs,
        "worst": [replace(change, query=ids[change.query]) for change in worst],
        "best": [replace(change, query=ids[change.query]) for change in best],
        "shortened": sum(ids[query] != query for query in queries_of(subject)),
        "letters": most,
        "grids": _grids(subject, ids),
        "every_pair": every_pair,
        "convention_title": title(convention),
        "convention": in_words(convention).split("; "),
        "method": wording.method(subject),
        "glossary": glossary(subject),
        "terms": terms(subject),
        "made": subject.made,
        "version": subject.evaluations[0].provenance.version,
        "n_queries": len(queries_of(subject)),
        "has_slices": comparison is not None and comparison.method.slices is not None,
        "has_curves": bool(subject.curves),
        "robust_pair": None if robustness is None else (robustness.run_a, robustness.run_b),
    }


def _grids(subject: Subject, ids: Mapping[str, str]) -> dict[str, Table | None]:
    comparison = subject.comparison
    gated = subject.gated
    robustness = subject.robustness
    grids: dict[str, Table | None] = dict.fromkeys(
        ("pair", "more", "checks", "contracts", "slices", "robust")
    )
    if comparison is not None:
        pair = leading_pairs(comparison)[0]
        if len(comparison.pairs) == 1:
            grids |= {"pair": tables.pair_grid(pair), "more": tables.more_grid(pair)}
        grids["slices"] = tables.slices_grid(pair, str(subject.measures[0]))
    if gated is not None and gated.checks:
        grids["checks"] = tables.checks_grid(gated)
    if gated is not None and gated.contracts:
        grids["contracts"] = tables.contracts_grid(gated, subject.query_texts, ids)
    if robustness is not None:
        grids["robust"] = tables.robust_grid(robustness)
    return grids | {
        "means": tables.means_grid(subject),
        "chance": tables.chance_grid(subject),
        "spread": tables.spread_grid(subject),
        "curves": tables.curves_grid(subject),
    }


def _room(subject: Subject, payload: Payload) -> dict[str, Any]:
    """The packed parts, and the numbers that tell what had no room."""
    return {
        "data": payload.data,
        "lists": payload.lists,
        "rankings": payload.rankings,
        "rankings_given": len(subject.lists),
        "texts": payload.texts,
        "texts_given": len(subject.query_texts),
        "rounded": {text: error for text, error in payload.errors.items() if error},
    }


def _policy(*scripts: str) -> str:
    """Allow these scripts by their hashes, and no request."""
    digests = [hashlib.sha256(text.encode()).digest() for text in scripts]
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        f"base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    folder = resources.files("idealrank.pages.page")
    return folder.joinpath("assets", name).read_text(encoding="utf-8")


def styles() -> str:
    """Return the style rules of every page."""
    return "\n".join(map(_asset, _STYLES))


def template_of(name: str, *packages: str) -> Any:
    """Load a template of the folder `templates`, here or in one of the packages; it escapes every
    text.
    """
    return templates("writing a report", "report", *packages).get_template(name)


def templates(what: str, extra: str, *packages: str) -> Any:
    """Load the templates of pages, and of packages whose pages have the parts of a report; they
    escape every text.
    """
    return _environment(load_extra("jinja2", what, extra), packages)


# Compiling the template and packing Vega take longer than the rest of a small page, and give the
# same for all pages of a process.
@cache
def _environment(jinja2: Any, packages: tuple[str, ...]) -> Any:
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader(package) for package in (*packages, "idealrank.pages.page")]
    )
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_finalize
    )
    environment.filters |= {"fragment": _fragment, "table": _table, "signed": _signed}
    return environment


@cache
def _packed_vega(vega: str) -> str:
    return packed(vega.encode())


def _table(table: Table) -> str:
    """Write a table as every report does, but with a minus as wide as the plus, and heads that may
    go on in a second line.
    """

    def with_minus(cell: re.Match[str]) -> str:
        return cell[1] + _HYPHEN.sub("\u2212", cell[2])

    def with_breaks(head: re.Match[str]) -> str:
        return head[1] + head[2].replace("_", "_<wbr>")

    return _HEAD_CELL.sub(with_breaks, _NUMBER_CELL.sub(with_minus, as_html(table)))


def _signed(difference: float) -> str:
    """Write a difference as the scripts do: with a minus as wide as the plus."""
    return ("\u2212" if difference < 0 else "+") + f"{abs(difference):.4f}"


def _fragment(query: str) -> str:
    """Quote an id for the fragment of an address; bytes that are not UTF-8 are escaped as in the
    scripts.
    """
    return quote(_LONE.sub(lambda match: ascii(match[0])[1:-1], query), safe="")
