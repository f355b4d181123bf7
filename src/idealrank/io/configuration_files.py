"""Configuration files: YAML, TOML and JSON, read into plain values."""

import json
import tomllib
from pathlib import Path
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import InputError


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
