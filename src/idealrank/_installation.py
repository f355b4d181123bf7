"""The command that adds an extra to this copy of idealrank, however the copy was installed."""

import re
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


def install_command(extra: str) -> str:
    """Command that installs an extra into the environment in use.

    An index has the extras of a copy that came from it. A copy from a folder, a repository or an
    archive takes them from there.
    """
    origin, installer = _recorded()
    return f"{installer} install {_requirement(origin, extra)}"


def _recorded() -> tuple[dict[str, Any] | None, str]:
    """Origin of this copy as the installer wrote it down (PEP 610), None for an index; and the
    installer.
    """
    import json  # noqa: PLC0415  (`import idealrank` needs it not)
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415  (slow to load, and only after a mistake)

    try:
        found = distribution("idealrank")
    except PackageNotFoundError:  # a source tree on the path
        return _tree(), "pip"
    installer = "uv pip" if (found.read_text("INSTALLER") or "").strip() == "uv" else "pip"
    text = found.read_text("direct_url.json")
    if text is not None:
        return json.loads(text), installer
    # A tree that stands before the installed copy on the path has no record of its own.
    return (
        None if Path(str(found.locate_file("idealrank"))).resolve() == _HERE else _tree()
    ), installer


def _tree() -> dict[str, Any]:
    """The source tree of this file, as an editable copy."""
    return {"url": _HERE.parents[1].as_uri(), "dir_info": {"editable": True}}


def _requirement(origin: dict[str, Any] | None, extra: str) -> str:
    """The requirement as a shell takes it."""
    if origin is None:
        return f"'idealrank[{extra}]'"
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        words = origin["vcs_info"]
        revision = words.get("requested_revision")
        return (
            f"'idealrank[{extra}] @ "
            f"{words.get('vcs', 'git')}+{url}{f'@{revision}' if revision else ''}'"
        )
    if "dir_info" not in origin:
        return f"'idealrank[{extra}] @ {url}'"
    folder = Path(
        _PERCENT.sub(
            lambda byte: bytes.fromhex(byte[1].decode()), url.removeprefix("file://").encode()
        ).decode()
    )
    option = "-e " if origin["dir_info"].get("editable") else ""
    if not (folder / "pyproject.toml").is_file():
        return f"{option}'.[{extra}]' in a checkout of idealrank"
    return f"{option}'{'.' if folder == Path.cwd() else folder}[{extra}]'"
