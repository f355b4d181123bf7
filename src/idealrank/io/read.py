"""Reading judgments and runs from files and streams of any supported format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from idealrank.data.interchange import is_frame
from idealrank.data.problems import quoted
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run, name_of
from idealrank.errors import InputError
from idealrank.io.complaints import Complain, Notes, Tell, refuse
from idealrank.io.formats.detection import Format, FormatChoice, detect, sniff_json
from idealrank.io.formats.trec import read_trec_qrels, read_trec_run
from idealrank.io.label_grades import checked_labels
from idealrank.io.row_parts import Blocks, Rows, Table, to_qrels, to_run
from idealrank.io.sources import AnyPath, Paths, Source, open_sources
from idealrank.io.table_columns import Columns, names_lists, with_labels

_Reader: TypeAlias = Callable[[Source, Table, Columns, Notes, Complain], Rows | Blocks]
# Format -> module and function; loaded when first needed, so that TREC files do not pay for the
# other formats.
_READERS: dict[Format, tuple[str, str]] = {
    "json": ("nested", "read_json"),
    "jsonl": ("nested", "read_json_lines"),
    "parquet": ("arrow", "read_parquet"),
    "arrow": ("arrow", "read_arrow"),
    "csv": ("delimited", "read_csv"),
    "tsv": ("delimited", "read_tsv"),
    "beir": ("delimited", "read_beir"),
    "elasticsearch": ("responses", "read_elasticsearch"),
    "solr": ("responses", "read_solr"),
    "quepid": ("quepid", "read_quepid"),
    "rre": ("rre", "read_rre"),
    "opensearch": ("opensearch", "read_opensearch"),
    "ubi": ("opensearch", "read_ubi_judgments"),
    "label-studio": ("label_studio", "read_label_studio"),
    "npy": ("numpy_files", "read_npy"),
    "npz": ("numpy_files", "read_npz"),
}


# Formats of engines, whose answers are read by their own paths where these are named.
_ANSWERS_OF_ENGINES = ("elasticsearch", "solr")
# Formats of tables and records, which may name the kind of assessor.
_NAMES_KINDS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow", "label-studio")


def read_qrels(
    path: "Paths | Any",
    *,
    format: FormatChoice = "auto",  # noqa: A002  (the word every reader of files uses)
    columns: Columns = None,
    labels: Mapping[str, float] | None = None,
    duplicates: QrelsDuplicates = "error",
    group: AnyPath | None = None,
    tell: Tell | None = None,
) -> Qrels:
    r"""Read judgments.

    Parameters
    ----------
    path : path, list of paths, or dataframe
        One collection in one or several files; ``"-"`` is standard input. gzip, bzip2, xz and
        Zstandard are decompressed. Or a dataframe.
    format : str
        ``"auto"``, ``"trec"``, ``"json"``, ``"jsonl"``, ``"csv"``, ``"tsv"``, ``"parquet"``,
        ``"arrow"``, ``"beir"``, ``"letor"``, ``"quepid"``, ``"rre"``, ``"opensearch"``, ``"ubi"``,
        ``"label-studio"``, ``"npz"``, ``"npy"``, ``"elasticsearch"`` or ``"solr"``. ``"auto"``
        inspects the extension and the content. The last three are formats of runs; ``"quepid"`` to
        ``"label-studio"`` are formats of judgments.
    columns : mapping or sequence, optional
        For columns, records and dataframes: ``{"query": ..., "document": ..., "grade": ...}`` or
        the three names; guessed by default. A path such as ``"hits[].id"`` goes through a list.
    labels : mapping of str to float, optional
        Grades of labels that are words, such as ``{"Exact": 3, "Substitute": 2}``, in columns,
        records, dataframes and choices of Label Studio; numbers count as they are.
    duplicates : {"error", "first", "last", "best"}
        Treatment of a document judged twice for a query.
    group : path, optional
        For LETOR files without ``qid:``: the file of group sizes.
    tell : callable, optional
        Callback for messages about guesses; without it only doubtful guesses raise a warning.

    Returns
    -------
    Qrels
        The judgments.

    Raises
    ------
    InputError
        A file cannot be opened, or has no judgments.
    FileFormatError
        A line cannot be read.
    MissingExtraError
        The format needs a package that is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.qrels")
    >>> _ = path.write_text("q1 0 d1 2\nq1 0 d2 0\n")
    >>> read_qrels(path)["q1"]
    {'d1': 2.0, 'd2': 0.0}
    >>> words = pathlib.Path(tempfile.mkdtemp(), "a.csv")
    >>> _ = words.write_text("query,sku,label\nred shoes,s1,Exact\nred shoes,s2,0\n")
    >>> read_qrels(words, labels={"Exact": 3}, tell=lambda guess: None)["red shoes"]
    {'s1': 3.0, 's2': 0.0}
    """
    columns = with_labels(columns, checked_labels(labels))
    if is_frame(path):
        from idealrank.io.dataframes import qrels_from_frame  # noqa: PLC0415  (most come with files)

        return qrels_from_frame(path, columns, duplicates=duplicates, tell=tell)
    notes = Notes(tell)
    sources = open_sources(path, notes)
    kind = common_format(sources, format, notes)
    if kind == "trec":
        qrels = read_trec_qrels(sources, duplicates, notes)
    else:
        with _whole(sources):
            parts = _parts(sources, "qrels", kind, columns, notes, group=group)
            qrels = to_qrels(parts, [source.path for source in sources], duplicates)
            qrels.query_word = notes.query_word
    if qrels.n_judgments == 0:
        raise InputError(f"{', '.join(qrels.paths)}: found no judgments, expected at least one")
    if kind in _NAMES_KINDS or qrels.counters.get("comments"):
        from idealrank.io.judgment_files import tell_kinds  # noqa: PLC0415  (most judgments are TREC text without a comment)

        tell_kinds(sources, kind, notes, columns)
    return qrels


def read_run(
    path: "Paths | Any",
    *,
    name: str | None = None,
    format: FormatChoice = "auto",  # noqa: A002  (the word every reader of files uses)
    columns: Columns = None,
    labels: AnyPath | None = None,
    group: AnyPath | None = None,
    tell: Tell | None = None,
) -> Run:
    """Read a run.

    TREC runs are memory-mapped: evaluation reads, checks and ranks them in one pass, so their lines
    are not checked before that.

    Parameters
    ----------
    path, format, columns, group, tell
        As for `read_qrels`; `columns` names ``score``, or ``rank`` if there is none.
    name : str, optional
        Name of the system; default: the file name without extensions, and "run" for a dataframe.
    labels : path, optional
        LETOR file that a file of scores (``format="letor"``: one number per line) belongs to.

    Returns
    -------
    Run
        The run.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.json")
    >>> _ = path.write_text('{"q1": {"d1": 0.5, "d2": 0.9}}')
    >>> run = read_run(path)
    >>> run.name, run.ranking("q1").documents
    ('bm25', ['d2', 'd1'])
    """
    if is_frame(path):
        from idealrank.io.dataframes import run_from_frame  # noqa: PLC0415  (most come with files)

        return run_from_frame(path, columns, name=name or "run", tell=tell)
    notes = Notes(tell)
    sources, kind, name = opened_run(path, name, format, notes)
    if kind == "trec":
        return read_trec_run(sources, name)
    with _whole(sources):
        parts = _parts(sources, "run", kind, columns, notes, labels=labels, group=group)
        return to_run(parts, [source.path for source in sources], name)


def opened_run(
    path: Paths, name: str | None, choice: FormatChoice, notes: Notes
) -> tuple[list[Source], Format, str]:
    """Open the files of a run, and return their format and the name of the run."""
    sources = open_sources(path, notes)
    paths = [source.path for source in sources]
    kind = common_format(sources, choice, notes)
    if kind == "trec" and not any(len(source.data) for source in sources):
        notes.warn(f"{', '.join(paths)}: found an empty file; the run answers no query")
    return sources, kind, name or ("stdin" if paths[0] == "-" else name_of(paths[0]))


@contextmanager
def _whole(sources: Sequence[Source]) -> Iterator[None]:
    """Refuse files that were cut short while they were read: the missing bytes read as zeros."""
    try:
        yield
    finally:
        for source in sources:
            source.refuse_cut()


def _parts(
    sources: Sequence[Source],
    table: Table,
    kind: Format,
    columns: Columns,
    notes: Notes,
    **more: Any,
) -> Iterator[Rows | Blocks]:
    """Read each file; Parquet in pieces, as it is read."""
    for source in sources:
        if kind == "parquet":
            from idealrank.io.formats.arrow import parquet_pieces  # noqa: PLC0415  (only the format asked for is loaded)

            yield from parquet_pieces(source, table, columns, notes, refuse)
        else:
            part = read_part(
                source=source,
                table=table,
                kind=kind,
                columns=columns,
                notes=notes,
                complain=refuse,
                **more,
            )
            if isinstance(part, Rows):
                _warn_of_bytes(part, notes)
            yield part


def _warn_of_bytes(part: Rows, notes: Notes) -> None:
    """Warn of ids that are not UTF-8: they differ from the same ids in a file that is UTF-8."""
    for ids in (part.queries, part.documents):
        rows = ids.not_utf8()
        if rows:
            path, line = part.place(rows[0])
            where = f"{path}:{line}" if line else path
            count = f"{len(rows):,} id{'s are' if len(rows) > 1 else ' is'} not UTF-8"
            notes.warn(
                f"{where}: {count} (the first: {quoted(ids.bytes_at(rows[0]))}); save the "
                f"file as UTF-8, or ids will not match"
            )


def common_format(sources: Sequence[Source], choice: str, notes: Notes) -> Format:
    """Return the one format of all files of a collection."""
    kinds: dict[str, Format] = {source.path: detect(source, choice, notes) for source in sources}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{path} as {kind}" for path, kind in kinds.items())
        raise InputError(
            f"found different formats in one collection ({listed}), expected one",
            hint="set format=",
            command_hint="set --input-format",
        )
    return next(iter(kinds.values()))


def read_part(
    source: Source,
    table: Table,
    kind: Format,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    labels: AnyPath | None = None,
    group: AnyPath | None = None,
) -> Rows | Blocks:
    r"""Read one file that is not TREC text."""
    if kind == "quepid" and table == "run":  # columns of a run may look like raters
        kind = "csv"
    if kind in _ANSWERS_OF_ENGINES and names_lists(columns, table):
        kind = "json" if "json" in sniff_json(source.data) else "jsonl"
    try:
        if kind != "letor":
            module, function = _READERS[kind]
            read: _Reader = getattr(import_module(f"idealrank.io.formats.{module}"), function)
            return read(source, table, columns, notes, complain)
        from idealrank.io.formats.letor import read_labels, read_scores  # noqa: PLC0415  (as above)

        if table == "qrels":
            return read_labels(source, group, notes, complain).rows()
        if labels is None:
            problem = "found scores, one a line, expected the file of labels too, to know whose"
            # a command takes the labels from there
            command = "give it as the judgments, not on standard input"
            raise InputError(
                f"{source.path}: {problem}", hint="name it with labels=", command_hint=command
            )
        labels_source = open_sources(labels, notes)[0]
        return read_scores(source, read_labels(labels_source, group, notes, refuse))
    finally:  # A file that was cut short read as zeros, whatever the reader made of them.
        source.refuse_cut()
