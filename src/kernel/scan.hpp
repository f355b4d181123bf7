// Sixty-four bytes at a time: where the blanks are and where the control bytes. One bit per byte, the first byte lowest.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "hash.hpp"

#if defined(__SSE2__) || defined(_M_X64)
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
inline bool same_bytes(const char* a, const char* b, size_t size) {
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

// [-]D.D with one to seven digits before the point and one to eight after it, or [-]D with up to seven digits: what nearly every score looks like.
// Sixteen bytes from `text` may be read. False means: look closer, not: wrong.
inline bool plain_number(const char* text, size_t size, double& value) {
  static constexpr uint64_t scale[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  bool negative = *text == '-';
  text += negative;
  size -= negative;
  uint64_t head = load64(text);
  uint64_t points = head ^ 0x2e2e2e2e2e2e2e2eull;
  points = (points - 0x0101010101010101ull) & ~points & 0x8080808080808080ull;
  size_t whole = points ? lowest(points) / 8 : 8;
  size_t fraction = 0;
  uint64_t low = 0x3030303030303030ull;
  if (whole < size) {
    fraction = size - whole - 1;
    if (fraction - 1 > 7) return false;
    low = padded_digits(load64(text + whole + 1), fraction);
  } else {
    whole = size;
  }
  if (whole - 1 > 6) return false;
  uint64_t high = padded_digits(head, whole);
  if (!eight_digits(high) || !eight_digits(low)) return false;
  // At most fifteen digits, so both operands of the division are exact and it rounds once.
  int64_t digits = static_cast<int64_t>(eight_digits_value(high) * scale[fraction] + eight_digits_value(low));
  double magnitude = static_cast<double>(digits) / static_cast<double>(static_cast<int64_t>(scale[fraction]));
  value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace idealrank
