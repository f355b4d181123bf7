"""Where NDCG with a cutoff of a share of the list cannot tell rankers apart although section 3.3
says it does.

Where      Section 3.3 of Wang et al. (2013): NDCG@k with k = c n. Printed    Under the conditions
of Theorem 6 (logarithm) or 8 (r^-b) for the whole list, the version with a cutoff tells two rankers
           apart consistently.
Found      It does not where the rankers differ only below the cutoff: nothing that NDCG@k sees is
different, and which of them is ahead
           becomes a fair coin. What is needed is that ybar differs on a part of [1 - c, 1] that has
           a positive measure.
Shown by   An argument and simulation. Of the first n/5 documents of either ranker only those of
some sqrt(n) ranks can come from below
           s = 0.8, where ybar is hardly different yet: that shifts DCG by less and less of its
           noise. But for them both have one law, and are independent given how many documents are
           relevant. The pair has the same ybar in the top 20 % and different ones almost everywhere
           below. With the whole list the logarithm and r^-1/2 settle; with k = n/5 neither does;
           with k = n/2, which sees the difference, both do.
"""

from collections.abc import Sequence

from models import options, pair, sign_rows, signs

from idealrank.theory import limit

MEASURES = {
    "log": ("log2", None),
    "r^-.5": ("zipf(0.5)", None),
    "log@n/5": ("log2", "0.2n"),
    "r^-.5@n/5": ("zipf(0.5)", "0.2n"),
    "log@n/2": ("log2", "0.5n"),
    "r^-.5@n/2": ("zipf(0.5)", "0.5n"),
}


def main(argv: Sequence[str] | None = None) -> None:
    arguments = options(__doc__ or "", runs=400, seed=33, largest=100_000).parse_args(argv)
    first, second = pair("F")
    print("Printed: what the whole list tells apart, a cutoff of a share of it tells apart too.")
    print("Found: not if the rankers differ only below the cutoff.\n")
    print(f"Pair F: {first.formula} against {second.formula}")
    for label, (discount, cutoff) in MEASURES.items():
        limits = [
            limit(model.made(), discount=discount, cutoff=cutoff).value for model in (first, second)
        ]
        print(f"  {label:12} limits {limits[0]:.9f} and {limits[1]:.9f}")
    print("\n".join(sign_rows(signs("F", MEASURES, arguments), arguments.largest)))


if __name__ == "__main__":
    main()
