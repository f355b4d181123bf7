// One query's list: duplicates decided, joined to the judgments, ordered, and the judged hits handed on.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "duplicates.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "table.hpp"

namespace idealrank {

struct ListOptions {
  Ties ties = Ties::descending;
  bool float32 = false;
  Duplicates duplicates = Duplicates::error;
  bool skip_unjudged = false;
  const uint8_t* removed = nullptr;  // per row of the qrels
  int64_t depth = 0;
};

struct Hit {
  int64_t row;  // of the qrels
  int32_t rank, first, last;
};

struct ListSummary {
  int64_t length = 0, returned = 0, judged = 0;
  int32_t first_unjudged = 0, tied = 0, straddling = 0, duplicates = 0;
};

class RankedList {
 public:
  static constexpr size_t none = SIZE_MAX;

  explicit RankedList(const ListOptions& options) : options_(options) {}

  void clear() {
    rows_.clear();
    scores_.clear();
    matches_.clear();
  }
  void push(Bytes document, double score) {
    if (rows_.size() == std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2,147,483,647 documents in one list");
    rows_.push({document.data(), static_cast<uint32_t>(document.size()), 0});
    scores_.push(options_.float32 ? static_cast<double>(static_cast<float>(score)) : score);
  }
  size_t size() const { return rows_.size(); }
  const ListRow& row(size_t i) const { return rows_[i]; }
  double score(size_t i) const { return scores_[i]; }

  // Decides duplicates. Under `error`: the first row that repeats one (`first_of` tells which), else none.
  size_t settle_duplicates(ListSummary& summary, size_t& first_of) {
    size_t n = rows_.size();
    summary.returned = static_cast<int64_t>(n);
    finder_.start(n);
    Pool<uint8_t>& dropped = flags_;
    dropped.clear();
    for (size_t i = 0; i < n; ++i) {
      size_t other = finder_.add(rows_[i].id(), i, [&](size_t j) { return rows_[j].id(); });
      if (other == i) continue;
      if (options_.duplicates == Duplicates::error) {
        first_of = other;
        return i;
      }
      ++summary.duplicates;
      if (options_.duplicates == Duplicates::twice || options_.duplicates == Duplicates::keep) continue;
      if (dropped.empty()) std::memset(dropped.extend(n), 0, n);
      bool later = replaces(options_.duplicates, scores_[i], scores_[other]);
      dropped[later ? other : i] = 1;
      if (later) finder_.replace(i);
    }
    if (!dropped.empty()) compact([&](size_t i) { return !dropped[i]; });
    return none;
  }

  // Finds the judged documents; then lets go of what is skipped or removed.
  void join(const Table& qrels, size_t query) {
    size_t first = qrels.first(query), judged = qrels.rows(query), n = rows_.size();
    matches_.clear();
    int64_t* match = matches_.extend(n);
    finder_.start(judged);
    auto judged_id = [&](size_t i) { return qrels.documents[first + i]; };
    for (size_t i = 0; i < judged; ++i) finder_.add(judged_id(i), i, judged_id);
    for (size_t i = 0; i < n; ++i) {
      size_t found = finder_.find(rows_[i].id(), judged_id);
      match[i] = found == none ? -1 : static_cast<int64_t>(first + found);
    }
    if (!options_.skip_unjudged && !options_.removed) return;
    compact([&](size_t i) {
      if (matches_[i] < 0) return !options_.skip_unjudged;
      return !options_.removed || !options_.removed[matches_[i]];
    });
  }
  void join_nothing() {
    if (options_.skip_unjudged) clear();
    matches_.clear();
    int64_t* match = matches_.extend(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) match[i] = -1;
  }

  void rank() { tied_ = sorter_.sort(scores_.data(), rows_.data(), rows_.size(), options_.ties, order_); }

  // Ranks are from 1. Calls group(first, last) for every run of equal scores.
  template <class Group>
  void each_group(Group&& group) const {
    size_t n = order_.size();
    for (size_t first = 0; first < n;) {
      size_t end = first + 1;
      while (end < n && scores_[order_[end]] == scores_[order_[first]]) ++end;
      group(first + 1, end);
      first = end;
    }
  }
  uint32_t at_rank(size_t rank) const { return order_[rank - 1]; }

  void emit(ListSummary& summary, Pool<Hit>& hits) const {
    size_t depth = options_.depth > 0 ? static_cast<size_t>(options_.depth) : SIZE_MAX;
    summary.length = static_cast<int64_t>(order_.size());
    each_group([&](size_t first, size_t last) {
      if (last > first) summary.tied += static_cast<int32_t>(last - first + 1);
      if (first <= depth && last > depth) ++summary.straddling;
      for (size_t rank = first; rank <= last; ++rank) {
        int64_t row = matches_[at_rank(rank)];
        if (row < 0) {
          if (!summary.first_unjudged) summary.first_unjudged = static_cast<int32_t>(rank);
          continue;
        }
        ++summary.judged;
        if (first <= depth) hits.push({row, static_cast<int32_t>(rank), static_cast<int32_t>(first), static_cast<int32_t>(last)});
      }
    });
  }

 private:
  template <class Keep>
  void compact(Keep&& keep) {
    size_t kept = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!keep(i)) continue;
      rows_[kept] = rows_[i];
      scores_[kept] = scores_[i];
      if (!matches_.empty()) matches_[kept] = matches_[i];
      ++kept;
    }
    rows_.shrink(kept);
    scores_.shrink(kept);
    if (!matches_.empty()) matches_.shrink(kept);
  }

  ListOptions options_;
  Pool<ListRow> rows_;
  Pool<double> scores_;
  Pool<int64_t> matches_;
  Pool<uint8_t> flags_;
  Pool<uint32_t> order_;
  DuplicateFinder finder_;
  Sorter sorter_;
  bool tied_ = false;
};

}  // namespace idealrank
