# A server of Redis as an engine, by vectors.
python "$EXTRAS/small_data.py" vectors
python - <<'PYTHON'
import json
import os
from pathlib import Path

import numpy as np
import redis

vectors = np.load("documents.npy")
client = redis.Redis.from_url(os.environ["REDIS_URL"])
client.flushall()
field = ["v", "VECTOR", "FLAT", 6, "TYPE", "FLOAT32", "DIM", vectors.shape[1]]
client.execute_command(
    "FT.CREATE", "pages", "PREFIX", 1, "doc:", "SCHEMA", *field, "DISTANCE_METRIC", "COSINE"
)
for number, vector in enumerate(vectors):
    client.hset(f"doc:doc-{number}", mapping={"v": vector.tobytes()})
client.close()
config = json.loads(Path("search.json").read_text())
config["backend"] = {
    "kind": "redis", "url": "${REDIS_URL}", "index": "pages", "field": "v", "prefix": "doc:"
}
Path("search.json").write_text(json.dumps(config))
PYTHON
idealrank search search.json --output runs | grep 1.0000
