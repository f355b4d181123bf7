// The first documents of every list, by rank: a run of its own, cut at that rank.
#pragma once

#include <cstdint>

#include "memory.hpp"
#include "table.hpp"

namespace idealrank {

// Those of the lists one thread has done. The ids are copied: the text they stand in may go away.
class TopPool {
 public:
  size_t size() const { return scores_.size(); }
  void push(Bytes document, double score, bool tied) {
    documents_.push(document);
    scores_.push(score);
    tied_.push(tied);
  }
  Bytes document(size_t i) const { return documents_[i]; }
  double score(size_t i) const { return scores_[i]; }
  uint8_t tied(size_t i) const { return tied_[i]; }

 private:
  IdPool documents_;
  Pool<double> scores_;
  Pool<uint8_t> tied_;
};

// All of them. The table has the queries that the run answers, each with its documents by rank.
struct Top {
  Table table;
  Array<uint8_t> tied;  // per row of the table: whether another document of the whole list has the same score
};

}  // namespace idealrank
