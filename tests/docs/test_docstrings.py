"""Every example in a docstring runs."""

import doctest
import importlib
import io
import linecache
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import idealrank
from tests.sources import OF_PEERS

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    module.name
    for module in pkgutil.walk_packages(idealrank.__path__, "idealrank.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.peers if name.startswith(OF_PEERS) else ())
        for name in MODULES
    ],
)
def test_the_examples_of_the_module_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = importlib.import_module(name)
    monkeypatch.chdir(tmp_path)
    # each runner asks the disk for all files there, which is a quarter of the time
    linecache.clearcache()
    said = io.StringIO()
    for example in doctest.DocTestFinder(exclude_empty=True).find(module):
        example.globs.setdefault("np", np)  # NumPy's own documentation takes it for granted too
        doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(example, out=said.write)
    assert not said.getvalue(), said.getvalue()
