"""A subinterpreter cannot run the kernel: it is told so, and does not wait for ever."""

import subprocess
import sys

_WORK = """
try:
    import idealrank
    idealrank.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR")
except ImportError as error:
    print("ImportError:", error, flush=True)
"""
_SCRIPT = """
import importlib, sys

def interpreters():
    for name in ("concurrent.interpreters", "_interpreters", "_xxsubinterpreters"):
        try:
            return importlib.import_module(name)
        except ImportError:
            pass

found = interpreters()
one = found.create()
one.exec(sys.argv[1]) if hasattr(one, "exec") else found.run_string(one, sys.argv[1])
"""


def test_a_subinterpreter_is_refused_and_does_not_wait_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, _WORK],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    # NumPy, or the interpreter where it has a GIL of its own, may refuse first.
    assert done.stdout.startswith("ImportError: "), done.stderr
    if sys.version_info < (3, 12):
        assert (
            "idealrank cannot run in a subinterpreter; import it in the main interpreter"
            in done.stdout
        )
