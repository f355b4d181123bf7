// What align hands out: the judged hits of every list, and what there is to know about each list.
#pragma once

#include <cstdint>

#include "list.hpp"
#include "memory.hpp"
#include "table.hpp"

namespace idealrank {

// Queries in this order: all of the qrels, then those only the run has, by first appearance.
struct Aligned {
  size_t n_qrels_queries = 0;
  size_t n_queries = 0;
  Array<int64_t> hit_offsets, hit_row;
  Array<int32_t> hit_rank, tie_first, tie_last;
  Array<int64_t> length, returned, judged;
  Array<uint8_t> in_run;
  Array<int32_t> first_unjudged, tied, straddling, duplicates;
  IdPool run_only;
  Counters counters;

  void size_queries(size_t n) {
    n_queries = n;
    hit_offsets = Array<int64_t>::zeros(n + 1);
    length = Array<int64_t>::zeros(n);
    returned = Array<int64_t>::zeros(n);
    judged = Array<int64_t>::zeros(n);
    in_run = Array<uint8_t>::zeros(n);
    first_unjudged = Array<int32_t>::zeros(n);
    tied = Array<int32_t>::zeros(n);
    straddling = Array<int32_t>::zeros(n);
    duplicates = Array<int32_t>::zeros(n);
  }
  void put(size_t query, const ListSummary& list) {
    in_run[query] = 1;
    length[query] = list.length;
    returned[query] = list.returned;
    judged[query] = list.judged;
    first_unjudged[query] = list.first_unjudged;
    tied[query] = list.tied;
    straddling[query] = list.straddling;
    duplicates[query] = list.duplicates;
  }
  void put_hits(size_t at, const Hit* hits, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      hit_row[at + i] = hits[i].row;
      hit_rank[at + i] = hits[i].rank;
      if (tie_first.size()) tie_first[at + i] = hits[i].first;
      if (tie_last.size()) tie_last[at + i] = hits[i].last;
    }
  }
};

}  // namespace idealrank
