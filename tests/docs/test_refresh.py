"""`docs/refresh.py` runs a page as its tests run it, and replaces output alone."""

import subprocess
import sys
from pathlib import Path

from docs.refresh import SPEED, refresh
from tests.docs.blocks import ROOT, complaints_of

STALE = """\
```console
$ cat > numbers.txt <<END
> 1
> END
$ wc -l numbers.txt
stale
$ ls examples | grep -c pydocs
stale
$ false
$ echo $?
stale
$ make nothing-of-the-kind
stale
```
"""
FRESH = (
    STALE.replace("stale\n$ ls", "1 numbers.txt\n$ ls")
    .replace("stale\n$ false", "1\n$ false")
    .replace("stale\n$ make", "1\n$ make")
)


def test_commands_without_output_run_and_the_status_is_that_of_the_one_before(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    page.write_text(STALE, encoding="utf-8")

    subprocess.run(
        [sys.executable, ROOT / "docs" / "refresh.py", page],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )

    assert page.read_text(encoding="utf-8") == FRESH
    assert complaints_of(page) == []
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_the_table_of_speed_is_replaced_only_if_its_words_differ(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    table = SPEED.read_text(encoding="utf-8").strip()
    wrapped, stale = table.replace(". ", ".\n"), table.replace("faster", "slower")
    assert len({wrapped, stale, table}) == 3
    for before, after in ((wrapped, wrapped), (stale, table)):
        page.write_text(f"<!-- speed -->\n\n{before}\n\n<!-- end of speed -->\n", encoding="utf-8")

        assert refresh(page) == (before != after)

        assert (
            page.read_text(encoding="utf-8")
            == f"<!-- speed -->\n\n{after}\n\n<!-- end of speed -->\n"
        )


def test_a_command_finds_what_a_script_of_the_page_wrote(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    script = (
        "```python\nfrom pathlib import Path\n\nPath('made.txt').write_text('by a script\\n')\n"
        "```\n\n"
    )
    page.write_text(script + "```console\n$ cat made.txt\nstale\n```\n", encoding="utf-8")

    assert refresh(page)

    assert (
        page.read_text(encoding="utf-8")
        == script + "```console\n$ cat made.txt\nby a script\n```\n"
    )
