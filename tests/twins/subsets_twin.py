"""Sums over subsets of rows, one draw and one row at a time."""


def sum_subsets(columns: list[list[float]], picks: list[list[int]]) -> list[list[float]]:
    """The sum of the picked rows of each draw: bit b of ``picks[g][d]`` picks row ``8 g + b``."""
    width, n_draws = len(columns[0]), len(picks[0])
    return [
        [
            sum(
                row[column]
                for number, row in enumerate(columns)
                if picks[number // 8][draw] >> number % 8 & 1
            )
            for column in range(width)
        ]
        for draw in range(n_draws)
    ]
