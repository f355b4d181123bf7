"""The source of the library for tests that hold rules: read once, and parsed once a process."""

import ast
import functools
import gc
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"

# Modules that a peer of `make test-peers` has to be there for: the default environment has no
# PyTorch.
OF_PEERS = ("idealrank.training.torch.",)


@functools.cache
def library() -> Mapping[str, str]:
    """Every module by its dotted name."""
    paths = sorted((SOURCE / "idealrank").rglob("*.py"))
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path.read_text("utf-8")
        for path in paths
    }


@functools.cache
def nodes(source: str) -> list[ast.AST]:
    """Every node of a text, as `ast.walk` comes to them, the module first.

    Trees of all modules are a million objects that live as long as the process: frozen, they make
    no later collection of garbage slow.
    """
    found = walked(ast.parse(source))
    gc.freeze()
    return found


def walked(tree: ast.AST) -> list[ast.AST]:
    """What `ast.walk` gives, in half of its time: there are a million nodes."""
    found = [tree]
    for node in found:  # which grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [one for one in value if isinstance(one, ast.AST)]
    return found


def module(source: str) -> ast.Module:
    """The tree of a text."""
    first = nodes(source)[0]
    assert isinstance(first, ast.Module)
    return first
