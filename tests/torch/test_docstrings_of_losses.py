"""Every public function and class of the losses has a docstring: the default environment cannot
import them.
"""

import importlib
import inspect
from types import FunctionType

import pytest

from tests.sources import OF_PEERS, library

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("dotted", [name for name in library() if name.startswith(OF_PEERS)])
def test_every_function_and_class_has_a_docstring(dotted: str) -> None:
    module = importlib.import_module(dotted)
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and isinstance(value, FunctionType | type)
        and value.__module__ == dotted
    }
    assert [name for name, value in own.items() if not inspect.getdoc(value)] == []
