"""Options to keep results: a page, its figures, and an entry of a store."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from idealrank._features import offered
from idealrank._files import real_path, write_bytes
from idealrank._lazy import is_installed
from idealrank.cli import console, invocation, options, text_options
from idealrank.cli.input_options import InputFiles
from idealrank.cli.progress import Watch
from idealrank.data.qrels import Qrels
from idealrank.errors import MissingExtraError, OptionError
from idealrank.io.sources import input_files

if TYPE_CHECKING:
    from idealrank.analysis.gate import Gated
    from idealrank.measures.measure import Measure
    from idealrank.pages.report.material import ReportMaterial
    from idealrank.reports.subject import Made, Subject

# Packages that draw pages, by the module that each installs.
_EXTRA = {"jinja2": "Jinja2", "vl_convert": "vl-convert-python"}


@dataclass(frozen=True, kw_only=True)
class Results:
    """Requested outputs."""

    # report, figures: Path of the page, and folder of the figures
    report: str | None = None
    figures: str | None = None
    only: str | None = None  # Plots, formats and widths of the figures; None for all
    # queries, documents: Files of texts by id
    queries: str | None = None
    documents: str | None = None
    # Whether the page has the robust verdict; None leaves it to the size of the runs
    robust: bool | None = None
    store: str | None = None  # Folder of the store
    page_option: str = "--report"  # What names the page, for messages
    # tags, notes: Tags and notes of the stored entries
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def are_kept(self) -> bool:
        """Return whether any result is kept, so that runs are needed again."""
        return self.is_page or self.store is not None

    @property
    def is_page(self) -> bool:
        """Return whether a page or figures are requested."""
        return self.report is not None or self.figures is not None

    def looked_at(self, measures: "Sequence[Measure]") -> "Sequence[Measure]":
        """Measures for which the hits of every run are kept, so that no run is aligned a second
        time; none where nothing is wanted.
        """
        if not self.is_page:
            return measures if self.store is not None else ()
        from idealrank.pages.report.gather import measures_looked_at  # noqa: PLC0415  (few ask for pages)

        return measures_looked_at(measures)

    def ranks_looked_at(self, measures: "Sequence[Measure]") -> int:
        """Ranks that a page lists, down to which the first documents of every list are kept; 0
        without a page.
        """
        if not self.is_page:
            return 0
        from idealrank.pages.report.query_lists import depth_of  # noqa: PLC0415  (few ask for pages)

        return depth_of(measures)

    def with_texts(self, *, queries: str | None, documents: str | None) -> "Results":
        """Fill in the texts that a gate's policy names, for its page; without a page, the gate
        itself reads the queries.
        """
        if not self.is_page:
            return replace(self, queries=None)
        return replace(self, queries=queries, documents=self.documents or documents)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are read."""
        return tuple(path for path in (self.queries, self.documents) if path is not None)

    def check(
        self, read: Sequence[str], written: Mapping[str, str | None] = MappingProxyType({})
    ) -> None:
        """Refuse outputs that cannot be made, before anything is computed for them."""
        self._check_store()
        if self.only is not None and self.figures is None:
            raise OptionError(f"--only {self.only}: found no --figures, expected both")
        if not self.is_page:
            _refuse_idle("--queries", self.queries)
            _refuse_idle("--documents", self.documents)
            return
        if self.report is None:
            check_extra("--figures", "plots")
        else:
            check_extra()
        from idealrank.pages.figures.drawings import bundle_ahead  # noqa: PLC0415  (few ask for pages)

        inputs = [*read, *self.paths]
        if inputs.count("-") > 1:
            raise OptionError(
                "found - (standard input) more than once, expected it once, since it can be read "
                "only once"
            )
        if self.report is not None:
            check_page(self.report, inputs, written, option=self.page_option)
        if self.figures is not None:
            from idealrank.cli.figure_files import ChosenFigures, check_figures  # noqa: PLC0415  (few ask for it)

            ChosenFigures.of(self.only)
            check_figures(self.figures)
        text_options.sources(queries=self.queries, documents=self.documents)
        if self.report is not None:
            bundle_ahead()

    def _check_store(self) -> None:
        """Open the store once, so that a folder that can hold none is found out before the work is
        done.
        """
        if self.store is None:
            for option, words in (("--tag", self.tags), ("--note", self.notes)):
                if words:
                    raise OptionError(
                        f"{option} {words[0]}: found no store, expected --store DIR, or the "
                        "variable IDEALRANK_STORE"
                    )
            return
        offered("check a store")(self.store)

    def write(self, watch: Watch, files_read: InputFiles, **parts: Any) -> None:
        """Keep results: put them into the store, write the page and the figures, and say on stderr
        what was done.
        """
        self.write_page(self.gathered(watch, files_read, **parts))

    def gathered(
        self, watch: Watch, files_read: InputFiles, *, gated: "Gated | None" = None, **parts: Any
    ) -> "Subject | None":
        """Put results into the store, and gather what the page shows; errors as for `write`."""
        if not self.are_kept:
            return None
        from idealrank.pages.report.material import (  # noqa: PLC0415  (few ask for any of it)
            ReportMaterial,
            hashed_ahead,
            robustness,
            with_gate,
        )

        material = ReportMaterial(**parts)
        ids = self._stored(material, gated, files_read)
        if not self.is_page:
            return None
        digests = hashed_ahead(input_files([*files_read.paths, *self.paths]))

        material = material if gated is None else with_gate(material, gated)
        convention = material.evaluations[0].convention
        judgments: Any = material.qrels
        if isinstance(judgments, Qrels):
            judgments = files_read.under_each_policy(convention, judgments)
        robust = watch.count(
            "variants", lambda tell: robustness(material, judgments, wanted=self.robust, tell=tell)
        )
        subject = self.shown(replace(material, robustness=robust), watch)
        return replace(subject, made=_made(digests(), ids))

    def shown(self, material: "ReportMaterial", watch: Watch) -> "Subject":
        """Gather the page, with texts from the files; errors as for `write`."""
        from idealrank.pages.report.gather import gather  # noqa: PLC0415

        with_texts = replace(material, queries=self.queries, documents=self.documents)
        return watch.count("rankings", lambda tell: gather(with_texts, tell=_note, progress=tell))

    def _stored(
        self, material: "ReportMaterial", gated: "Gated | None", files_read: InputFiles
    ) -> tuple[str, ...]:
        """Put the results into the store, and return their ids."""
        if self.store is None or material.qrels is None:
            return ()
        from idealrank.inputs.evaluation import kept_hits  # noqa: PLC0415

        options = {
            "measures": list(map(str, material.measures)),
            "weights": material.weights,
            "clusters": material.clusters,
            "slices": material.categories,
        }
        stored = offered("keep results")(
            self.store,
            material.evaluations,
            gated or material.comparison,
            hits=list(map(kept_hits, material.evaluations)),
            judgments=files_read.judgments,
            options={name: value for name, value in options.items() if value is not None},
            command=invocation.command_line(),
            tags=self.tags,
            notes=self.notes,
        )
        _note(stored.line)
        ids: tuple[str, ...] = stored.ids
        return ids

    def write_page(self, subject: "Subject | None") -> None:
        """Write the page and the figures of gathered results; errors as for `write`."""
        if self.report is not None and subject is not None:
            from idealrank.pages.page.html import page_html  # noqa: PLC0415

            write_page_file(page_html(subject), self.report)
        if self.figures is not None and subject is not None:
            from idealrank.cli.figure_files import ChosenFigures, write_figures  # noqa: PLC0415

            written = write_figures(subject, self.figures, ChosenFigures.of(self.only))
            _note(f"wrote {len(written)} files to {self.figures}")


def _made(inputs: tuple[tuple[str, str], ...], ids: tuple[str, ...]) -> "Made":
    from idealrank.cli.invocation import checkout  # noqa: PLC0415
    from idealrank.pages.report.material import moment  # noqa: PLC0415
    from idealrank.reports.subject import Made  # noqa: PLC0415

    return Made(
        command=invocation.command_line(),
        inputs=inputs,
        commit=checkout().commit,
        when=moment(),
        store_ids=ids,
    )


def check_extra(what: str = "a page of results", extra: str = "report") -> None:
    """Refuse to make pages or figures without the packages that draw them."""
    for module, package in _EXTRA.items():
        if not is_installed(module):
            raise MissingExtraError(what, package, extra)
    from idealrank.pages.figures.drawings import check_room  # noqa: PLC0415  (few ask for pages)

    check_room(what)


def check_page(
    path: str,
    inputs: Sequence[str],
    written: Mapping[str, str | None] = MappingProxyType({}),
    *,
    option: str,
) -> None:
    """Refuse a file that cannot become a page."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"{option} {path}: expected a file that ends in .html")
    options.refuse_to_replace(path, inputs, option=option)
    folder = Path(path).parent
    if not folder.is_dir():
        raise OptionError(f"{option} {path}: found no folder {folder}, expected an existing folder")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise OptionError(
            f"{option} {path}: cannot be written, expected a file in a folder that can"
        )
    for other_option, other in written.items():
        if other is not None and real_path(other) == real_path(path):
            raise OptionError(
                f"{option} {path}: found the file that {other_option} writes, expected another name"
            )


def write_page_file(page: str, path: str) -> None:
    """Write a page, whole or not at all, and say so on stderr."""
    content = page.encode()
    write_bytes([content], path)
    _note(f"wrote {path}, {_size(len(content))}")


def _refuse_idle(option: str, path: str | None) -> None:
    if path is not None:
        raise OptionError(
            f"{option} {path}: found neither --report nor --figures, expected one of them: only "
            "pages show texts"
        )


def _size(size: int) -> str:
    # Kilobytes are rounded up, so that no file has 0.
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{math.ceil(size / 1000)} kB"


def _note(message: str) -> None:
    console.say("note", message)


_QUERIES = text_options.queries_option("the page")
FIGURES = click.option(
    "--figures", metavar="DIR", help="Folder for the page's plots as SVG, PNG and PDF."
)
ONLY = click.option(
    "--only",
    metavar="WORD,...",
    cls=options.OnceOption,
    help="Plots (such as scatter,means), formats (svg, png, pdf) and widths (column, wide) of "
    "--figures.  [default: all]",
)
_OPTIONS = (
    click.option(
        "--report",
        metavar="FILE",
        help="Page with every query, rankings side by side, and plots; FILE ends in .html and "
        "opens offline.",
    ),
    FIGURES,
    ONLY,
    _QUERIES,
    text_options.documents_option("the page, which keeps only texts that it shows"),
    click.option(
        "--store",
        metavar="DIR",
        envvar="IDEALRANK_STORE",
        help="Folder of the store that keeps the results.  [default: $IDEALRANK_STORE]",
    ),
    click.option(
        "--tag",
        "tags",
        metavar="NAME",
        multiple=True,
        help="Tag of the stored results; may be repeated.",
    ),
    click.option(
        "--note",
        "notes",
        metavar="TEXT",
        multiple=True,
        help="Note on the stored results; may be repeated.",
    ),
)
_ROBUST = click.option(
    "--robust/--no-robust",
    default=None,
    help="Include the robustness analysis in the page.  [default: for runs of up to four million "
    "lines]",
)


def results(
    command: Callable[..., Any], decorators: Sequence[Callable[..., Any]] = _OPTIONS
) -> Callable[..., Any]:
    """Give a command the options; it gets them as one argument, `results`."""
    names = [field.name for field in fields(Results)]

    @wraps(command)
    def with_results(**others: Any) -> Any:
        typed = {name: others.pop(name) for name in names if name in others}
        return command(results=Results(**{**typed, "store": typed["store"] or None}), **others)

    decorated: Callable[..., Any] = with_results
    for option in reversed(decorators):
        decorated = option(decorated)
    return decorated


def results_of_pairs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the result options of a command that compares runs."""
    decorated: Callable[..., Any] = _ROBUST(results(command))
    return decorated


def results_of_gates(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the result options of a gate, whose message shows the texts of queries, too."""
    queries = text_options.queries_option("the message and the page")
    decorators = [queries if option is _QUERIES else option for option in _OPTIONS]
    decorated: Callable[..., Any] = _ROBUST(results(command, decorators))
    return decorated
