// Joins a run held in memory to its qrels. stream.hpp does the same for a run that is still text.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aligned.hpp"
#include "list.hpp"
#include "parallel.hpp"
#include "table.hpp"

namespace idealrank {

inline ParseError repeated_document(Bytes query, Bytes document) {
  return {problem_name(Problem::duplicate), 0, 0, std::string(query) + " " + std::string(document), ""};
}

inline void place_top(const RankedList& list, size_t target, Assembly& assembly, size_t worker) {
  TopPool& top = assembly.top_pool(worker);
  size_t from = top.size();
  list.emit_top(top);
  assembly.put_top(target, worker, from, top.size() - from);
}

// The list, whose duplicates are settled, goes into the results of query `target`: one of the qrels, or behind them all.
inline void place_list(RankedList& list, const Table& qrels, size_t target, ListSummary& summary, Assembly& assembly, size_t worker) {
  HitPool& hits = assembly.pool(worker);
  size_t start = hits.size();
  if (target < qrels.n_queries()) {
    list.join(qrels, target);
  } else {
    list.join_nothing();
  }
  list.rank();
  list.emit(summary, hits);
  assembly.put(target, summary);
  if (target < qrels.n_queries()) assembly.put_hits(target, worker, start);
  if (target < qrels.n_queries() && list.tells_unjudged()) {
    Pool<Unjudged>& unjudged = assembly.unjudged_pool(worker);
    size_t from = unjudged.size();
    list.emit_unjudged(unjudged);
    assembly.put_unjudged(target, worker, from);
  }
  if (list.keeps_top()) place_top(list, target, assembly, worker);
}

inline void fill(RankedList& list, const Table& run, size_t query) {
  list.clear();
  for (size_t row = run.first(query), end = row + run.rows(query); row < end; ++row) list.push(run.documents[row], run.values[row]);
}

class TableAligner {
 public:
  TableAligner(const Table& qrels, const Table& run, const ListOptions& options, int threads)
      : qrels_(qrels),
        run_(run),
        tasks_((run.n_queries() + block - 1) / block),
        workers_(worker_count(threads, tasks_)),
        assembly_(qrels.n_queries(), workers_, options) {
    for (size_t i = 0; i < workers_; ++i) lists_.push_back(std::make_unique<RankedList>(options));
  }

  Aligned align(Progress* progress) {
    find_targets();
    if (progress) progress->total = run_.n_queries();
    share(tasks_, workers_, progress, [&](size_t worker, size_t task) {
      size_t first = task * block, end = std::min(first + block, run_.n_queries());
      for (size_t query = first; query < end; ++query) one(worker, query);
      if (progress) progress->done += end - first;
    });
    if (repeated_query_ < run_.n_queries()) throw repeated_document(run_.queries[repeated_query_], repeated_id_);
    Aligned aligned = assembly_.finish(qrels_);
    for (const auto& [name, count] : run_.counters) aligned.counters[name] += count;
    return aligned;
  }

 private:
  static constexpr size_t block = 16;

  void find_targets() {
    targets_ = Array<uint32_t>::raw(run_.n_queries());
    size_t extra = 0;
    uint32_t last = IdIndex::absent;
    for (size_t query = 0; query < run_.n_queries(); ++query) {
      targets_[query] = qrels_.find_query(run_.queries[query], last);
      if (targets_[query] != IdIndex::absent) {
        last = targets_[query];
        continue;
      }
      assembly_.run_only().push(run_.queries[query]);
      targets_[query] = static_cast<uint32_t>(qrels_.n_queries() + extra++);
    }
    assembly_.add_queries(extra);
  }
  void one(size_t worker, size_t query) {
    RankedList& list = *lists_[worker];
    ListSummary summary;
    size_t first_of = 0;
    fill(list, run_, query);
    size_t repeated = list.settle_duplicates(summary, first_of);
    if (repeated == RankedList::none) {
      list.screen(run_.queries[query], summary);
      return place_list(list, qrels_, targets_[query], summary, assembly_, worker);
    }
    std::lock_guard<std::mutex> locked(guard_);
    if (query >= repeated_query_) return;
    repeated_query_ = query;
    repeated_id_ = std::string(list.id(repeated));
  }

  const Table& qrels_;
  const Table& run_;
  size_t tasks_, workers_;
  Assembly assembly_;
  std::vector<std::unique_ptr<RankedList>> lists_;
  Array<uint32_t> targets_;
  std::mutex guard_;
  size_t repeated_query_ = SIZE_MAX;  // the first query with a document that came twice
  std::string repeated_id_;
};

}  // namespace idealrank
