"""Files of every format, changed in their structure: each must be read, or refused by an error of
the library's own.

    python fuzz/structures.py --cases 100000               as many cases of each format, from seed 0
    python fuzz/structures.py --seconds 600                as many as that takes, the formats in
    turn python fuzz/structures.py --format solr --case 1234    one case again; its file stays in
    build/fuzz/structures/files-PID/

`mutate.py` changes bytes, so that most of its JSON, Parquet and Arrow files are damaged before a
reader sees a value. Here a tree of JSON gets other values, names, doubled keys and nesting; lines
of columns get other cells; tables get odd names and types of columns. A case follows from the seed,
its format and its number. Each is read as judgments, as a run, by `validate` and by `convert`.
"""

import argparse
import contextlib
import functools
import io
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

import idealrank as ir
from idealrank.errors import IdealrankError
from idealrank.io.lint import lint

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "fuzz" / "structures"
PATIENCE = 20  # seconds that a case may take
MEMORY = 2 << 30  # bytes of address space that cases may use, on top of what an idle process uses


class Fields(list[tuple[str, Any]]):
    """An object of JSON, whose names may repeat."""


Tree: TypeAlias = Any
Path_: TypeAlias = tuple[int, ...]


def fields(**values: Any) -> Fields:
    return Fields(values.items())


def encoded(tree: Tree) -> str:
    """The tree as JSON."""
    if isinstance(tree, Fields):
        return (
            "{" + ", ".join(f"{json.dumps(name)}: {encoded(value)}" for name, value in tree) + "}"
        )
    if isinstance(tree, list):
        return "[" + ", ".join(map(encoded, tree)) + "]"
    return json.dumps(tree)


# --- valid files ----------------------------------------------------------------------------------


def _hits(name: str, *ids: str) -> Fields:
    found = [
        fields(_id=one, _score=2.5 - place, _source=fields(sku=one))
        for place, one in enumerate(ids)
    ]
    return Fields(
        [
            (
                name,
                fields(
                    took=3,
                    timed_out=False,
                    _shards=fields(failed=0),
                    hits=fields(total=2, hits=found),
                ),
            )
        ]
    )


def _solr(query: str, *ids: str) -> Fields:
    docs = [fields(id=one, score=2.5 - place) for place, one in enumerate(ids)]
    header = fields(status=0, partialResults=False, params=fields(q=query))
    return fields(responseHeader=header, response=fields(numFound=2, start=0, docs=docs))


def _task(document: str, grade: object) -> Fields:
    result = [
        Fields(
            [
                ("from_name", "grade"),
                ("to_name", "t"),
                ("type", "rating"),
                ("value", fields(rating=grade)),
            ]
        )
    ]
    annotation = fields(
        completed_by=fields(email="ann@example.com", id=1), result=result, was_cancelled=False
    )
    prediction = fields(model_version="m-1", result=result)
    data = fields(query="q1", doc_id=document, text="t")
    return fields(
        id=1,
        data=data,
        annotations=[annotation],
        predictions=[prediction],
        drafts=[],
        meta=fields(batch=1),
    )


_RECORDS = [
    fields(query_id="q1", doc_id=one, grade=place, score=0.5)
    for place, one in enumerate(("d1", "d2", "d3"))
]
_REQUESTS = [fields(index="shop"), fields(query=fields(match=fields(title="shoes")), size=2)]
_RATED = [
    fields(
        query="red shoes", ratings=[fields(docId="d1", rating="2.0"), fields(docId="d2", rating=0)]
    )
]
_UBI = [fields(query_id="q1", query="shoes", document=one, judgment=1.5) for one in ("d1", "d2")]
_RRE_QUERY = Fields(
    [
        ("placeholders", Fields([("$query", "shoes")])),
        ("relevant_documents", Fields([("3", ["d1"]), ("", ["d2"])])),
    ]
)
_RRE_GROUP = fields(
    name="group", queries=[_RRE_QUERY], relevant_documents=fields(d7=fields(gain=2))
)
_RRE = fields(
    id_field="id",
    query_placeholder="$query",
    topics=[fields(description="t", query_groups=[_RRE_GROUP])],
    queries=[_RRE_QUERY],
)

TREES: dict[str, list[Tree]] = {
    "json": [
        Fields([("q1", fields(d1=2, d2=0)), ("q2", fields(d1=1))]),
        Fields([("q1", ["d1", "d2"]), ("q2", ["d3"])]),
        _RECORDS,
        _RECORDS[0],
    ],
    "elasticsearch": [
        [*_hits("shoes", "d1", "d2"), *_hits("hat", "d3")][0][1],
        Fields([*_hits("shoes", "d1", "d2"), *_hits("hat", "d3")]),
        fields(
            took=5, queries=["a", "b"], responses=[_hits("", "d1")[0][1], _hits("", "d2")[0][1]]
        ),
    ],
    "solr": [
        [_solr("shoes", "d1", "d2"), _solr("hat", "d3")],
        Fields([("shoes", _solr("", "d1")), ("hat", _solr("", "d2"))]),
    ],
    "rre": [_RRE],
    "opensearch": [
        fields(name="list", type="LLM_JUDGMENT", judgmentRatings=_RATED),
        fields(
            hits=fields(
                total=1,
                hits=[
                    fields(
                        _id="1",
                        _source=fields(name="a", type="IMPORT_JUDGMENT", judgmentRatings=_RATED),
                    )
                ],
            )
        ),
    ],
    "ubi": [_UBI, fields(hits=fields(hits=[fields(_source=one) for one in _UBI]))],
    "label-studio": [[_task("d1", 2), _task("d2", ["1"])]],
}
LINES: dict[str, list[list[Tree]]] = {
    "jsonl": [_RECORDS, [Fields([("q1", fields(d1=2, d2=0))]), Fields([("q2", ["d1", "d2"])])]],
    "elasticsearch": [
        [*_REQUESTS, fields(took=5, responses=[_hits("", "d1")[0][1]])],
        [fields(query="q1", _id="d1", _score=2.5), fields(query="q1", _id="d2", _score=1.5)],
    ],
    "solr": [[_solr("shoes", "d1", "d2"), _solr("hat", "d3")]],
    "ubi": [_UBI],
}
CELLS: dict[str, tuple[str, list[list[list[str]]]]] = {
    "trec": (
        " ",
        [
            [["q1", "0", "d1", "2"], ["q1", "0", "d2", "0"]],
            [["q1", "Q0", "d1", "1", "2.5", "t"], ["q2", "Q0", "d1", "1", "2"]],
        ],
    ),
    "csv": (
        ",",
        [
            [
                ["qid", "docid", "rel", "score", "rank"],
                ["q1", "d1", "2", "0.5", "1"],
                ["q1", "d2", "0", "0.25", "2"],
            ]
        ],
    ),
    "tsv": (
        "\t",
        [
            [
                ["qid", "docid", "rel", "score", "rank"],
                ["q1", "d1", "2", "0.5", "1"],
                ["q1", "d2", "0", "0.25", "2"],
            ]
        ],
    ),
    "beir": ("\t", [[["query-id", "corpus-id", "score"], ["q1", "d1", "1"], ["q1", "d2", "0"]]]),
    "letor": (
        " ",
        [
            [
                ["2", "qid:1", "1:0.5", "2:3", "#docid", "=", "d1"],
                ["0", "qid:1", "1:0.1", "#docid", "=", "d2"],
                ["1", "qid:2", "2:3"],
            ],
        ],
    ),
    "quepid": (
        ",",
        [
            [
                ["query", "docid", "Ann", "Ben"],
                ["red shoes", "d1", "3", "2"],
                ["hat", "d1", "0", ""],
            ],
            [["query", "docid", "rating"], ["red shoes", "d1", "3"], ["hat", "d1", "0"]],
        ],
    ),
}
COLUMNAR = ("parquet", "arrow")
FORMATS = sorted({*TREES, *LINES, *CELLS, *COLUMNAR})


# --- changes --------------------------------------------------------------------------------------

ODD_VALUES: list[Tree] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    2**53 + 1,
    2**64,
    10**400,
    "",
    " ",
    "q1",
    "d1",
    "1",
    "nan",
    "\ud800",
    "\0",
    "a\tb\nc",
    "x" * 5000,
    [],
    [[]],
    [None],
    ["q"],
    [1, 2],
    Fields(),
    fields(q=1),
    fields(id="d1"),
    Fields([("", 1)]),
    Fields([("q", 1), ("q", 2)]),
    [["q", 1]],
    [["a", "b"], ["c"]],
    [fields(id="d1"), 1],
]
ODD_NAMES = [
    "",
    " ",
    "q",
    "id",
    "_id",
    "query",
    "queries",
    "hits",
    "docs",
    "response",
    "score",
    "\ud800",
    "\0",
    "1",
    "x" * 300,
]


def changed_tree(tree: Tree, rng: random.Random) -> Tree:
    """The tree with one change."""
    spots = list(_spots(tree))
    return _replaced(tree, rng.choice(spots), lambda value: _changed_value(value, tree, rng))


def _spots(tree: Tree, at: Path_ = ()) -> Iterator[Path_]:
    yield at
    inner = (
        [value for _, value in tree]
        if isinstance(tree, Fields)
        else tree
        if isinstance(tree, list)
        else []
    )
    for place, value in enumerate(inner):
        yield from _spots(value, (*at, place))


def _replaced(tree: Tree, at: Path_, change: Callable[[Tree], Tree]) -> Tree:
    if not at:
        return change(tree)
    first, *rest = at
    copy = type(tree)(tree)
    if isinstance(tree, Fields):
        name, value = tree[first]
        copy[first] = (name, _replaced(value, tuple(rest), change))
    else:
        copy[first] = _replaced(tree[first], tuple(rest), change)
    return copy


def _changed_value(value: Tree, tree: Tree, rng: random.Random) -> Tree:
    """Another value, one from elsewhere in the tree, one more level around it, or other members of
    an object or an array.
    """
    kind = rng.randrange(4 if isinstance(value, list) else 3)
    if kind == 0:
        return rng.choice(ODD_VALUES)
    if kind == 1:
        return rng.choice(list(_values(tree)))
    if kind == 2:
        return rng.choice(
            ([value], [value, value], Fields([("q", value)]), Fields([("", value), ("", value)]))
        )
    return _other_fields(value, rng) if isinstance(value, Fields) else _other_items(value, rng)


def _values(tree: Tree) -> Iterator[Tree]:
    yield tree
    for value in (
        [value for _, value in tree]
        if isinstance(tree, Fields)
        else tree
        if isinstance(tree, list)
        else []
    ):
        yield from _values(value)


def _other_fields(value: Fields, rng: random.Random) -> Fields:
    if not value:
        return Fields([(rng.choice(ODD_NAMES), rng.choice(ODD_VALUES))])
    copy = Fields(value)
    at, kind = rng.randrange(len(copy)), rng.randrange(4)
    name, inner = copy[at]
    if kind == 0:
        del copy[at]
    elif kind == 1:  # the same name again
        copy.insert(
            rng.randrange(len(copy) + 1), (name, rng.choice((inner, rng.choice(ODD_VALUES))))
        )
    elif kind == 2:
        copy[at] = (rng.choice(ODD_NAMES), inner)
    else:
        copy.insert(at, (rng.choice(ODD_NAMES), rng.choice(ODD_VALUES)))
    return copy


def _other_items(value: list[Tree], rng: random.Random) -> list[Tree]:
    copy = list(value)
    kind = rng.randrange(3)
    if kind == 0 and copy:
        del copy[rng.randrange(len(copy))]
    elif kind == 1 and copy:
        copy.append(rng.choice(copy))
    else:
        copy.insert(rng.randrange(len(copy) + 1), rng.choice(ODD_VALUES))
    return copy


def several(change: Callable[[Any, random.Random], Any], value: Any, rng: random.Random) -> Any:
    """One to four changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        value = change(value, rng)
    return value


ODD_CELLS = [
    "",
    " ",
    "0",
    "1",
    "-1",
    "nan",
    "inf",
    "1e999",
    "0x1",
    "1_0",
    "9007199254740993",
    "9" * 400,
    "q1",
    "qid:",
    "qid:1",
    "qid:2",
    "1:",
    ":1",
    "1:nan",
    "2000000000:1",
    "99999999999999999999:1",
    "1:1:1",
    "#",
    "docid = 1",
    '"',
    '"a',
    'a"b"',
    "'",
    "\0",
    "\ud800",
    "x" * 70_000,
    "\r",
    "\n",
    "\ufeff",
    "rel",
    "score",
    "rank",
    "docid",
    "qid",
    "query",
    "=1+1",
]


def changed_cells(rows: list[list[str]], rng: random.Random) -> list[list[str]]:
    """The rows with another cell, cell order, row or row order."""
    copy = [list(row) for row in rows] or [["q1"]]
    row = rng.randrange(len(copy))
    at, kind = rng.randrange(max(1, len(copy[row]))), rng.randrange(6)
    if kind <= 1 and copy[row]:
        copy[row][at] = rng.choice((*ODD_CELLS, *copy[rng.randrange(len(copy))]))
    elif kind == 2:
        copy[row].insert(at, rng.choice(ODD_CELLS))
    elif kind == 3 and copy[row]:
        del copy[row][at]
    elif kind == 4:
        copy.insert(rng.randrange(len(copy) + 1), list(copy[row]))
    else:
        copy.insert(rng.randrange(len(copy)), copy.pop(row))
    return copy


@functools.cache
def _odd_columns(n: int) -> list[pa.Array]:
    """Columns of many types, each with n rows."""
    numbers = [place % 3 for place in range(n)]
    texts = [f"d{place}" for place in range(n)]
    types = [
        pa.int8(),
        pa.uint64(),
        pa.float16(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(12, 1),
        pa.bool_(),
        pa.date32(),
        pa.timestamp("ns"),
        pa.duration("s"),
        pa.time32("s"),
    ]
    made = [pa.array(numbers, pa.int32()).cast(kind, safe=False) for kind in types[:7]]
    made += [pa.array(numbers, pa.int32()).cast(pa.int64()).cast(kind) for kind in types[8:10]]
    made += [pa.array(numbers, pa.int32()).cast(kind) for kind in (types[7], types[10])]
    made += [
        pa.array(texts, kind)
        for kind in (pa.string(), pa.large_string(), pa.binary(), pa.string_view())
    ]
    made += [
        pa.array(texts).dictionary_encode(),
        pa.array(numbers).dictionary_encode(),
        pa.nulls(n),
        pa.nulls(n, pa.string()),
    ]
    made += [
        pa.array([[one] for one in texts]),
        pa.array([{"a": one} for one in texts]),
        pa.array([{} for _ in texts], pa.struct([])),
    ]
    made += [
        pa.array([None, *texts[1:]]),
        pa.array([float("nan"), *numbers[1:]], pa.float64()),
        pa.array(["", *texts[1:]]),
    ]
    made += [
        pa.array([b"\xff\xfe"] * n, pa.binary()),
        pa.array([2**63 + 1] * n, pa.uint64()),
        pa.array([b"ab"] * n, pa.binary(2)),
    ]
    made += [
        pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([None, "a"])),
        pa.array([str(one) for one in numbers]),
    ]
    return made


ODD_COLUMN_NAMES = [
    "",
    " ",
    "qid",
    "docid",
    "rel",
    "score",
    "rank",
    "query",
    "document",
    "grade",
    "index",
    "\0",
    "x" * 300,
    "__index_level_0__",
]
Columns: TypeAlias = list[tuple[str, pa.Array]]


def changed_columns(columns: Columns, rng: random.Random) -> Columns:
    """The columns with another name, type, order or number."""
    copy = list(columns)
    if not copy:
        return [(rng.choice(ODD_COLUMN_NAMES), rng.choice(_odd_columns(3)))]
    at, kind = rng.randrange(len(copy)), rng.randrange(6)
    name, values = copy[at]
    if kind == 0:
        copy[at] = (rng.choice(ODD_COLUMN_NAMES), values)
    elif kind == 1:
        copy[at] = (name, rng.choice(_odd_columns(len(values))))
    elif kind == 2:
        copy.append((name, rng.choice(_odd_columns(len(values)))))
    elif kind == 3:
        del copy[at]
    elif kind == 4:
        copy.append((rng.choice(ODD_COLUMN_NAMES), rng.choice(_odd_columns(len(values)))))
    else:
        copy.insert(rng.randrange(len(copy)), copy.pop(at))
    return copy


def written_columns(kind: str, columns: Columns, path: Path, rng: random.Random) -> None:
    """Write them as Parquet, or as a file or a stream of Arrow; a batch or two."""
    names, arrays = [name for name, _ in columns], [values for _, values in columns]
    table = pa.Table.from_arrays(arrays, names)
    if rng.randrange(3) == 0:
        table = pa.concat_tables([table, table])
    if rng.randrange(8) == 0:
        table = table.slice(0, 0)
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=rng.choice((1, 100)))
        return
    opened = rng.choice((pa.ipc.new_file, pa.ipc.new_stream))
    with pa.OSFile(str(path), "wb") as file, opened(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rng.choice((1, 100)))


# --- cases ----------------------------------------------------------------------------------------


def write_case(kind: str, folder: Path, rng: random.Random) -> Path:
    """Write one changed file, and return its path."""
    if kind in COLUMNAR:
        path = folder / f"case.{kind}"
        ids = [("qid", pa.array(["q1", "q1", "q2"])), ("docid", pa.array(["d1", "d2", "d1"]))]
        columns = several(
            changed_columns, [*ids, (rng.choice(("rel", "score")), pa.array([2, 0, 1]))], rng
        )
        try:
            written_columns(kind, columns, path, rng)
        except (pa.ArrowException, ValueError, UnicodeError):  # no file has such a table
            pq.write_table(pa.table({"qid": ["q1"], "docid": ["d1"], "rel": [1]}), path)
        return path
    path = folder / f"case{_ending(kind, rng)}"
    path.write_bytes(_text(kind, rng).encode("utf-8", "surrogatepass"))
    return path


def _ending(kind: str, rng: random.Random) -> str:
    if kind in CELLS:
        return rng.choice((f".{kind}", ".txt", ".csv"))
    return rng.choice((".json", ".jsonl", ".txt"))


def _text(kind: str, rng: random.Random) -> str:
    if kind in CELLS:
        delimiter, seeds = CELLS[kind]
        rows = several(changed_cells, rng.choice(seeds), rng)
        return "".join(delimiter.join(row) + "\n" for row in rows)
    if kind in LINES and (kind not in TREES or rng.randrange(2)):
        lines = several(changed_tree, rng.choice(LINES[kind]), rng)
        return (
            "".join(encoded(line) + "\n" for line in lines)
            if isinstance(lines, list)
            else encoded(lines)
        )
    return encoded(several(changed_tree, rng.choice(TREES[kind]), rng))


def readings(path: Path, kind: str, rng: random.Random) -> Iterator[Callable[[], object]]:
    """Ways to read a file, by its own format and by the one that is detected."""
    asked: Any = rng.choice(("auto", kind))
    yield lambda: ir.read_qrels(path, format=asked)
    yield lambda: ir.read_run(path, format=asked)
    yield lambda: lint([path], rng.choice(("qrels", "run")), format=asked)
    target = path.with_name(f"out.{rng.choice(('csv', 'jsonl', 'qrels', 'run'))}")
    yield lambda: ir.convert(path, target, source_format=asked, assessors=rng.choice(("", "mean")))


class SlowError(BaseException):
    """A case takes longer than the patience for it."""


def give_up(_number: int, _frame: object) -> NoReturn:
    raise SlowError


def run_case(seed: int, kind: str, number: int, folder: Path) -> str:
    """Run a case, and return why it ended badly; an empty text if it ended well."""
    rng = random.Random(f"{seed} {kind} {number}")
    path = write_case(kind, folder, rng)
    for read in readings(path, kind, rng):
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                read()
        except IdealrankError:
            pass
        except SlowError:
            return f"more than {PATIENCE} seconds"
        except BaseException as error:  # noqa: BLE001  (whatever is not of the library's own is a finding)
            return "".join(traceback.format_exception(error)[-4:])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def main() -> int:
    """Run cases, print each that ended badly, and say how many there were."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=0, help="cases of each format")
    parser.add_argument("--seconds", type=float, default=60.0, help="if no number of cases is set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=FORMATS, action="append", help="these formats alone")
    parser.add_argument("--case", type=int, help="this case alone")
    # Of each process its own, for two would cut each other's files short.
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER / f"files-{os.getpid()}",
        help="for the files of the cases",
    )
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGALRM, give_up)
    warnings.simplefilter("ignore")
    size = (
        int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        * resource.getpagesize()
    )
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    kinds, counts, found = asked.format or FORMATS, dict.fromkeys(FORMATS, 0), 0
    end = time.monotonic() + asked.seconds
    number = asked.case or 0
    while number < asked.cases if asked.cases else time.monotonic() < end:
        for kind in kinds:
            (asked.folder / "current").write_text(
                f"--seed {asked.seed} --format {kind} --case {number}\n", encoding="utf-8"
            )
            counts[kind] += 1
            if wrong := run_case(asked.seed, kind, number, asked.folder):
                found += 1
                print(f"--seed {asked.seed} --format {kind} --case {number}\n{wrong}", flush=True)
        if asked.case is not None:
            break
        number += 1
    said = ", ".join(f"{kind} {count:,}" for kind, count in counts.items() if count)
    print(f"{sum(counts.values()):,} cases, {found:,} ended badly; {said}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
