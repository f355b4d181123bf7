"""A file of a function is loaded anew with the user's modules beside it, and with nothing else."""

import sys
from pathlib import Path
from typing import Any

import pytest

import idealrank
from idealrank._sections import Section
from idealrank.errors import OptionError
from idealrank.live.backends.python_function import is_own, named_object


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def loaded(place: str) -> Any:
    return named_object(
        Section({"function": place}, "search.yaml", "backend"), "function", "function"
    )


def test_packages_of_an_environment_in_the_folder_are_loaded_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = folder / ".venv/lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (packages / "once_only.py").write_text("class Result: pass\n")
    monkeypatch.syspath_prepend(packages)
    for name in ("a", "b"):
        Path(f"{name}.py").write_text(
            "import once_only\ndef search(text, limit): return once_only.Result\n"
        )
    first, second = loaded("a.py:search"), loaded("b.py:search")
    assert first("", 1) is second("", 1)


def test_the_library_is_not_of_the_user_in_a_source_checkout_either() -> None:
    assert is_own(__file__)
    assert not is_own(idealrank.__file__)


@pytest.mark.parametrize(
    "script",
    [
        "def search(text, limit):\n    import near_it\n    return near_it.V\n",
        "def search(text, limit):\n    from folder_near import near_it\n    return near_it.V\n",
        "import near_it\ndef search(text, limit): return near_it.V\n",
    ],
    ids=["in the function", "of a package", "at the top"],
)
def test_a_changed_module_beside_the_file_is_loaded_again(folder: Path, script: str) -> None:
    Path("folder_near").mkdir()
    Path("a.py").write_text(script)
    # of another length, as Python finds compiled modules by time and size
    for value in ("1", "22"):
        for name in ("near_it.py", "folder_near/near_it.py"):
            Path(name).write_text(f"V = {value}\n")
        assert loaded("a.py:search")("", 1) == int(value)


def test_a_file_that_fails_leaves_no_module_behind(folder: Path) -> None:
    Path("near_it.py").write_text("V = 1\n")
    Path("a.py").write_text("import near_it\nraise ValueError\n")
    with pytest.raises(OptionError, match="ValueError"):
        loaded("a.py:search")
    assert not {"a", "near_it"} & set(sys.modules)
    Path("near_it.py").write_text("V = 22\n")
    Path("a.py").write_text("import near_it\ndef search(text, limit): return near_it.V\n")
    assert loaded("a.py:search")("", 1) == 22


def test_a_module_that_a_name_brought_is_loaded_once(folder: Path) -> None:
    Path("named_one.py").write_text("def search(text, limit): return 1\n")
    Path("a.py").write_text("def search(text, limit): return 1\n")
    loaded("a.py:search")
    first = loaded("named_one:search")
    loaded("a.py:search")
    assert loaded("named_one:search") is first
