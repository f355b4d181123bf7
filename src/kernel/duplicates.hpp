// The same document twice under one query.
#pragma once

#include <cstdint>

#include "hash.hpp"
#include "memory.hpp"

namespace idealrank {

// keep: all rows stay, nobody looks. twice: all rows stay and all count (runs only).
enum class Duplicates { error, first, last, best, keep, twice };

// Whether a later row takes the place of an earlier one with the same document. Of equal best values the first stays.
inline bool replaces(Duplicates policy, double later, double earlier) {
  return policy == Duplicates::last || (policy == Duplicates::best && later > earlier);
}

// Documents of one query, by index. The memory is kept from query to query.
class DuplicateFinder {
 public:
  void start(size_t expected) {
    size_t places = table_places(expected);
    if (slots_.size() < places) slots_ = Array<Slot>::raw(places);
    std::memset(static_cast<void*>(slots_.data()), 0, places * sizeof(Slot));
    mask_ = places - 1;
  }
  // The index of an equal document added before, else `index`. At most `expected` documents may be added.
  template <class DocumentAt>
  size_t add(Bytes document, size_t index, DocumentAt&& document_at) {
    uint64_t hash = hash_bytes(document, hash_seed());
    uint32_t tag = static_cast<uint32_t>(hash >> 32);
    for (at_ = hash & mask_; slots_[at_].index; at_ = (at_ + 1) & mask_) {
      if (slots_[at_].tag == tag && document_at(slots_[at_].index - 1) == document) return slots_[at_].index - 1;
    }
    slots_[at_] = {static_cast<uint32_t>(index) + 1, tag};
    return index;
  }
  // The index of an equal document, else SIZE_MAX.
  template <class DocumentAt>
  size_t find(Bytes document, DocumentAt&& document_at) const {
    uint64_t hash = hash_bytes(document, hash_seed());
    uint32_t tag = static_cast<uint32_t>(hash >> 32);
    for (size_t at = hash & mask_; slots_[at].index; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag && document_at(slots_[at].index - 1) == document) return slots_[at].index - 1;
    }
    return SIZE_MAX;
  }
  // After `add` found an equal document: from now on that place stands for `index`.
  void replace(size_t index) { slots_[at_].index = static_cast<uint32_t>(index) + 1; }

 private:
  struct Slot {
    uint32_t index, tag;
  };
  Array<Slot> slots_;
  size_t mask_ = 0;
  size_t at_ = 0;
};

}  // namespace idealrank
