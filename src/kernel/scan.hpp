// Sixty-four bytes at a time: where the blanks are and where the control bytes. One bit per byte, the first byte lowest.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "hash.hpp"

// IDEALRANK_PORTABLE_SCAN asks for the plain words that other processors get, so that tests can reach them anywhere.
#if defined(IDEALRANK_PORTABLE_SCAN)
#elif defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define IDEALRANK_SSE2 1
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#define IDEALRANK_NEON 1
#endif

namespace idealrank {

// Words are read in memory order below; on a big-endian machine every line takes the plain way.
inline constexpr bool fast_scan = std::endian::native == std::endian::little;
inline constexpr size_t block_bytes = 64;

struct BlockMasks {
  uint64_t spaces;    // 0x20
  uint64_t controls;  // below 0x20: line feeds, tabs and what should not be there
};

#if defined(IDEALRANK_SSE2)

inline uint64_t join_masks(int a, int b, int c, int d) {
  return static_cast<uint64_t>(static_cast<uint32_t>(a | (b << 16))) | (static_cast<uint64_t>(static_cast<uint32_t>(c | (d << 16))) << 32);
}

struct Block {
  __m128i part[4];
  explicit Block(const char* at) {
    for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
  }
  uint64_t equal(char byte) const {
    __m128i wanted = _mm_set1_epi8(byte);
    int mask[4];
    for (int i = 0; i < 4; ++i) mask[i] = _mm_movemask_epi8(_mm_cmpeq_epi8(part[i], wanted));
    return join_masks(mask[0], mask[1], mask[2], mask[3]);
  }
  uint64_t at_most(char byte) const {
    __m128i bound = _mm_set1_epi8(byte);
    int mask[4];
    for (int i = 0; i < 4; ++i) mask[i] = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(part[i], bound), part[i]));
    return join_masks(mask[0], mask[1], mask[2], mask[3]);
  }
};

#elif defined(IDEALRANK_NEON)

struct Block {
  uint8x16_t part[4];
  explicit Block(const char* at) {
    for (int i = 0; i < 4; ++i) part[i] = vld1q_u8(reinterpret_cast<const uint8_t*>(at + 16 * i));
  }
  static uint64_t gather(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(a, weights), vandq_u8(b, weights));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, weights), vandq_u8(d, weights));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
  }
  uint64_t equal(char byte) const {
    uint8x16_t wanted = vdupq_n_u8(static_cast<uint8_t>(byte));
    return gather(vceqq_u8(part[0], wanted), vceqq_u8(part[1], wanted), vceqq_u8(part[2], wanted), vceqq_u8(part[3], wanted));
  }
  uint64_t at_most(char byte) const {
    uint8x16_t bound = vdupq_n_u8(static_cast<uint8_t>(byte));
    return gather(vcleq_u8(part[0], bound), vcleq_u8(part[1], bound), vcleq_u8(part[2], bound), vcleq_u8(part[3], bound));
  }
};

#else

struct Block {
  uint64_t word[8];
  explicit Block(const char* at) { std::memcpy(word, at, block_bytes); }

  // The top bit of each byte that satisfied the test, gathered into eight bits.
  static uint64_t gather(uint64_t top_bits) { return ((top_bits >> 7) * 0x0102040810204080ull) >> 56; }
  static uint64_t every(char byte) { return 0x0101010101010101ull * static_cast<unsigned char>(byte); }
  uint64_t equal(char byte) const {
    uint64_t mask = 0;
    for (int i = 0; i < 8; ++i) {
      uint64_t differs = word[i] ^ every(byte);
      uint64_t low = (differs & 0x7f7f7f7f7f7f7f7full) + 0x7f7f7f7f7f7f7f7full;
      mask |= gather(~(low | differs) & 0x8080808080808080ull) << (8 * i);
    }
    return mask;
  }
  // For bounds below 0x80.
  uint64_t at_most(char byte) const {
    uint64_t mask = 0;
    for (int i = 0; i < 8; ++i) {
      uint64_t above = (word[i] & 0x7f7f7f7f7f7f7f7full) + every(static_cast<char>(0x7f - byte));
      mask |= gather(~(above | word[i]) & 0x8080808080808080ull) << (8 * i);
    }
    return mask;
  }
};

#endif

inline BlockMasks classify(const Block& block) {
  uint64_t spaces = block.equal(' ');
  return {spaces, block.at_most(' ') & ~spaces};
}

inline unsigned lowest(uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }
inline uint64_t without_lowest(uint64_t mask) { return mask & (mask - 1); }
inline uint64_t below(unsigned bit) { return (1ull << bit) - 1; }  // bit < 64

// Whether two ids of equal size are equal; 16 bytes from either start may be read.
IDEALRANK_HOT bool same_bytes(const char* a, const char* b, size_t size) {
  if (size <= 8) return ((load64(a) ^ load64(b)) << (64 - 8 * size)) == 0;
  if (size <= 16) return load64(a) == load64(b) && ((load64(a + 8) ^ load64(b + 8)) << (128 - 8 * size)) == 0;
  return std::memcmp(a, b, size) == 0;
}

// Eight ASCII digits in memory order, the first one the most significant.
inline bool eight_digits(uint64_t text) {
  return ((text & 0xf0f0f0f0f0f0f0f0ull) | (((text + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull) >> 4)) == 0x3333333333333333ull;
}
inline uint64_t eight_digits_value(uint64_t text) {
  text = (text & 0x0f0f0f0f0f0f0f0full) * 2561 >> 8;
  text = (text & 0x00ff00ff00ff00ffull) * 6553601 >> 16;
  return (text & 0x0000ffff0000ffffull) * 42949672960001 >> 32;
}

// Up to eight bytes moved to the end of a word, filled up with '0' in front. 0 < size <= 8.
inline uint64_t padded_digits(uint64_t text, size_t size) {
  unsigned shift = static_cast<unsigned>(64 - 8 * size);
  return (text << shift) | (0x3030303030303030ull & below(shift));
}

inline constexpr double decimal_scale[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

// Up to seven digits, then a point and one to eight digits: two words. Sixteen bytes from `text` may be read.
inline bool long_plain_number(const char* text, size_t whole, size_t fraction, double& value) {
  if (whole - 1 > 6 || fraction - 1 > 7) return false;
  uint64_t high = padded_digits(load64(text), whole), low = padded_digits(load64(text + whole + 1), fraction);
  if (!eight_digits(high) || !eight_digits(low)) return false;
  // At most fifteen digits, so both operands of the division are exact and it rounds once.
  uint64_t digits = eight_digits_value(high) * static_cast<uint64_t>(decimal_scale[fraction]) + eight_digits_value(low);
  value = static_cast<double>(static_cast<int64_t>(digits)) / decimal_scale[fraction];
  return true;
}

// Digits with or without a point among them, and perhaps a minus: what nearly every score looks like.
// Seventeen bytes from `text` may be read. False means: look closer, not: wrong.
IDEALRANK_HOT bool plain_number(const char* text, size_t size, double& value) {
  bool negative = *text == '-';
  text += negative;
  size -= negative;
  uint64_t head = load64(text);
  uint64_t points = head ^ 0x2e2e2e2e2e2e2e2eull;
  points = (points - 0x0101010101010101ull) & ~points & 0x8080808080808080ull;
  size_t whole = points ? lowest(points) / 8 : size, fraction = 0, digits = size;
  if (whole < size) {
    // Without the point the digits stand together: those behind it are taken from one byte further on.
    digits = size - 1;
    fraction = digits - whole;
    if (digits > 8) [[unlikely]] {
      if (!long_plain_number(text, whole, fraction, value)) return false;
      if (negative) value = -value;
      return true;
    }
    uint64_t before = below(static_cast<unsigned>(8 * whole));
    head = (head & before) | (load64(text + 1) & ~before);
  }
  if (digits - 1 > 7) return false;
  head = padded_digits(head, digits);
  if (!eight_digits(head)) return false;
  value = static_cast<double>(static_cast<int64_t>(eight_digits_value(head))) / decimal_scale[fraction];
  if (negative) value = -value;
  return true;
}

}  // namespace idealrank
