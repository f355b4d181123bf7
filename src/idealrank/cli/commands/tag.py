"""`idealrank tag`: names and notes that help to find an entry of a store again."""

import click

from idealrank.cli import options, output, store_options
from idealrank.errors import OptionError

_EPILOG = """\
Examples:

\b
  This is what was released; history then shows it and all others of that tag:
    idealrank tag 3f2a release --note "went live on Monday" --store results
    idealrank history --tag release --store results
\b
  It was not, after all; which tags are left?
    idealrank tag 3f2a release --remove --store results
    idealrank tag 3f2a --store results
"""


@click.command(epilog=_EPILOG, short_help="Give an entry of a store tags and notes, or take tags from it.")
@click.argument("id")
@click.argument("tags", metavar="[NAME...]", nargs=-1)
@click.option("--remove", is_flag=True, help="Take the tags away.")
@click.option("--note", metavar="TEXT", help="Add a note.")
@store_options.store
@options.output
def tag(*, id: str, tags: tuple[str, ...], remove: bool, note: str | None, store_path: str | None, output_path: str | None) -> None:
    """Give the entry ID tags, or with --remove take them from it, and print the ones it then has, one a line.

    A tag is any word that can be printed; an entry may have many, and many entries one. Tags and notes are the only things about an
    entry that ever change.
    """
    if remove and not tags:
        raise OptionError("--remove: found no tag, expected the names of those to take away")
    with store_options.opened(store_path) as store:
        key = store.resolve(id)
        if tags:
            (store.untag if remove else store.tag)(key, *tags)
        if note is not None:
            if not note.strip():
                raise OptionError("--note: found an empty text, expected words")
            store.note(key, note)
        output.write((f"{one}\n" for one in store.entry(key).record.tags), output_path)
