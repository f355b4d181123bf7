// The judged hits of the lists one thread has done, and what else is told about a list.
#pragma once

#include <cstdint>

#include "memory.hpp"

namespace idealrank {

struct ListSummary {
  int64_t length = 0, returned = 0, judged = 0;
  int32_t first_unjudged = 0, tied = 0, straddling = 0, duplicates = 0;
  int32_t identical = 0, excluded = 0, breaches = 0;  // see RankedList::screen
};

struct Hit {
  uint32_t judgment;  // number inside its query
  int32_t rank;
};

// A returned document that nobody judged. The key stands for its id: equal ids have equal keys, in every process.
struct Unjudged {
  uint64_t key;
  int32_t rank, first, last;
};

struct TieSpan {
  int32_t first, last;
};

// Hits one after the other. Most runs have no ties near a hit: spans are kept only from the first real tie on.
class HitPool {
 public:
  size_t size() const { return hits_.size(); }
  bool tied() const { return !spans_.empty(); }
  void push(uint32_t judgment, uint32_t rank, uint32_t first, uint32_t last) {
    if (first != last && spans_.empty()) {
      for (const Hit& hit : hits_) spans_.push({hit.rank, hit.rank});
    }
    if (first != last || !spans_.empty()) spans_.push({static_cast<int32_t>(first), static_cast<int32_t>(last)});
    hits_.push({judgment, static_cast<int32_t>(rank)});
  }
  const Hit& operator[](size_t i) const { return hits_[i]; }
  TieSpan span(size_t i) const { return spans_.empty() ? TieSpan{hits_[i].rank, hits_[i].rank} : spans_[i]; }

 private:
  Pool<Hit> hits_;
  Pool<TieSpan> spans_;
};

}  // namespace idealrank
