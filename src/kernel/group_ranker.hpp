// One list of labels and scores: its grades in the order of the scores, its ideal order, its ties.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "sorting.hpp"

namespace idealrank {

struct GroupOptions {
  bool reversed = false;   // equal scores stand in reversed input order
  bool float32 = false;    // scores are rounded to float32 before they are compared
  int64_t depth = 0;       // ranks kept; 0 keeps all
  int threads = 0;         // 0 uses all cores
  int64_t block_rows = 1 << 15;  // rows of a unit of work: enough to forget the hand-over, few enough to share
};

struct Groups {
  int64_t n_queries = 0;
  int64_t width = 0;  // items kept of every list when that is the same number, else 0
  Array<int64_t> hit_offsets;
  Array<double> grades, ideal_grades;
  Array<int64_t> length;
  Array<int32_t> tied;
  Array<int64_t> tie_query;
  Array<int32_t> tie_rank, tie_first, tie_last;
  Array<double> tie_grade;
};

namespace groups {

struct Tie {
  int64_t query;
  int32_t first, last;
};

// The ties of a block of lists, in order, and the labels of their members one tie after another.
template <class Label>
struct TieBuffer {
  std::vector<Tie> ties;
  std::vector<Label> members;
};

template <class Label, class Score>
struct Input {
  const Label* labels;
  const Score* scores;
  int64_t n_rows;
  const int64_t* offsets;
  int64_t n_queries;
  const int64_t* order;

  // Checked again where it is used: the caller may write to the array in the meantime.
  int64_t row(int64_t place) const {
    const auto row = read_once(order + place);
    if (row < 0 || row >= n_rows) throw std::invalid_argument("order must hold each row number once");
    return row;
  }
};

template <class Number>
inline auto nan_flag(Number number) {
  if constexpr (std::is_floating_point_v<Number>) return sorting::nan_flag(number);
  else return uint32_t{0};
}

// The label as one of the whole numbers 0 ... Most (a power of two less one). Sets bits in `other` when it is none of
// them: -0.0, fractions and NaN are not. Adding 2^23 (2^52) shifts a whole number to the low bits of a float (double);
// what rounding does to any other label does not matter, since it does not come back as the same bits.
template <unsigned Most, class Label, class Word>
inline uint32_t small_grade(Label label, Word& other) {
  if constexpr (std::is_floating_point_v<Label>) {
    constexpr Label shift = static_cast<Label>(sizeof(Label) == 4 ? 0x1p23 : 0x1p52);
    const auto grade = static_cast<int32_t>(std::bit_cast<Word>(label + shift) & Most);
    other |= std::bit_cast<Word>(static_cast<Label>(grade)) ^ std::bit_cast<Word>(label);
    return static_cast<uint32_t>(grade);
  } else {
    other |= static_cast<Word>(label) & ~Word{Most};
    return static_cast<uint32_t>(label) & Most;
  }
}
template <class Label>
using LabelWord = std::conditional_t<sizeof(Label) <= 4, uint32_t, uint64_t>;

// Ranks one list at a time; each thread has one. Compare is the type in which scores are compared.
template <class Label, class Score, class Compare>
class Ranker {
 public:
  Ranker(const Input<Label, Score>& input, const GroupOptions& options, Groups& out)
    : input_(input), options_(options), out_(out), keys_(sorting::short_list), spare_(sorting::short_list) {}

  // False when the list has a NaN.
  bool rank(int64_t query, TieBuffer<Label>& ties) {
    const auto begin = read_once(input_.offsets + query), length = out_.length[query];
    if (begin < 0 || begin > input_.n_rows - length) throw std::invalid_argument("offsets changed while they were read");
    n_ = static_cast<size_t>(length);
    out_.tied[query] = 0;
    if (n_ == 0) return true;
    if (keys_.size() < n_) {
      keys_.resize(n_);
      spare_.resize(n_);
    }
    find_rows(begin);
    const auto first_hit = out_.hit_offsets[query];
    const auto kept = static_cast<size_t>(out_.hit_offsets[query + 1] - first_hit);
    if (!write_ideal(kept, out_.ideal_grades.data() + first_hit) || !sort_scores()) return false;
    if (has_neighbours_alike()) out_.tied[query] = settle_ties(query, ties);
    double* grades = out_.grades.data() + first_hit;
    for (size_t i = 0; i < kept; ++i) grades[i] = grade_at(i);
    return true;
  }

 private:
  static constexpr bool exact = std::is_same_v<Compare, float>;  // the whole score fits beside the position

  // Points labels_ and scores_ at the list; rows that stand apart are brought together first.
  void find_rows(int64_t begin) {
    labels_ = input_.labels + begin;
    scores_ = input_.scores + begin;
    if (input_.order == nullptr) return;
    gathered_labels_.resize(n_);
    gathered_scores_.resize(n_);
    for (size_t i = 0; i < n_; ++i) {
      const auto row = input_.row(begin + static_cast<int64_t>(i));
      gathered_labels_[i] = input_.labels[row];
      gathered_scores_[i] = input_.scores[row];
    }
    labels_ = gathered_labels_.data();
    scores_ = gathered_scores_.data();
  }

  size_t row_at(uint64_t key) const {
    const auto position = static_cast<size_t>(key & ((uint64_t{1} << shift_) - 1));
    return (position ^ flip_) + start_;
  }
  double grade_at(size_t rank) const { return static_cast<double>(labels_[row_at(sorted_[rank])]); }
  auto score_key(size_t row) const { return sorting::descending_key(static_cast<Compare>(scores_[row])); }
  bool are_alike(uint64_t a, uint64_t b) const { return ((a ^ b) >> shift_) == 0; }

  // Packs each score with its position in the tie order into one key and sorts the keys. A double loses its last bits
  // there; settle_ties looks at the whole score wherever the packed parts are alike.
  bool sort_scores() {
    shift_ = 32;
    if constexpr (!exact) shift_ = n_ <= sorting::short_list ? 6 : std::max(24u, static_cast<unsigned>(std::bit_width(n_ - 1)));
    flip_ = options_.reversed ? ~size_t{0} : 0;  // n - 1 - i is ~i + n
    start_ = options_.reversed ? n_ : 0;
    if (options_.reversed ? pack<true>() : pack<false>()) return false;
    sorted_ = sorting::sort_keys(keys_.data(), n_, spare_.data(), shift_);
    return true;
  }

  // True when a score is NaN.
  template <bool Reversed>
  bool pack() {
    const Score* scores = scores_;
    uint64_t* keys = keys_.data();
    const size_t n = n_;
    const unsigned shift = shift_;
    decltype(nan_flag(*scores)) nan = 0;
    for (size_t i = 0; i < n; ++i) {
      const Score score = scores[Reversed ? n - 1 - i : i];
      nan |= nan_flag(score);
      const uint64_t key = sorting::descending_key(static_cast<Compare>(score));
      keys[i] = (exact ? key << 32 : key >> shift << shift) | i;
    }
    return sorting::is_flagged(nan);
  }

  bool has_neighbours_alike() const {
    bool alike = false;
    for (size_t i = 1; i < n_; ++i) alike |= are_alike(sorted_[i - 1], sorted_[i]);
    return alike;
  }

  // Finishes the order where the packed parts of doubles are alike, and reports the ties. Returns the tied items.
  int32_t settle_ties(int64_t query, TieBuffer<Label>& ties) {
    int32_t tied = 0;
    for (size_t begin = 0, end; begin < n_; begin = end) {
      for (end = begin + 1; end < n_ && are_alike(sorted_[begin], sorted_[end]);) ++end;
      if (end - begin < 2) continue;
      if constexpr (exact) {
        tied += report_tie(query, begin, end, ties);
      } else {
        sort_run(begin, end);
        for (size_t first = begin, last; first < end; first = last) {
          for (last = first + 1; last < end && whole_keys_[first - begin].first == whole_keys_[last - begin].first;) ++last;
          tied += report_tie(query, first, last, ties);
        }
      }
    }
    return tied;
  }

  void sort_run(size_t begin, size_t end) {
    whole_keys_.clear();
    for (size_t i = begin; i < end; ++i) whole_keys_.emplace_back(score_key(row_at(sorted_[i])), sorted_[i]);
    if (std::is_sorted(whole_keys_.begin(), whole_keys_.end())) return;
    std::sort(whole_keys_.begin(), whole_keys_.end());
    for (size_t i = begin; i < end; ++i) sorted_[i] = whole_keys_[i - begin].second;
  }

  int32_t report_tie(int64_t query, size_t begin, size_t end, TieBuffer<Label>& out) const {
    if (end - begin < 2) return 0;
    if (options_.depth == 0 || begin < static_cast<size_t>(options_.depth)) {
      out.ties.push_back({query, static_cast<int32_t>(begin + 1), static_cast<int32_t>(end)});
      for (size_t i = begin; i < end; ++i) out.members.push_back(labels_[row_at(sorted_[i])]);
    }
    return static_cast<int32_t>(end - begin);
  }

  // The `kept` highest grades from high to low; false when a label is NaN.
  bool write_ideal(size_t kept, double* ideal) {
    if (n_ < 128 ? count_few(kept, ideal) : count_many(kept, ideal)) return true;
    decltype(nan_flag(*labels_)) nan = 0;
    for (size_t i = 0; i < n_; ++i) {
      nan |= nan_flag(labels_[i]);
      keys_[i] = sorting::descending_key(static_cast<double>(labels_[i]));
    }
    if (sorting::is_flagged(nan)) return false;
    const uint64_t* sorted = sorting::sort_keys(keys_.data(), n_, spare_.data(), 0);
    for (size_t i = 0; i < kept; ++i) ideal[i] = sorting::from_descending_key(sorted[i]);
    return true;
  }

  // Fewer than 128 grades of 0 ... 7: how many there are of each in the bytes of one word (7 in the lowest), from
  // which one multiplication makes how many are at least 7, 6, ... 1. The ideal grade of a rank is the number of
  // those that reach it. No branch depends on the data.
  bool count_few(size_t kept, double* ideal) const {
    constexpr uint64_t ones = 0x0101010101010101u, without_zero = 0x00FFFFFFFFFFFFFFu;
    uint32_t grades[128];
    LabelWord<Label> other = 0;
    for (size_t i = 0; i < n_; ++i) grades[i] = small_grade<7>(labels_[i], other);
    if (other != 0) return false;
    uint64_t counts = 0;
    for (size_t i = 0; i < n_; ++i) counts += uint64_t{1} << (56 - 8 * grades[i]);
    const uint64_t reached = (counts * ones) & without_zero;
    for (size_t i = 0; i < kept; ++i) {
      const uint64_t above = (reached + (ones & without_zero) * (127 - i)) >> 7 & ones;
      ideal[i] = static_cast<double>(static_cast<int>(above * ones >> 56));
    }
    return true;
  }

  // Grades of 0 ... 63 in a list of any length.
  bool count_many(size_t kept, double* ideal) const {
    constexpr unsigned most = 63;
    size_t counts[most + 1] = {};
    LabelWord<Label> other = 0;
    for (size_t i = 0; i < n_ && other == 0; ++i) ++counts[small_grade<most>(labels_[i], other)];
    if (other != 0) return false;
    size_t written = 0;
    for (unsigned grade = most; written < kept; --grade) {
      const size_t end = std::min(kept, written + counts[grade]);
      std::fill(ideal + written, ideal + end, static_cast<double>(grade));
      written = end;
    }
    return true;
  }

  const Input<Label, Score>& input_;
  const GroupOptions& options_;
  Groups& out_;
  const Label* labels_ = nullptr;
  const Score* scores_ = nullptr;
  size_t n_ = 0;
  unsigned shift_ = 32;  // the position is below this bit of a key
  size_t flip_ = 0, start_ = 0;  // the row of a position is (position ^ flip_) + start_
  uint64_t* sorted_ = nullptr;
  std::vector<uint64_t> keys_, spare_;
  std::vector<Label> gathered_labels_;
  std::vector<Score> gathered_scores_;
  std::vector<std::pair<uint64_t, uint64_t>> whole_keys_;
};

}  // namespace groups

}  // namespace idealrank
