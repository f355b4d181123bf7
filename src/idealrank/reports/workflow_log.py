"""Text for the log of a build server that looks for commands in it: held there, and not obeyed."""

import re


def harmless(text: str) -> str:
    r"""Text for a log of GitHub Actions, which obeys lines that begin with ``::`` and ``##[...]`` wherever it stands.

    Examples
    --------
    >>> harmless("  ::error::mine\nq ##[add-mask]x\nnDCG::x")
    '  : :error::mine\nq ## [add-mask]x\nnDCG::x'
    """
    # The runner also ends a line at a carriage return, and looks behind blanks at its beginning.
    return re.sub(r"(^|[\r\n])(\s*):(?=:)", r"\1\2: ", text).replace("##[", "## [")


def harmless_json(text: str) -> str:
    r"""JSON that means the same and holds no workflow command.

    Examples
    --------
    >>> harmless_json('{"query": "##[add-mask]x"}')
    '{"query": "##\\u005badd-mask]x"}'
    """
    return text.replace("##[", "##\\u005b")
