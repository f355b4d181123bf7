"""`idealrank store info`: what a store holds."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from idealrank.cli import options, store_options
from idealrank.cli.format_option import Formats


def _text(record: Mapping[str, Any], store_path: str | None) -> str:
    from idealrank.reports.views.store import head_text  # noqa: PLC0415  (not for the help)

    facts = {
        name: ", ".join(value) if isinstance(value, list) else f"{value:,}" if isinstance(value, int) else value or ""
        for name, value in record.items()
    }
    return head_text(f"store {store_path}", facts.items())


def _json(record: Mapping[str, Any], _: str | None) -> str:
    return json.dumps(record, indent=2) + "\n"


_FORMATS = Formats("Text to read;", table=_text, json=_json)


@click.command(short_help="Say what a store holds, and how large it is.")
@_FORMATS.option
@store_options.store
@options.output
def info(*, layout: str, store_path: str | None, output_path: str | None) -> None:
    """Count evaluations, comparisons, gates, runs, measures and tags, and their bytes."""
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
    _FORMATS.write(layout, output_path, record, store_path)
