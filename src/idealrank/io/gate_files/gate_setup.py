"""Files of a project's first gate: the policy, the baseline, the workflow and the test of
pytest.
"""

import json
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from idealrank.errors import InputError, OptionError
from idealrank.io.gate_files.gate_policies import TABLE, policy_table

WORKFLOW = ".github/workflows/ranking-gate.yml"
TEST = "tests/test_ranking_gate.py"
POLICY = "pyproject.toml"
_INSTALLATION = "pip install idealrank"
_NO_SEARCH = """\
      # Put the step that writes {run} here, unless a change commits the file itself:
      # - name: Rank the queries with the code of this change
      #   run: python search.py
"""
_SEARCH = """\
      - name: Rank the queries with the code of this change
        run: RANK
"""
_TEST_TEXT = '''\
"""Fails if the ranking is significantly worse than the baseline.

The files and the rule are in [tool.idealrank.gate] of pyproject.toml.
"""


def test_ranking_is_not_worse_than_the_baseline(ranking_gate):
    # By default, the gate reads the run that the policy names. To test a run that this
    # test makes, pass it as run={query: {document: score}}.
    ranking_gate()
'''
# Formats that need an extra of the package, by the ending of a file.
_EXTRAS = {
    ".parquet": "arrow",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".zst": "zstd",
}


@dataclass(frozen=True, kw_only=True)
class GateSetup:
    """Choices of a project's first gate; paths as they open from the working directory."""

    folder: Path  # Folder of the project
    qrels: tuple[str, ...]  # Paths of the judgments
    # run, baseline: Paths of the run, which changes are to write, and of the baseline file
    run: str
    baseline: str
    measures: tuple[str, ...]  # Texts of measures, the primary one first
    convention: str = ""  # Text of the convention; empty for the default
    # qrels_columns, run_columns: Columns, as the options of these names take them; empty to guess
    qrels_columns: str = ""
    run_columns: str = ""
    labels: str = ""  # Grades of labels that are words, as the option takes them
    # queries, documents: Paths of texts
    queries: str | None = None
    documents: str | None = None
    search: str = ""  # Command that writes the run; empty if it is not known

    def table(self) -> str:
        """Return the policy as lines of TOML."""
        files = {"baseline": self.baseline, "qrels": self.qrels, "run": self.run}
        texts = {"queries": self.queries, "documents": self.documents}
        choices = {
            "qrels_columns": self.qrels_columns,
            "run_columns": self.run_columns,
            "labels": self.labels,
            "measures": list(self.measures),
            "convention": self.convention,
        }
        lines = [
            f"{key} = {_toml(self._of_folder(paths))}"
            for key, paths in (files | texts).items()
            if paths
        ]
        lines += [f"{key} = {_toml(value)}" for key, value in choices.items() if value]
        return "\n".join([f"[{TABLE}]", *lines]) + "\n"

    def policy(self, before: bytes | None) -> bytes:
        """Return the file of the policy: the table alone, or below what the project's file has."""
        path = self.folder / POLICY
        if before is None:
            return self.table().encode("utf-8")
        if policy_table(path) is not None:
            raise InputError(
                f"{path}: found the table [{TABLE}], expected none; edit it, or delete it and "
                f"run the command again"
            )
        end = b"\r\n" if b"\r\n" in before else b"\n"
        gap = b""
        if before.strip():
            gap = end if before.endswith(b"\n") else end + end
        whole = before + gap + self.table().encode("utf-8").replace(b"\n", end)
        try:
            tomllib.loads(whole.decode("utf-8"))
        except ValueError:
            expected = "expected tables such as [tool.other], below which a table can be added"
            raise InputError(
                f"{path}: found keys that leave no place for the table [{TABLE}], {expected}"
            ) from None
        return whole

    def workflow(self) -> bytes:
        """Return the workflow of GitHub Actions; exit code 1 fails its job, and 3 is a warning."""
        text = (Path(__file__).parent / "ranking-gate.yml").read_text(encoding="utf-8")
        if self.search:
            step = _SEARCH.replace("RANK", _block(self.search))
        else:
            step = _NO_SEARCH.format(run=self.written_run)
        text = text.replace(_SEARCH, step).replace(_INSTALLATION, self._installation())
        return text.encode("utf-8")

    def test(self) -> bytes:
        """Return the test of pytest."""
        return _TEST_TEXT.encode("utf-8")

    @property
    def written_run(self) -> str:
        """Path of the run from the project's folder, on one line."""
        run = self._relative(self.run)
        # a line end would end a comment of the workflow
        return run if run.isprintable() else repr(run)

    def outside(self) -> list[str]:
        """Return the paths of files that are not in the project's folder."""
        paths = [
            *self.qrels,
            self.run,
            self.baseline,
            *filter(None, (self.queries, self.documents)),
        ]
        return [path for path in paths if self._relative(path).startswith("..")]

    def _installation(self) -> str:
        paths = [*self.qrels, self.run, *filter(None, (self.queries, self.documents))]
        extras = sorted({_EXTRAS[ending] for ending in map(_ending, paths) if ending in _EXTRAS})
        return f'pip install "idealrank[{",".join(extras)}]"' if extras else _INSTALLATION

    def _of_folder(self, paths: str | Sequence[str] | None) -> str | list[str]:
        """Write paths as they open from the project's folder; several as a list."""
        if paths is None or isinstance(paths, str):
            return self._relative(paths) if paths else ""
        relative = [self._relative(path) for path in paths]
        return relative[0] if len(relative) == 1 else relative

    def _relative(self, path: str) -> str:
        return Path(os.path.relpath(path, self.folder)).as_posix()


@dataclass(frozen=True, kw_only=True)
class PlannedFile:
    """File that a set-up writes."""

    path: Path  # Place of the file
    content: bytes  # Whole content
    purpose: str  # Purpose, in a few words
    may_exist: bool = False  # True if the content keeps what the file has
    is_text: bool = True


def refuse_to_overwrite(planned: Sequence[PlannedFile]) -> None:
    """Refuse a set-up if a file that it would make exists."""
    there = [
        str(file.path) for file in planned if not file.may_exist and os.path.lexists(file.path)
    ]
    if there:
        raise InputError(
            f"found {' and '.join(there)}, expected no file there; nothing was written, since no "
            f"file is ever replaced: rename or delete the file, or leave the part out"
        )


def _ending(path: str) -> str:
    return Path(path).suffix.lower()


def _block(command: str) -> str:
    """Write a command as a block of YAML, in which no letter has a meaning."""
    lines = command.strip().splitlines()
    if any(not line.isprintable() for line in lines):
        raise OptionError(
            f"search={command!r}: found a control character, expected a command of printable "
            f"letters"
        )
    return "\n".join(["|", *(f"          {line}".rstrip() for line in lines)])


def _toml(value: str | Sequence[str]) -> str:
    """Write a text, or a list of texts, as TOML, whose basic strings have the escapes of JSON."""
    if not isinstance(value, str):
        return f"[{', '.join(map(_toml, value))}]"
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(
            f"{value!r}: found a name that is not UTF-8, expected one that TOML can hold; "
            f"rename the file"
        )
    # JSON leaves one control character as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
