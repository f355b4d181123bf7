"""Fresh environments for the extras, made by uv, and what one runs in them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT

EXTRAS = Path(__file__).resolve().parent
HEADLINES = EXTRAS / "headlines"
BUILT = ROOT / "build" / "extras"  # where `make test-extras` puts the wheel
MEGABYTE = 1_000_000


class Environment(NamedTuple):
    """A virtual environment."""

    folder: Path

    @classmethod
    def fresh(cls, folder: Path) -> "Environment":
        """An environment with nothing in it, of the interpreter that runs the tests."""
        if folder.exists():
            shutil.rmtree(folder)
        uv("venv", "--python", sys.executable, folder)
        return cls(folder)

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    def install(self, *requirements: str | Path, constraints: Path | None = None) -> None:
        """Install packages as a user would: only wheels, except for PySpark, which has none."""
        options = [] if constraints is None else ["--constraint", constraints]
        options += ["--only-binary", ":all:", "--no-binary", "pyspark"]
        find_links = os.environ.get("PIP_FIND_LINKS", "").split()
        for place in find_links:
            options += ["--find-links", place]
        uv("pip", "install", "--python", self.programs / "python", *options, *requirements)

    def megabytes(self) -> float:
        """Size of all files, without the bytecode that Python adds when modules are used."""
        files = (path for path in self.folder.rglob("*") if "__pycache__" not in path.parts)
        return sum(path.lstat().st_size for path in files if not path.is_dir()) / MEGABYTE

    def bash(self, script: Path, folder: Path, variables: Iterable[tuple[str, str]]) -> str:
        """Run a script with the programs of this environment, and without a compiler; return what
        it prints.
        """
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", script],
            cwd=folder,
            env={**_outside(), "PATH": path, "EXTRAS": str(EXTRAS), **dict(variables)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=1500,
        )
        assert done.returncode == 0, f"{script.name} ended with {done.returncode}\n{done.stdout}"
        return done.stdout


def _outside() -> dict[str, str]:
    """The environment without what would let the tests' own packages in."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COVERAGE", "PYTEST"))
    }


def uv(*arguments: str | Path) -> None:
    """Run uv of the environment that runs the tests."""
    program = Path(sys.executable).with_name("uv")
    done = subprocess.run(
        [program, "--quiet", *arguments],
        env={**_outside(), "UV_LINK_MODE": "hardlink"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"uv {' '.join(map(str, arguments))}\n{done.stderr}"


def extras() -> dict[str, list[str]]:
    """Extras of pyproject.toml with their requirements."""
    import tomllib

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed: dict[str, list[str]] = tomllib.loads(text)["project"]["optional-dependencies"]
    return listed


def documented() -> dict[str, list[str]]:
    """Rows of the tables of extras in docs/get-started/index.md: the cells after the name."""
    page = (ROOT / "docs" / "get-started" / "index.md").read_text(encoding="utf-8")
    section = page.partition("\n## Extras\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:3] == "| `"]
    return {name.strip("`"): cells for name, *cells in rows}
