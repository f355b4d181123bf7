// A fingerprint of judgments: two sums, modulo 2^64 each, of a hash of every (query, document, grade). A sum has no order, and that of two
// parts of a collection is the sum of theirs. Unlike the hashes of hash.hpp, which are seeded anew by every process, it is a contract: files
// keep it, and it must be the same on every machine and in every version. It finds what differs by accident, and withstands nobody who
// searches for a collision.
//
//     fold(a, b)      the two halves of the 128-bit product of a and b, xor-ed
//     text(id, s)     s = fold(s ^ bytes of the id, P); then for every 8 bytes, little-endian, the last filled up with zeros: s = fold(s ^ word, P)
//     row(s, bits)    the finaliser of SplitMix64 of fold(s ^ bits, Q)
//     judgment        row(text(document, text(query, S)), bits of the grade as float64, -0.0 as 0.0)
//     label           row(text(query, L), bits of the label): of arrays, which have no documents
//     no judgment     row(text(query, S or L), all bits set), for a query that has none
//
// Either sum has its own P, Q, S and L.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "hash.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "table.hpp"

namespace idealrank {

struct Fingerprint {
  uint64_t first = 0, second = 0;
  Fingerprint& operator+=(const Fingerprint& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

namespace fingerprints {

// The hexadecimal digits of pi after the point, sixteen at a time, the last bit set.
inline constexpr uint64_t text_factor[2] = {0x243f6a8885a308d3, 0x13198a2e03707345};
inline constexpr uint64_t row_factor[2] = {0xa4093822299f31d1, 0x082efa98ec4e6c89};
inline constexpr uint64_t table_start[2] = {0x452821e638d01377, 0xbe5466cf34e90c6d};
inline constexpr uint64_t lists_start[2] = {0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917};
inline constexpr uint64_t nothing = ~uint64_t{0};  // as the bits of a grade a NaN, which no grade is

// Both states at once: the bytes of an id are looked at once.
struct State {
  uint64_t first, second;
};

// The `size` bytes at `bytes`, at most eight of them, as the low bytes of a word. No byte outside the id is touched.
inline uint64_t small_word(const char* bytes, size_t size) {
  uint64_t word = 0;
  for (size_t i = size; i-- > 0;) word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

inline uint64_t whole_word(const char* bytes) {
  if constexpr (std::endian::native == std::endian::little) return load64(bytes);
  return small_word(bytes, 8);
}

inline State absorb(State state, uint64_t word) {
  return {folded_product(state.first ^ word, text_factor[0]), folded_product(state.second ^ word, text_factor[1])};
}

inline State text(Bytes id, State state) {
  state = absorb(state, id.size());
  const char* bytes = id.data();
  size_t left = id.size();
  for (; left >= 8; bytes += 8, left -= 8) state = absorb(state, whole_word(bytes));
  if (left == 0) return state;
  // The last bytes of a longer id come with some before them, which are shifted out: faster than one by one.
  return absorb(state, id.size() > 8 ? whole_word(bytes + left - 8) >> (8 * (8 - left)) : small_word(bytes, left));
}

inline uint64_t finish(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline Fingerprint row(State state, uint64_t bits) {
  return {finish(folded_product(state.first ^ bits, row_factor[0])), finish(folded_product(state.second ^ bits, row_factor[1]))};
}

inline uint64_t bits_of(double grade) { return std::bit_cast<uint64_t>(grade == 0.0 ? 0.0 : grade); }

// The labels of one query are few small whole numbers, over and over: these are counted, and hashed once.
class LabelSum {
 public:
  explicit LabelSum(State state) : state_(state) {}
  template <class Label>
  void add(Label label) {
    if (label >= 0 && label < static_cast<Label>(counted)) {
      const auto whole = static_cast<size_t>(label);
      if (static_cast<Label>(whole) == label) {
        ++counts_[whole];
        return;
      }
    }
    sum_ += row(state_, bits_of(static_cast<double>(label)));
  }
  Fingerprint sum() const {
    Fingerprint all = sum_;
    for (size_t label = 0; label < counted; ++label) {
      if (!counts_[label]) continue;
      const Fingerprint one = row(state_, bits_of(static_cast<double>(label)));
      all += {one.first * counts_[label], one.second * counts_[label]};
    }
    return all;
  }

 private:
  static constexpr size_t counted = 8;
  State state_;
  Fingerprint sum_;
  uint64_t counts_[counted] = {};
};

inline State start(const uint64_t (&of)[2]) { return {of[0], of[1]}; }

// Sums over blocks of queries, by any number of threads: addition does not mind the order.
template <class Sum>
Fingerprint sum_of(size_t n, size_t block, int threads, Sum&& sum) {
  const size_t tasks = (n + block - 1) / block, workers = worker_count(threads, tasks);
  std::vector<Fingerprint> sums(workers);
  share(tasks, workers, nullptr, [&](size_t worker, size_t task) {
    Fingerprint found;
    for (size_t i = task * block, end = std::min(n, i + block); i < end; ++i) found += sum(i);
    sums[worker] += found;
  });
  Fingerprint all;
  for (const Fingerprint& one : sums) all += one;
  return all;
}

inline constexpr size_t queries_at_once = 4096;

}  // namespace fingerprints

// Of a table of judgments.
inline Fingerprint fingerprint_table(const Table& table, int threads) {
  using namespace fingerprints;
  return sum_of(table.n_queries(), queries_at_once, threads, [&](size_t query) {
    const State of_query = text(table.queries[query], start(table_start));
    Fingerprint sum;
    const size_t begin = table.first(query), end = begin + table.rows(query);
    if (begin == end) sum += row(of_query, nothing);
    for (size_t at = begin; at < end; ++at) sum += row(text(table.documents[at], of_query), bits_of(table.values[at]));
    return sum;
  });
}

// Of lists of labels. A query is named by `name(list, digits)`: bytes that may stand in `digits`.
template <class Label, class Name>
Fingerprint fingerprint_lists(const Label* labels, int64_t n_rows, const int64_t* offsets, int64_t n_lists, const int64_t* order, int threads, Name&& name) {
  using namespace fingerprints;
  if (offsets[0] != 0 || offsets[n_lists] != n_rows) throw std::invalid_argument("offsets must run from 0 to the number of rows");
  for (int64_t i = 0; i < n_lists; ++i)
    if (offsets[i + 1] < offsets[i]) throw std::invalid_argument("offsets must not fall");
  if (order)
    for (int64_t i = 0; i < n_rows; ++i)
      if (order[i] < 0 || order[i] >= n_rows) throw std::invalid_argument("order must hold each row number once");
  return sum_of(static_cast<size_t>(n_lists), queries_at_once, threads, [&](size_t list) {
    char digits[24];
    const State of_query = text(name(list, digits), start(lists_start));
    Fingerprint sum;
    // Checked again: the caller may write to the arrays in the meantime.
    const int64_t begin = read_once(offsets + list), end = read_once(offsets + list + 1);
    if (begin < 0 || end < begin || end > n_rows) throw std::invalid_argument("offsets must not fall");
    if (begin == end) sum += row(of_query, nothing);
    LabelSum of_labels(of_query);
    for (int64_t at = begin; at < end; ++at) {
      const int64_t place = order ? read_once(order + at) : at;
      if (place < 0 || place >= n_rows) throw std::invalid_argument("order must hold each row number once");
      of_labels.add(read_once(labels + place));
    }
    return sum += of_labels.sum();
  });
}

// A whole number as an id: its decimal digits.
inline Bytes decimal(int64_t number, char (&digits)[24]) { return {digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)}; }

}  // namespace idealrank
