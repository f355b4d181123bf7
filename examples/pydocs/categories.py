"""Write categories.csv, two categories for each query: how long it is, and whether it names its
answer.

python examples/pydocs/categories.py > examples/pydocs/categories.csv

short has up to 4 words, medium 5 to 7, long 8 or more. A query is literal if one of its words of at
least four letters stands in the id of a document of grade 3, and a paraphrase if none does; upper
and lower case are the same.
"""

import re
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent


def length(query: str) -> str:
    words = len(query.split())
    return "short" if words <= 4 else "medium" if words <= 7 else "long"


def wording(query: str, answers: list[str]) -> str:
    words = re.findall(r"[a-z]{4,}", query.lower())
    return (
        "literal"
        if any(word in answer.lower() for word in words for answer in answers)
        else "paraphrase"
    )


def main() -> None:
    answers = defaultdict(list)
    for line in (HERE / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query_id, _, document, grade = line.split()
        if grade == "3":
            answers[query_id].append(document)
    print("query,category")
    for line in (HERE / "queries.tsv").read_text(encoding="utf-8").splitlines():
        query_id, query = line.split("\t")
        print(f"{query_id},{length(query)}\n{query_id},{wording(query, answers[query_id])}")


if __name__ == "__main__":
    main()
