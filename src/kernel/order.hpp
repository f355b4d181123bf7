// The order of one list: score descending, then the tie rule. The only sort of runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

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

// Eight bytes of an id from `from` on as a number that orders as the bytes do; what the id does not have is zeros.
inline uint64_t id_part(Bytes id, size_t from) {
  uint64_t part = 0;
  if (id.size() >= from + 8) {
    unsigned char bytes[8];
    std::memcpy(bytes, id.data() + from, 8);
    for (unsigned char byte : bytes) part = (part << 8) | byte;
    return part;
  }
  for (size_t i = from; i < from + 8; ++i) part = (part << 8) | (i < id.size() ? static_cast<unsigned char>(id[i]) : 0);
  return part;
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

  // Puts rows of equal score into the order of their ids; the same id twice stays in input order. The ids are in the text, which may be
  // a file that somebody overwrites, and std::sort leaves its array when an order breaks under it. So few rows are sorted by insertion,
  // which stays inside whatever it is told; of many, eight bytes are copied, the copies sorted, and rows that agree in them sorted by the
  // next eight.
  void by_id(const ListRow* rows, uint32_t* group, size_t n, bool descending) {
    if (n <= few) return insert_by_id(rows, group, n, descending);
    parts_.clear();
    spans_.clear();
    parts_.extend(n);
    for (Span span{0, n, 0};;) {
      sort_parts(rows, group, span, descending);
      if (spans_.empty()) return;
      span = spans_.back();
      spans_.shrink(spans_.size() - 1);
    }
  }

 private:
  static constexpr uint64_t high_half = 0xffffffff00000000ull;
  static constexpr size_t large = 1 << 20;

  // Eight bytes of an id; then how many there are from these on (9 for more than 8) above the row. For descending ids all of it but the row
  // is complemented.
  struct IdPart {
    uint64_t bytes, left_and_row;
    bool operator<(const IdPart& other) const { return bytes != other.bytes ? bytes < other.bytes : left_and_row < other.left_and_row; }
    bool agrees(const IdPart& other) const { return bytes == other.bytes && left_and_row >> 32 == other.left_and_row >> 32; }
  };
  struct Span {
    size_t first, end, from;  // rows of the group that agree in the bytes before `from`
  };
  static constexpr size_t part_bytes = 8, more = part_bytes + 1, few = 16;

  static void insert_by_id(const ListRow* rows, uint32_t* group, size_t n, bool descending) {
    uint64_t parts[few];
    for (size_t i = 0; i < n; ++i) {
      const uint32_t row = group[i];
      const Bytes id = rows[row].id();
      const uint64_t part = id_part(id, 0);
      auto before = [&](size_t other) {
        if (part != parts[other]) return descending ? part > parts[other] : part < parts[other];
        const int compared = id.compare(rows[group[other]].id());
        if (compared) return descending ? compared > 0 : compared < 0;
        return row < group[other];
      };
      size_t place = i;
      for (; place > 0 && before(place - 1); --place) {
        parts[place] = parts[place - 1];
        group[place] = group[place - 1];
      }
      parts[place] = part;
      group[place] = row;
    }
  }

  void sort_parts(const ListRow* rows, uint32_t* group, const Span& span, bool descending) {
    IdPart* parts = parts_.data();
    const uint64_t flip = descending ? ~uint64_t{0} : 0;
    for (size_t i = span.first; i < span.end; ++i) {
      const Bytes id = rows[group[i]].id();
      const uint64_t left = std::min(id.size() - span.from, more);
      parts[i] = {id_part(id, span.from) ^ flip, ((left << 32) ^ (flip << 32)) | group[i]};
    }
    std::sort(parts + span.first, parts + span.end);
    for (size_t i = span.first; i < span.end; ++i) group[i] = static_cast<uint32_t>(parts[i].left_and_row);
    const uint64_t unfinished = (uint64_t{more} ^ flip) & 0xffffffff;
    for (size_t first = span.first, end; first < span.end; first = end) {
      for (end = first + 1; end < span.end && parts[end].agrees(parts[first]);) ++end;
      if (end - first > 1 && parts[first].left_and_row >> 32 == unfinished) spans_.push({first, end, span.from + part_bytes});
    }
  }

  // Rows whose keys agree in the half that was sorted by are sorted by the whole score.
  static void part_close_scores(const double* scores, uint32_t* order, size_t n, const uint64_t* sorted) {
    auto before = [&](uint32_t a, uint32_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; };
    for (size_t first = 0, end; first < n; first = end) {
      for (end = first + 1; end < n && (sorted[end] >> 32) == (sorted[first] >> 32);) ++end;
      if (!std::is_sorted(order + first, order + end, before)) std::sort(order + first, order + end, before);
    }
  }

  Pool<uint64_t> keys_, spare_;
  Pool<IdPart> parts_;
  Pool<Span> spans_;
};

}  // namespace idealrank
