# A folder of Qdrant as an engine.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
from pathlib import Path

import numpy as np
from qdrant_client import QdrantClient, models

vectors = np.load("documents.npy")
client = QdrantClient(path="qdrant")
size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
client.create_collection("pages", size)
points = [
    models.PointStruct(id=number, vector=vector.tolist(), payload={"id": f"doc-{number}"})
    for number, vector in enumerate(vectors)
]
client.upsert("pages", points)
client.close()
config = json.loads(Path("search.json").read_text())
config["backend"] = {"kind": "qdrant", "path": "qdrant", "collection": "pages", "id": "id"}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
