"""Changes of a working copy as `repository` finds them, against those that `git status` reports."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.repository import ask_git, has_changes
from tests.git import Repository

TEXT = "".join(f"q{number} 0 d{number} 1\n" for number in range(50))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    folder = tmp_path / "copy"
    folder.mkdir()
    made = Repository(folder)
    made.commit("first", **{"a.txt": TEXT, "b.txt": "1\n", "empty.txt": ""})
    return made


def later(path: Path) -> None:
    """Give a file another time, as a copy or a container does."""
    os.utime(path, (1_000_000_000, 1_000_000_000))


def rewrite(folder: Path) -> None:
    (folder / "b.txt").write_text("2\n", encoding="utf-8")


def rewrite_with_the_same_time(folder: Path) -> None:
    times = (folder / "b.txt").stat()
    rewrite(folder)
    os.utime(folder / "b.txt", ns=(times.st_atime_ns, times.st_mtime_ns))


def append(folder: Path) -> None:
    with (folder / "a.txt").open("a", encoding="utf-8") as file:
        file.write("more\n")


def remove(folder: Path) -> None:
    (folder / "b.txt").unlink()


def touch(folder: Path) -> None:
    later(folder / "a.txt")
    later(folder / "empty.txt")


def write_again(folder: Path) -> None:
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")


def add_an_untracked_file(folder: Path) -> None:
    (folder / "new.run").write_text("x", encoding="utf-8")


def stage(folder: Path) -> None:
    rewrite(folder)
    Repository(folder).git("add", "b.txt")
    (folder / "b.txt").write_text("1\n", encoding="utf-8")


def intend_to_add(folder: Path) -> None:
    (folder / "new.txt").write_text("x", encoding="utf-8")
    Repository(folder).git("add", "-N", "new.txt")


def make_executable(folder: Path) -> None:
    (folder / "b.txt").chmod(0o755)


def make_executable_without_modes(folder: Path) -> None:
    Repository(folder).git("config", "core.fileMode", "false")
    make_executable(folder)


def put_a_folder_in_its_place(folder: Path) -> None:
    remove(folder)
    (folder / "b.txt").mkdir()


def assume_unchanged(folder: Path) -> None:
    Repository(folder).git("update-index", "--assume-unchanged", "b.txt")
    rewrite(folder)


def leave_out_of_the_checkout(folder: Path) -> None:
    Repository(folder).git("update-index", "--skip-worktree", "b.txt")
    remove(folder)


def end_lines_by_cr_lf(folder: Path) -> None:
    (folder / "a.txt").write_bytes(TEXT.encode().replace(b"\n", b"\r\n"))


def check_out_with_cr_lf(folder: Path) -> None:
    Repository(folder).git("config", "core.autocrlf", "true")
    (folder / "a.txt").unlink()
    Repository(folder).git("checkout", "a.txt")
    later(folder / "a.txt")


def check_out_with_cr_lf_and_change(folder: Path) -> None:
    check_out_with_cr_lf(folder)
    text = (folder / "a.txt").read_bytes()
    (folder / "a.txt").write_bytes(text.replace(b"q1 ", b"q9 ", 1))


def check_out_with_cr_lf_by_attribute(folder: Path) -> None:
    copy = Repository(folder)
    copy.commit("attributes", **{".gitattributes": "*.txt text eol=crlf\n"})
    (folder / "a.txt").unlink()
    copy.git("checkout", "a.txt")
    later(folder / "a.txt")


CHANGES = [
    rewrite,
    rewrite_with_the_same_time,
    append,
    remove,
    touch,
    write_again,
    add_an_untracked_file,
    stage,
    intend_to_add,
    make_executable,
    make_executable_without_modes,
    put_a_folder_in_its_place,
    assume_unchanged,
    leave_out_of_the_checkout,
    end_lines_by_cr_lf,
    check_out_with_cr_lf,
    check_out_with_cr_lf_and_change,
    check_out_with_cr_lf_by_attribute,
]


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changes_are_those_of_git_status(
    repository: Repository, change: Callable[[Path], None]
) -> None:
    change(repository.folder)

    found = has_changes(repository.folder)

    assert found is bool(repository.git("status", "--porcelain", "--untracked-files=no"))


def test_a_folder_below_the_top_is_of_the_whole_copy(repository: Repository) -> None:
    (repository.folder / "below").mkdir()
    rewrite(repository.folder)

    assert has_changes(repository.folder / "below") is True


def test_names_may_have_any_bytes(repository: Repository) -> None:
    name = os.fsdecode(b"gr\xff\n\t\"x'.txt")
    repository.commit("odd", **{name: "1\n"})
    later(repository.folder / name)

    assert has_changes(repository.folder) is False

    (repository.folder / name).write_text("2\n", encoding="utf-8")

    assert has_changes(repository.folder) is True


def test_links_count_by_their_target(repository: Repository) -> None:
    link = repository.folder / "link"
    link.symlink_to("a.txt")
    repository.commit("link")
    link.unlink()
    link.symlink_to("a.txt")

    assert has_changes(repository.folder) is False

    link.unlink()
    link.symlink_to("b.txt")

    assert has_changes(repository.folder) is True


def test_a_folder_that_became_a_link_is_a_change(repository: Repository) -> None:
    folder = repository.folder / "data"
    folder.mkdir()
    (folder / "x.txt").write_text("1\n", encoding="utf-8")
    repository.commit("folder")
    elsewhere = repository.folder.parent / "elsewhere"
    shutil.move(folder, elsewhere)
    folder.symlink_to(elsewhere)

    assert has_changes(repository.folder) is True


def test_a_submodule_counts_by_its_commit(repository: Repository) -> None:
    inner = repository.folder / "inner"
    inner.mkdir()
    module = Repository(inner)
    module.commit("one", **{"x.txt": "1\n"})
    repository.git("add", "inner")
    repository.commit("submodule")
    (inner / "x.txt").write_text("2\n", encoding="utf-8")

    assert has_changes(repository.folder) is False

    module.commit("two")

    assert has_changes(repository.folder) is True


def test_a_file_of_git_lfs_counts_by_its_pointer(repository: Repository) -> None:
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(TEXT)}\n"
    repository.commit(
        "pointer", **{"big.run": pointer, ".gitattributes": "*.run filter=lfs -text\n"}
    )
    # As after a checkout by Git LFS: the content is in place, and the index has the times of
    # another file.
    (repository.folder / "big.run").write_text(TEXT, encoding="utf-8")
    repository.git("-c", "filter.lfs.clean=git cat-file blob HEAD:big.run", "add", "big.run")
    later(repository.folder / "big.run")

    assert has_changes(repository.folder) is False

    (repository.folder / "big.run").write_text(TEXT.replace("q1 ", "q9 ", 1), encoding="utf-8")

    assert has_changes(repository.folder) is True


@pytest.mark.parametrize("attribute", ["filter=crypt", "ident", "working-tree-encoding=latin-1"])
def test_a_file_under_another_conversion_is_unknown(repository: Repository, attribute: str) -> None:
    repository.commit("attributes", **{".gitattributes": f"b.txt {attribute}\n"})
    rewrite(repository.folder)

    assert has_changes(repository.folder) is None

    append(repository.folder)

    assert has_changes(repository.folder) is True


def test_repositories_by_sha_256_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    copy = Repository(folder, "--object-format=sha256")
    copy.commit("first", **{"a.txt": TEXT, "b.txt": "1\n"})
    later(folder / "a.txt")

    assert has_changes(folder) is False

    rewrite(folder)

    assert has_changes(folder) is True


def test_a_sparse_index_is_read(repository: Repository) -> None:
    for name in ("in", "out"):
        (repository.folder / name).mkdir()
        (repository.folder / name / "x.txt").write_text("1\n", encoding="utf-8")
    repository.commit("folders")
    repository.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")

    assert not (repository.folder / "out").exists()
    assert has_changes(repository.folder) is False


def test_it_is_unknown_without_a_working_copy_and_beyond_the_time_limit(
    repository: Repository, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    repository.git("clone", "-q", "--bare", str(repository.folder), str(bare))

    assert has_changes(bare) is None
    assert has_changes(repository.folder, seconds=0) is None


def test_commands_that_could_run_a_filter_are_refused() -> None:
    for command in ("status", "diff", "add", "hash-object", "ls-files"):
        with pytest.raises(
            ValueError,
            match=f"found git {command}, expected one of cat-file, log, rev-list, rev-parse",
        ):
            ask_git(command)
