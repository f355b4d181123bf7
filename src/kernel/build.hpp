// From rows in any order to a Table: group by query, decide duplicates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "duplicates.hpp"
#include "memory.hpp"
#include "sorting.hpp"
#include "table.hpp"

namespace idealrank {

// Collects rows as they come, then groups them. Queries may come back at any time.
class TableBuilder {
 public:
  // The following rows belong to this query.
  void query(Bytes id) {
    // Rows of one query mostly stand together: the last answer is mostly the next.
    if (current_ != IdIndex::absent && table_.queries[current_] == id) return;
    size_t known = table_.queries.size();
    current_ = table_.index.add(table_.queries, id);
    if (current_ == known) {
      if (grouped_) starts_.push(static_cast<int64_t>(rows()));
    } else if (grouped_ && current_ + 1 != known) {
      name_owners();
    }
  }
  // This query comes soon.
  void expect(Bytes id) const { table_.index.expect(id); }
  void row(Bytes document, double value) {
    documents_.push(document);
    values_.push(value);
    if (!grouped_) owners_.push(current_);
  }
  // Rows that stand one after the other in columns, all of the current query; see IdPool::push_run. False, and none is added, where an id or
  // a value is wrong.
  template <class Offset>
  bool rows(const Offset* offsets, size_t n, const char* data, int64_t size, const double* values) {
    return whole(n, values, [&] { return documents_.push_run(offsets, n, data, size); });
  }
  // The same for ids at places of others; see IdPool::push_places.
  template <class Offset>
  bool rows(const int32_t* places, const Offset* offsets, size_t n_ids, size_t n, const char* data, int64_t size, const double* values) {
    return whole(n, values, [&] { return documents_.push_places(places, n, offsets, n_ids, data, size); });
  }
  size_t rows() const { return values_.size(); }

  // For data without lines: names an input row by its ids.
  ParseError error_at(Problem problem, uint64_t line, size_t row) const {
    return {problem_name(problem), 0, line, std::string(table_.queries[owner(row)]) + " " + std::string(documents_[row]), ""};
  }

  // `where(first, second)` makes the error for a duplicate: input row `second` repeats input row `first`.
  template <class Where>
  Table finish(Duplicates policy, Where&& where) {
    if (!grouped_) group();
    close_offsets();
    settle(policy);
    if (repeat_ != none) throw where(repeated_, repeat_);
    table_.counters["duplicates"] = duplicates_;
    if (grouped_ && dropped_.empty()) {
      table_.documents = std::move(documents_);
      table_.values = values_.take();
    } else {
      gather();
    }
    return std::move(table_);
  }

 private:
  static constexpr size_t none = SIZE_MAX;

  template <class Push>
  bool whole(size_t n, const double* values, Push&& push) {
    const size_t known = rows();
    double* copied = values_.extend(n);
    uint64_t nan = 0;
    for (size_t i = 0; i < n; ++i) {
      copied[i] = read_once(values + i);
      nan |= sorting::nan_flag(copied[i]);
    }
    if (sorting::is_flagged(nan) || !push()) {
      values_.shrink(known);
      return false;
    }
    if (!grouped_) std::fill_n(owners_.extend(n), n, current_);
    return true;
  }

  // The first query that comes back: from now on every row carries the number of its query.
  void name_owners() {
    uint32_t* owners = owners_.extend(rows());
    for (size_t query = 0; query < starts_.size(); ++query) {
      size_t end = query + 1 < starts_.size() ? static_cast<size_t>(starts_[query + 1]) : rows();
      for (auto row = static_cast<size_t>(starts_[query]); row < end; ++row) owners[row] = static_cast<uint32_t>(query);
    }
    grouped_ = false;
  }
  uint32_t owner(size_t row) const {
    if (!grouped_) return owners_[row];
    // Once the offsets are closed they are the table's, with one entry more.
    const int64_t* first = table_.offsets.size() ? table_.offsets.begin() : starts_.begin();
    const int64_t* after = std::upper_bound(first, first + table_.queries.size(), static_cast<int64_t>(row));
    return static_cast<uint32_t>(after - first) - 1;
  }
  // A counting sort, so input order stays inside each query. `starts_` becomes the offsets, `order_` the input row at each place.
  void group() {
    size_t n = table_.queries.size();
    starts_.clear();
    std::memset(starts_.extend(n), 0, n * sizeof(int64_t));
    for (uint32_t owner : owners_) ++starts_[owner];
    int64_t sum = 0;
    for (int64_t& start : starts_) sum += std::exchange(start, sum);
    order_ = Array<int64_t>::raw(rows());
    for (size_t row = 0; row < rows(); ++row) order_[static_cast<size_t>(starts_[owners_[row]]++)] = static_cast<int64_t>(row);
    // Each start has moved on to the next one's place.
    for (size_t query = n; query-- > 1;) starts_[query] = starts_[query - 1];
    if (n) starts_[0] = 0;
  }
  void close_offsets() {
    starts_.push(static_cast<int64_t>(rows()));
    table_.offsets = starts_.take();
  }
  size_t input_row(size_t place) const { return order_.size() ? static_cast<size_t>(order_[place]) : place; }

  void settle(Duplicates policy) {
    if (policy == Duplicates::keep) return;
    for (size_t query = 0; query < table_.queries.size(); ++query) {
      size_t first = table_.first(query), count = table_.rows(query);
      finder_.start(count);
      for (size_t i = 0; i < count; ++i) {
        size_t mine = input_row(first + i);
        size_t other = finder_.add(documents_[mine], i, [&](size_t j) { return documents_[input_row(first + j)]; });
        if (other == i) continue;
        if (policy == Duplicates::error) {
          note_repeat(input_row(first + other), mine);
          break;
        }
        if (drop(policy, input_row(first + other), mine)) finder_.replace(i);
      }
    }
  }
  void note_repeat(size_t earlier, size_t later) {
    if (later >= repeat_) return;
    repeat_ = later;
    repeated_ = earlier;
  }
  // True: the later row stays.
  bool drop(Duplicates policy, size_t earlier, size_t later) {
    ++duplicates_;
    if (dropped_.empty()) std::memset(dropped_.extend(rows()), 0, rows());
    bool replace = replaces(policy, values_[later], values_[earlier]);
    dropped_[replace ? earlier : later] = 1;
    return replace;
  }

  void gather() {
    Pool<double> values;
    values.reserve(rows());
    size_t next = 0;
    for (size_t query = 0; query < table_.queries.size(); ++query) {
      auto end = static_cast<size_t>(table_.offsets[query + 1]);
      table_.offsets[query] = static_cast<int64_t>(values.size());
      for (; next < end; ++next) {
        size_t row = input_row(next);
        if (!dropped_.empty() && dropped_[row]) continue;
        table_.documents.push(documents_[row]);
        values.push(values_[row]);
      }
    }
    table_.offsets[table_.queries.size()] = static_cast<int64_t>(values.size());
    table_.values = values.take();
  }

  Table table_;
  IdPool documents_;
  Pool<double> values_;
  Pool<int64_t> starts_;   // first row of each query, while the rows of each stand together
  Pool<uint32_t> owners_;  // query of each row, once they do not
  Array<int64_t> order_;
  uint32_t current_ = IdIndex::absent;
  bool grouped_ = true;
  DuplicateFinder finder_;
  Pool<uint8_t> dropped_;
  int64_t duplicates_ = 0;
  size_t repeat_ = none, repeated_ = none;  // the first input row that repeats another, and that other
};

}  // namespace idealrank
