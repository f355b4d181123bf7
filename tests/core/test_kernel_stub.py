"""The kernel's stub says what the compiled module has: names, parameters, defaults.

`mypy.stubtest` (in `make check`) compares the names and the properties; it cannot read the
signatures of nanobind's functions, which are compared here.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from idealrank import _kernel

STUB = Path(__file__).resolve().parents[2] / "src" / "idealrank" / "_kernel.pyi"
# (name, how it is passed, whether it has a default, the default)
Parameter = tuple[str, str, bool, Any]


def split_at_commas(text: str) -> Iterator[str]:
    """The parameters of a signature: nanobind's annotations hold commas, brackets and quotes of
    their own.
    """
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip():
        yield text[start:].strip()


def compiled(function: Callable[..., Any]) -> list[Parameter]:
    (text, _doc, defaults), *others = function.__nb_signature__  # type: ignore[attr-defined]
    assert not others, "an overload; the comparison below would see its first form only"
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    kind, found = "any", []
    for part in split_at_commas(inside):
        if part in {"*", "/"}:
            kind = "keyword" if part == "*" else kind
            continue
        default = re.search(r"= \\(\d+)$", part)
        found.append(
            (
                re.split(r"[:= ]", part)[0],
                kind,
                default is not None,
                defaults[int(default[1])] if default else None,
            )
        )
    return found


def stated(function: ast.FunctionDef) -> list[Parameter]:
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [(a, "any", d) for a, d in zip(plain, defaults, strict=True)]
    pairs += [
        (a, "keyword", d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [
        (a.arg, kind, d is not None, None if d is None else ast.literal_eval(d))
        for a, kind, d in pairs
    ]


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            methods = [
                part
                for part in node.body
                if isinstance(part, ast.FunctionDef) and not part.decorator_list
            ]
            yield from ((f"{node.name}.{method.name}", method) for method in methods)


STATED = dict(functions())


def compiled_member(name: str) -> Any:
    owner, _, member = name.rpartition(".")
    return getattr(getattr(_kernel, owner), member) if owner else getattr(_kernel, name)


@pytest.mark.parametrize("name", STATED)
def test_a_signature_in_the_stub_is_that_of_the_kernel(name: str) -> None:
    assert stated(STATED[name]) == compiled(compiled_member(name))


def test_every_function_of_the_kernel_is_in_the_stub() -> None:
    found = {name for name in dir(_kernel) if type(getattr(_kernel, name)).__name__ == "nb_func"}
    assert found == {name for name in STATED if "." not in name}
