"""The labelling page: one pair at a time, graded by a key or a click; and the progress of all
people.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from idealrank.errors import OptionError
from idealrank.io.judgment_files import grade_text
from idealrank.judging import agreement, gold_accuracy
from idealrank.judging.files.judgment_pairs import JudgmentPair
from idealrank.live.judges.judge_runs import table_path
from idealrank.live.judges.label_store import LabelStore, raters_path
from idealrank.store.web.guard import Guard
from idealrank.store.web.site import Site, StoreFolder, form_of, guarded_application

_PAGES = (("/label", "Label"), ("/progress", "Progress"))
_COOKIE = "idealrank-rater"
_MOST_BODY = 1 << 16  # bytes of a form
_MONTH = 30 * 86_400  # seconds that a browser keeps the name
# header of requests by the script, which replaces the part of the page that changed
_PART = "x-idealrank-part"
_WORD = re.compile(r"\w+")
_SHORTEST = 2  # letters of a word that is marked in a document
_LISTED = 20  # pairs on which people disagree that the page lists


@dataclass(frozen=True)
class Labelling:
    """Contents of the page."""

    store: LabelStore  # Pairs and answers
    guidelines: str = ""  # Text that explains the grades; empty for none


def label_application(labelling: Labelling, guard: Guard) -> ASGIApp:
    """The labelling page as an ASGI application."""
    site = Site(folder=StoreFolder(None), guard=guard, pages=_PAGES, package="idealrank.live.web")
    pages = _LabelPages(site, labelling)
    routes: list[tuple[str, Callable[[Request], Any], str]] = [
        ("/", pages.start, "GET"),
        ("/label", pages.label, "GET"),
        ("/progress", pages.progress, "GET"),
        ("/join", pages.join, "POST"),
        ("/leave", pages.leave, "POST"),
        ("/label", pages.answer, "POST"),
    ]
    return guarded_application(
        site, [Route(path, page, methods=[method]) for path, page, method in routes]
    )


class _LabelPages:
    """Answers to requests."""

    def __init__(self, site: Site, labelling: Labelling) -> None:
        self._site = site
        self._store = labelling.store
        self._guidelines = labelling.guidelines

    def _rater(self, request: Request) -> str:
        """Name in the cookie, if it has joined; empty otherwise."""
        name = unquote(request.cookies.get(_COOKIE, ""))
        return name if name in self._store.raters else ""

    async def start(self, request: Request) -> Response:
        """Show the form for the name."""
        store = self._store
        done, total = store.counts()
        context = {
            "title": "Label",
            "here": "/",
            "raters": store.raters,
            "rater": self._rater(request),
            "done": done,
            "total": total,
            "pairs": store.n_pairs,
            "guidelines": self._guidelines,
            "scale": _buttons(store),
            "has_model": bool(store.plan.model),
        }
        return self._site.page("label_start.html", context)

    async def join(self, request: Request) -> Response:
        """Take the name from the form."""
        name = " ".join((await form_of(request, _MOST_BODY)).get("name", "").split())
        self._store.join(name)
        answer = RedirectResponse("/label", 303)
        answer.set_cookie(
            _COOKIE,
            quote(name, safe=""),
            max_age=_MONTH,
            httponly=True,
            samesite="strict",
            path="/",
        )
        return answer

    async def leave(self, request: Request) -> Response:
        """Forget the name in this browser."""
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(_COOKIE, path="/", httponly=True, samesite="strict")
        return answer

    async def label(self, request: Request) -> Response:
        """Show a pair."""
        rater = self._rater(request)
        if not rater:
            return RedirectResponse("/", 303)
        text = request.query_params.get("pair")
        number = None if text is None else _number(text, self._store)
        return self._shown(request, rater, number)

    def _shown(self, request: Request, rater: str, number: int | None) -> Response:
        """The pair with this number, or the next one; the whole page, or the part that changed."""
        store = self._store
        is_again = number is not None
        number = store.next_pair(rater) if number is None else number
        pair = None if number is None else store.pair(number)
        done, total = store.counts(rater)
        context: dict[str, Any] = {
            "title": "Label" if pair is None else pair.query_text,
            "here": "/label",
            "rater": rater,
            "done": done,
            "total": total,
            "guidelines": self._guidelines,
            "scale": _buttons(store),
            "last": _last(store, rater, number),
            "is_again": is_again,
            "skipped": store.skipped_by(rater),
            "before": None if number is None else store.answer_of(number, rater),
            "pair": None if pair is None else _context(pair, number),
        }
        wants_page = request.headers.get(_PART) is None
        return self._site.page("label.html" if wants_page else "label_pair.html", context)

    async def answer(self, request: Request) -> Response:
        """Keep an answer, and show the next pair."""
        store = self._store
        rater = self._rater(request)
        if not rater:
            raise HTTPException(
                403,
                "found no name, expected the name that you gave at the start; go back to the first "
                "page",
            )
        form = await form_of(request, _MOST_BODY)
        number = _number(form.get("pair", ""), store)
        try:
            grade = None if form.get("action") == "skip" else float(form.get("grade", ""))
            seconds = float(form["seconds"]) if form.get("seconds") else None
        except ValueError:
            raise OptionError(
                f"grade: found no number, expected one of {store.plan.scale.text}"
            ) from None
        store.answer(
            number,
            rater,
            grade,
            note=form.get("note", "").strip(),
            seconds=seconds,
            nonce=form.get("nonce", "")[:64],
        )
        if request.headers.get(_PART) is None:
            return RedirectResponse("/label", 303)
        return self._shown(request, rater, None)

    async def progress(self, request: Request) -> Response:
        """Show the work of all people."""
        done, total = self._store.counts()
        shared = {
            "title": "Progress",
            "here": "/progress",
            "done": done,
            "total": total,
            "rater": self._rater(request),
        }
        return self._site.page("label_progress.html", shared | progress_report(self._store))


def _number(text: str, store: LabelStore) -> int:
    if not text.isdecimal() or len(text) > 15 or store.pair(int(text)) is None:
        raise HTTPException(404, "found no such pair; expected one of the list")
    return int(text)


def _context(pair: JudgmentPair, number: int | None) -> dict[str, Any]:
    """Template values of a pair; words of the query are marked in title and text."""
    query_words = _WORD.findall(pair.query_text)
    words = frozenset(word.casefold() for word in query_words if len(word) >= _SHORTEST)
    content = pair.content
    return {
        "number": number,
        "query": pair.query,
        "document": pair.document,
        "query_text": pair.query_text,
        "title": marked(content.title or pair.document, words),
        "has_title": bool(content.title),
        "text": marked(content.text, words),
        "link": safe_link(content.link),
        "is_empty": not content.joined,
    }


def marked(text: str, words: "frozenset[str]") -> list[tuple[str, bool]]:
    """Cut a text into pieces, each with whether it is one of the words."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in _WORD.finditer(text):
        if match[0].casefold() in words:
            pieces += [(text[end : match.start()], False), (match[0], True)]
            end = match.end()
    pieces.append((text[end:], False))
    return [(piece, is_word) for piece, is_word in pieces if piece]


def safe_link(address: str) -> str:
    """Return an address of the web; empty for any other, such as one of a script."""
    try:
        split = urlsplit(address)
    except ValueError:
        return ""
    return address if split.scheme in {"http", "https"} and split.netloc else ""


def _buttons(store: LabelStore) -> list[dict[str, str]]:
    """Grades with their words and keys: its own digit if each grade is one, else its place from
    1.
    """
    words = store.plan.scale.words
    if all(grade in range(10) for grade in words):
        keys = [grade_text(grade) for grade in words]
    else:
        keys = [str(place) if place < 10 else "" for place in range(1, len(words) + 1)]
    return [
        {"grade": grade_text(grade), "word": word, "key": key}
        for (grade, word), key in zip(words.items(), keys, strict=True)
    ]


def _last(store: LabelStore, rater: str, number: int | None) -> dict[str, Any] | None:
    """The last answer of this person, with the grade of the model, which is shown from then on."""
    last = store.last_of(rater)
    if last is None or last.pair == number:
        return None
    pair = store.pair(last.pair)
    model = store.plan.model.get(store.key(last.pair)) if last.status == "graded" else None
    return {
        "pair": last.pair,
        "grade": "" if last.grade is None else grade_text(last.grade),
        "name": pair.document if pair else "",
        "word": "" if last.grade is None else store.plan.scale.words[last.grade],
        "model": "" if model is None else grade_text(model),
        "model_name": store.plan.model_name,
        "differs": model is not None and model != last.grade,
    }


def progress_report(store: LabelStore) -> dict[str, Any]:
    """Return the work of each person, their agreement, gold questions, and the pairs on which they
    disagree.
    """
    numbers, raters, grades = store.table()
    gold = dict(zip(raters, _gold(store, raters), strict=True))
    people = [
        {
            "name": work.rater,
            "graded": work.graded,
            "skipped": work.skipped,
            "revised": work.revised,
            "seconds": "" if work.seconds is None else f"{work.seconds:.1f} s",
            "gold": gold.get(work.rater, ""),
            "grades": [work.grades.get(grade, 0) for grade in store.plan.scale.grades],
        }
        for work in store.progress()
    ]
    return {
        "people": people,
        "scale": _buttons(store),
        "has_gold": bool(store.plan.gold),
        "agreement": _agreement(store, numbers, grades),
        "disagreements": _disagreements(store, numbers, raters, grades),
        "model": _model(store, numbers, grades),
        "unwritten": store.unwritten,
        "files": [
            Path(path).name
            for path in [store.output, raters_path(store.output), table_path(store.output)]
        ],
    }


def _gold(store: LabelStore, raters: list[str]) -> list[str]:
    """Gold questions that each person answered right at first; empty while pairs are left, since
    the numbers would show which pairs they are.
    """
    first_grades = store.gold_grades()
    numbers = sorted({number for number, _ in first_grades})
    if not numbers:
        return [""] * len(raters)
    grades = np.full((len(numbers), len(raters)), math.nan)
    for row, number in enumerate(numbers):
        for column, name in enumerate(raters):
            grades[row, column] = first_grades.get((number, name), math.nan)
    right = [store.plan.gold[store.key(number)] for number in numbers]
    report = gold_accuracy(grades, right, assessors=raters)
    texts = []
    for name, accuracy in zip(raters, report.assessors, strict=True):
        text = ""
        if accuracy.n and store.is_done(name):
            low, high = accuracy.interval
            interval = f"[{100 * low:.0f} %, {100 * high:.0f} %]"
            text = f"{accuracy.n_right} of {accuracy.n} {interval}"
        texts.append(text)
    return texts


def _agreement(store: LabelStore, numbers: list[int], grades: Any) -> dict[str, str] | None:
    """Agreement on pairs that two people or more graded, without gold questions; None without any.

    `judge agreement` of the written grades counts the same pairs: gold questions are not written.
    """
    if grades.shape[1] < 2:
        return None
    is_gold = np.array([store.key(number) in store.plan.gold for number in numbers], np.bool_)
    rows = np.flatnonzero(((~np.isnan(grades)).sum(axis=1) >= 2) & ~is_gold)
    if not rows.size:
        return None
    queries = [store.key(numbers[row])[0] for row in rows]
    has_interval = len(set(queries)) > 1
    report = {"pairs": str(rows.size)}
    for name, options in (("percent", {}), ("krippendorff_alpha", {"level": "ordinal"})):
        settings: dict[str, Any] = dict(options)
        if has_interval:
            settings |= {"clusters": queries, "interval": True}
        value: Any = agreement(grades[rows], name, **settings)  # type: ignore[call-overload]
        as_text = partial(_agreement_text, name=name)
        ends = ""
        if has_interval and not math.isnan(value.interval[0]):
            low, high = value.interval
            ends = f" [{as_text(low)}, {as_text(high)}]"
        report[name] = "-" if math.isnan(float(value)) else f"{as_text(float(value))}{ends}"
    return report


def _agreement_text(value: float, name: str) -> str:
    return f"{100 * value:.0f} %" if name == "percent" else f"{value:.2f}"


def _disagreements(
    store: LabelStore, numbers: list[int], raters: list[str], grades: Any
) -> list[dict[str, Any]]:
    """Pairs on which people disagree, the largest difference first."""
    spread_of: dict[int, float] = {}
    row_of: dict[int, dict[str, Any]] = {}
    for row, number in enumerate(numbers):
        grade_of = {
            name: grade
            for name, grade in zip(raters, grades[row].tolist(), strict=True)
            if not math.isnan(grade)
        }
        spread = max(grade_of.values()) - min(grade_of.values())
        pair = store.pair(number)
        # a gold question is still to come for others
        if spread > 0 and pair is not None and pair.key not in store.plan.gold:
            grades_text = ", ".join(
                f"{name} {grade_text(grade)}" for name, grade in grade_of.items()
            )
            spread_of[number] = spread
            row_of[number] = {
                "pair": number,
                "query": pair.query_text,
                "document": pair.document,
                "grades": grades_text,
            }
    # equal differences by the number of the pair
    listed = sorted(spread_of, key=lambda number: (-spread_of[number], number))
    return [row_of[number] for number in listed[:_LISTED]]


def _model(store: LabelStore, numbers: list[int], grades: Any) -> dict[str, str] | None:
    """Agreement of people and the model; None without grades of both."""
    pairs: list[tuple[float, float]] = []
    for row, number in enumerate(numbers):
        model_grade = store.plan.model.get(store.key(number))
        if model_grade is not None:
            people_grades = grades[row][~np.isnan(grades[row])].tolist()
            pairs += [(grade, model_grade) for grade in people_grades]
    if not pairs:
        return None
    equal = sum(grade == model for grade, model in pairs) / len(pairs)
    bias = sum(model - grade for grade, model in pairs) / len(pairs)
    return {
        "name": store.plan.model_name,
        "pairs": str(len(pairs)),
        "equal": f"{100 * equal:.0f} %",
        "bias": f"{bias:+.2f}",
    }
