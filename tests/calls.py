"""Count the function calls of a piece of code in a fresh interpreter: a measure of its cost that
does not depend on the load.
"""

import subprocess
import sys
from pathlib import Path

_COUNT = """
import os, sys
calls = 0

def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")

exec(sys.argv[1])
sys.setprofile(count)
exec(sys.argv[2])
sys.setprofile(None)
sys.stdout.flush()
os.write(3, str(calls).encode())
"""


def calls_of(code: str, *, after: str = "", cwd: Path) -> int:
    """Calls of functions, those written in C among them; what `after` does, such as loading NumPy,
    does not count.
    """
    command = [
        "bash",
        "-c",
        'exec 3>&1 >/dev/null "$@"',
        "bash",
        sys.executable,
        "-c",
        _COUNT,
        after,
        code,
    ]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd).stdout)
