"""`{said} idealrank conventions` in a page shows the command and what it prints, taken while the
site is built.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]


class Said(SphinxDirective):
    """Run a command at the root of the repository; one that fails stops the build."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        command = self.arguments[0]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb"}
        program, *arguments = shlex.split(command)
        found = shutil.which(program, path=path)
        if found is None:
            raise self.error(f"{program} is not installed beside the Python that builds the site")
        done = subprocess.run(
            [found, *arguments],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise self.error(f"{command} failed with status {done.returncode}: {done.stderr}")
        text = f"$ {command}\n{done.stdout}"
        return [nodes.literal_block(text, text, language="console")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("said", Said)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
