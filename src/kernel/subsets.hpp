// Sums over subsets of rows: what random sign flips need, for many columns under the same signs.
//
// Entry point:
//
//     void sum_subsets(const double* columns, size_t n_rows, size_t width,  // row after row
//                      const uint8_t* picks, size_t n_draws,                // picks[(n_rows + 7) / 8][n_draws]
//                      double* sums);                                       // sums[n_draws][width]
//
// Bit b of picks[g][d] picks row 8 g + b for draw d; bits beyond the last row are not looked at. Eight rows share a table of their
// 256 subset sums, so a draw costs one row of a table for every eight rows. The order of additions is fixed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace idealrank {

namespace subsets {

constexpr size_t in_byte = 8, patterns = 256;
constexpr size_t most_columns = 8;  // summed at a time: a draw's sums stay in registers
constexpr size_t tables_at_a_time = 4;

// The sums of every subset of up to eight rows, of `width` columns from `first` on.
template <size_t width>
void fill_table(const double* columns, size_t n_rows, size_t row_width, double* table) {
  std::fill_n(table, width, 0.0);
  for (size_t bit = 0, half = 1; bit < in_byte; ++bit, half *= 2) {
    for (size_t pattern = 0; pattern < half; ++pattern) {
      for (size_t column = 0; column < width; ++column) {
        const double added = bit < n_rows ? columns[bit * row_width + column] : 0.0;
        table[(half + pattern) * width + column] = table[pattern * width + column] + added;
      }
    }
  }
}

// Adds `count` tables to the sums of every draw.
template <size_t width, size_t count>
void add_tables(const double* tables, const uint8_t* picks, size_t n_draws, size_t row_width, double* sums) {
  for (size_t draw = 0; draw < n_draws; ++draw) {
    double* into = sums + draw * row_width;
    double total[width];
    std::copy_n(into, width, total);
    for (size_t table = 0; table < count; ++table) {
      const double* row = tables + (table * patterns + picks[table * n_draws + draw]) * width;
      for (size_t column = 0; column < width; ++column) total[column] += row[column];
    }
    std::copy_n(total, width, into);
  }
}

template <size_t width>
void sum_columns(const double* columns, size_t n_rows, size_t row_width, const uint8_t* picks, size_t n_draws, double* sums) {
  std::vector<double> tables(tables_at_a_time * patterns * width);
  const size_t groups = (n_rows + in_byte - 1) / in_byte;
  for (size_t group = 0; group < groups;) {
    const size_t count = group + tables_at_a_time <= groups ? tables_at_a_time : 1;
    for (size_t table = 0; table < count; ++table) {
      const size_t row = (group + table) * in_byte;
      fill_table<width>(columns + row * row_width, std::min(in_byte, n_rows - row), row_width, tables.data() + table * patterns * width);
    }
    const auto add = count == 1 ? add_tables<width, 1> : add_tables<width, tables_at_a_time>;
    add(tables.data(), picks + group * n_draws, n_draws, row_width, sums);
    group += count;
  }
}

}  // namespace subsets

inline void sum_subsets(const double* columns, size_t n_rows, size_t width, const uint8_t* picks, size_t n_draws, double* sums) {
  std::fill_n(sums, n_draws * width, 0.0);
  for (size_t first = 0; first < width; first += subsets::most_columns) {
    const size_t here = std::min(width - first, subsets::most_columns);
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((here == i + 1 ? subsets::sum_columns<i + 1>(columns + first, n_rows, width, picks, n_draws, sums + first) : void()), ...);
    }(std::make_index_sequence<subsets::most_columns>());
  }
}

}  // namespace idealrank
