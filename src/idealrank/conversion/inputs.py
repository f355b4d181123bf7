"""Judgments and runs converted between the formats of tools; the function of `idealrank
convert`.
"""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath

from idealrank.conversion.files import Conversion, ConversionOptions, convert_file
from idealrank.conversion.judgment_sheets import SheetOptions
from idealrank.io.complaints import Notes, Tell
from idealrank.io.label_grades import checked_labels
from idealrank.io.table_columns import Columns, with_labels


def convert(
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    source_format: str = "auto",
    target_format: str = "auto",
    content: str = "auto",
    queries: str | PathLike[str] | None = None,
    documents: str | PathLike[str] | None = None,
    write_queries: str | PathLike[str] | None = None,
    assessors: str = "",
    scale: Sequence[float] = (),
    labels: Mapping[str, float] | None = None,
    columns: Columns = None,
    group: str | PathLike[str] | None = None,
    keep_unjudged: bool = False,
    name: str = "",
    strict: bool = False,
    tell: Tell | None = None,
) -> Conversion:
    r"""Convert a file of judgments, or a run, to the format of another tool, and count what that
    format cannot hold.

    Parameters
    ----------
    source, target : path
        The file to read, and the file to write; ``"-"`` is standard input or output. The target
        appears whole or not at all.
    source_format : str
        A format of `read_qrels` or `read_run`, or ``"qrels_jg"``: TREC qrels with the assessor in
        the second column. ``"auto"`` inspects the extension and the content.
    target_format : str
        ``"auto"``, ``"trec"``, ``"qrels_jg"``, ``"beir"``, ``"csv"``, ``"tsv"``, ``"json"``,
        ``"jsonl"``, ``"parquet"``, ``"letor"``, ``"quepid"``, ``"rre"``, ``"opensearch"``,
        ``"ubi"`` or ``"label-studio"``. ``"auto"`` inspects the extension. Runs are written as
        trec, csv, tsv, json, jsonl or parquet.
    content : {"auto", "judgments", "run"}
        ``"auto"`` takes as runs: responses of search engines, TREC lines with six fields, and
        tables with a column of scores and none of grades. A target that ends in ``.run`` or
        ``.res`` expects a run, one in ``.qrels`` or ``.qrel`` judgments. Numbers without a column
        name are refused if they are no whole grades.
    queries, documents : path, optional
        Texts by id, as for `report`, for formats that hold texts.
    write_queries : path, optional
        File for the texts of the queries: lines ``ID<tab>TEXT``, or JSON lines as in BEIR. Queries
        that are named by their text get the ids ``q1``, ``q2``, ..., as do ids with blanks if the
        target cannot hold them. If the file exists, its queries keep their ids, and new ones are
        added: with the same file, judgments and runs get the same ids.
    assessors : str
        ``"mean"``, ``"median"``, ``"majority"``, ``"lowest"`` or ``"highest"`` makes one grade of
        several for formats without assessors; the name of an assessor keeps only that assessor's
        grades.
    scale : sequence of float
        Grades that the target knows; others are left out and counted.
    labels : mapping of str to float, optional
        Grades of labels that are words, as for `read_qrels`.
    columns : mapping or sequence, optional
        As for `read_qrels`; in Label Studio, ``query`` and ``document`` name fields of the data,
        and ``grade`` the control.
    group : path, optional
        For LETOR files without ``qid:``: the file of group sizes.
    keep_unjudged : bool
        Write rows without a grade to csv, tsv, jsonl and parquet, too; `evaluate` refuses such
        rows.
    name : str
        Name of the list or index, for formats that have one; tag of a TREC run. By default, the
        name of the source.
    strict : bool
        Raise an error if anything is lost; no file is written.
    tell : callable, optional
        Callback for messages about guesses; without it only doubtful guesses raise a warning.

    Returns
    -------
    Conversion
        Formats, counts and losses.

    Raises
    ------
    InputError
        A file cannot be read or written; several assessors judged a document and `assessors` is not
        set; the target has no place for an id; or something is lost and `strict` is set.
    OptionError
        A format is unknown, or cannot be written; the target expects a run and the source holds
        judgments, or the reverse; or numbers may be grades or scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "case.csv").write_text("query,docid,rating\nred shoes,7,3\nred shoes,4,\n")
    >>> done = convert(
    ...     folder / "case.csv",
    ...     folder / "qrels.txt",
    ...     target_format="trec",
    ...     write_queries=folder / "queries.tsv",
    ... )
    >>> (folder / "qrels.txt").read_text(), (folder / "queries.tsv").read_text()
    ('q1 0 7 3\n', 'q1\tred shoes\n')
    >>> [loss.text for loss in done.losses]
    ['1 unjudged row is left out']
    """
    options = ConversionOptions(
        source_format=source_format,
        target_format=target_format,
        content=content,
        sheet=SheetOptions(with_labels(columns, checked_labels(labels)), group),
        queries=_text(queries),
        documents=_text(documents),
        write_queries=_text(write_queries),
        assessors=assessors,
        scale=tuple(scale),
        keep_unjudged=keep_unjudged,
        name=name,
        strict=strict,
    )
    return convert_file(fspath(source), fspath(target), options, Notes(tell))


def _text(path: str | PathLike[str] | None) -> str | None:
    return None if path is None else fspath(path)
