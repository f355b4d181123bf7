# A table of LanceDB as an engine.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
from pathlib import Path

import lancedb
import numpy as np

vectors = np.load("documents.npy")
rows = [{"id": f"doc-{number}", "vector": vector} for number, vector in enumerate(vectors)]
lancedb.connect("lance").create_table("pages", rows)
config = json.loads(Path("search.json").read_text())
config["backend"] = {"kind": "lancedb", "path": "lance", "table": "pages", "metric": "cosine"}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
