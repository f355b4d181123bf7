# A file of FAISS as an engine.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
from pathlib import Path

import faiss
import numpy as np

vectors = np.load("documents.npy")
index = faiss.index_factory(vectors.shape[1], "HNSW16", faiss.METRIC_INNER_PRODUCT)
index.add(vectors)
faiss.write_index(index, "documents.faiss")
Path("ids.txt").write_text("".join(f"doc-{number}\n" for number in range(len(vectors))))
config = json.loads(Path("search.json").read_text())
config["backend"] = {"kind": "faiss", "path": "documents.faiss", "ids": "ids.txt"}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
