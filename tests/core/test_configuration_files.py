"""Configuration files: what YAML, TOML and JSON would take in silence, or answer with an error of
their own, is refused with its place.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import idealrank as ir
from idealrank._sections import Section
from idealrank.io.configuration_files import read_configuration

BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)
TWICE = "model:\n  rounds: 5\n  library: lightgbm\n  rounds: 9\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.yaml",
            TWICE,
            "a.yaml:4: found the key 'rounds' again, after line 2, expected it once; leave "
            "one of them out",
        ),
        (
            "a.json",
            '{"a": {"rounds": 5,\n"b": {"rounds": 7},\n"rounds": 9}}',
            "a.json:3: found the key 'rounds' again, after line 1",
        ),
        (
            "a.json",
            '{"a": "x \\": {", "\\u0061": 2}',
            "a.json:1: found the key 'a' again, after line 1",
        ),
        (
            "a.toml",
            "[model]\nrounds = 5\nrounds = 9\n",
            "a.toml: Cannot overwrite a value (at line 3",
        ),
        (
            "a.yaml",
            BOMB,
            "a.yaml: found more than 1,048,576 values, expected a configuration; aliases "
            "repeat what they stand for",
        ),
        (
            "a.yaml",
            "a: &a\n  b: *a\n",
            "a.yaml: found a value that contains itself, expected none; take the alias out",
        ),
        (
            "a.yaml",
            "seed: " + "9" * 5000,
            "a.yaml:1: found a whole number of thousands of digits, expected a smaller one",
        ),
        (
            "a.json",
            '{"seed": ' + "9" * 5000 + "}",
            "a.json: found a whole number of thousands of digits",
        ),
        (
            "a.json",
            '{"seed": ' + "9" * 400 + "}",
            "a.json: found a whole number of 1,329 bits, expected a smaller one",
        ),
        (
            "a.toml",
            "seed = 0x" + "f" * 4000,
            "a.toml: found a whole number of 16,000 bits, expected a smaller one",
        ),
        ("a.yaml", "day: 2020-13-45", "a.yaml:1: month must be in 1..12"),
        (
            "a.yaml",
            "a: 1\n  b: 2\n",
            "a.yaml:2: mapping values are not allowed here, at column 4; expected YAML",
        ),
        (
            "a.yaml",
            "a: !!python/object:os.system x",
            "a.yaml:1: could not determine a constructor for the tag",
        ),
        (
            "a.yaml",
            "? [a, b]\n: 1\n",
            "a.yaml:1: while constructing a mapping, found unhashable key, at column 3; "
            "expected YAML",
        ),
        (
            "a.yaml",
            "a: 1\n---\na: 2\n",
            "a.yaml:2: expected a single document in the stream, but found another document",
        ),
        ("a.yaml", "a: \x00", "a.yaml: unacceptable character #x0000"),
        ("a.json", '{"a": 1,}', "a.json:1: "),
        ("a.json", "[" * 100_000, "a.json: found values nested too deeply"),
        ("a.yaml", "[" * 1000, "a.yaml: found values nested too deeply"),
        ("a.json", "", "a.json:1: Expecting value, at column 1; expected JSON"),
        ("none.yaml", None, "none.yaml: found no such file"),
        ("a\0.yaml", None, "a\\x00.yaml': embedded null byte, expected the name of a file"),
    ],
)
def test_a_file_that_is_no_plain_configuration_is_refused(
    tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ir.InputError) as refused:
        read_configuration(str(tmp_path / name))
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfea\x00", "found bytes that are no UTF-8, expected text; save it as UTF-8"),
        (b"#" * (5 << 20), "found more than 4 MB"),
    ],
)
def test_bytes_that_are_no_configuration_are_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "a.yaml").write_bytes(content)
    with pytest.raises(ir.InputError, match=message):
        read_configuration(str(tmp_path / "a.yaml"))
    with pytest.raises(ir.InputError, match="found a directory, expected a file"):
        read_configuration(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "text"), [("a.yaml", "seed: 1\n"), ("a.JSON", '{"seed": 1}'), ("a.toml", "seed = 1\n")]
)
def test_a_byte_order_mark_is_no_part_of_the_first_key(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert read_configuration(str(tmp_path / name)) == {"seed": 1}


def test_aliases_and_merged_sections_of_yaml_stay_allowed(tmp_path: Path) -> None:
    text = "base: &base {rounds: 5, seed: 1}\nmodel:\n  <<: *base\n  rounds: 9\nagain: *base\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    base = {"rounds": 5, "seed": 1}
    assert read_configuration(str(tmp_path / "a.yaml")) == {
        "base": base,
        "model": {"rounds": 9, "seed": 1},
        "again": base,
    }


def test_a_key_of_a_section_is_a_text() -> None:
    with pytest.raises(
        ir.OptionError,
        match=r"a.yaml: top level: found the key True, expected a text; quote it if it is a name, "
        r"as in `'on': 1`",
    ):
        Section({True: 1}, "a.yaml", "")
    with pytest.raises(ir.OptionError, match=r"a.yaml: model: found the key 2, expected a text"):
        Section({"model": {2: 1}}, "a.yaml", "").section("model")
    assert (
        Section({"model": {"params": {}}}, "a.yaml", "").section("model").section("params").name
        == "model.params"
    )


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["judge", "run"], "search"),
        (["search"], "search"),
        (["monitor"], "monitor"),
        (["train"], "train"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else one,
)
def test_a_command_without_pyyaml_names_its_own_extra(
    tmp_path: Path, command: list[str], extra: str
) -> None:
    (tmp_path / "a.yaml").write_text("judge: {}\n")
    script = (
        "import sys; sys.modules['yaml'] = None; from idealrank.cli.main import main; "
        "sys.exit(main())"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, *command, "a.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2, found.stderr
    assert "a configuration in YAML needs pyyaml" in found.stderr
    assert f"[{extra}]" in found.stderr
