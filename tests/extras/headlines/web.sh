# The page of a store.
idealrank evaluate examples/pydocs/qrels.txt examples/pydocs/bm25.run --store results
idealrank serve --store results --port 0 > served.txt 2>&1 &
trap 'kill %1' EXIT
python "$EXTRAS/wait_for_file.py" served.txt http
python - <<'PYTHON'
import re
import urllib.request
from pathlib import Path

address = re.search(r"http://\S+", Path("served.txt").read_text())[0]
page = urllib.request.urlopen(address, timeout=60).read().decode()
assert "bm25" in page, page[:2000]
metrics = urllib.request.urlopen(address + "metrics", timeout=60).read().decode()
print(metrics.splitlines()[0])
PYTHON
