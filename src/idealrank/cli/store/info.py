"""`idealrank store info`: what a store holds."""

import json
from pathlib import Path

import click

from idealrank.cli import options, output, store_options


@click.command(short_help="Say what a store holds, and how large it is.")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Text for people; JSON for programs.",
)
@store_options.store
@options.output
def info(*, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Count evaluations, comparisons, gates, runs, measures and tags, and the bytes they take."""
    with store_options.opened(store_path) as store:
        counts = dict.fromkeys(("evaluation", "comparison", "gate"), 0)
        counts |= dict(store.rows("SELECT kind, count(*) FROM entry GROUP BY kind"))
        oldest, newest = store.rows("SELECT min(time), max(time) FROM entry")[0]
        runs = store.rows("SELECT count(DISTINCT name) FROM entry WHERE kind = 'evaluation'")[0][0]
        measures = [row[0] for row in store.rows("SELECT measure FROM mean GROUP BY measure ORDER BY count(*) DESC, measure")]
        tags = [row[0] for row in store.rows("SELECT DISTINCT tag FROM tag ORDER BY tag")]
        size = sum(path.stat().st_size for path in Path(store.folder).rglob("*") if path.is_file())
    record = {
        "evaluations": counts["evaluation"], "comparisons": counts["comparison"], "gates": counts["gate"], "runs": runs,
        "measures": measures, "tags": tags, "oldest": oldest, "newest": newest, "bytes": size,
    }  # fmt: skip
    if layout == "json":
        output.write([json.dumps(record, indent=2) + "\n"], output_path, layout)
        return
    from idealrank.reports.stored import head_text  # noqa: PLC0415  (not for the help)

    facts = {
        name: ", ".join(value) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else value or ""
        for name, value in record.items()
    }
    output.write([head_text(f"store {store_path}", facts.items())], output_path)
