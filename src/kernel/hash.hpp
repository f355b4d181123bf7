// A 64-bit hash of a short id by folded multiplication, seeded per process so that no prepared file can make all ids collide.
// Nothing that leaves the kernel depends on the seed: tables only find equal bytes, order always comes from the input.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <random>

#include "memory.hpp"

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace idealrank {

inline uint64_t load64(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, 8);
  return value;
}

inline uint64_t folded_product(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#elif defined(_M_X64)
  uint64_t high, low = _umul128(a, b, &high);
  return low ^ high;
#else
  uint64_t low_low = (a & 0xffffffff) * (b & 0xffffffff), high_low = (a >> 32) * (b & 0xffffffff);
  uint64_t low_high = (a & 0xffffffff) * (b >> 32), high_high = (a >> 32) * (b >> 32);
  uint64_t middle = (low_low >> 32) + (high_low & 0xffffffff) + low_high;
  uint64_t high = high_high + (high_low >> 32) + (middle >> 32);
  return ((middle << 32) | (low_low & 0xffffffff)) ^ high;
#endif
}

struct HashSeed {
  uint64_t first, second;
  static HashSeed random() {
    try {
      std::random_device device;
      auto draw = [&] { return (static_cast<uint64_t>(device()) << 32) ^ device(); };
      return {draw() | 1, draw() | 1};
    } catch (const std::exception&) {
      // No source of randomness: the clock is harder to guess than a constant.
      auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
      return {(now * 0x9e3779b97f4a7c15ull) | 1, (now * 0xd1b54a32d192ed03ull) | 1};
    }
  }
};

inline const HashSeed& hash_seed() {
  static const HashSeed seed = HashSeed::random();
  return seed;
}

// The tail is read as one or two overlapping words where the id is long enough, so no byte outside the id is touched.
inline uint64_t hash_tail(const char* bytes, size_t size) {
  if (size >= 4) {
    uint32_t head, tail;
    std::memcpy(&head, bytes, 4);
    std::memcpy(&tail, bytes + size - 4, 4);
    return (static_cast<uint64_t>(head) << 32) | tail;
  }
  if (size == 0) return 0;
  auto at = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])); };
  return (at(0) << 16) | (at(size / 2) << 8) | at(size - 1);
}

inline uint64_t hash_bytes(Bytes id, const HashSeed& seed) {
  const char* bytes = id.data();
  size_t size = id.size();
  uint64_t state = seed.first ^ size;
  while (size > 8) {
    state = folded_product(state ^ load64(bytes), seed.second);
    bytes += 8;
    size -= 8;
  }
  uint64_t tail = size == 8 ? load64(bytes) : hash_tail(bytes, size);
  return folded_product(tail ^ seed.second, state ^ 0x9e3779b97f4a7c15ull);
}

// Stands for a document outside the kernel, where runs are only asked whether they hold the same one: not seeded, so that processes
// agree. Two ids of one query share a key with a chance of 2^-64.
inline uint64_t document_key(Bytes id) { return hash_bytes(id, {0x243f6a8885a308d3ull, 0x13198a2e03707345ull}); }

// Asks for a place of a table that will be looked at soon. Worth it for tables larger than the processor's caches.
inline void prefetch(const void* place) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(place);
#else
  static_cast<void>(place);
#endif
}
inline constexpr size_t prefetch_distance = 16;
inline constexpr size_t prefetch_from = 1 << 15;  // entries

// Smallest power of two with at least `count` * 1.5 + 1 places: open addressing stays short, memory stays bounded.
inline size_t table_places(size_t count) {
  size_t places = 4;
  while (places < count + count / 2 + 1) places *= 2;
  return places;
}

}  // namespace idealrank
