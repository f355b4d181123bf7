// sum_subsets on any matrix of numbers: no bad access, the sums of one addition after another, and the same bits for any division of the
// draws and the columns among threads.
//
// Input: number of rows, columns and draws, where they are divided, then the picks, then the numbers (each a small number, a special one,
// or raw bytes behind a marker).
#include <algorithm>
#include <bit>
#include <cmath>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "subsets.hpp"

namespace {

using fuzz::Choices;
using fuzz::ExactCopy;

double number(Choices& choices) {
  static constexpr double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0.1, -1e308, 5e-324};
  const uint8_t kind = choices.byte();
  if (kind >= 240) return choices.raw<double>();
  if (kind >= 200) return special[kind % 8];
  // Thirds, so that another order of additions gives other bits.
  return (kind - 100) / 3.0;
}

// Which NaN a sum gives is left to the processor.
bool same(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b)); }

struct Case {
  size_t n_rows = 0, width = 0, n_draws = 0;
  std::vector<double> columns;  // [n_rows][width]
  std::vector<uint8_t> picks;   // [groups][n_draws]

  size_t groups() const { return (n_rows + 7) / 8; }

  // One draw and one column by the definition: eight rows are summed on their own, and added to what stands above them.
  double sum(size_t draw, size_t column) const {
    double total = 0.0;
    for (size_t group = 0; group < groups(); ++group) {
      double of_group = 0.0;
      for (size_t row = group * 8; row < std::min(n_rows, group * 8 + 8); ++row)
        if (picks[group * n_draws + draw] >> (row % 8) & 1) of_group += columns[row * width + column];
      total += of_group;
    }
    return total;
  }

  // The draws and columns of a part, as a caller would hand them over: copies, each ending where its memory ends.
  std::vector<double> part(size_t first_draw, size_t draws, size_t first_column, size_t wide) const {
    std::vector<double> some;
    std::vector<uint8_t> chosen;
    for (size_t row = 0; row < n_rows; ++row)
      for (size_t column = 0; column < wide; ++column) some.push_back(columns[row * width + first_column + column]);
    for (size_t group = 0; group < groups(); ++group)
      for (size_t draw = 0; draw < draws; ++draw) chosen.push_back(picks[group * n_draws + first_draw + draw]);
    const ExactCopy values(some.data(), some.size() * sizeof(double)), bits(chosen.data(), chosen.size());
    const std::vector<double> before(draws * wide, NAN);
    const ExactCopy sums(before.data(), before.size() * sizeof(double));
    auto* out = reinterpret_cast<double*>(const_cast<char*>(sums.data()));
    idealrank::sum_subsets(reinterpret_cast<const double*>(values.data()), n_rows, wide, reinterpret_cast<const uint8_t*>(bits.data()), draws, out);
    return {out, out + draws * wide};
  }

  void check_part(const std::vector<double>& sums, size_t first_draw, size_t draws, size_t first_column, size_t wide) const {
    for (size_t draw = 0; draw < draws; ++draw)
      for (size_t column = 0; column < wide; ++column)
        PROMISE(same(sums[draw * wide + column], sum(first_draw + draw, first_column + column)));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  Case one;
  one.n_rows = choices.below(80);
  one.width = choices.below(20);
  one.n_draws = choices.below(24);
  const size_t draws = choices.below(one.n_draws + 1), columns = choices.below(one.width + 1);
  const bool threaded = choices.below(8) == 0;  // threads are slow to start
  for (size_t i = 0; i < one.groups() * one.n_draws; ++i) one.picks.push_back(choices.byte());
  for (size_t i = 0; i < one.n_rows * one.width; ++i) one.columns.push_back(number(choices));

  one.check_part(one.part(0, one.n_draws, 0, one.width), 0, one.n_draws, 0, one.width);
  const auto above = [&] { one.check_part(one.part(0, draws, 0, columns), 0, draws, 0, columns); };
  const auto below = [&] {
    const size_t other_draws = one.n_draws - draws, other_columns = one.width - columns;
    one.check_part(one.part(draws, other_draws, columns, other_columns), draws, other_draws, columns, other_columns);
  };
  if (threaded) {
    std::thread beside(above);
    below();
    beside.join();
  } else {
    above();
    below();
  }
  return 0;
}
