"""A peer answers in its own environment: arrays go there in a file, and numbers come back as
JSON.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def interpreter(name: str) -> Path:
    """The Python of an environment: named by the environment variable, else made by `make
    test-peers`.
    """
    named = os.environ.get(f"IDEALRANK_PEERS_{name.upper()}")
    return Path(named) if named else ROOT / f".venv-peers-{name}" / "bin" / "python"


def asked(name: str, script: str, folder: Path, **arrays: Any) -> Any:
    """Run a script of this folder in the named environment, and return its output."""
    path = folder / "arrays.npz"
    np.savez(path, **arrays)
    python = interpreter(name)
    assert python.is_file(), f"{python} is missing; `make test-peers` makes it"
    command = [str(python), "-W", "ignore", str(Path(__file__).with_name(script)), str(path)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "MPLCONFIGDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
