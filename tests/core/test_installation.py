"""The message of a missing extra names the command that installs it into this copy of idealrank."""

import importlib.metadata
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank
from idealrank import errors
from idealrank.errors import MissingExtraError

Installed = Callable[..., None]

HOME = errors._here().parent


class _Distribution:
    """An installed copy with the files that an installer writes."""

    def __init__(self, home: Path, files: dict[str, str]) -> None:
        self.home, self.files = home, files

    def read_text(self, name: str) -> str | None:
        return self.files.get(name)

    def locate_file(self, name: str) -> Path:
        return self.home / name


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installed:
    def install(
        url: dict[str, Any] | None,
        *,
        installer: str = "pip",
        home: Path = HOME,
    ) -> None:
        files = {"INSTALLER": f"{installer}\n"} | (
            {} if url is None else {"direct_url.json": json.dumps(url)}
        )
        monkeypatch.setattr(
            importlib.metadata, "distribution", lambda _: _Distribution(home, files)
        )

    return install


def _checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "my rank"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    return folder


def test_a_copy_from_an_index_takes_the_extra_from_there(installed: Installed) -> None:
    installed(None)

    assert (
        str(MissingExtraError("reading Parquet", "pyarrow", "arrow"))
        == "reading Parquet needs pyarrow; pip install 'idealrank[arrow]'"
    )


@pytest.mark.parametrize(("editable", "option"), [(True, "-e "), (False, "")])
def test_a_copy_from_a_checkout_takes_the_extra_from_the_checkout(
    editable: bool,
    option: str,
    installed: Installed,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = _checkout(tmp_path)
    installed({"url": folder.as_uri(), "dir_info": {"editable": editable} if editable else {}})

    elsewhere = errors.install_command("report")
    monkeypatch.chdir(folder)
    inside = errors.install_command("report")
    (folder / "pyproject.toml").unlink()
    lost = errors.install_command("report")

    assert shlex.split(elsewhere) == ["pip", "install", *option.split(), f"{folder}[report]"]
    assert inside == f"pip install {option}'.[report]'"
    assert lost == f"pip install {option}'.[report]' in a checkout of idealrank"


def test_a_copy_from_a_repository_or_an_archive_takes_the_extra_from_there(
    installed: Installed,
) -> None:
    installed(
        {
            "url": "https://example.org/rank.git",
            "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "0"},
        }
    )
    assert (
        errors.install_command("sql")
        == "pip install 'idealrank[sql] @ git+https://example.org/rank.git@v1'"
    )

    installed(
        {"url": "file:///wheels/idealrank-1-py3-none-any.whl", "archive_info": {}}, installer="uv"
    )
    assert (
        errors.install_command("sql")
        == "uv pip install 'idealrank[sql] @ file:///wheels/idealrank-1-py3-none-any.whl'"
    )


def test_a_source_tree_on_the_path_is_installed_with_the_extra(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _checkout(tmp_path)
    monkeypatch.setattr(errors, "_here", lambda: folder / "src" / "idealrank")
    expected = ["pip", "install", "-e", f"{folder}[torch]"]

    installed(None, home=tmp_path / "site-packages")  # another copy is installed
    assert shlex.split(errors.install_command("torch")) == expected

    def missing(_: str) -> None:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert shlex.split(errors.install_command("torch")) == expected


def test_only_one_function_words_the_command() -> None:
    source = Path(idealrank.__file__).parent
    naming = [
        path.name
        for path in source.rglob("*.py")
        if "install 'idealrank[" in path.read_text(encoding="utf-8")
    ]

    assert naming == []
