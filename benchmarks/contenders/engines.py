"""Time an engine on the columns of a run: ``python engines.py
scan-pyarrow|read-pyarrow|scan-duckdb|sort-duckdb FILE MEMORY``.
"""

import sys
import tempfile


def scan_pyarrow(path: str) -> int:
    """Decode the three columns, batch by batch."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    batches = (
        ds.dataset(path)
        .scanner(columns=["query", "document", "score"], batch_size=1 << 17)
        .to_batches()
    )
    return sum(batch.num_rows for batch in batches)


def read_pyarrow(path: str) -> int:
    """Decode the three columns on all cores, queries as codes."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    return int(
        pq.read_table(
            path, columns=["query", "document", "score"], read_dictionary=["query"]
        ).num_rows
    )


def _relation(path: str, memory: str, order: str) -> int:
    import duckdb  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(
            config={
                "memory_limit": memory,
                "temp_directory": folder,
                "preserve_insertion_order": "true",
            }
        )
        found = connection.sql(f"SELECT query, document, score FROM '{path}'{order}")
        reader = (
            found.to_arrow_reader(1 << 17)
            if hasattr(found, "to_arrow_reader")
            else found.fetch_record_batch(1 << 17)
        )
        return sum(batch.num_rows for batch in reader)


def main() -> None:
    """Print how many rows there were."""
    job, path, memory = sys.argv[1:]
    if job == "scan-pyarrow":
        print(scan_pyarrow(path))
    elif job == "read-pyarrow":
        print(read_pyarrow(path))
    else:
        print(_relation(path, memory, " ORDER BY query" if job == "sort-duckdb" else ""))


if __name__ == "__main__":
    main()
