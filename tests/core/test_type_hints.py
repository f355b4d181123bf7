"""`typing.get_type_hints`, by which other tools read annotations, answers for public classes and
functions; nothing is loaded before it.
"""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import idealrank
from idealrank.errors import MissingExtraError

FOUND = [one.name for one in pkgutil.walk_packages(idealrank.__path__, "idealrank.") if one.ispkg]
PACKAGES = ["idealrank", *(name for name in FOUND if ".cli" not in name)]
# its annotations are generic classes of Hypothesis, which only its functions load
WITHOUT = ("idealrank.testing.strategies",)


def public(package: str) -> Iterator[tuple[str, Any]]:
    """Classes and functions that a package lists, and public methods of the classes."""
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", ()):
        try:
            value = getattr(module, name)
        except MissingExtraError:
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value
        for method, given in vars(value).items() if inspect.isclass(value) else ():
            function = (
                given.fget
                if isinstance(given, property)
                else getattr(given, "__func__", getattr(given, "func", given))
            )
            if inspect.isfunction(function) and (
                method == "__init__" or not method.startswith("_")
            ):
                yield f"{name}.{method}", function


@pytest.mark.parametrize("package", PACKAGES)
def test_annotations_of_all_public_names_can_be_read(package: str) -> None:
    failed = []
    for name, value in public(package):
        try:
            typing.get_type_hints(value)
        except (NameError, TypeError) as error:
            if value.__module__ not in WITHOUT:
                failed.append(f"{name}: {error}")
    assert failed == []


def test_names_for_annotations_are_the_classes_themselves() -> None:
    from idealrank.analysis.comparison.differences import Difference
    from idealrank.analysis.comparison.slice_differences import Slices
    from idealrank.data.preference_qrels import PreferenceQrels
    from idealrank.data.qrels import Qrels
    from idealrank.evaluation.evaluate import evaluate

    assert Slices in typing.get_args(typing.get_type_hints(Difference)["slices"])
    assert {Qrels, PreferenceQrels} <= set(
        typing.get_args(typing.get_type_hints(evaluate)["qrels"])
    )


def test_a_comparison_loads_no_module_for_annotations() -> None:
    code = (
        "import sys, idealrank as ir\n"
        "ir.compare(*[ir.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'RR', name=name) for name in "
        "'ab'])\n"
        "print([name for name in ('slice_differences', 'judge_differences') if "
        "f'idealrank.analysis.comparison.{name}' in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
