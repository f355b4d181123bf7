"""Label Studio's JSON: tasks with annotations by people and predictions by models, and tasks to
import.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idealrank.errors import InputError
from idealrank.io.checked_cells import (
    Fault,
    check_id,
    check_number,
    describe_value,
    parse_number,
    shown,
)
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
from idealrank.io.label_grades import grade_of, label_advice
from idealrank.io.row_parts import Place, Rows, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import (
    DOCUMENT,
    QUERY,
    Columns,
    Names,
    candidates,
    label_grades,
    named_columns,
)

_VALUES = ("number", "rating", "choices")  # types of controls that hold a grade
_TEXTS = ("documenttext", "document", "text", "passage", "body", "content")
# kinds of assessors, as tables of labels have them
_PEOPLE = "people"
_MODEL = "model"
_EXPECTED = "an array of tasks, as Label Studio's export JSON"
_EXPECTED_DATA = "an object with a query and a document"


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
        complain(
            Complaint(
                kind="type",
                path=source.path,
                line=0,
                found=describe_value(value),
                expected=_EXPECTED,
            )
        )
        return sheet_of([])
    reader = _Tasks(source.path, complain, names or LabelStudioFields())
    pairs = SeenPairs(complain)
    rows: list[JudgmentRow] = []
    for number, task in enumerate(tasks, 1):
        rows += [row for _, row in reader.graded(task, number) if pairs.is_new(row)]
    reader.refuse_several_controls()
    reader.refuse_shared_names()

    # A task without a grade gives a row that is unjudged; another task may have judged its pair.
    judged = {(row.query, row.document) for row in rows if row.grade is not None}

    def is_kept(row: JudgmentRow) -> bool:
        is_graded = row.grade is not None or bool(row.assessor)
        return is_graded or (row.query, row.document) not in judged

    return sheet_of(list(filter(is_kept, rows)), lost=reader.lost)


def read_label_studio(
    source: Source, table: Table, columns: Columns, _notes: Notes, complain: Complain
) -> Rows:
    """Read one grade for each judged document."""
    judgments_only(source.path, table, "tasks of Label Studio")
    sheet = label_studio_sheet(source, complain, fields_of(columns))
    return one_grade_each(source.path, list(sheet.rows))


def label_studio_kinds(source: Source, columns: Columns = None) -> Iterator[str]:
    """Yield the kind of assessor of each grade: ``people`` for an annotation, ``model`` for a
    prediction.
    """
    reader = _Tasks(source.path, lambda _: None, fields_of(columns))
    tasks = load(source.read())
    for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        yield from (kind for kind, row in reader.graded(task, number) if row.grade is not None)


def fields_of(columns: Columns) -> LabelStudioFields:
    """Return the names of fields and control, and the grades of choices, of names of columns."""
    by_role = named_columns(columns, "qrels")
    return LabelStudioFields(
        query=by_role.get("query", ""),
        document=by_role.get("document", ""),
        control=by_role.get("grade", ""),
        labels=label_grades(columns),
    )


class _Tasks:
    """Rows of tasks, one after the other."""

    def __init__(self, path: str, complain: Complain, names: LabelStudioFields) -> None:
        self._path = path
        self._complain = complain
        self._names = names
        self._controls: dict[str, None] = {}
        # by kind and name, a task of each
        self._assessors: dict[str, dict[str, str]] = {_PEOPLE: {}, _MODEL: {}}
        self.lost: dict[str, list[str]] = {}

    def graded(self, task: Any, number: int) -> Iterator[tuple[str, JudgmentRow]]:
        """Rows of one task with their kind of assessor: every annotation and prediction with a
        grade, or one row that is unjudged.
        """
        place = (f"{self._path}: task {number}", 0)
        fields = dict(task) if isinstance(task, tuple) else {}
        data = fields.get("data")
        if not isinstance(data, tuple):
            problem = f"{describe_value(data)} as data"
            expected = _EXPECTED_DATA
            self._complain(Complaint("task", *place, problem, expected))
            return
        pair = self._pair(dict(data), place)
        if pair is None:
            return
        graded_rows = [*self._by_people(pair, fields), *self._by_models(pair, fields)]
        if fields.get("drafts"):
            self.lost.setdefault("drafts", []).append("")
        if fields.get("meta"):
            self.lost.setdefault("columns", []).append("meta")
        yield from graded_rows or [("", pair)]

    def _by_people(
        self, pair: JudgmentRow, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, JudgmentRow]]:
        for annotation in _objects(fields.get("annotations", fields.get("completions"))):
            assessor = _annotator(annotation.get("completed_by"))
            if annotation.get("was_cancelled") or annotation.get("skipped"):
                self.lost.setdefault("cancelled", []).append(assessor)
                continue
            if annotation.get("ground_truth"):
                self.lost.setdefault("ground_truth", []).append(pair.document)
            grade = self._grade(annotation, pair.place)
            if grade is not None:
                yield self._by(_PEOPLE, assessor, pair._replace(grade=grade))

    def _by_models(
        self, pair: JudgmentRow, fields: Mapping[str, Any]
    ) -> Iterator[tuple[str, JudgmentRow]]:
        for prediction in _objects(fields.get("predictions")):
            grade = self._grade(prediction, pair.place)
            model = valid_text(prediction.get("model_version")) or "prediction"
            if grade is not None:
                yield self._by(_MODEL, model, pair._replace(grade=grade))

    def _by(self, kind: str, assessor: str, row: JudgmentRow) -> tuple[str, JudgmentRow]:
        self._assessors[kind].setdefault(assessor, row.place[0])
        return kind, row._replace(assessor=assessor)

    def refuse_shared_names(self) -> None:
        """Refuse an annotator and a model of one name: they would be one assessor."""
        people = self._assessors[_PEOPLE]
        models = self._assessors[_MODEL]
        if shared := next((name for name in models if name in people), ""):
            raise InputError(
                f"{models[shared]}: found a prediction by the model {shown(shared)}, which is the "
                f"name of an annotator, too ({people[shared]}); expected different names, since "
                f"grades of people and of models are not joined; change the model_version of the "
                f"predictions"
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
        query_name = self._names.query or _usual_field(data, QUERY)
        document_name = self._names.document or _usual_field(data, DOCUMENT)
        if query_name not in data or document_name not in data:
            problem = f"fields {', '.join(map(repr, list(data)[:8])) or 'none'} as data"
            complaint = Complaint(
                "task",
                *place,
                problem,
                "fields of a query and a document",
                "name them with columns={'query': ..., 'document': ...}",
                command_hint="name them with --columns query=NAME,document=NAME",
            )
            self._complain(complaint)
            return None
        query = check_id(data[query_name])
        document = check_id(data[document_name])
        for checked, name in ((query, query_name), (document, document_name)):
            if isinstance(checked, tuple):
                self._complain(checked.at(place, f" in field {name!r}"))
                return None
        others = {
            name: value for name, value in data.items() if name not in (query_name, document_name)
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
        """The grade of an annotation or of a prediction, by the chosen control or the only one."""
        last_grade: float | None = None
        for result in _objects(annotation.get("result")):
            control = valid_text(result.get("from_name"))
            value = result.get("value")
            fields = dict(value) if isinstance(value, tuple) else {}
            kind = next((name for name in _VALUES if name in fields), None)
            if kind is None or (self._names.control and control != self._names.control):
                self.lost.setdefault("other_results", []).append(
                    control or valid_text(result.get("type"))
                )
                continue
            # with a second control no grade counts: the file is refused at its end
            self._controls[control] = None
            grade = self._number(fields[kind], place)
            if grade is not None and len(self._controls) == 1:
                if last_grade is not None:
                    problem = f"control {shown(control)} twice in an annotation"
                    self._complain(Complaint("task", *place, problem, "one grade"))
                last_grade = grade
        return last_grade

    def _number(self, value: Any, place: Place) -> float | None:
        """The grade that a number, a rating or a list of one choice is; None after a complaint."""
        if isinstance(value, list):
            if len(value) != 1:
                problem = f"{len(value)} choices"
                self._complain(Complaint("choices", *place, problem, "one choice, the grade"))
                return None
            value = value[0]
        if isinstance(value, str):
            label = grade_of(value, self._names.labels)
            label = parse_number(label) if isinstance(label, str) else label
            if label is None:
                fault = Fault(
                    "choices", f"choice {shown(value)}", *label_advice(value, self._names.labels)
                )
                self._complain(fault.at(place))
                return None
            value = label
        grade = check_number(value, "qrels")
        if isinstance(grade, tuple):
            self._complain(grade.at(place))
            return None
        return grade


def _usual_field(data: dict[str, Any], usual: Names) -> str:
    """The field with the most usual name; empty without any."""
    most_usual, less_usual = usual
    fields = list(data)
    return next(iter(candidates(fields, most_usual) or candidates(fields, less_usual)), "")


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for element in value if isinstance(value, list) else []:
        if isinstance(element, tuple):
            yield dict(element)


def _annotator(value: Any) -> str:
    """E-mail address or number; old exports hold an object of the user."""
    fields = dict(value) if isinstance(value, tuple) else {}
    return valid_text(fields.get("email") or fields.get("id") or ("" if fields else value))


def _popped(fields: dict[str, Any], names: Sequence[str]) -> str:
    """Take the text of the first of these fields out; empty without any."""
    texts = [field_name for field_name, value in fields.items() if isinstance(value, str)]
    usual = candidates(texts, names)
    return valid_text(fields.pop(usual[0])) if usual else ""
