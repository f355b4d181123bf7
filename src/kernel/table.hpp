// Rows (query, document, value) in columns: judgments, or a run held in memory. Grouped by query in order of first appearance,
// in input order inside a query, and immutable once built. The ids are copied, so the text it came from may go away.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hash.hpp"
#include "memory.hpp"
#include "source.hpp"

namespace idealrank {

// Many short strings, end to end. Offsets take four bytes until the bytes pass four gigabytes.
class IdPool {
 public:
  size_t size() const { return wide_ ? far_.size() : near_.size(); }
  Bytes operator[](size_t i) const {
    uint64_t first = i ? end_of(i - 1) : 0;
    return Bytes(bytes_.data() + first, end_of(i) - first);
  }
  void push(Bytes id) {
    if (!id.empty()) std::memcpy(bytes_.extend(id.size()), id.data(), id.size());
    if (!wide_ && bytes_.size() > std::numeric_limits<uint32_t>::max()) widen();
    if (wide_) {
      far_.push(bytes_.size());
    } else {
      near_.push(static_cast<uint32_t>(bytes_.size()));
    }
  }
  // Ids that stand one after the other: id i at offsets[i] to offsets[i + 1] of so many bytes, none of them empty. False, and none is added,
  // where they are not so, or are more bytes than offsets of four bytes reach. The offsets are copied first, and the copies checked.
  template <class Offset>
  bool push_run(const Offset* offsets, size_t n, const char* data, int64_t size) {
    const int64_t first = read_once(offsets);
    if (wide_ || first < 0 || first > size || static_cast<uint64_t>(size - first) > std::numeric_limits<uint32_t>::max() - bytes_.size()) return false;
    const auto base = static_cast<uint32_t>(bytes_.size());
    const size_t known = near_.size();
    uint32_t* ends = near_.extend(n);
    int64_t last = first;
    bool wrong = false;
    for (size_t i = 0; i < n; ++i) {
      const int64_t end = read_once(offsets + i + 1);
      wrong |= end <= last || end > size;
      last = end;
      ends[i] = base + static_cast<uint32_t>(end - first);
    }
    if (wrong) {
      near_.shrink(known);
      return false;
    }
    const auto count = static_cast<size_t>(last - first);
    if (count) std::memcpy(bytes_.extend(count), data + first, count);
    return true;
  }
  // Ids at places of so many others, of which id i is at offsets[i] to offsets[i + 1] of the bytes. As for `push_run`, each place and offset
  // is read once, and false means that none was added. A block of ids is looked up before it is copied: memory is asked for in time.
  template <class Offset>
  bool push_places(const int32_t* places, size_t n, const Offset* offsets, size_t n_ids, const char* data, int64_t size) {
    if (wide_) return false;
    const size_t known = near_.size(), known_bytes = bytes_.size();
    uint32_t* ends = near_.extend(n);
    const char* starts[block];
    uint32_t lengths[block];
    for (size_t first = 0; first < n; first += block) {
      const size_t count = n - first < block ? n - first : block, next = n - first - count < block ? n - first - count : block;
      uint64_t sum = 0;
      bool wrong = false;
      for (size_t i = 0; i < count; ++i) {
        const auto place = static_cast<size_t>(static_cast<int64_t>(read_once(places + first + i)));
        const bool is_place = place < n_ids;  // a place below 0 is a very large one
        const int64_t start = is_place ? read_once(offsets + place) : 0, end = is_place ? read_once(offsets + place + 1) : 0;
        wrong |= start < 0 || end <= start || end > size || end - start > longest;
        if (wrong) break;
        starts[i] = data + start;
        lengths[i] = static_cast<uint32_t>(end - start);
        sum += lengths[i];
        prefetch(starts[i]);
      }
      for (size_t i = 0; i < next; ++i) {
        const auto place = static_cast<size_t>(static_cast<int64_t>(read_once(places + first + count + i)));
        if (place < n_ids) prefetch(offsets + place);
      }
      if (wrong || sum > std::numeric_limits<uint32_t>::max() - bytes_.size()) {
        near_.shrink(known);
        bytes_.shrink(known_bytes);
        return false;
      }
      auto end = static_cast<uint32_t>(bytes_.size());
      char* into = bytes_.extend(sum + word);  // short ids are copied as a word, the last one a little beyond its end
      for (size_t i = 0; i < count; ++i) {
        if (lengths[i] <= word && data + size - starts[i] >= static_cast<int64_t>(word)) {
          std::memcpy(into, starts[i], word);
        } else {
          std::memcpy(into, starts[i], lengths[i]);
        }
        into += lengths[i];
        ends[first + i] = end += lengths[i];
      }
      bytes_.shrink(bytes_.size() - word);
    }
    return true;
  }
  void clear() {
    bytes_.clear();
    near_.clear();
    far_.clear();
    wide_ = false;
  }

 private:
  static constexpr size_t block = 256, word = 16;
  static constexpr int64_t longest = 1 << 20;  // of an id in a block, whose sum four bytes can hold

  uint64_t end_of(size_t i) const { return wide_ ? far_[i] : near_[i]; }
  void widen() {
    far_.reserve(near_.size() + near_.size() / 2);
    for (uint32_t end : near_) far_.push(end);
    near_ = Pool<uint32_t>();
    wide_ = true;
  }

  Pool<char> bytes_;
  Pool<uint32_t> near_;
  Pool<uint64_t> far_;
  bool wide_ = false;
};

// Finds the number of an id in a pool: open addressing over numbers; the bytes themselves are the keys. The bits of a slot that the numbers
// do not need hold bits of the hash, so that an id is compared with hardly any other.
class IdIndex {
 public:
  static constexpr uint32_t absent = UINT32_MAX;

  uint32_t find(const IdPool& pool, Bytes id) const {
    if (!slots_.size()) return absent;
    size_t place;
    return locate(pool, id, hash_bytes(id, hash_seed()), place);
  }
  // The id's number, and a new one (the pool grows by it) if it was not there.
  uint32_t add(IdPool& pool, Bytes id) {
    if (count_ + count_ / 2 + 2 >= slots_.size()) rebuild(pool);
    uint64_t hash = hash_bytes(id, hash_seed());
    size_t place;
    uint32_t found = locate(pool, id, hash, place);
    if (found != absent) return found;
    if (pool.size() >= UINT32_MAX - 1) throw std::length_error("more than 4,294,967,294 queries");
    pool.push(id);
    slots_[place] = tag(hash) | static_cast<uint32_t>(pool.size());
    ++count_;
    return static_cast<uint32_t>(pool.size()) - 1;
  }
  // The id will be asked for soon.
  void expect(Bytes id) const {
    if (slots_.size() > prefetch_from) prefetch(&slots_[hash_bytes(id, hash_seed()) & mask_]);
  }

 private:
  uint32_t tag(uint64_t hash) const { return static_cast<uint32_t>(hash >> 32) & ~static_cast<uint32_t>(mask_); }
  // The number, or absent and the free place where it would go.
  uint32_t locate(const IdPool& pool, Bytes id, uint64_t hash, size_t& place) const {
    uint32_t wanted = tag(hash), numbers = static_cast<uint32_t>(mask_);
    for (place = hash & mask_; slots_[place]; place = (place + 1) & mask_) {
      uint32_t slot = slots_[place];
      if ((slot & ~numbers) == wanted && pool[(slot & numbers) - 1] == id) return (slot & numbers) - 1;
    }
    return absent;
  }
  void rebuild(const IdPool& pool) {
    size_t places = slots_.size() ? slots_.size() * 2 : 16;
    slots_ = Array<uint32_t>();  // freed before the larger one is asked for
    slots_ = Array<uint32_t>::zeros(places);
    mask_ = places - 1;
    uint64_t hashes[prefetch_distance];
    for (size_t i = 0; i < pool.size() + prefetch_distance; ++i) {
      uint64_t& hash = hashes[i % prefetch_distance];
      if (i >= prefetch_distance) insert(hash, static_cast<uint32_t>(i - prefetch_distance));
      if (i >= pool.size()) continue;
      hash = hash_bytes(pool[i], hash_seed());
      prefetch(&slots_[hash & mask_]);
    }
  }
  void insert(uint64_t hash, uint32_t number) {
    size_t place = hash & mask_;
    while (slots_[place]) place = (place + 1) & mask_;
    slots_[place] = tag(hash) | (number + 1);
  }

  Array<uint32_t> slots_;
  size_t mask_ = 0;  // places - 1; a number + 1 never needs more bits, since a third of the places stays free
  size_t count_ = 0;
};

class Table {
 public:
  size_t n_queries() const { return queries.size(); }
  size_t n_rows() const { return values.size(); }
  size_t first(size_t query) const { return static_cast<size_t>(offsets[query]); }
  size_t rows(size_t query) const { return static_cast<size_t>(offsets[query + 1] - offsets[query]); }
  uint32_t find_query(Bytes id) const { return index.find(queries, id); }
  // The same, tried first: the query after `before`. Runs mostly have their queries in the order of the qrels.
  uint32_t find_query(Bytes id, uint32_t before) const {
    size_t next = static_cast<size_t>(before) + 1;
    if (before == IdIndex::absent) next = 0;
    if (next < queries.size() && queries[next] == id) return static_cast<uint32_t>(next);
    return find_query(id);
  }

  // A plain scan: this is asked for single documents; align has its own tables.
  int64_t find_document(size_t query, Bytes id) const {
    for (int64_t row = offsets[query]; row < offsets[query + 1]; ++row) {
      if (documents[static_cast<size_t>(row)] == id) return row;
    }
    return -1;
  }

  IdPool queries, documents;
  IdIndex index;
  Array<int64_t> offsets;
  Array<double> values;
  Counters counters;
};

}  // namespace idealrank
