// Joins a run to its qrels.
#pragma once

#include <cstdint>

#include "aligned.hpp"
#include "list.hpp"
#include "table.hpp"

namespace idealrank {

inline ParseError repeated_document(Bytes query, Bytes document) {
  return {problem_name(Problem::duplicate), 0, 0, std::string(query) + " " + std::string(document), ""};
}

inline void fill(RankedList& list, const Table& run, size_t query) {
  list.clear();
  for (size_t row = run.first(query), end = row + run.rows(query); row < end; ++row) list.push(run.documents[row], run.values[row]);
}

inline Aligned align_table(const Table& qrels, const Table& run, const ListOptions& options) {
  Aligned aligned;
  aligned.n_qrels_queries = qrels.n_queries();
  Array<uint32_t> target = Array<uint32_t>::raw(run.n_queries());
  size_t n = qrels.n_queries();
  for (size_t query = 0; query < run.n_queries(); ++query) {
    uint32_t found = qrels.find_query(run.queries[query]);
    if (found == IdIndex::absent) aligned.run_only.push(run.queries[query]);
    target[query] = found == IdIndex::absent ? static_cast<uint32_t>(n++) : found;
  }
  aligned.size_queries(n);
  RankedList list(options);
  Pool<Hit> hits;
  Array<int64_t> starts = Array<int64_t>::zeros(n);
  for (size_t query = 0; query < run.n_queries(); ++query) {
    ListSummary summary;
    fill(list, run, query);
    size_t first_of = 0, repeated = list.settle_duplicates(summary, first_of);
    if (repeated != RankedList::none) throw repeated_document(run.queries[query], list.row(repeated).id());
    if (target[query] < qrels.n_queries()) {
      list.join(qrels, target[query]);
    } else {
      list.join_nothing();
    }
    list.rank();
    size_t before = hits.size();
    list.emit(summary, hits);
    starts[target[query]] = static_cast<int64_t>(before);
    aligned.hit_offsets[target[query] + 1] = static_cast<int64_t>(hits.size() - before);
    aligned.put(target[query], summary);
  }
  for (size_t query = 0; query < n; ++query) aligned.hit_offsets[query + 1] += aligned.hit_offsets[query];
  aligned.hit_row = Array<int64_t>::raw(hits.size());
  aligned.hit_rank = Array<int32_t>::raw(hits.size());
  bool tied = false;
  for (const Hit& hit : hits) tied = tied || hit.first != hit.last;
  aligned.tie_first = Array<int32_t>::raw(tied ? hits.size() : 0);
  aligned.tie_last = Array<int32_t>::raw(tied ? hits.size() : 0);
  for (size_t query = 0; query < n; ++query) {
    size_t at = static_cast<size_t>(aligned.hit_offsets[query]);
    aligned.put_hits(at, hits.data() + starts[query], static_cast<size_t>(aligned.hit_offsets[query + 1]) - at);
  }
  for (const auto& [name, count] : run.counters) aligned.counters[name] = count;
  return aligned;
}

}  // namespace idealrank
