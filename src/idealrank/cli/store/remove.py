"""`idealrank store remove`: take entries out."""

import click

from idealrank.cli import console, store_options


@click.command(short_help="Take entries out of a store.")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@store_options.store
def remove(*, ids: tuple[str, ...], store_path: str | None) -> None:
    """Remove each entry ID from the store; `idealrank gc` then frees its files.

    An evaluation that belongs to a comparison or gate is refused: remove that entry first.
    """
    with store_options.opened(store_path) as store:
        for key in [store.resolve(one) for one in ids]:
            store.remove(key)
            console.say("note", f"removed {key}")
