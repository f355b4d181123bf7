// Sorting of packed 64-bit keys: the high bits say where a score belongs, the low bits which item it is.
//
// Keys are plain integers, so the order is the same on every processor and no floating-point comparison decides it.
// Three methods, each the fastest of its range when measured (nanoseconds per item, baseline x86-64, random scores):
//   up to 32   an unrolled merge-exchange network: compare and swap without a branch            2   (std::sort 15)
//   up to 64   two networks and one two-ended merge                                             4   (std::sort 19)
//   above      least-significant-digit radix sort, eight bits a pass, constant digits skipped   4-7 (std::sort 21-70)
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace idealrank::sorting {

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

// The key that sorts scores from high to low as an unsigned integer. -0.0 and 0.0 get the same key, and no other two
// numbers do: negative patterns (which start at the sign bit) are moved down by one onto the end of the positive ones.
inline uint32_t descending_key(float score) {
  const auto bits = std::bit_cast<uint32_t>(score);
  const uint32_t negative = 0u - (bits >> 31);
  return (bits ^ (0x7FFFFFFFu & ~negative)) + negative;
}

inline uint64_t descending_key(double score) {
  const auto bits = std::bit_cast<uint64_t>(score);
  const uint64_t negative = 0u - (bits >> 63);
  return (bits ^ (0x7FFFFFFFFFFFFFFFu & ~negative)) + negative;
}

// The number a descending key was made from (0.0 for -0.0).
inline double from_descending_key(uint64_t key) {
  constexpr uint64_t zero = 0x7FFFFFFFFFFFFFFFu;
  return std::bit_cast<double>(key <= zero ? zero - key : key + 1);
}

// A word whose highest bit is set when the number is NaN: many can be or-ed without a branch, and it holds whatever the
// floating-point flags of the build are.
inline uint32_t nan_flag(float number) { return 0x7F800000u - (std::bit_cast<uint32_t>(number) & 0x7FFFFFFFu); }
inline uint64_t nan_flag(double number) {
  return 0x7FF0000000000000u - (std::bit_cast<uint64_t>(number) & 0x7FFFFFFFFFFFFFFFu);
}
template <class Word>
inline bool is_flagged(Word flags) {
  return flags >> (8 * sizeof(Word) - 1) != 0;
}

struct Exchange {
  uint8_t low, high;
};

// Batcher's merge exchange for any N (Knuth, The Art of Computer Programming, volume 3, 5.2.2, algorithm M). Visits
// each compare-and-swap in order.
template <size_t N, class Visit>
constexpr void visit_exchanges(Visit visit) {
  const size_t top = std::bit_ceil(N) / 2;
  for (size_t p = top; p > 0; p /= 2) {
    size_t q = top, r = 0, distance = p;
    for (;;) {
      for (size_t i = 0; i + distance < N; ++i)
        if ((i & p) == r) visit(i, i + distance);
      if (q == p) break;
      distance = q - p;
      q /= 2;
      r = p;
    }
  }
}

template <size_t N>
constexpr size_t count_exchanges() {
  size_t count = 0;
  visit_exchanges<N>([&](size_t, size_t) { ++count; });
  return count;
}

template <size_t N>
constexpr auto list_exchanges() {
  std::array<Exchange, count_exchanges<N>()> list{};
  size_t count = 0;
  visit_exchanges<N>([&](size_t low, size_t high) {
    list[count++] = {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
  });
  return list;
}

template <size_t Low, size_t High>
inline void exchange(uint64_t* keys) {
  const uint64_t a = keys[Low], b = keys[High];
  keys[Low] = a < b ? a : b;
  keys[High] = a < b ? b : a;
}

template <size_t N>
inline void sort_network(uint64_t* keys) {
  static constexpr auto list = list_exchanges<N>();
  [&]<size_t... I>(std::index_sequence<I...>) {
    (exchange<list[I].low, list[I].high>(keys), ...);
  }(std::make_index_sequence<list.size()>{});
}

// Joins two sorted runs of the same length from both ends at once, so that two chains of dependent steps overlap. Each
// end takes exactly `length` items, which is why neither can read past its run.
inline void merge_halves(const uint64_t* first, size_t length, uint64_t* joined) {
  const uint64_t *a = first, *b = first + length, *a_end = b - 1, *b_end = b + length - 1;
  for (size_t i = 0, j = 2 * length - 1; i < length; ++i, --j) {
    const bool take_b = *b < *a;
    joined[i] = take_b ? *b : *a;
    b += take_b;
    a += !take_b;
    const bool take_a = *b_end < *a_end;
    joined[j] = take_a ? *a_end : *b_end;
    a_end -= take_a;
    b_end -= !take_a;
  }
}

inline constexpr size_t short_list = 64;  // longest list that needs no radix sort; also the room its keys need

// Sorts n <= short_list keys; `keys` and `spare` have room for short_list each. Returns where the result is.
inline uint64_t* sort_short(uint64_t* keys, size_t n, uint64_t* spare) {
  constexpr uint64_t last = ~uint64_t{0};
  if (n > 32) {
    for (size_t i = n; i < 64; ++i) keys[i] = last;
    sort_network<32>(keys);
    sort_network<32>(keys + 32);
    merge_halves(keys, 32, spare);
    return spare;
  }
  for (size_t i = n; i % 4 != 0; ++i) keys[i] = last;
  switch ((n + 3) / 4) {
    case 1: sort_network<4>(keys); break;
    case 2: sort_network<8>(keys); break;
    case 3: sort_network<12>(keys); break;
    case 4: sort_network<16>(keys); break;
    case 5: sort_network<20>(keys); break;
    case 6: sort_network<24>(keys); break;
    case 7: sort_network<28>(keys); break;
    case 8: sort_network<32>(keys); break;
    default: break;
  }
  return keys;
}

// Sorts n < 2^32 keys by their bits from `shift` up, stably; `spare` has room for n. Returns where the result is.
inline uint64_t* sort_long(uint64_t* keys, size_t n, uint64_t* spare, unsigned shift) {
  constexpr unsigned digit_bits = 8, digits = 1u << digit_bits, most_passes = 8;
  const unsigned passes = (64 - shift + digit_bits - 1) / digit_bits;
  uint32_t counts[most_passes][digits] = {};
  for (size_t i = 0; i < n; ++i) {
    uint64_t rest = keys[i] >> shift;
    for (unsigned pass = 0; pass < passes; ++pass, rest >>= digit_bits) ++counts[pass][rest % digits];
  }
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned at = shift + pass * digit_bits;
    uint32_t* next = counts[pass];
    if (next[(keys[0] >> at) % digits] == n) continue;
    uint32_t sum = 0;
    for (unsigned digit = 0; digit < digits; ++digit) sum += std::exchange(next[digit], sum);
    for (size_t i = 0; i < n; ++i) spare[next[(keys[i] >> at) % digits]++] = keys[i];
    std::swap(keys, spare);
  }
  return keys;
}

// Sorts keys by their bits from `shift` up. Short lists are sorted by all bits, which is the same as long as the bits
// below `shift` count up with the position. `keys` and `spare` have room for max(n, short_list).
inline uint64_t* sort_keys(uint64_t* keys, size_t n, uint64_t* spare, unsigned shift) {
  return n <= short_list ? sort_short(keys, n, spare) : sort_long(keys, n, spare, shift);
}

}  // namespace idealrank::sorting
