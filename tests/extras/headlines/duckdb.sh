# A table of DuckDB as an engine.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
from pathlib import Path

import duckdb
import numpy as np

vectors = np.load("documents.npy")
with duckdb.connect("pages.duckdb") as connection:
    connection.execute("CREATE TABLE pages (id VARCHAR, embedding FLOAT[])")
    rows = [(f"doc-{number}", vector.tolist()) for number, vector in enumerate(vectors)]
    connection.executemany("INSERT INTO pages VALUES (?, ?)", rows)
sql = (
    "SELECT id, list_cosine_similarity(embedding, $vector::FLOAT[]) AS score FROM pages "
    "ORDER BY score DESC, id LIMIT $limit"
)
config = json.loads(Path("search.json").read_text())
config["backend"] = {"kind": "duckdb", "path": "pages.duckdb", "sql": sql}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
