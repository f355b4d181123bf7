// Rows that stand in columns: ids as offsets and bytes, some by code. They are copied into a table in stretches of one query each.
// The arrays are foreign and may change meanwhile: what is checked is the copy, and offsets and codes are read once.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "build.hpp"
#include "line.hpp"
#include "memory.hpp"
#include "sorting.hpp"

namespace idealrank {

inline ParseError row_error(Problem problem, uint64_t line, Bytes query, Bytes document) {
  return {problem_name(problem), 0, line, std::string(query) + " " + std::string(document), ""};
}

// A column of ids as Arrow keeps text: id i is at offsets[i] to offsets[i + 1] of the bytes. With codes, row i has the id at place codes[i].
struct IdBuffer {
  const int32_t* narrow = nullptr;  // offsets, in one of two widths
  const int64_t* wide = nullptr;
  size_t n_ids = 0;
  const char* data = nullptr;
  int64_t size = 0;  // of the bytes
  const int32_t* codes = nullptr;
  size_t n_rows = 0;

  int64_t offset(size_t i) const { return wide ? read_once(wide + i) : read_once(narrow + i); }
  size_t place(size_t row) const {
    if (!codes) return row;
    int32_t code = read_once(codes + row);
    if (code < 0 || static_cast<size_t>(code) >= n_ids) throw std::invalid_argument("id codes must be places of the ids");
    return static_cast<size_t>(code);
  }
  Bytes id(size_t place) const {
    int64_t first = offset(place), end = offset(place + 1);
    if (first < 0 || end < first || end > size) throw std::invalid_argument("id offsets must rise from 0 to the size of the data");
    return Bytes(data + first, static_cast<size_t>(end - first));
  }
  Bytes operator[](size_t row) const { return id(place(row)); }
  // The row comes soon: its offset, and when that is there, its bytes.
  void expect_offset(size_t row) const {
    const auto place = static_cast<size_t>(read_once(codes + row));
    if (place < n_ids) prefetch(wide ? static_cast<const void*>(wide + place) : narrow + place);
  }
  void expect_bytes(size_t row) const {
    const auto place = static_cast<size_t>(read_once(codes + row));
    const int64_t first = place < n_ids ? offset(place) : -1;
    if (first >= 0 && first < size) prefetch(data + first);
  }
};

// Adds rows to a table, column by column.
class ColumnReader {
 public:
  ColumnReader(TableBuilder& builder, const IdBuffer& queries, const IdBuffer& documents, const double* values)
      : builder_(builder), queries_(queries), documents_(documents), values_(values), before_(builder.rows()) {}

  void read() {
    const size_t n = queries_.n_rows;
    for (size_t first = 0, end; first < n; first = end) {
      Bytes query = queries_[first];
      end = end_of_query(first, query);
      if (query.empty()) throw row_error(Problem::empty_id, before_ + first + 1, query, documents_[first]);
      builder_.query(query);
      // What cannot be taken as a whole has a row that is wrong, or is more than offsets of four bytes can tell.
      if (!take(first, end)) one_by_one(first, end, query);
    }
  }

 private:
  static constexpr size_t most = 1 << 16;  // rows of a stretch

  size_t end_of_query(size_t first, Bytes query) const {
    size_t last = std::min(queries_.n_rows, first + most), row = first + 1;
    if (queries_.codes) {
      const int32_t code = read_once(queries_.codes + first);
      while (row < last && read_once(queries_.codes + row) == code) ++row;
    } else {
      while (row < last && queries_[row] == query) ++row;
    }
    return row;
  }
  bool take(size_t first, size_t end) {
    if (documents_.codes) return documents_.wide ? take_places(documents_.wide, first, end) : take_places(documents_.narrow, first, end);
    return documents_.wide ? builder_.rows(documents_.wide + first, end - first, documents_.data, documents_.size, values_ + first)
                           : builder_.rows(documents_.narrow + first, end - first, documents_.data, documents_.size, values_ + first);
  }
  template <class Offset>
  bool take_places(const Offset* offsets, size_t first, size_t end) {
    const int32_t* places = documents_.codes + first;
    return builder_.rows(places, offsets, documents_.n_ids, end - first, documents_.data, documents_.size, values_ + first);
  }
  void one_by_one(size_t first, size_t end, Bytes query) {
    for (size_t row = first; row < end; ++row) {
      if (documents_.codes && row + 2 * prefetch_distance < end) documents_.expect_offset(row + 2 * prefetch_distance);
      if (documents_.codes && row + prefetch_distance < end) documents_.expect_bytes(row + prefetch_distance);
      Bytes document = documents_[row];
      double value = read_once(values_ + row);
      if (document.empty()) throw row_error(Problem::empty_id, before_ + row + 1, query, document);
      if (std::isnan(value)) throw row_error(Problem::nan, before_ + row + 1, query, document);
      builder_.row(document, value);
    }
  }

  TableBuilder& builder_;
  const IdBuffer& queries_;
  const IdBuffer& documents_;
  const double* values_;
  size_t before_;
};

}  // namespace idealrank
