"""Files, comment and annotations of a gate in addition to its report, and their options."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from idealrank._files import real_path
from idealrank.analysis.gate import Gated
from idealrank.cli import console, options, output
from idealrank.errors import OptionError
from idealrank.reports.table.formats import FORMATS
from idealrank.reports.table.text import Part, harmless, harmless_json, parts_text

_SUMMARY_BYTES = 1 << 20  # GitHub takes no longer summary of a step


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Places that a gate writes to."""

    report: str | None = None  # Path of the report; None for standard output
    # junit, markdown: Paths of JUnit XML and of a comment; None for none
    junit: str | None = None
    markdown: str | None = None
    # Whether to write annotations, and the summary of the step where its file is named in the
    # environment
    github: bool = False
    digits: int | None = None  # Decimals of what people read; None for those that the bounds allow

    def files(self) -> Iterator[tuple[str, str]]:
        """Options and paths of the files."""
        named = (("-o", self.report), ("--junit", self.junit), ("--markdown", self.markdown))
        yield from ((option, path) for option, path in named if path is not None)

    def refuse_to_replace(self, inputs: Iterable[str | None], baseline: str | None = None) -> None:
        """Refuse to write over an input file, or two outputs to one file; a new baseline is an
        output, too.
        """
        read = list(inputs)
        written = dict[str, str]()
        if baseline is not None:
            written[str(real_path(baseline))] = "--update-baseline"
        for option, path in self.files():
            options.refuse_to_replace(path, read, option=option)
            place = path if path == "-" else str(real_path(path))
            if not Path(path).parent.is_dir():
                raise OptionError(
                    f"{option} {path}: found no folder {Path(path).parent}, expected an existing "
                    "folder"
                )
            if place in written:
                raise OptionError(
                    f"{option} {path}: found the file that {written[place]} writes, expected "
                    "another name"
                )
            written[place] = option

    def write(self, gated: Gated, report: Callable[[], str | list[Part]], layout: str) -> None:
        """Write everything; the report comes last, and not to standard output if that has another
        output.
        """
        if self.junit is not None:
            from idealrank.reports.views.gate.junit import gate_junit  # noqa: PLC0415  (each is loaded by those who ask for it)

            output.write(gate_junit(gated), self.junit, "xml")
        if self.markdown is not None:
            from idealrank.reports.views.gate.pull_request import gate_markdown  # noqa: PLC0415

            output.write(gate_markdown(gated, digits=self.digits), self.markdown)
        with output.laid_out_for(self.report):
            if self.report is not None:
                output.write_report(report(), self.report, layout)
            elif "-" not in (self.junit, self.markdown):
                shown = _harmless_report(report(), layout) if self.github else report()
                output.write_report(shown, None, layout)
        if self.github:
            _tell_github(gated, self.digits)


def _harmless_report(report: str | list[Part], layout: str) -> str | list[Part]:
    if isinstance(report, list) and console.on_github() and console.in_colour(sys.stdout):
        return report  # what colours the lines makes them harmless, too
    text = report if isinstance(report, str) else parts_text(output.shown(report))
    return harmless_json(text) if FORMATS[layout].is_data else harmless(text)


def _tell_github(gated: Gated, digits: int | None) -> None:
    """Write annotations to stderr, which the runner reads, too, since standard output is data; and
    append to the summary, whose file belongs to all steps.
    """
    from idealrank.reports.views.gate.pull_request import annotations, gate_markdown  # noqa: PLC0415

    for line in annotations(gated):
        console.tell(line.rstrip("\n"))
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write("".join(gate_markdown(gated, _SUMMARY_BYTES, digits)) + "\n")
    except OSError as error:  # the verdict is worth more than its summary
        console.say(
            "warning", f"GITHUB_STEP_SUMMARY {path}: cannot be written: {error.strerror or error}"
        )


def outputs(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options, and ``-o``; it gets them as one argument, `outputs`."""

    @wraps(command)
    def with_outputs(
        *,
        output_path: str | None,
        junit: str | None,
        markdown: str | None,
        github: bool,
        digits: int | None,
        **others: Any,
    ) -> Any:
        places = Outputs(
            report=None if output_path == "-" else output_path,
            junit=junit,
            markdown=markdown,
            github=github,
            digits=digits,
        )
        return command(outputs=places, **others)

    decorated: Callable[..., Any] = _JUNIT(_MARKDOWN(_GITHUB(with_outputs)))
    return options.digits(options.output(decorated))


_JUNIT = click.option(
    "--junit", metavar="FILE", help="JUnit XML file with a test case for each check and contract."
)
_MARKDOWN = click.option(
    "--markdown",
    metavar="FILE",
    help="Markdown file for a comment on a pull request; - prints it instead of the report.",
)
_GITHUB = click.option(
    "--github/--no-github",
    default=None,
    callback=lambda _, __, value: console.on_github() if value is None else value,
    help="Write annotations and a summary for GitHub Actions.  [default: in a step of GitHub "
    "Actions]",
)
