// The order of one list: score descending, then the tie rule. The only sort of runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory.hpp"
#include "sorting.hpp"

namespace idealrank {

enum class Ties { descending, ascending, input };  // by document id bytes, as strcmp has them, or as given

// One line of a list: where its document id stands, and 32 bits of that id's hash.
struct ListRow {
  const char* document;
  uint32_t size, tag;
  Bytes id() const { return Bytes(document, size); }
};

// The first eight bytes of an id as a number that orders as the bytes do.
inline uint64_t id_prefix(Bytes id) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; ++i) prefix = (prefix << 8) | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0);
  return prefix;
}

// Sorts the rows of lists; its memory is kept from list to list.
class Sorter {
 public:
  // Writes the row at each rank, scores falling, rows of equal score in input order. False: no two scores are equal.
  bool by_score(const double* scores, size_t n, Pool<uint32_t>& order) {
    // Half of the key beside the row in one word: it decides nearly all pairs, and the sort moves half as much.
    size_t room = std::max(n, sorting::short_list);
    keys_.clear();
    spare_.clear();
    uint64_t *keys = keys_.extend(room), *spare = spare_.extend(room);
    for (size_t i = 0; i < n; ++i) keys[i] = (sorting::descending_key(scores[i]) & high_half) | i;
    const uint64_t* sorted = sorting::sort_keys(keys, n, spare, 32);
    order.clear();
    uint32_t* out = order.extend(n);
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<uint32_t>(sorted[i]);
    bool close = false;
    for (size_t i = 1; i < n; ++i) close |= (sorted[i] >> 32) == (sorted[i - 1] >> 32);
    if (close) part_close_scores(scores, out, n, sorted);
    if (n > large) {  // such a list comes alone, and what follows needs the room
      keys_ = Pool<uint64_t>();
      spare_ = Pool<uint64_t>();
    }
    return close;
  }

  // Puts rows of equal score into the order of their ids; the same id twice stays in input order.
  void by_id(const ListRow* rows, uint32_t* group, size_t n, bool descending) {
    prefixed_.clear();
    Prefixed* prefixed = prefixed_.extend(n);
    for (size_t i = 0; i < n; ++i) prefixed[i] = {id_prefix(rows[group[i]].id()), group[i]};
    std::sort(prefixed, prefixed + n, [&](const Prefixed& a, const Prefixed& b) {
      if (a.prefix != b.prefix) return descending ? a.prefix > b.prefix : a.prefix < b.prefix;
      int compared = rows[a.row].id().compare(rows[b.row].id());
      if (compared) return descending ? compared > 0 : compared < 0;
      return a.row < b.row;
    });
    for (size_t i = 0; i < n; ++i) group[i] = prefixed[i].row;
  }

 private:
  static constexpr uint64_t high_half = 0xffffffff00000000ull;
  static constexpr size_t large = 1 << 20;

  struct Prefixed {
    uint64_t prefix;
    uint32_t row;
  };

  // Rows whose keys agree in the half that was sorted by are sorted by the whole score.
  static void part_close_scores(const double* scores, uint32_t* order, size_t n, const uint64_t* sorted) {
    auto before = [&](uint32_t a, uint32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
    for (size_t first = 0, end; first < n; first = end) {
      for (end = first + 1; end < n && (sorted[end] >> 32) == (sorted[first] >> 32);) ++end;
      if (!std::is_sorted(order + first, order + end, before)) std::sort(order + first, order + end, before);
    }
  }

  Pool<uint64_t> keys_, spare_;
  Pool<Prefixed> prefixed_;
};

}  // namespace idealrank
