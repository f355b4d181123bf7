"""Functions of the scripts of one query that need no page: commands, shades of grades; and how the
scripts are written.
"""

import re
from pathlib import Path

import pytest

from idealrank.pages import page as page_package
from tests.web.browsing import Visits

ASSETS = Path(page_package.__file__).parent / "assets"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (
            "idealrank compare 'my qrels.txt' a/one.run two.run -m AP",
            ["'my qrels.txt'", "a/one.run", "two.run"],
        ),
        (
            "idealrank gate qrels.txt new/two.run --baseline old/one.run.gz",
            ["qrels.txt", "old/one.run.gz", "new/two.run"],
        ),
        ("", ["QRELS", "one", "two"]),
        ("idealrank report 4f2a", ["QRELS", "one", "two"]),
    ],
)
def test_commands_name_the_files_of_the_command_that_made_the_page(
    visit: Visits, command: str, files: list[str]
) -> None:
    script = "\n".join((ASSETS / name).read_text("utf-8") for name in ("words.js", "query_more.js"))
    page = visit(f"<script>{script}</script>")

    assert (
        page.evaluate("command => queryFiles({made: {command}, runs: ['one', 'two']})", command)
        == files
    )
    made = {"command": f"{command} --convention sklearn,ties=best"}
    shown = {
        "made": made,
        "runs": ["one", "two"],
        "measures": [{"text": "P@5"}],
        "queries": ["a'b"],
        "shortened": [],
    }
    said = page.evaluate("shown => queryCommands(shown, {a: 0, b: 1, measure: 0, query: 0})", shown)
    assert (
        said[1] == f"idealrank explain {files[0]} {files[2]} --query 'a'\\''b' -m P@5 --convention "
        f"sklearn,ties=best"
    )
    said = page.evaluate(
        "shown => queryCommands({...shown, shortened: [0]}, {a: 0, b: 1, measure: 0, query: 0})",
        shown,
    )
    assert (
        said[1] == f"idealrank explain {files[0]} {files[2]} --query ID -m P@5 --convention "
        f"sklearn,ties=best"
    )


def test_grades_of_any_scale_get_a_shade(visit: Visits) -> None:
    page = visit(f"<script>{(ASSETS / 'query_lists.js').read_text('utf-8')}</script>")

    def shades(grades: list[float]) -> list[int]:
        found: list[int] = page.evaluate(
            "grades => grades.map(grade => queryShade(grade, grades))", grades
        )
        return found

    assert shades([0, 1, 2, 3]) == [0, 1, 2, 3]
    assert shades([0, 1]) == [0, 1]
    assert shades([-1, 0, 0.1, 0.5, 1]) == [0, 0, 1, 2, 4]
    assert shades([0, 1, 10, 50, 100]) == [0, 1, 1, 2, 4]


@pytest.mark.parametrize("path", sorted(ASSETS.glob("query*.js")), ids=lambda path: path.stem)
def test_scripts_are_short_and_never_make_html_of_text(path: Path) -> None:
    text = path.read_text("utf-8")
    starts = [
        number
        for number, line in enumerate(text.splitlines())
        if re.match(r"(async )?function ", line)
    ]
    ends = [number for number, line in enumerate(text.splitlines()) if line == "}"]

    assert len(text.splitlines()) < 400
    assert max(min(end for end in ends if end > start) - start + 1 for start in starts) <= 40
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", text)
