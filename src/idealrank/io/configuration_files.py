"""Configuration files: YAML, TOML and JSON, read into plain values, and the JSON Schema of each command."""

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import InputError, OptionError, shown


def read_configuration(path: str) -> Any:
    """Read a configuration from YAML, TOML or JSON, by the ending of the file.

    Raises
    ------
    InputError
        The file cannot be read, or is not of its format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.json")
    ...     _ = path.write_text('{"seed": 1}')
    ...     read_configuration(str(path))
    {'seed': 1}
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or 'found bytes that are no UTF-8, expected text'}") from None
    try:
        if path.endswith(".toml"):
            return tomllib.loads(text)
        if path.endswith(".json"):
            return json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    yaml = load_extra("yaml", "a configuration in YAML", "train", "pyyaml")
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from None


def configuration_schema(command: str, kinds: Iterable[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema of the configuration of a command; editors check files by it.

    Parameters
    ----------
    command : str
        Name of the command, such as ``search``.
    kinds : iterable of str
        Kinds of backends; any kind by default.

    Raises
    ------
    OptionError
        No schema has this name.

    Examples
    --------
    >>> schema = configuration_schema("search", ["http", "replay"])
    >>> schema["title"], schema["properties"]["limit"]["minimum"]
    ('idealrank search', 1)
    """
    whole = json.loads((Path(__file__).parent / "configuration_schema.json").read_text(encoding="utf-8"))
    commands = [name for name, one in whole["$defs"].items() if str(one.get("title", "")).startswith("idealrank ")]
    if command not in commands:
        raise OptionError(f"schema: found {shown(repr(command))}, expected one of {', '.join(commands)}")
    if listed := list(kinds):
        whole["$defs"]["backend"]["properties"]["kind"] = {"enum": listed}
    return {"$schema": whole["$schema"], **whole["$defs"].pop(command), "$defs": whole["$defs"]}
