// The order of one list: score descending, then the tie rule. The only sort of the library.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "hash.hpp"
#include "memory.hpp"

namespace idealrank {

enum class Ties { descending, ascending, input };  // by document id bytes, as strcmp has them, or as given

// One line of a list: where its document id stands, and 32 bits of that id's hash.
struct ListRow {
  const char* document;
  uint32_t size, tag;
  Bytes id() const { return Bytes(document, size); }
};

// Unsigned integers that rise as the score falls. -0.0 counts as 0.0; NaN was refused before.
inline uint64_t falling_key(double score) {
  uint64_t bits = std::bit_cast<uint64_t>(score + 0.0);
  return (bits >> 63) ? bits : ~bits & ~(1ull << 63);
}

// The first eight bytes of an id as a number that orders as the bytes do.
inline uint64_t id_prefix(Bytes id) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; ++i) prefix = (prefix << 8) | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0);
  return prefix;
}

// Sorts the rows of lists; its memory is kept from list to list.
class Sorter {
 public:
  // order: row at each rank, all `n` rows in input order at first. Returns whether any two scores are equal.
  bool sort(const double* scores, const ListRow* rows, size_t n, Ties ties, Pool<uint32_t>& order) {
    keys_.clear();
    Keyed* keys = keys_.extend(n);
    for (size_t i = 0; i < n; ++i) keys[i] = {falling_key(scores[i]), static_cast<uint32_t>(i)};
    std::sort(keys, keys + n, [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.row < b.row; });
    order.clear();
    uint32_t* out = order.extend(n);
    for (size_t i = 0; i < n; ++i) out[i] = keys[i].row;
    bool tied = false;
    for (size_t first = 0; first < n;) {
      size_t end = first + 1;
      while (end < n && keys[end].key == keys[first].key) ++end;
      if (end - first > 1) {
        tied = true;
        if (ties != Ties::input) sort_group(rows, out + first, end - first, ties == Ties::descending);
      }
      first = end;
    }
    return tied;
  }

 private:
  struct Keyed {
    uint64_t key;
    uint32_t row;
  };

  // Equal scores: by id bytes; the same id twice stays in input order.
  static void sort_group(const ListRow* rows, uint32_t* group, size_t n, bool descending) {
    std::sort(group, group + n, [&](uint32_t a, uint32_t b) {
      int compared = rows[a].id().compare(rows[b].id());
      if (compared == 0) return a < b;
      return descending ? compared > 0 : compared < 0;
    });
  }

  Pool<Keyed> keys_;
};

}  // namespace idealrank
