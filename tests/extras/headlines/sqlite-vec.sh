# A table of sqlite-vec as an engine.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
from pathlib import Path

import numpy as np
import sqlite_vec

try:
    import pysqlite3 as sqlite
except ImportError:  # not Linux
    import sqlite3 as sqlite

vectors = np.load("documents.npy")
connection = sqlite.connect("vectors.db")
connection.enable_load_extension(True)
connection.load_extension(sqlite_vec.loadable_path())
connection.execute(
    "CREATE VIRTUAL TABLE pages USING vec0(id TEXT PRIMARY KEY, "
    f"embedding float[{vectors.shape[1]}] distance_metric=cosine)"
)
rows = [(f"doc-{number}", vector.tobytes()) for number, vector in enumerate(vectors)]
connection.executemany("INSERT INTO pages (id, embedding) VALUES (?, ?)", rows)
connection.commit()
connection.close()
config = json.loads(Path("search.json").read_text())
config["backend"] = {
    "kind": "sqlite-vec", "path": "vectors.db", "table": "pages", "column": "embedding", "id": "id"
}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
