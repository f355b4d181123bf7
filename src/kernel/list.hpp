// One query's list: duplicates decided, joined to the judgments, ordered, and the judged hits handed on.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "document_sets.hpp"
#include "duplicates.hpp"
#include "hits.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "table.hpp"
#include "top.hpp"

namespace idealrank {

struct ListOptions {
  Ties ties = Ties::descending;
  bool float32 = false;
  Duplicates duplicates = Duplicates::error;
  bool skip_unjudged = false;
  const uint8_t* removed = nullptr;  // per row of the qrels
  int64_t depth = 0;
  int64_t unjudged_depth = 0;  // documents without a judgment are told of down to this rank; 0 for none
  int64_t top_depth = 0;       // the first documents of every list are kept down to this rank; 0 for none
  const DocumentSets* excluded = nullptr;   // documents that vanish from the list
  const DocumentSets* permitted = nullptr;  // all others vanish from the list
  bool drop_identical = false;              // the document whose id is the query's vanishes, too
};

// Use: clear, push every line, settle_duplicates, screen, join or join_nothing, rank, then emit or read the ranks. Its memory is kept from
// list to list. The ids that were pushed must stay where they are until then.
class RankedList {
 public:
  static constexpr size_t none = SIZE_MAX;

  explicit RankedList(const ListOptions& options) : options_(options), seed_(hash_seed()) {}

  void clear() {
    n_ = 0;
    in_order_ = true;
    tied_ = false;
    last_ = std::numeric_limits<double>::infinity();
    matched_.clear();
  }
  void push(Bytes document, double score) {
    if (n_ == capacity_) [[unlikely]] grow();
    if (options_.float32) score = static_cast<double>(static_cast<float>(score));
    rows_[n_] = {document.data(), static_cast<uint32_t>(document.size()), static_cast<uint32_t>(hash_bytes(document, seed_))};
    scores_[n_] = score;
    in_order_ &= score <= last_;
    tied_ |= score == last_;
    last_ = score;
    ++n_;
  }
  size_t size() const { return n_; }
  Bytes id(size_t row) const { return rows_[row].id(); }
  double score(size_t row) const { return scores_[row]; }

  // Decides duplicates. Under `error`: the first row that repeats another (`first_of` tells which), else none.
  size_t settle_duplicates(ListSummary& summary, size_t& first_of) {
    summary.returned = static_cast<int64_t>(n_);
    dropped_.clear();
    repeats_ = false;
    start_index();
    size_t ahead = n_ < prefetch_from ? n_ : prefetch_distance;
    for (size_t row = 0; row < n_; ++row) {
      if (row + ahead < n_) prefetch(&slots_[rows_[row + ahead].tag & mask_]);
      size_t other = index(row);
      if (other == row) [[likely]] continue;
      if (options_.duplicates == Duplicates::error) {
        first_of = other;
        return row;
      }
      ++summary.duplicates;
      repeats_ = true;
      if (options_.duplicates == Duplicates::twice) continue;
      if (dropped_.empty()) std::memset(dropped_.extend(n_), 0, n_);
      bool later = replaces(options_.duplicates, scores_[row], scores_[other]);
      dropped_[later ? other : row] = 1;
      if (later) slots_[place_] = static_cast<uint32_t>(row) + 1;
    }
    if (!dropped_.empty()) drop_duplicates();
    return none;
  }

  // Lets go of the documents that may not count for this query, and counts them; one that is excluded is no breach.
  void screen(Bytes query, ListSummary& summary) {
    const size_t identical = n_ ? find(query) : none;
    if (identical != none) summary.identical = repeats_ ? static_cast<int32_t>(count_rows(query)) : 1;
    const bool drops_identical = identical != none && options_.drop_identical;
    if (!n_ || !(options_.excluded || options_.permitted || drops_identical)) return;
    dropped_.clear();
    std::memset(dropped_.extend(n_), 0, n_);
    if (drops_identical) set_dropped(query, gone);
    if (options_.excluded) {
      each_row_in(*options_.excluded, query, [&](size_t row) {
        summary.excluded += !dropped_[row];
        dropped_[row] = gone;
      });
    }
    if (options_.permitted) {
      each_row_in(*options_.permitted, query, [&](size_t row) { dropped_[row] |= permitted; });
      for (size_t row = 0; row < n_; ++row) {
        summary.breaches += !dropped_[row];
        dropped_[row] = dropped_[row] != permitted;
      }
    }
    const size_t before = n_;
    compact([](size_t, size_t) {});
    if (n_ < before) {
      start_index();
      for (size_t row = 0; row < n_; ++row) index(row);
    }
  }

  // Finds the judged documents; then lets go of what is skipped or removed.
  void join(const Table& qrels, size_t query) {
    size_t first = qrels.first(query), judged = qrels.rows(query);
    if (repeats_) {
      match_every_row(qrels, first, judged);
    } else {
      for (size_t i = 0; i < judged; ++i) {
        size_t row = find(qrels.documents[first + i]);
        if (row != none) matched_.push((static_cast<uint64_t>(row) << 32) | i);
      }
    }
    sort_matched();
    // Qrels may hold a document twice; the first judgment stands.
    auto same_row = [](uint64_t a, uint64_t b) { return (a >> 32) == (b >> 32); };
    matched_.shrink(static_cast<size_t>(std::unique(matched_.begin(), matched_.end(), same_row) - matched_.begin()));
    if (options_.skip_unjudged || options_.removed) take_away(first);
  }
  void join_nothing() {
    if (options_.skip_unjudged) n_ = 0;
  }

  void rank() {
    identity_ = in_order_ && (!tied_ || options_.ties == Ties::input);
    if (identity_) return;
    if (in_order_) {
      order_.clear();
      uint32_t* order = order_.extend(n_);
      for (size_t i = 0; i < n_; ++i) order[i] = static_cast<uint32_t>(i);
    } else {
      tied_ = sorter_.by_score(scores_.data(), n_, order_);
    }
    if (tied_ && options_.ties != Ties::input) {
      each_group([&](size_t from, size_t to) {
        if (to > from) sorter_.by_id(rows_.data(), order_.data() + from - 1, to - from + 1, options_.ties == Ties::descending);
      });
    }
    move_matched_to_ranks();
  }

  // Ranks are from 1.
  uint32_t at_rank(size_t rank) const { return identity_ ? static_cast<uint32_t>(rank - 1) : order_[rank - 1]; }

  // Calls group(first, last) for every run of equal scores, from the top.
  template <class Group>
  void each_group(Group&& group) const {
    for (size_t first = 1, end; first <= n_; first = end) {
      double score = scores_[at_rank(first)];
      for (end = first + 1; end <= n_ && scores_[at_rank(end)] == score;) ++end;
      group(first, end - 1);
    }
  }

  void emit(ListSummary& summary, HitPool& hits) const {
    size_t depth = options_.depth > 0 ? static_cast<size_t>(options_.depth) : none;
    summary.length = static_cast<int64_t>(n_);
    summary.judged = static_cast<int64_t>(matched_.size());
    summary.first_unjudged = first_unjudged();
    if (tied_) return emit_groups(summary, depth, hits);
    for (uint64_t match : matched_) {
      auto rank = static_cast<uint32_t>(match >> 32) + 1;
      if (rank > depth) break;
      hits.push(static_cast<uint32_t>(match), rank, rank, rank);
    }
  }

  bool tells_unjudged() const { return options_.unjudged_depth > 0; }
  // The documents without a judgment down to the depth asked, and whole tie groups that begin above it.
  void emit_unjudged(Pool<Unjudged>& found) const {
    auto depth = static_cast<size_t>(options_.unjudged_depth);
    size_t next = 0;
    auto span = [&](size_t first, size_t last, size_t end) {
      for (size_t rank = first; rank <= end; ++rank) {
        if (next < matched_.size() && (matched_[next] >> 32) == rank - 1) {
          ++next;
          continue;
        }
        found.push({document_key(id(at_rank(rank))), static_cast<int32_t>(rank), static_cast<int32_t>(tied_ ? first : rank),
                    static_cast<int32_t>(tied_ ? last : rank)});
      }
    };
    if (!tied_) return span(1, n_, std::min(n_, depth));
    for (size_t first = 1, end; first <= n_ && first <= depth; first = end) {
      double score = scores_[at_rank(first)];
      for (end = first + 1; end <= n_ && scores_[at_rank(end)] == score;) ++end;
      span(first, end - 1, end - 1);
    }
  }

  bool keeps_top() const { return options_.top_depth > 0; }
  // So many documents of a list are kept.
  size_t top_of(size_t length) const { return std::min(length, static_cast<size_t>(options_.top_depth)); }
  // The first documents by rank, and whether each shares its score with another, which may stand below them.
  void emit_top(TopPool& top) const {
    for (size_t rank = 1, end = top_of(n_); rank <= end; ++rank) {
      size_t row = at_rank(rank);
      bool tied = tied_ && ((rank > 1 && scores_[at_rank(rank - 1)] == scores_[row]) || (rank < n_ && scores_[at_rank(rank + 1)] == scores_[row]));
      top.push(id(row), scores_[row], tied);
    }
  }

 private:
  static constexpr uint8_t gone = 1, permitted = 2;  // what `screen` knows of a row

  // Calls with_row(row) for each row of a document, which comes twice where a list holds it twice.
  template <class WithRow>
  void each_row_of(Bytes document, WithRow&& with_row) const {
    const size_t first = find(document);
    if (first == none) return;
    with_row(first);
    for (size_t row = first + 1; repeats_ && row < n_; ++row) {
      if (id(row) == document) with_row(row);
    }
  }
  template <class WithRow>
  void each_row_in(const DocumentSets& sets, Bytes query, WithRow&& with_row) const {
    if (!sets.for_all()) return sets.each(query, [&](Bytes document) { each_row_of(document, with_row); });
    for (size_t row = 0; row < n_; ++row) {
      if (sets.holds(id(row))) with_row(row);
    }
  }
  size_t count_rows(Bytes document) const {
    size_t count = 0;
    each_row_of(document, [&](size_t) { ++count; });
    return count;
  }
  void set_dropped(Bytes document, uint8_t value) {
    each_row_of(document, [&](size_t row) { dropped_[row] = value; });
  }

  void grow() {
    if (capacity_ >= std::numeric_limits<int32_t>::max()) throw std::length_error("more than 2,147,483,647 documents in one list");
    capacity_ = std::min<size_t>(capacity_ + capacity_ / 2 + 64, std::numeric_limits<int32_t>::max());
    rows_.resize(capacity_);
    scores_.resize(capacity_);
  }

  // The index of the rows by document: open addressing, row + 1 in each slot. Short lists get room, so that few share a place.
  void start_index() {
    size_t places = table_places(n_ < (1 << 20) ? n_ * 2 : n_);
    if (slots_.size() < places) slots_ = Array<uint32_t>::raw(places);
    std::memset(slots_.data(), 0, places * sizeof(uint32_t));
    mask_ = static_cast<uint32_t>(places - 1);
  }
  // The row itself, or an earlier one with the same document (which keeps the place).
  size_t index(size_t row) {
    const ListRow& mine = rows_[row];
    uint32_t place = mine.tag & mask_;
    for (; slots_[place]; place = (place + 1) & mask_) {
      const ListRow& other = rows_[slots_[place] - 1];
      if (other.tag == mine.tag && other.id() == mine.id()) {
        place_ = place;
        return slots_[place] - 1;
      }
    }
    slots_[place] = static_cast<uint32_t>(row) + 1;
    return row;
  }
  size_t find(Bytes document) const {
    auto tag = static_cast<uint32_t>(hash_bytes(document, seed_));
    for (uint32_t place = tag & mask_; slots_[place]; place = (place + 1) & mask_) {
      const ListRow& row = rows_[slots_[place] - 1];
      if (row.tag == tag && row.id() == document) return slots_[place] - 1;
    }
    return none;
  }

  // Closes the gaps of the dropped rows; renumber(old, new) is told of every row that stays.
  template <class Renumber>
  void compact(Renumber&& renumber) {
    size_t kept = 0;
    for (size_t row = 0; row < n_; ++row) {
      if (dropped_[row]) continue;
      rows_[kept] = rows_[row];
      scores_[kept] = scores_[row];
      renumber(row, kept++);
    }
    n_ = kept;
  }
  void drop_duplicates() {
    compact([](size_t, size_t) {});
    repeats_ = false;
    start_index();
    for (size_t row = 0; row < n_; ++row) index(row);
  }
  void match_every_row(const Table& qrels, size_t first, size_t judged) {
    auto judged_id = [&](size_t i) { return qrels.documents[first + i]; };
    judgments_.start(judged);
    for (size_t i = 0; i < judged; ++i) judgments_.add(judged_id(i), i, judged_id);
    for (size_t row = 0; row < n_; ++row) {
      size_t found = judgments_.find(id(row), judged_id);
      if (found != none) matched_.push((static_cast<uint64_t>(row) << 32) | found);
    }
  }
  void take_away(size_t first_judgment) {
    dropped_.clear();
    std::fill_n(dropped_.extend(n_), n_, static_cast<uint8_t>(options_.skip_unjudged));
    size_t kept = 0;
    for (uint64_t match : matched_) {
      bool gone = options_.removed && options_.removed[first_judgment + static_cast<uint32_t>(match)];
      dropped_[match >> 32] = gone;
      if (!gone) matched_[kept++] = match;
    }
    matched_.shrink(kept);
    // Matches are sorted by row, as the rows are: the next one to renumber is always the first not yet done.
    size_t next = 0;
    compact([&](size_t old, size_t renumbered) {
      if (next < kept && (matched_[next] >> 32) == old) {
        matched_[next] = (static_cast<uint64_t>(renumbered) << 32) | static_cast<uint32_t>(matched_[next]);
        ++next;
      }
    });
  }

  void sort_matched() {
    size_t n = matched_.size();
    if (n > sorting::short_list) {
      std::sort(matched_.begin(), matched_.end());
      return;
    }
    uint64_t keys[sorting::short_list], spare[sorting::short_list];
    std::copy(matched_.begin(), matched_.end(), keys);
    const uint64_t* sorted = sorting::sort_short(keys, n, spare);
    std::copy(sorted, sorted + n, matched_.begin());
  }
  void move_matched_to_ranks() {
    if (matched_.empty()) return;
    ranks_.clear();
    uint32_t* ranks = ranks_.extend(n_);
    for (size_t i = 0; i < n_; ++i) ranks[order_[i]] = static_cast<uint32_t>(i);
    for (uint64_t& match : matched_) match = (static_cast<uint64_t>(ranks[match >> 32]) << 32) | static_cast<uint32_t>(match);
    sort_matched();
  }

  int32_t first_unjudged() const {
    size_t rank = 0;
    while (rank < matched_.size() && (matched_[rank] >> 32) == rank) ++rank;
    return rank < n_ ? static_cast<int32_t>(rank) + 1 : 0;
  }
  void emit_groups(ListSummary& summary, size_t depth, HitPool& hits) const {
    size_t next = 0;
    each_group([&](size_t first, size_t last) {
      if (last > first) summary.tied += static_cast<int32_t>(last - first + 1);
      if (first <= depth && last > depth) ++summary.straddling;
      for (; next < matched_.size() && (matched_[next] >> 32) < last; ++next) {
        auto rank = static_cast<uint32_t>(matched_[next] >> 32) + 1;
        if (first <= depth) hits.push(static_cast<uint32_t>(matched_[next]), rank, static_cast<uint32_t>(first), static_cast<uint32_t>(last));
      }
    });
  }

  ListOptions options_;
  HashSeed seed_;
  size_t n_ = 0, capacity_ = 0;
  bool in_order_ = true, tied_ = false, identity_ = true, repeats_ = false;
  double last_ = 0.0;
  Array<ListRow> rows_;
  Array<double> scores_;
  Array<uint32_t> slots_;
  uint32_t mask_ = 0, place_ = 0;
  Pool<uint64_t> matched_;  // row (later: rank - 1) above, number of the judgment inside its query below
  Pool<uint8_t> dropped_;
  Pool<uint32_t> order_, ranks_;
  DuplicateFinder judgments_;
  Sorter sorter_;
};

}  // namespace idealrank
