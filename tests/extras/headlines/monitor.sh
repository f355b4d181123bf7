# A round of canary queries from a file in YAML, a message through Apprise, and metrics.
python examples/canary/shop.py shop
python "$EXTRAS/http_engine.py" sink.port posted &
trap 'kill %1' EXIT
python "$EXTRAS/wait_for_file.py" sink.port
python - <<PYTHON
from pathlib import Path
config = Path("examples/canary/monitor.yaml").read_text()
address = "json://127.0.0.1:" + Path("sink.port").read_text()
config = config.replace("least: 0.5}", "least: 0.99}")  # an alarm at the second round
config += f"  - {{kind: apprise, urls: ['{address}']}}\nmetrics: {{port: 0}}\n"
Path("monitor.yaml").write_text(config)
PYTHON
idealrank monitor monitor.yaml --once > round.txt
idealrank monitor monitor.yaml --once || [ $? = 1 ]  # 1: the second low value opens the alarm
grep "nDCG@10 0.5874" round.txt
grep floor posted
