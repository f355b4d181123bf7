# A server of PostgreSQL as an engine, by full text.
printf 'q0\tred fox\nq1\tblue owl\n' > queries.tsv
printf 'q0 0 fox 1\nq1 0 owl 1\n' > qrels.txt
python - <<'PYTHON'
import json
import os
from pathlib import Path

import psycopg

with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    connection.execute("DROP TABLE IF EXISTS documents")
    connection.execute(
        "CREATE TABLE documents (id text PRIMARY KEY, body text, words tsvector "
        "GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)"
    )
    with connection.cursor() as cursor:
        rows = [("fox", "a red fox"), ("owl", "a blue owl"), ("bear", "a grey bear")]
        cursor.executemany("INSERT INTO documents (id, body) VALUES (%s, %s)", rows)
backend = {
    "kind": "postgres", "url": "${DATABASE_URL}", "table": "documents", "column": "words",
    "operator": "any",
}
config = {
    "backend": backend, "queries": "queries.tsv", "qrels": "qrels.txt",
    "evaluation": {"measures": ["RR"]},
}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
