"""`idealrank trec-eval`: takes trec_eval's command line and prints trec_eval's text."""

import click

from idealrank.cli import console, output
from idealrank.cli.trec.front import report
from idealrank.cli.trec.help import help_text, version_text
from idealrank.cli.trec.trec_options import parse_request


class _Verbatim(click.Command):
    """A command that reads its command line itself: trec_eval's options are getopt's, not click's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params = {"arguments": tuple(args)}
        return []


@click.command("trec-eval", cls=_Verbatim, short_help="Replace the trec_eval binary: same options, same output.")
def trec_eval(*, arguments: tuple[str, ...]) -> None:
    """Evaluate a run like trec_eval 10, and print the same output."""
    request = parse_request(arguments)
    for notice in request.notices:
        console.say("notice", notice)
    if request.version:
        output.write([version_text()], None)
    elif request.help:
        output.write([help_text(request)], None)
    else:
        output.write(report(request), None, "trec")
