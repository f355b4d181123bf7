"""Options of a help text under headings."""

from functools import partial

import click

# An option name has one meaning in all commands, so that it also has one heading. Options without
# a heading here are about the question of the command itself, and come first.
_NAMES = {
    "Input": """
        --qrels --input-format --columns --run-columns --qrels-columns --labels --group-sizes
        --labels-are --sampled-negatives --labels-from --weights --cluster --slices --memory
        --judgments --engine --judge-qrels --query-ids --candidates --content --events
        --click-actions --redact --redact-key
    """,
    "Decision": """
        --test --correction --level --margin --largest-loss --effect --seed --baseline --tolerance
        --strict --alpha --when-unjudged --horizon --holdout --contracts --also --accept
        --accepted-by --repeat --update-baseline --looks --planned-users --power --until --resamples
        --different-judgments
    """,
    "Output": """
        --format --output --digits --explain-method --more --per-query --intervals --show
        --show-documents --figure --junit --markdown --github --table --sort-by --rename --letters
        --every-pair --chance --rankings --one-line --all
    """,
    "Page": "--report --figures --only --robust",
    "Texts": "--queries --documents",
    "Store": "--store --tag --note",
    "Run": "--threads --schema --help",
}
_HEADINGS = {name: heading for heading, names in _NAMES.items() for name in names.split()}
_FIRST = "Options"
_FEW = 10  # options that need no headings


class HeadedCommand(click.Command):
    """A command that prints its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in (_FIRST, *_NAMES)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[heading_of(parameter)].append(record)
        if sum(map(len, sections.values())) <= _FEW:
            sections = {_FIRST: [record for records in sections.values() for record in records]}
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def heading_of(parameter: click.Parameter) -> str:
    """Return the heading of an option."""
    named = (_HEADINGS.get(name) for name in parameter.opts)
    return next(filter(None, named), _FIRST)


command = partial(click.command, cls=HeadedCommand)
