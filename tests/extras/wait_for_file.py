"""Wait until a file has a text, a minute at most: `python wait_for_file.py FILE [TEXT]`."""

import sys
import time
from pathlib import Path

path, text = Path(sys.argv[1]), "".join(sys.argv[2:])
end = time.monotonic() + 60
while not (path.exists() and path.stat().st_size and text in path.read_text(encoding="utf-8")):
    if time.monotonic() > end:
        sys.exit(f"{path} has no {text or 'content'} after a minute")
    time.sleep(0.1)
