// From rows in any order to a Table: group by query, decide duplicates.
#pragma once

#include <cstdint>
#include <string>

#include "duplicates.hpp"
#include "memory.hpp"
#include "table.hpp"

namespace idealrank {

// Collects rows as they come, then groups them. Queries may come back at any time.
class TableBuilder {
 public:
  uint32_t query(Bytes id) {
    // Rows of one query mostly stand together: the last answer is mostly the next.
    if (last_ != IdIndex::absent && table_.queries[last_] == id) return last_;
    last_ = table_.index.add(table_.queries, id);
    return last_;
  }
  void row(uint32_t query, Bytes document, double value) {
    grouped_ = grouped_ && (owners_.empty() || owners_.back() <= query);
    owners_.push(query);
    documents_.push(document);
    values_.push(value);
  }
  size_t rows() const { return values_.size(); }

  // For data without lines: names the row by its ids.
  ParseError error_at(Problem problem, uint64_t line, size_t row) const {
    return {problem_name(problem), 0, line, std::string(table_.queries[owners_[row]]) + " " + std::string(documents_[row]), ""};
  }

  // `where(row)` makes the error for a duplicate: input row `second` repeats input row `first`.
  template <class Where>
  Table finish(Duplicates policy, Where&& where) {
    size_t n = values_.size();
    count_offsets();
    Array<int64_t> order = grouped_ ? Array<int64_t>() : group();
    auto input_row = [&](size_t place) { return order.size() ? static_cast<size_t>(order[place]) : place; };
    Pool<uint8_t> dropped;
    int64_t duplicates = 0;
    if (policy != Duplicates::keep) {
      DuplicateFinder finder;
      size_t worst = n, twin = n;
      for (size_t query = 0; query < table_.queries.size(); ++query) {
        size_t first = table_.first(query), size = table_.rows(query);
        finder.start(size);
        for (size_t i = 0; i < size; ++i) {
          size_t mine = input_row(first + i);
          size_t other = finder.add(documents_[mine], i, [&](size_t j) { return documents_[input_row(first + j)]; });
          if (other == i) continue;
          ++duplicates;
          size_t theirs = input_row(first + other);
          if (policy == Duplicates::error) {
            if (mine < worst) {
              worst = mine;
              twin = theirs;
            }
            break;
          }
          if (dropped.empty()) std::memset(dropped.extend(n), 0, n);
          if (replaces(policy, values_[mine], values_[theirs])) {
            dropped[theirs] = 1;
            finder.replace(i);
          } else {
            dropped[mine] = 1;
          }
        }
      }
      if (worst < n) throw where(twin, worst);
    }
    return assemble(input_row, dropped, duplicates);
  }

 private:
  void count_offsets() {
    size_t n = table_.queries.size();
    table_.offsets = Array<int64_t>::zeros(n + 1);
    for (uint32_t owner : owners_) ++table_.offsets[owner + 1];
    for (size_t i = 0; i < n; ++i) table_.offsets[i + 1] += table_.offsets[i];
  }
  // A counting sort, so input order stays inside each query.
  Array<int64_t> group() const {
    Array<int64_t> next = Array<int64_t>::raw(table_.offsets.size());
    std::memcpy(next.data(), table_.offsets.data(), next.size() * sizeof(int64_t));
    Array<int64_t> order = Array<int64_t>::raw(values_.size());
    for (size_t row = 0; row < values_.size(); ++row) order[static_cast<size_t>(next[owners_[row]]++)] = static_cast<int64_t>(row);
    return order;
  }
  template <class InputRow>
  Table assemble(InputRow&& input_row, const Pool<uint8_t>& dropped, int64_t duplicates) {
    table_.counters["duplicates"] = duplicates;
    if (grouped_ && dropped.empty()) {
      table_.documents = std::move(documents_);
      table_.values = values_.take();
      return std::move(table_);
    }
    Pool<double> values;
    values.reserve(values_.size());
    size_t kept = 0;
    for (size_t query = 0; query < table_.queries.size(); ++query) {
      size_t first = table_.first(query), end = first + table_.rows(query);
      // Safe to write here: the offset of this query has just been read, that of the next is not touched.
      table_.offsets[query] = static_cast<int64_t>(kept);
      for (size_t place = first; place < end; ++place) {
        size_t row = input_row(place);
        if (!dropped.empty() && dropped[row]) continue;
        table_.documents.push(documents_[row]);
        values.push(values_[row]);
        ++kept;
      }
    }
    table_.offsets[table_.queries.size()] = static_cast<int64_t>(kept);
    table_.values = values.take();
    return std::move(table_);
  }

  Table table_;
  IdPool documents_;
  Pool<uint32_t> owners_;
  Pool<double> values_;
  uint32_t last_ = IdIndex::absent;
  bool grouped_ = true;
};

}  // namespace idealrank
