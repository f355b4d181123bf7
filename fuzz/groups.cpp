// rank_groups and fingerprint_lists on any arrays: no bad read, the same result for any number of threads, the order that a stable sort
// gives, and the sum of the hashes of every label.
//
// Input: label type, score type, flags, depth, number of lists, a length per list, then labels and scores by turns (each a
// small number, or raw bytes behind a marker), and the shuffle of the rows when the flags ask for it.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "fingerprint.hpp"
#include "groups.hpp"
#include "harness.hpp"

namespace {

using namespace idealrank;
using fuzz::Choices;

template <class T>
T number(Choices& choices) {
  const uint8_t kind = choices.byte();
  if (kind >= 250) return choices.raw<T>();
  if constexpr (std::is_floating_point_v<T>) {
    static constexpr T special[] = {T(0.0), T(-0.0), T(INFINITY), T(-INFINITY), T(0.5), T(-1.5), T(1e30), T(-1e-30)};
    if (kind >= 200) return special[kind % 8];
    // Neighbours in the last bits: what the packed key of a double leaves out.
    if (kind >= 150) return std::nextafter(T(1.0) + T(kind % 4) * std::numeric_limits<T>::epsilon(), T(2.0));
  }
  return static_cast<T>(kind % 10);
}

// Exactly as long as its contents, so that the sanitizer sees one element too many.
template <class T>
std::unique_ptr<T[]> exact(const std::vector<T>& values) {
  std::unique_ptr<T[]> copy(new T[values.size()]);
  std::copy(values.begin(), values.end(), copy.get());
  return copy;
}

template <class T>
bool same(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void same_groups(const Groups& a, const Groups& b) {
  PROMISE(a.n_queries == b.n_queries && a.width == b.width);
  PROMISE(same(a.hit_offsets, b.hit_offsets) && same(a.length, b.length) && same(a.tied, b.tied));
  PROMISE(same(a.grades, b.grades) && same(a.ideal_grades, b.ideal_grades) && same(a.tie_grade, b.tie_grade));
  PROMISE(same(a.tie_query, b.tie_query) && same(a.tie_rank, b.tie_rank) && same(a.tie_first, b.tie_first) && same(a.tie_last, b.tie_last));
}

template <class Label, class Score>
struct Case {
  std::vector<Label> labels;
  std::vector<Score> scores;
  std::vector<int64_t> offsets, order;
  GroupOptions options;
  bool threaded = false;

  double score(int64_t row) const { return options.float32 ? static_cast<double>(static_cast<float>(scores[row])) : static_cast<double>(scores[row]); }
  int64_t row(int64_t place) const { return order.empty() ? place : order[place]; }

  Groups run(int threads, int64_t block_rows) const {
    GroupOptions with = options;
    with.threads = threads;
    with.block_rows = block_rows;
    const auto l = exact(labels);
    const auto s = exact(scores);
    const auto o = exact(offsets);
    const auto p = exact(order);
    return rank_groups(l.get(), s.get(), static_cast<int64_t>(labels.size()), o.get(), static_cast<int64_t>(offsets.size()) - 1,
                       order.empty() ? nullptr : p.get(), with);
  }

  // Of the rows that the order names (a raw one may name a row twice and leave another out).
  int64_t first_nan() const {
    int64_t first = -1;
    for (size_t place = 0; place < labels.size(); ++place) {
      const int64_t at = row(static_cast<int64_t>(place));
      if ((std::isnan(static_cast<double>(labels[at])) || std::isnan(scores[at])) && (first < 0 || at < first)) first = at;
    }
    return first;
  }

  // One list by the definition; returns how many ties it has in the columns.
  int64_t check_list(const Groups& groups, int64_t query, int64_t tie) const {
    std::vector<int64_t> rows;
    for (int64_t place = offsets[query]; place < offsets[query + 1]; ++place) rows.push_back(row(place));
    std::vector<double> ideal;
    for (const int64_t one : rows) ideal.push_back(static_cast<double>(labels[one]));
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
    if (options.reversed) std::reverse(rows.begin(), rows.end());
    std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) { return score(a) > score(b); });
    const int64_t n = static_cast<int64_t>(rows.size()), begin = groups.hit_offsets[query], kept = groups.hit_offsets[query + 1] - begin;
    PROMISE(groups.length[query] == n && kept == (options.depth ? std::min(n, options.depth) : n));
    for (int64_t i = 0; i < kept; ++i) {
      PROMISE(groups.grades[begin + i] == static_cast<double>(labels[rows[i]]));
      PROMISE(groups.ideal_grades[begin + i] == ideal[i]);
    }
    int64_t tied = 0;
    for (int64_t first = 0, last; first < n; first = last) {
      for (last = first + 1; last < n && score(rows[last]) == score(rows[first]);) ++last;
      if (last - first < 2) continue;
      tied += last - first;
      if (options.depth && first >= options.depth) continue;
      for (int64_t i = first; i < last; ++i, ++tie) {
        PROMISE(static_cast<size_t>(tie) < groups.tie_rank.size() && groups.tie_query[tie] == query && groups.tie_rank[tie] == i + 1);
        PROMISE(groups.tie_first[tie] == first + 1 && groups.tie_last[tie] == last && groups.tie_grade[tie] == static_cast<double>(labels[rows[i]]));
      }
    }
    PROMISE(groups.tied[query] == tied);
    return tie;
  }

  Fingerprint fingerprint(int threads) const {
    const auto l = exact(labels);
    const auto o = exact(offsets);
    const auto p = exact(order);
    return fingerprint_lists(l.get(), static_cast<int64_t>(labels.size()), o.get(), static_cast<int64_t>(offsets.size()) - 1,
                             order.empty() ? nullptr : p.get(), threads,
                             [](size_t list, char (&digits)[24]) { return decimal(static_cast<int64_t>(list), digits); });
  }

  // By the definition: a hash for each label of each list, and one for a list without labels.
  void check_fingerprint() const {
    namespace of = fingerprints;
    const Fingerprint found = fingerprint(1), beside = threaded ? fingerprint(3) : found;
    Fingerprint expected;
    for (size_t list = 0; list + 1 < offsets.size(); ++list) {
      const of::State state = of::text(std::to_string(list), of::start(of::lists_start));
      if (offsets[list] == offsets[list + 1]) expected += of::row(state, of::nothing);
      for (int64_t place = offsets[list]; place < offsets[list + 1]; ++place)
        expected += of::row(state, of::bits_of(static_cast<double>(labels[row(place)])));
    }
    PROMISE(found.first == expected.first && found.second == expected.second);
    PROMISE(found.first == beside.first && found.second == beside.second);
  }

  void check() const {
    check_fingerprint();
    try {
      const Groups groups = run(1, 1 << 15);
      PROMISE(first_nan() < 0);
      // Small blocks, so that there are several however short the lists are; threads are slow to start, so not every time.
      same_groups(groups, run(threaded ? 3 : 1, 20));
      int64_t tie = 0;
      for (int64_t query = 0; query < groups.n_queries; ++query) tie = check_list(groups, query, tie);
      PROMISE(static_cast<size_t>(tie) == groups.tie_rank.size());
    } catch (const ParseError& error) {
      PROMISE(error.kind == "nan" && static_cast<int64_t>(error.line) == first_nan() + 1);
    }
  }
};

template <class Label, class Score>
void run_case(Choices& choices) {
  Case<Label, Score> one;
  const uint8_t flags = choices.byte();
  one.options.reversed = flags & 1;
  one.options.float32 = flags & 2;
  one.threaded = choices.below(8) == 0;
  one.options.depth = static_cast<int64_t>(choices.below(16));
  one.offsets = {0};
  // Raw offsets and orders must be refused or used, never read through.
  const bool raw_offsets = (flags & 0x1c) == 0x1c, shuffled = flags & 0x20, raw_order = (flags & 0xc0) == 0xc0;
  for (size_t lists = choices.below(32); lists > 0; --lists) {
    const uint8_t length = choices.byte();
    one.offsets.push_back(one.offsets.back() + (length < 192 ? length % 40 : length * 3));
  }
  const auto rows = static_cast<size_t>(one.offsets.back());
  if (raw_offsets)
    for (int64_t& offset : one.offsets)
      if (choices.yes()) offset = choices.raw<int64_t>();
  for (size_t i = 0; i < rows; ++i) {
    one.labels.push_back(number<Label>(choices));
    one.scores.push_back(number<Score>(choices));
  }
  if (shuffled || raw_order) {
    one.order.resize(rows);
    std::iota(one.order.begin(), one.order.end(), int64_t{0});
    for (size_t i = 1; i < rows; ++i) std::swap(one.order[i], one.order[choices.raw<uint16_t>() % (i + 1)]);
    if (raw_order && rows) one.order[choices.below(rows)] = choices.raw<int64_t>();
  }
  try {
    one.check();
  } catch (const std::invalid_argument&) {
    PROMISE(raw_offsets || raw_order);
  }
}

template <class Label>
void with_scores(Choices& choices) {
  if (choices.yes()) run_case<Label, float>(choices);
  else run_case<Label, double>(choices);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  switch (choices.below(6)) {
    case 0: with_scores<float>(choices); break;
    case 1: with_scores<double>(choices); break;
    case 2: with_scores<int8_t>(choices); break;
    case 3: with_scores<int16_t>(choices); break;
    case 4: with_scores<int32_t>(choices); break;
    default: with_scores<int64_t>(choices); break;
  }
  return 0;
}
