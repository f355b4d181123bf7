# Metrics of a round over OTLP.
python examples/canary/shop.py shop
python "$EXTRAS/http_engine.py" sink.port posted &
trap 'kill %1' EXIT
python "$EXTRAS/wait_for_file.py" sink.port
python - <<PYTHON
import json
from pathlib import Path
config = {
    "name": "shop",
    "store": "shop/store",
    "backend": {"kind": "sqlite-fts5", "path": "shop/shop.db", "table": "documents", "id": "id"},
    "queries": "shop/queries.tsv",
    "qrels": {"path": "shop/qrels.txt"},
    "limit": 10,
    "evaluation": {"measures": ["nDCG@10"]},
    "every": "5s",
    "alarms": [{"kind": "threshold", "name": "floor", "least": 0.1}],
    "metrics": {"otlp": "http://127.0.0.1:" + Path("sink.port").read_text() + "/v1/metrics"},
}
Path("monitor.json").write_text(json.dumps(config))
PYTHON
idealrank monitor monitor.json --once
grep --text idealrank_canary_value posted
