"""`idealrank store tag`: names and notes that help to find an entry of a store again."""

import click

from idealrank.cli import headings, options, output
from idealrank.errors import OptionError
from idealrank.store.commands import store_options

_EPILOG = """\
Examples:

\b
  Tag the released entry; history shows all entries with a tag:
    idealrank store tag 3f2a release --note "went live on Monday" --store results
    idealrank history --tag release --store results
\b
  Remove a tag, and list the remaining tags:
    idealrank store tag 3f2a release --remove --store results
    idealrank store tag 3f2a --store results
"""


@headings.command(
    epilog=_EPILOG, short_help="Add tags and notes to an entry of a store, or remove tags."
)
@click.argument("id")
@click.argument("tags", metavar="[NAME...]", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove the tags.")
@click.option("--note", metavar="TEXT", help="Add a note.")
@store_options.store
@options.output
def tag(
    *,
    id: str,
    tags: tuple[str, ...],
    remove: bool,
    note: str | None,
    store_path: str | None,
    output_path: str | None,
) -> None:
    """Add tags to the entry ID, or remove them with --remove, and print its tags, one per line.

    A tag is a printable word. An entry may have many tags, and a tag many entries. Nothing else
    about an entry ever changes, except its notes.
    """
    if remove and not tags:
        raise OptionError("--remove: found no tag, expected the tags to remove")
    with store_options.opened(store_path) as store:
        key = store.resolve(id)
        if tags:
            (store.untag if remove else store.tag)(key, *tags)
        if note is not None:
            if not note.strip():
                raise OptionError("--note: found an empty note, expected a text")
            store.note(key, note)
        output.write((f"{name}\n" for name in store.entry(key).record.tags), output_path)
