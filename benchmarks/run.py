"""Equal values first, then times: ``python benchmarks/run.py [--quick | --full] [--only JOB]...``.

Prints one Markdown table of what was promised and what was reached; a whole run also writes
benchmarks/results: table.md and latest.json, and the plot of time against lines. With --full, a run
of one job writes its rows to JOB.md there. `docs/refresh.py` copies the tables into README.md and
docs/concepts/speed.md.
"""

import argparse
import json
import sys
from pathlib import Path

import jobs_clicks
import jobs_cluster
import jobs_commands
import jobs_formats
import jobs_judging
import jobs_large
import jobs_measures
import jobs_memory
import jobs_pairs
import jobs_recommender
import jobs_scaling
import jobs_start
import jobs_stats
import jobs_store
import jobs_text
import jobs_theory
import jobs_training
from measuring import BenchmarkError
from report import Row, as_json, conditions, table

RESULTS = Path(__file__).resolve().parent / "results"
JOBS = {
    "text": jobs_text.rows,
    "commands": jobs_commands.rows,
    "arrays": jobs_memory.array_rows,
    "dicts": jobs_memory.dict_rows,
    "all-measures": jobs_measures.text_rows,
    "measures": jobs_measures.array_rows,
    "pairs": jobs_pairs.rows,
    "recommender": jobs_recommender.rows,
    "start": jobs_start.rows,
    "stats": jobs_stats.rows,
    "clicks": jobs_clicks.rows,
    "judging": jobs_judging.rows,
    "large": jobs_large.rows,
    "formats": jobs_formats.rows,
    "store": jobs_store.rows,
    "theory": jobs_theory.rows,
    "training": jobs_training.rows,
    "scaling": jobs_scaling.rows,
    "cluster": jobs_cluster.rows,
}
ASKED = {"cluster"}  # needs Java and an environment of its own


def arguments() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description="Equal values first, then times, against peers and hand-written C++."
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--quick",
        action="store_true",
        help="under two minutes: without ranx and what takes as long; writes no results",
    )
    length.add_argument(
        "--full",
        action="store_true",
        help="7 million lines in whole jobs, up to 10^8 in the text: 4 GB of disk and some minutes "
        "more",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=JOBS,
        help="this job; writes no results, unless it is one in full",
    )
    return parser.parse_args()


def measured(options: argparse.Namespace) -> list[Row]:
    """The rows of the jobs asked for, each printed as soon as it is there."""
    rows: list[Row] = []
    for name in options.only or (name for name in JOBS if name not in ASKED):
        print(f"{name} ...", file=sys.stderr)
        for row in JOBS[name](quick=options.quick, full=options.full):
            rows.append(row)
            print(f"  {row.what}: {row.reached}; {row.behind}", file=sys.stderr)
    return rows


def main() -> int:
    """Measure, print, and keep what a whole run found."""
    options = arguments()
    try:
        rows = measured(options)
    except BenchmarkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    command = " ".join(["make bench", *(f'ARGS="{" ".join(sys.argv[1:])}"' for _ in sys.argv[1:2])])
    text = f"{table(rows)}\n{conditions(command)}\n"
    print(text)
    if not options.quick and not options.only:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "table.md").write_text(text, encoding="utf-8")
        (RESULTS / "latest.json").write_text(
            json.dumps(as_json(rows, sys.argv[1:]), indent=1) + "\n", encoding="utf-8"
        )
    if options.full and options.only and len(options.only) == 1:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{options.only[0]}.md").write_text(text, encoding="utf-8")
        if options.only[0] in ASKED:  # for cluster_costs.py
            (RESULTS / f"{options.only[0]}.json").write_text(
                json.dumps(as_json(rows, sys.argv[1:]), indent=1) + "\n", encoding="utf-8"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
