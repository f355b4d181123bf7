"""Label Studio's JSON: tasks with annotations by people and predictions by models, and tasks to
import.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealrank.errors import InputError
from idealrank.io.checked_cells import check_id, check_number, describe_value, parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.nested import broken, load
from idealrank.io.judgment_rows import (
    JudgmentRow,
    JudgmentSheet,
    SeenPairs,
    judgments_only,
    one_grade_each,
    sheet_of,
    valid_text,
)
from idealrank.io.row_parts import Place, Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import DOCUMENT, QUERY, Columns, candidates, named_columns, plain

_VALUES = ("number", "rating", "choices")  # types of controls that hold a grade
_TEXTS = ("documenttext", "document", "text", "passage", "body", "content")
_PEOPLE, _MODEL = "people", "model"  # kinds of assessors, as tables of labels have them
_EXPECTED = "an array of tasks, as Label Studio's export JSON"


@dataclass(frozen=True, kw_only=True)
class LabelStudioFields:
    """Names in a project."""

    # query, document: Fields of a task's data that hold the ids; empty to guess
    query: str = ""
    document: str = ""
    control: str = ""  # Name of the control that holds the grade; needed if there are several
    # Grades of choices that are no numbers
    labels: Mapping[str, float] = field(default_factory=dict)


def label_studio_sheet(
    source: Source, complain: Complain, names: LabelStudioFields | None = None
) -> JudgmentSheet:
    """Read tasks with their annotations."""
    try:
        value = load(source.read())
    except (ValueError, RecursionError) as error:
        complain(broken(error, source.path, 0))
        return sheet_of([])
    tasks = [value] if isinstance(value, tuple) else value
    if not isinstance(tasks, list):
        complain(Complaint("type", source.path, 0, describe_value(value), _EXPECTED))
        return sheet_of([])
    reader = _Tasks(source.path, complain, names or LabelStudioFields())
    pairs = SeenPairs(complain)
    rows = [
        row
        for number, task in enumerate(tasks, 1)
        for _, row in reader.graded(task, number)
        if pairs.is_new(row)
    ]
    reader.refuse_several_controls()
    reader.refuse_shared_names()
    judged = {(row.query, row.document) for row in rows if row.grade is not None}
    rows = [
        row
        for row in rows
        if row.grade is not None or row.assessor or (row.query, row.document) not in judged
    ]
    return sheet_of(rows, left=reader.left)


def read_label_studio(
    source: Source, table: Table, columns: Columns, _notes: Notes, complain: Complain
) -> Rows:
    """Read one grade for each judged document."""
    judgments_only(source.path, table, "tasks of Label Studio")
    return one_grade_each(
        source.path, list(label_studio_sheet(source, complain, _named(columns)).rows)
    )


def label_studio_kinds(source: Source, columns: Columns = None) -> Iterator[str]:
    """Kinds of assessors, again and again: ``people`` for an annotation with a grade, ``model`` for
    a prediction with one.
    """
    reader = _Tasks(source.path, lambda _: None, _named(columns))
    tasks = load(source.read())
    for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        yield from (kind for kind, row in reader.graded(task, number) if row.grade is not None)


def _named(columns: Columns) -> LabelStudioFields:
    named = named_columns(columns, "qrels")
    return LabelStudioFields(
        query=named.get("query", ""),
        document=named.get("document", ""),
        control=named.get("grade", ""),
    )


class _Tasks:
    """Rows of tasks, one after the other."""

    def __init__(self, path: str, complain: Complain, names: LabelStudioFields) -> None:
        self._path, self._complain, self._names = path, complain, names
        self._controls: dict[str, None] = {}
        # by kind and name, a task of each
        self._assessors: dict[str, dict[str, str]] = {_PEOPLE: {}, _MODEL: {}}
        self.left: dict[str, list[str]] = {}

    def graded(self, task: Any, number: int) -> Iterator[tuple[str, JudgmentRow]]:
        """Rows of one task with their kind of assessor: every annotation and prediction with a
        grade, or one row that is unjudged.
        """
        place = (f"{self._path}: task {number}", 0)
        fields = dict(task) if isinstance(task, tuple) else {}
        data = fields.get("data")
        pair = self._pair(dict(data), place) if isinstance(data, tuple) else None
        if not isinstance(data, tuple):
            self._complain(
                Complaint(
                    "task",
                    *place,
                    f"{describe_value(data)} as data",
                    "an object with a query and a document",
                )
            )
        if pair is None:
            return
        found = [*self._by_people(pair, fields), *self._by_models(pair, fields)]
        for name, kind in (("drafts", "drafts"), ("meta", "columns")):
            if fields.get(name):
                self.left.setdefault(kind, []).append("" if kind == name else name)
        yield from found or [("", pair)]

    def _by_people(
        self, pair: JudgmentRow, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, JudgmentRow]]:
        for annotation in _objects(fields.get("annotations", fields.get("completions"))):
            assessor = _annotator(annotation.get("completed_by"))
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                self.left.setdefault("cancelled", []).append(assessor)
                continue
            if annotation.get("ground_truth"):
                self.left.setdefault("ground_truth", []).append(pair.document)
            grade = self._grade(annotation, pair.place)
            if grade is not None:
                yield self._by(_PEOPLE, assessor, pair._replace(grade=grade))

    def _by_models(
        self, pair: JudgmentRow, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, JudgmentRow]]:
        for prediction in _objects(fields.get("predictions")):
            grade = self._grade(prediction, pair.place)
            if grade is not None:
                yield self._by(
                    _MODEL,
                    valid_text(prediction.get("model_version")) or "prediction",
                    pair._replace(grade=grade),
                )

    def _by(self, kind: str, assessor: str, row: JudgmentRow) -> tuple[str, JudgmentRow]:
        self._assessors[kind].setdefault(assessor, row.place[0])
        return kind, row._replace(assessor=assessor)

    def refuse_shared_names(self) -> None:
        """Refuse an annotator and a model of one name: they would be one assessor."""
        people, models = self._assessors[_PEOPLE], self._assessors[_MODEL]
        if shared := next((name for name in models if name in people), ""):
            raise InputError(
                f"{models[shared]}: found a prediction by the model {shown(shared)}, which is "
                f"the name of an annotator, too "
                f"({people[shared]}); expected different names, since grades of people and of "
                f"models are not joined; "
                "change the model_version of the predictions"
            )

    def refuse_several_controls(self) -> None:
        """Refuse results of several controls, of which none was chosen."""
        if len(self._controls) > 1 and not self._names.control:
            names = ", ".join(map(repr, self._controls))
            raise InputError(
                f"{self._path}: found grades by several controls ({names}), expected one",
                hint="name it with columns={'grade': NAME}",
                command_hint="name it with --columns grade=NAME",
            )

    def _pair(self, data: dict[str, Any], place: Place) -> JudgmentRow | None:
        query_name, document_name = (
            given
            or next(iter(candidates(list(data), usual[0]) or candidates(list(data), usual[1])), "")
            for given, usual in ((self._names.query, QUERY), (self._names.document, DOCUMENT))
        )
        if query_name not in data or document_name not in data:
            found = f"fields {', '.join(map(repr, list(data)[:8])) or 'none'} as data"
            hint = "name them with columns={'query': ..., 'document': ...}"
            command = "name them with --columns query=NAME,document=NAME"
            self._complain(
                Complaint(
                    "task",
                    *place,
                    found,
                    "fields of a query and a document",
                    hint,
                    command_hint=command,
                )
            )
            return None
        query, document = check_id(data[query_name]), check_id(data[document_name])
        for checked, name in ((query, query_name), (document, document_name)):
            if isinstance(checked, tuple):
                self._complain(
                    Complaint(checked[0], *place, f"{checked[1]} in field {name!r}", checked[2])
                )
                return None
        others = {
            name: one for name, one in data.items() if name not in (query_name, document_name)
        }
        query_text = _popped(others, ("querytext", "query"))
        text = _popped(others, _TEXTS)
        # a task that was made of ids alone shows them in place of texts
        query_text = "" if query_text == query else query_text
        text = "" if text == document else text
        return JudgmentRow(
            query=str(query),
            document=str(document),
            grade=None,
            assessor="",
            query_text=query_text,
            text=text,
            values=others,
            place=place,
        )

    def _grade(self, annotation: Mapping[str, Any], place: Place) -> float | None:
        """The grade of an annotation or of a prediction."""
        found: float | None = None
        for result in _objects(annotation.get("result")):
            control, value = valid_text(result.get("from_name")), result.get("value")
            fields = dict(value) if isinstance(value, tuple) else {}
            kind = next((name for name in _VALUES if name in fields), None)
            if kind is None or (self._names.control and control != self._names.control):
                self.left.setdefault("other_results", []).append(
                    control or valid_text(result.get("type"))
                )
                continue
            self._controls[control] = None
            grade = self._number(fields[kind], place)
            if grade is not None and len(self._controls) == 1:
                if found is not None:
                    self._complain(
                        Complaint(
                            "task",
                            *place,
                            f"control {shown(control)} twice in an annotation",
                            "one grade",
                        )
                    )
                found = grade
        return found

    def _number(self, given: Any, place: Place) -> float | None:
        if isinstance(given, list):
            if len(given) != 1:
                self._complain(
                    Complaint("choices", *place, f"{len(given)} choices", "one choice, the grade")
                )
                return None
            given = given[0]
        if isinstance(given, str):
            label = self._names.labels.get(given, parse_number(given))
            if label is None:
                hint = "give its grade with labels={CHOICE: GRADE} of convert"
                command = "give its grade with `idealrank convert --labels CHOICE=GRADE,...`"
                self._complain(
                    Complaint(
                        "choices",
                        *place,
                        f"choice {shown(given)}",
                        "a number",
                        hint,
                        command_hint=command,
                    )
                )
                return None
            given = label
        grade = check_number(given, "qrels")
        if isinstance(grade, tuple):
            self._complain(Complaint(grade[0], *place, grade[1], grade[2]))
            return None
        return grade


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for one in value if isinstance(value, list) else []:
        if isinstance(one, tuple):
            yield dict(one)


def _annotator(value: Any) -> str:
    """E-mail address or number; old exports hold an object of the user."""
    fields = dict(value) if isinstance(value, tuple) else {}
    return valid_text(fields.get("email") or fields.get("id") or ("" if fields else value))


def _popped(fields: dict[str, Any], names: Sequence[str]) -> str:
    """The text of the first of these fields; it is taken out."""
    name = next(
        (
            one
            for word in names
            for one in fields
            if plain(one) == word and isinstance(fields[one], str)
        ),
        None,
    )
    return "" if name is None else valid_text(fields.pop(name))
