"""The same figures on real ratings, as far as they go: MovieLens-100K, read at run time out of the
wheel of `recbole`.

Users are queries, the films a user rated are the documents, in the order in which the user rated
them; the grade is 2 for five stars, 1 for four, else 0. Three rankers score every film for every
user: the film's mean rating, a matrix factorisation, and chance. Nobody's rating is scored by a
model that has seen it: ratings are split into five parts at random, and each part is scored by
models trained on the other four.

What this is not: the longest lists have a few hundred films (737 at most, and 149 users have 200),
where the paper has 5,000 documents; a list holds what a user chose to rate, not all films; users
rated what they were shown, in batches, so that documents are hardly exchangeable in time.

The ratings are GroupLens's (Harper and Konstan 2015, The MovieLens Datasets). Their terms allow
research, and neither redistribution nor commercial use without permission: nothing of them is in
this repository, and the files made here stay on your machine.

``python -m experiments.rankers.movielens --fetch`` downloads the wheel with pip (2 MB) into
build/movielens and writes build/movielens/rankers.npz, for ``idealrank theory figures --rankers
build/movielens/rankers.npz --output build/movielens``.
"""

import argparse
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import idealrank as ir
from experiments.rankers import factors, scores
from idealrank.errors import InputError

FOLDER = Path(__file__).resolve().parents[2] / "build" / "movielens"
WHEEL = "recbole==1.2.1"
MEMBER = "recbole/dataset_example/ml-100k/ml-100k.inter"
LABELS = {"mean": "mean rating", "factors": "matrix factorisation", "random": "random"}

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """All ratings, a user after another, each user's in the order of time; every array has shape
    (n_ratings,).
    """

    user: IntArray  # from 0
    item: IntArray  # from 0
    stars: FloatArray  # 1 to 5

    @property
    def offsets(self) -> IntArray:
        """Where each user's ratings begin, and the end; shape (n_users + 1,)."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.user))])


def read(wheel: Path) -> Ratings:
    """The ratings in a wheel of recbole.

    Raises
    ------
    InputError
        The file is no wheel of recbole, or its table is another one than expected.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            lines = archive.read(MEMBER).decode("utf-8").splitlines()
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise InputError(
            f"{wheel}: {error}; expected a wheel of recbole, which has {MEMBER}; --fetch "
            f"downloads one"
        ) from None
    if lines[:1] != ["user_id:token\titem_id:token\trating:float\ttimestamp:float"]:
        raise InputError(
            f"{wheel}: {MEMBER} begins with {lines[:1]}, expected the columns user, item, "
            f"rating, timestamp; use {WHEEL}"
        )
    user, item, stars, time = np.loadtxt(lines[1:], delimiter="\t", ndmin=2).T
    # stable: what a user rated in the same second stays in the order of the file
    order = np.lexsort((time, user))
    users, items = (np.unique(ids, return_inverse=True)[1].astype(np.int64) for ids in (user, item))
    return Ratings(user=users[order], item=items[order], stars=stars[order])


def predicted(ratings: Ratings, rng: np.random.Generator, parts: int = 5) -> dict[str, FloatArray]:
    """What each ranker makes of every rating, none of which its model has seen; each of shape
    (n_ratings,).
    """
    part = rng.permutation(ratings.user.size) % parts
    found = {name: rng.uniform(-1, 1, ratings.user.size) for name in LABELS}
    for number in range(parts):
        print(f"\rtraining without part {number + 1} of {parts} ...", end="", file=sys.stderr)
        seen, unseen = np.flatnonzero(part != number), np.flatnonzero(part == number)
        model = factors.fit(
            ratings.user[seen], ratings.item[seen], ratings.stars[seen], *sizes(ratings), rng=rng
        )
        found["mean"][unseen] = model.item_mean[ratings.item[unseen]]
        found["factors"][unseen] = model.predict(ratings.user[unseen], ratings.item[unseen])
    print(file=sys.stderr)
    return found


def sizes(ratings: Ratings) -> tuple[int, int]:
    """How many users and items there are."""
    return int(ratings.user.max()) + 1, int(ratings.item.max()) + 1


def collection(
    ratings: Ratings, found: dict[str, FloatArray], least: int
) -> dict[str, NDArray[Any]]:
    """Grades and ranks from below of the users with at least `least` ratings, one list after the
    other, and their offsets.
    """
    bounds = [
        (start, end)
        for start, end in zip(ratings.offsets[:-1], ratings.offsets[1:], strict=True)
        if end - start >= least
    ]
    if not bounds:
        raise InputError(
            f"no user has {least} ratings; the most is {np.diff(ratings.offsets).max()}: give "
            f"a smaller --least"
        )
    grades = np.clip(ratings.stars - 3, 0, 2).astype(np.uint8)
    arrays = {"grades": np.concatenate([grades[start:end] for start, end in bounds])}
    for name, values in found.items():
        arrays[name] = np.concatenate(
            [scores.ranks_from_below(values[start:end]) for start, end in bounds]
        )
    return {
        **arrays,
        "offsets": np.concatenate([[0], np.cumsum([end - start for start, end in bounds])]).astype(
            np.int64
        ),
    }


def about(least: int, seed: int) -> dict[str, Any]:
    """What the file says of itself."""
    return {
        "what": f"MovieLens-100K, users with at least {least} ratings, films in the order in which "
        f"each user rated them",
        "axes": ["film rated by a user, in order of time; users one after another, see offsets"],
        "grades": "2 for five stars, 1 for four, else 0",
        "rankers": LABELS,
        "values": "rank from below within the list: n is the film the ranker puts first, 1 the "
        "last; no "
        "ties",
        "made_by": "python -m experiments.rankers.movielens",
        "setting": {"least": least, "seed": seed},
    }


def told(ratings: Ratings, found: dict[str, FloatArray], arrays: dict[str, NDArray[Any]]) -> str:
    """Shape, sizes and quality, in some lines."""
    lengths, users, items = np.diff(arrays["offsets"]), *sizes(ratings)
    longer = ", ".join(
        f"{np.count_nonzero(lengths >= size)} of at least {size}" for size in (200, 300, 400, 500)
    )
    shares = np.bincount(arrays["grades"], minlength=3) / arrays["grades"].size
    lines = [
        f"{ratings.user.size:,} ratings by {users} users of {items} items",
        f"{lengths.size} lists of {lengths.min()} to {lengths.max()} films (median "
        f"{np.median(lengths):.0f}): {longer}",
        "grades 0, 1, 2: " + ", ".join(f"{share:.1%}" for share in shares),
    ]
    for name, label in LABELS.items():
        value = ir.ndcg(
            arrays["grades"].astype(np.float64),
            arrays[name].astype(np.float64),
            offsets=arrays["offsets"],
        ).mean()
        error = (
            ""
            if name == "random"
            else f", root mean square error "
            f"{np.sqrt(np.mean((found[name] - ratings.stars) ** 2)):.4f} stars"
        )
        lines.append(f"{label}: mean nDCG {value:.4f}{error}")
    return "\n".join(lines)


def fetched() -> Path:
    """The wheel, downloaded by pip unless it is there."""
    if not list(FOLDER.glob("recbole-*.whl")):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                str(FOLDER),
                WHEEL,
            ],
            check=True,
        )
    return next(FOLDER.glob("recbole-*.whl"))


def main(arguments: list[str] | None = None) -> None:
    """Read, train, rank, write, and say what it is."""
    parser = argparse.ArgumentParser(
        description="Rank the films that MovieLens users rated, by mean rating, matrix "
        "factorisation and "
        "chance, for the theory's figures.",
        epilog="Then: idealrank theory figures --rankers build/movielens/rankers.npz --output "
        "build/movielens",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "wheel", nargs="?", type=Path, help=f"a wheel of recbole (pip download --no-deps {WHEEL})"
    )
    source.add_argument(
        "--fetch",
        action="store_true",
        help="let pip download it into build/movielens, which Git ignores",
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=FOLDER / "rankers.npz",
        help="where it goes (default build/movielens/rankers.npz)",
    )
    parser.add_argument(
        "--least",
        type=int,
        default=200,
        help="leave out users with fewer ratings (default %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=100,
        help="of the split, the factors and chance (default %(default)s)",
    )
    options = parser.parse_args(arguments)
    try:
        ratings = read(fetched() if options.fetch else options.wheel)
        found = predicted(ratings, np.random.default_rng(options.seed))
        arrays = collection(ratings, found, options.least)
    except InputError as error:
        sys.exit(f"error: {error}")
    except subprocess.CalledProcessError:
        sys.exit(
            f"error: pip could not download {WHEEL} (its words are above); give the path of a "
            f"wheel you have instead of --fetch"
        )
    scores.write(options.to, scores.as_bytes(arrays, about(options.least, options.seed)))
    print(f"{told(ratings, found, arrays)}\n{options.to}")


if __name__ == "__main__":
    main()
