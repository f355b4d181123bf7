"""The scripts of a page: one module of many files, none of them large."""

import re
from collections import Counter
from importlib import resources

from idealrank.pages.page.html import _SCRIPTS, _STYLES

ASSETS = resources.files("idealrank.pages.page").joinpath("assets")


def read(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")


def test_every_file_of_the_folder_is_on_the_page_once():
    assert sorted(path.name for path in ASSETS.iterdir()) == sorted((*_SCRIPTS, *_STYLES))


def test_no_two_files_use_a_name_at_their_top():
    names = Counter(
        name
        for script in _SCRIPTS
        for name in re.findall(
            r"^(?:async )?(?:function|const|let) (\w+)", read(script), re.MULTILINE
        )
    )

    assert [name for name, count in names.items() if count > 1] == []


def test_scripts_make_elements_and_never_html_of_texts():
    for script in _SCRIPTS:
        assert not re.search(
            r"insertAdjacentHTML|outerHTML|document\.write|\beval\(|new Function|</script",
            read(script),
        ), script
        assert len(read(script).splitlines()) <= 400, script


def test_functions_of_scripts_are_short():
    for script in _SCRIPTS:
        for found in re.finditer(
            r"^(?:async )?function (\w+)\(.*?^}", read(script), re.MULTILINE | re.DOTALL
        ):
            assert found[0].count("\n") < 40, f"{script}: {found[1]}"
