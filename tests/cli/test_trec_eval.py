"""`idealrank trec-eval`: its options in every form getopt allows, its output, and what it
refuses.
"""

import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.cli.trec_options import NAMES, NICKNAMES, Request, chosen, parse_request
from idealrank.errors import OptionError
from tests.cli.terminal import DATA, Said, check_snapshot, environment

Say = Callable[..., Said]

COMMANDS = {
    "help": "trec-eval -h",
    "help-measures": "trec-eval -h -m map -m P -m num_ret",
    "per-query": "trec-eval -qc -m runid -m num_q -m map -mP.1,2 qrels.txt bm25.run",
    "notices": "trec-eval -o -D 3 -m map qrels.txt bm25.run",
    "error-option": "trec-eval -x qrels.txt bm25.run",
    "error-long-option": "trec-eval --level_for_nothing 2 qrels.txt bm25.run",
    "error-value": "trec-eval -l high qrels.txt bm25.run",
    "error-no-value": "trec-eval qrels.txt bm25.run -M",
    "error-files": "trec-eval -q qrels.txt",
    "error-measure": "trec-eval -m ndgc qrels.txt bm25.run",
    "error-underscore": "trec-eval -m ndcg_cut_10 qrels.txt bm25.run",
    "error-parameter": "trec-eval -m P.five qrels.txt bm25.run",
    "error-no-parameter": "trec-eval -m map.5 qrels.txt bm25.run",
    "error-gains": "trec-eval -m ndcg.1:3 qrels.txt bm25.run",
    "error-coefficients": "trec-eval -m utility.1,2 qrels.txt bm25.run",
    "error-weight": "trec-eval -m set_F.half qrels.txt bm25.run",
    "error-no-preferences": "trec-eval -m prefs_simp qrels.txt bm25.run",
    "error-preferences": "trec-eval -R qrels_prefs qrels.txt bm25.run",
    "error-format": "trec-eval -R judgments qrels.txt bm25.run",
    "error-swapped": "trec-eval bm25.run qrels.txt",
    "error-no-file": "trec-eval qrels.txt bm26.run",
    "error-stdin-twice": "trec-eval - -",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_trec_eval_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"trec-eval-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)
    assert (said.out == "") == name.startswith("error")


def test_the_version(say: Say) -> None:
    from idealrank import __version__

    assert say("trec-eval", "-v").out == f"idealrank {__version__} in the place of trec_eval 10.0\n"


# --- options --------------------------------------------------------------------------------------

FORMS = [
    "-q -c -l 2 -M 100 -m map -m P.5 a b",
    "-qc -l2 -M100 -mmap -mP.5 a b",
    "-cql2 -M100 -mmap -mP.5 a b",
    "a b -q -c -l 2 -M 100 -m map -m P.5",
    "a -qcl 2 -mmap b -mP.5 -M100",
    "--query_eval_wanted --complete_rel_info_wanted --level_for_rel=2 "
    "--Max_retrieved_per_topic 100 --measure map --measure=P.5 a b",
    "--query --complete --level 2 --Max 100 --measure map --mea P.5 a b",
    "-qc -l2 -M100 -mmap -mP.5 -- a b",
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_options_means_the_same(form: str) -> None:
    expected = Request(
        files=["a", "b"], measures=["map", "P.5"], per_query=True, complete=True, level=2, depth=100
    )

    assert parse_request(form.split()) == expected


def test_the_other_options() -> None:
    request = parse_request(
        [
            "-nJN",
            "1000",
            "-R",
            "qrels_jg",
            "-T",
            "trec_results",
            "-Z",
            "z",
            "--convention",
            "trec_eval-9",
            "--threads=2",
            "-",
            "b",
        ]
    )

    assert request == Request(
        files=["-", "b"],
        no_summary=True,
        judged_only=True,
        collection=1000,
        relevance_format="qrels_jg",
        zscores="z",
        convention="trec_eval-9",
        threads=2,
    )


@pytest.mark.parametrize(
    "typed",
    [
        "-M0 a b",
        "-M 1.5 a b",
        "-T letor a b",
        "--convention lightgbm a b",
        "--nosummary=1 a b",
        "--R=x a b",
    ],
)
def test_values_that_are_refused(typed: str) -> None:
    with pytest.raises(OptionError, match="expected"):
        parse_request(typed.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nosummary=3"], "--nosummary: found a value, expected none"),
        (["--R", "3"], "found an abbreviation of Rel_info_format and Results_format: option --R"),
        (["--conv"], "--convention: found no value, expected CONVENTION"),
        (["-qM"], "-M: found no value, expected NUMBER"),
        (["-qx"], "unknown option -x, expected one of -h"),
        (["--x"], "found option --x, expected one of --help"),
    ],
)
def test_an_option_that_getopt_refuses_is_named_with_what_was_expected(
    arguments: list[str], said: str
) -> None:
    with pytest.raises(OptionError, match=said):
        parse_request(arguments)


def test_an_abbreviation_that_fits_two_options_is_refused() -> None:
    with pytest.raises(OptionError, match="abbreviation of Rel_info_format and Results_format"):
        parse_request(["--Re", "x"])


# --- names ----------------------------------------------------------------------------------------


def test_measures_come_in_the_order_of_trec_eval_whatever_the_order_asked() -> None:
    assert list(chosen(["ndcg_cut.5", "recall.20,2000", "P.5,7,3", "map"])) == [
        "map",
        "P",
        "recall",
        "ndcg_cut",
    ]


def test_parameters_are_sorted_and_put_together() -> None:
    assert chosen(["P.7,3.9", "P.5", "iprec_at_recall..10,.05"]) == {
        "iprec_at_recall": ("0.05", "0.1"),
        "P": ("3", "5", "7"),
    }


def test_a_parameter_takes_the_place_of_the_defaults_that_a_set_of_measures_brings() -> None:
    assert chosen(["all_trec", "P.7"])["P"] == chosen(["P.7", "all_trec"])["P"] == ("7",)


def test_sets_of_measures_are_those_of_version_9_and_what_10_added() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")

    assert set(NICKNAMES) == set(pytrec_eval.supported_nicknames)
    for nickname, names in pytrec_eval.supported_nicknames.items():
        assert set(chosen([nickname], new=False)) == set(names), nickname
    assert set(chosen(["all_trec"])) - set(chosen(["all_trec"], new=False)) == {
        "rbp",
        "rbp_resid",
        "unj",
    }
    assert {name for names in NICKNAMES.values() for name in names} | {
        "dcg",
        "ideal_dcg",
        "yaap",
    } == set(NAMES)


def test_help_describes_every_measure(say: Say) -> None:
    texts = [option for name in NAMES for option in ("-m", name)]

    described = say("trec-eval", "-h", *texts).out.partition("\nMeasures:\n")[2]

    found = {
        line.split()[0]: line.split()[1:]
        for line in described.splitlines()
        if re.match(r"  \S", line)
    }
    assert list(found) == list(NAMES)
    assert all(found.values())


# --- the run's tag --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("# by hand\nq1 Q0 d1 1 2.5 mine more\n", "mine"),
        ("q1\tQ0\td1\t1\t2.5\tmine and more\n", "mine"),
        ("q1 Q0 d1 1 2.5 mine", "mine"),
    ],
)
def test_the_tag_is_the_first_word_of_the_sixth_field(
    text: str, tag: str, tmp_path: Path, say: Say
) -> None:
    (tmp_path / "a.run").write_text(text)
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")

    assert (
        say("trec-eval", "-mrunid", "a.qrels", "a.run", cwd=tmp_path).out
        == f"runid                 \tall\t{tag}\n"
    )


def test_the_tag_is_that_of_the_last_line(tmp_path: Path, say: Say) -> None:
    """trec_eval keeps one tag while it reads, and sorts the lines only then."""
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    for lines, tag in (
        ("q2 Q0 d1 1 2 B\nq1 Q0 d1 1 2 A\n", "A"),
        ("q1 Q0 d1 1 2 A\nq2 Q0 d1 1 2 B\n\n# C D E F G H\n", "B"),
    ):
        (tmp_path / "a.run").write_text(lines)
        assert (
            say("trec-eval", "-mrunid", "a.qrels", "a.run", cwd=tmp_path).out
            == f"runid                 \tall\t{tag}\n"
        )


def test_bpref_is_added_up_as_the_binary_does(tmp_path: Path, say: Say) -> None:
    """16 relevant documents and 6 others; 4 relevant ones have 0, 2, 3 and 4 others above: 0.15625,
    which a running sum exceeds.
    """
    judged = [f"q 0 r{number} 1" for number in range(16)] + [
        f"q 0 n{number} 0" for number in range(6)
    ]
    ranking = ["r0", "n0", "n1", "r1", "n2", "r2", "n3", "r3"]
    (tmp_path / "a.qrels").write_text("\n".join(judged))
    (tmp_path / "a.run").write_text(
        "\n".join(f"q Q0 {document} 1 {-rank} t" for rank, document in enumerate(ranking))
    )
    running = 0.0
    for above in (0, 2, 3, 4):
        running += 1.0 - min(above, 16) / min(6, 16) if above else 1.0

    printed = say("trec-eval", "-mbpref", "-q", "a.qrels", "a.run", cwd=tmp_path).out

    assert f"{running / 16:6.4f}" == "0.1563"
    assert printed == "bpref                 \tq\t0.1563\nbpref                 \tall\t0.1563\n"
    assert (
        say("evaluate", "a.qrels", "a.run", "-mBpref", "--format", "csv", cwd=tmp_path)
        .out.splitlines()[1]
        .split(",")[2]
        == "0.15625"
    )


def test_yaap_of_a_missing_query_counts_0_in_version_9(tmp_path: Path, say: Say) -> None:
    """9 computes nothing for it; 10 computes the log odds of an empty list."""
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 t\n")
    for version, mean in (("9", math.log(2) / 2), ("10", (math.log(2) + math.log(1 / 2)) / 2)):
        out = say(
            "trec-eval",
            "-c",
            "-myaap",
            "--convention",
            f"trec_eval-{version}",
            "a.qrels",
            "a.run",
            cwd=tmp_path,
        ).out
        assert out == f"yaap                  \tall\t{mean:6.4f}\n"


def test_a_missing_query_is_printed_as_zeros_by_10_and_not_at_all_by_9(say: Say) -> None:
    ten, nine = (
        say(
            "trec-eval", "-qc", "-mmap", "--convention", f"trec_eval-{v}", "qrels.txt", "bm25.run"
        ).out
        for v in (10, 9)
    )

    queries = [line.split()[1] for line in ten.splitlines()]
    assert (DATA / "qrels.txt").exists()
    assert len(queries) == len(nine.splitlines()) + 1
    assert ten.splitlines()[-1] == nine.splitlines()[-1]


def test_an_unanswered_query_is_one_unknown_document_to_measures_with_parameters_in_version_10(
    tmp_path: Path, say: Say
) -> None:
    """As trec_eval.c of 10.0 has it: a list of one made-up document, of which `relstring`,
    `utility` and others by these very names are emptied afterwards, and `relstring_3` and
    `utility_2,-1,-1,3` are not.
    """
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq2 0 d1 1\nq2 0 d2 2\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 t\n")
    plain, named = ["-mrelstring", "-mutility"], ["-mrelstring.3", "-mutility.2,-1,-1,3"]

    def printed(*options: str) -> list[list[str]]:
        lines = say("trec-eval", *options, "a.qrels", "a.run", cwd=tmp_path).out.splitlines()
        return [line.split()[::2] for line in lines if line.split()[1] == "q2"]

    assert printed("-qc", *plain) == [["relstring", "''"], ["utility", "0.0000"]]
    assert printed("-qc", *named) == [
        ["relstring_3", "'-'"],
        ["utility_2,-1,-1,3", f"{-1 - 2 + 3 * (0 - 1 - 2):.4f}"],
    ]
    assert printed("-qcJ", *named) == [
        ["relstring_3", "''"],
        ["utility_2,-1,-1,3", f"{-2 + 3 * (0 - 2):.4f}"],
    ]
    assert printed("-qc", *named, "--convention", "trec_eval-9") == []
    total = say("trec-eval", "-c", "-mutility.2,-1,-1,3", "a.qrels", "a.run", cwd=tmp_path).out
    assert total.split()[-1] == f"{((2 - 3) + (-1 - 2 - 9)) / 2:.4f}"


def test_a_run_that_holds_nothing_is_refused_also_with_all_queries_wanted(
    tmp_path: Path, say: Say
) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "a.run").write_text("")

    said = say("trec-eval", "-c", "-mmap", "a.qrels", "a.run", cwd=tmp_path)

    assert (said.code, said.out) == (2, "")
    assert "a.run: found no result, expected at least one" in said.err


def test_a_script_that_calls_the_binary_needs_another_name_and_nothing_else(tmp_path: Path) -> None:
    """As a process of its own, with a file that stands in for the binary, and standard input for
    the run.
    """
    stand_in = tmp_path / "trec_eval"
    stand_in.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m idealrank trec-eval "$@"\n'
    )
    stand_in.chmod(0o755)
    script = (
        "trec_eval -m map qrels.txt - < bm25.run; trec_eval -m map qrels.txt nothing.run; echo $?"
    )
    changed = environment(PATH=f"{tmp_path}:{os.environ['PATH']}")

    done = subprocess.run(
        ["sh", "-c", script], cwd=DATA, env=changed, capture_output=True, text=True, check=False
    )

    assert done.stdout == "map                   \tall\t0.1759\n2\n"
    assert "nothing.run: found no such file" in done.stderr


# --- z-scores -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 map 0.5\n", "z:1: found 3 fields, expected 4"),
        ("q1 map 0.5 -1\n", "expected a mean and a standard deviation"),
        ("q1 map 0 1\nq1 map 0 1\n", "z:2: found map of query q1 a second time"),
        ("q0 map 0 1\n", "found no line for map of query q1"),
    ],
)
def test_files_of_z_scores_that_are_refused(text: str, said: str, tmp_path: Path, say: Say) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.5 mine")
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "z").write_text(text)

    answer = say("trec-eval", "-q", "-mmap", "-Zz", "a.qrels", "a.run", cwd=tmp_path)

    assert answer.code == 2
    assert said in answer.err
