"""A search backend: documents in a file that is compressed with Zstandard, ranked by the number of
words of the query in them.
"""

import json
from pathlib import Path

from tests.changes.checks import output, run_tests
from tests.changes.copies import Change, Edit

_KINDS = "src/idealrank/live/backends/__init__.py"
_CHECKS = "tests/live/test_backend_checks.py"
_PROJECT = "pyproject.toml"

_MODULE = '''\
"""Documents in a file that is compressed with Zstandard: a line each, id, tab and text."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from idealrank._keys import text
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import InputError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from


class PackedTexts:
    """Documents by the number of words of the query in them."""

    name = "packed"

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._words = {document: text.split() for document, text in texts.items()}

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Return the documents with most words of the query."""
        asked = query.text.split()
        counts = {name: sum(map(words.count, asked)) for name, words in self._words.items()}
        best = sorted(filter(counts.get, counts), key=lambda name: -counts[name])
        return ranked(self.name, best, [counts[name] for name in best], limit=limit)

    def close(self) -> None:
        """Do nothing: all texts are in memory."""


@dataclass(frozen=True, kw_only=True)
class PackedKeys(BackendKeys):
    """Keys of the kind ``packed``."""

    path: str = text("File of documents.", expected="a file of documents")


SECTIONS = {"packed": PackedKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(PackedKeys, section)
    client = load_extra("zstandard", "the backend packed", "packed")
    try:
        lines = client.decompress(Path(keys.path).read_bytes()).decode().splitlines()
    except OSError:
        raise InputError(f"{keys.path}: found no file, expected one of documents") from None
    return PackedTexts(dict(line.split("\\t") for line in lines))
'''

_TEST = """\
def test_packed_texts_keep_the_contract(tmp_path: Path) -> None:
    import zstandard

    lines = "".join(f"{document}\\t{text}\\n" for document, text in TEXTS.items())
    (tmp_path / "texts.zst").write_bytes(zstandard.compress(lines.encode()))
    check_backend(make(kind="packed", path=str(tmp_path / "texts.zst")), QUERIES, limit=3)


"""

_HEADLINE = """\
# A file of packed texts as an engine.
idealrank search search.yaml --output runs
"""

_GUIDE = """\
## Packed texts

`pip install '.[packed]'`. A line for each document: id, tab and text.

```yaml
backend:
  kind: packed
  path: texts.zst
```

"""

CHANGE = Change(
    row="a search backend",
    edits=(
        Edit.file("src/idealrank/live/backends/packed.py", _MODULE),
        Edit.after(
            _KINDS,
            '        "lancedb": f"{_HOME}.lancedb",\n',
            '        "packed": f"{_HOME}.packed",\n',
        ),
        Edit.before(_CHECKS, "def test_replay_keeps_the_contract(", _TEST),
        Edit.before("docs/live/search-backends.md", "## sqlite-vec\n", _GUIDE),
        Edit.before(_PROJECT, 'plots = ["jinja2', 'packed = ["zstandard>=0.22"]\n'),
        Edit(_PROJECT, "otel,plots,", "otel,packed,plots,"),
        Edit.after(
            "src/idealrank/_features.py",
            '            "otel",\n',
            '            "packed",\n',
        ),
        Edit.before(
            "tests/live/test_engine_clients.py",
            '        ("redis", "redis", "redis", {"index": "a", "field": "b"}),\n',
            '        ("packed", "zstandard", "packed", {"path": "a"}),\n',
        ),
        Edit.file("tests/extras/headlines/packed.sh", _HEADLINE),
        Edit.before(
            "docs/get-started/index.md", "| `plots` |", "| `packed` | the engine packed | 6 |\n"
        ),
    ),
    spared={"tests/services/": "its client is installed with the tests"},
)

_CONFIGURATION = """\
backend: {{kind: packed, path: {0}/texts.zst}}
queries: {{path: {0}/queries.tsv}}
limit: 2
"""


def check(folder: Path) -> None:
    """Search by a configuration, and run the tests of backends, extras and schemas."""
    import zstandard

    texts = "d1\tred fox\nd2\tlazy dog\nd3\tred red rose\n"
    (folder / "texts.zst").write_bytes(zstandard.compress(texts.encode()))
    (folder / "queries.tsv").write_text("q1\tred fox\nq2\tdog\n", "utf-8")
    configuration = folder / "search.yaml"
    configuration.write_text(_CONFIGURATION.format(folder), "utf-8")
    run = folder / "packed.run"
    output("search", str(configuration), "-o", str(run))
    assert [line.split()[2] for line in run.read_text("utf-8").splitlines()] == ["d1", "d3", "d2"]
    assert '"packed"' in json.dumps(json.loads(output("search", "--schema")))
    run_tests("tests/live/test_backend_checks.py", "-k", "packed")
    run_tests("tests/live/test_engine_clients.py", "-k", "not_installed or from_section")
    run_tests("tests/core/test_configuration_schema.py", "-k", "documented or every_key")
    run_tests("tests/test_package.py", "-k", "extra")
    run_tests("tests/test_extras_table.py")
    run_tests("tests/test_architecture_features.py")
