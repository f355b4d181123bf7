"""Run a server of examples/pydocs/servers.py until standard input ends: `python running_server.py
redis_server|postgres_server FOLDER`; prints its address.
"""

import runpy
import sys
from pathlib import Path

SERVERS = Path(__file__).resolve().parents[2] / "examples" / "pydocs" / "servers.py"

with runpy.run_path(str(SERVERS))[sys.argv[1]](Path(sys.argv[2])) as address:
    print(address, flush=True)
    sys.stdin.read()
