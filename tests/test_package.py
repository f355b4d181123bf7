"""What is installed, and how it is made: metadata, extras, the interpreter that is found, the
targets that are promised.
"""

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import pytest

import idealrank

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FIND = ROOT / ".ci" / "find-python"
posix = pytest.mark.skipif(os.name == "nt", reason="the Makefile and .ci/ are for POSIX shells")


def test_the_package_is_typed_and_its_kernel_is_described() -> None:
    package = resources.files("idealrank")
    assert package.joinpath("py.typed").is_file()
    assert package.joinpath("_kernel.pyi").is_file()


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).with_name("idealrank")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert idealrank.__version__ in said


def test_the_metadata_are_those_of_the_project() -> None:
    found = metadata.metadata("idealrank")
    assert found["Requires-Python"] == ">=3.11"
    assert found["License-Expression"] == "Apache-2.0"
    assert set(found.get_all("Provides-Extra") or ()) == set(PROJECT["optional-dependencies"])


def test_the_citation_names_the_version() -> None:
    stated = re.search(
        r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert stated
    assert stated[1] == idealrank.__version__


def test_every_extra_that_an_error_names_exists() -> None:
    raised = re.compile(r'MissingExtraError\([^()]*"(\w+)"\s*\)')
    named = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in raised.findall(path.read_text(encoding="utf-8"))
    }
    assert named, "no error names an extra any more"
    assert named <= set(PROJECT["optional-dependencies"])


def test_the_extra_all_has_every_other_one() -> None:
    """Those for a kind of user are made of others (tests/test_extras_table.py)."""
    (own,) = PROJECT["optional-dependencies"]["all"]
    by_user = {"ltr", "paper", "rag", "search-team"}
    assert set(re.fullmatch(r"idealrank\[([a-z,-]+)\]", own)[1].split(",")) == set(
        PROJECT["optional-dependencies"]
    ) - by_user - {"all"}  # type: ignore[index]


def test_every_target_that_a_page_names_exists() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    named = {
        target
        for page in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")
        for target in re.findall(
            r"(?:`|^\$ )make ([a-z-]+)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert {"demo", "test"} <= named <= targets


@posix
def test_ci_runs_the_two_commands_of_the_readme() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("make ")] == [
        "make demo",
        "make test ARGS=--budget",
    ]


def program(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@posix
@pytest.mark.parametrize("has_extra", [True, False])
def test_the_demo_ends_with_a_page_or_says_how_to_get_one(tmp_path: Path, has_extra: bool) -> None:
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "idealrank", 'echo "idealrank $@"')
    program(tmp_path / "bin" / "python", f"exit {0 if has_extra else 1}")
    (tmp_path / ".installed").touch()
    (tmp_path / ".created").touch()
    os.utime(tmp_path / ".installed", (2**32, 2**32))  # newer than every source

    made = subprocess.run(
        ["make", "--no-print-directory", "demo", f"VENV={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    evaluated, compared, said, further = [line for line in made.stdout.splitlines() if line]
    assert evaluated.startswith("idealrank evaluate examples/pydocs/qrels.txt")
    assert ("--report build/demo.html" in compared) == has_extra
    assert (
        said.endswith("build/demo.html")
        if has_extra
        else "pip install -e '.[report]' && make demo" in said
    )
    assert further.startswith("To go on in this shell")


def find(version: str, *candidates: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(folder)}
    return subprocess.run(
        [FIND, version, *candidates], env=environment, capture_output=True, text=True, check=False
    )


HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@posix
def test_an_interpreter_that_fails_is_passed_over(tmp_path: Path) -> None:
    shim = program(tmp_path / f"python{HERE}", "echo 'command not found' >&2; exit 127")
    found = find(HERE, shim.name, sys.executable, folder=tmp_path)
    assert (found.returncode, found.stdout.strip()) == (0, sys.executable)


@posix
@pytest.mark.parametrize(("version", "status"), [(HERE, 0), ("3.11+", 0), ("3.99+", 1), ("3.8", 1)])
def test_an_interpreter_has_the_version_that_is_asked(
    tmp_path: Path, version: str, status: int
) -> None:
    found = find(version, sys.executable, folder=tmp_path)
    assert found.returncode == status
    assert bool(found.stdout) == (status == 0)
    assert ("no working Python" in found.stderr) == (status == 1)


def test_functions_have_the_names_of_their_commands() -> None:
    """Each command of one result is a function of the same name, which Python's errors show."""
    assert idealrank.why.__code__ is idealrank.attribute.__code__
    assert idealrank.seeds.__code__ is idealrank.compare_systems.__code__
    for name in ("why", "seeds"):
        renamed = getattr(idealrank, name)
        assert (renamed.__name__, renamed.__qualname__) == (name, name)
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument"):
            renamed(nonsense=1)
    for name in (
        "advise",
        "choose",
        "compare",
        "evaluate",
        "explain",
        "gate",
        "overlap",
        "reconcile",
        "report",
        "robust",
    ):
        assert callable(getattr(idealrank, name))
