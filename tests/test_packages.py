"""Packages beside the wheel: the conda recipe, the container, and the workflows that test what is
too long for every push.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml

import idealrank
from idealrank.cli.main import cli
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
posix = pytest.mark.skipif(os.name == "nt", reason="the scripts of .ci/ are for POSIX shells")


def plain(requirement: str) -> str:
    return requirement.replace(" ", "")


# --- conda ----------------------------------------------------------------------------------------


def test_the_recipe_has_the_version_and_the_requirements_of_the_project() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    requirements = recipe["requirements"]
    built_with = {plain(requirement) for requirement in requirements["host"]}
    runs_with = {plain(requirement) for requirement in requirements["run"]}

    assert recipe["context"]["version"] == idealrank.__version__
    assert built_with == {"python", "pip", *map(plain, PROJECT["build-system"]["requires"])}
    assert runs_with == {
        f"python{PROJECT['project']['requires-python']}",
        *map(plain, PROJECT["project"]["dependencies"]),
    }
    assert recipe["build"]["python"]["entry_points"] == [
        f"{name} = {target}" for name, target in PROJECT["project"]["scripts"].items()
    ]


# --- container ------------------------------------------------------------------------------------


def dockerfile() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile with their arguments."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def arguments(instruction: str) -> list[str]:
    (value,) = [rest for word, rest in dockerfile() if word == instruction]
    return list(json.loads(value))


def test_the_container_serves_with_options_that_exist() -> None:
    name, *options = arguments("CMD")
    assert arguments("ENTRYPOINT") == ["idealrank"]
    assert name == "serve"

    serve = cli.get_command(None, name)  # type: ignore[attr-defined]
    values = serve.make_context(name, list(options)).params

    assert values["host"] == "0.0.0.0"
    ports = [rest for word, rest in dockerfile() if word == "EXPOSE"]
    assert ports == [str(values["port"])]


def test_the_container_copies_files_that_the_context_has() -> None:
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [shlex.split(rest) for word, rest in dockerfile() if word == "COPY"]
    sources = [name for names in copied if names[0] != "--from=build" for name in names[:-1]]

    assert {f"!{name}" for name in sources} == {line for line in allowed if line[0] == "!"}
    assert [name for name in sources if not (ROOT / name).exists()] == []


def test_the_container_has_what_a_build_reads() -> None:
    """What pyproject.toml and CMakeLists.txt name is among the copied files."""
    sources = " ".join(rest for word, rest in dockerfile() if word == "COPY")
    read = [PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], "src"]

    assert [name for name in read if name not in sources.split()] == []


def test_the_container_installs_extras_that_exist() -> None:
    (installed,) = [
        re.search(r'\.whl\)\[([a-z,-]+)\]"', rest)
        for word, rest in dockerfile()
        if word == "RUN" and "pip install" in rest
    ]
    assert installed
    assert set(installed[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])


def test_compose_builds_the_container_of_the_checkout() -> None:
    path = ROOT / "deploy" / "docker-compose.yaml"
    services = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]
    contexts = [service["build"] for service in services.values() if "build" in service]

    assert len(contexts) == 2
    for context in contexts:
        assert (path.parent / context / "Dockerfile").resolve() == ROOT / "Dockerfile"


# --- long targets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["slow", "peers", "services", "cluster", "extras"])
def test_a_long_target_is_a_scheduled_job_of_its_own(target: str) -> None:
    path = ROOT / ".github" / "workflows" / "scheduled.yml"
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    commands = [step.get("run", "") for step in workflow["jobs"][target]["steps"]]

    assert "schedule" in workflow[True]  # YAML 1.1 reads the key `on` so
    assert [line for line in commands if line.startswith("make")] == [f"make test-{target}"]
    assert "needs" not in workflow["jobs"][target]


# --- the limit of an installation -----------------------------------------------------------------


def timed(seconds: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, ROOT / ".ci" / "timed", seconds, *words],
        capture_output=True,
        text=True,
        check=False,
    )


@posix
def test_a_command_within_its_limit_passes_and_another_one_fails() -> None:
    busy = "import time\nwhile time.process_time() < 0.2: pass"

    assert timed("60", sys.executable, "-c", busy).returncode == 0
    assert timed("0.1", sys.executable, "-c", busy).returncode == 1
    assert timed("60", sys.executable, "-c", "raise SystemExit(5)").returncode == 5


@posix
def test_the_wheel_is_tried_without_a_compiler_and_without_an_index() -> None:
    script = (ROOT / ".ci" / "wheel").read_text(encoding="utf-8")

    assert "PIP_NO_INDEX=1" in script
    assert 'PATH="$work/no-compiler:$PATH"' in script
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "wheel"], check=False).returncode == 0
