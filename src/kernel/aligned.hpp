// What align hands out: the judged hits of every list, and what there is to know about each list.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "hits.hpp"
#include "list.hpp"
#include "memory.hpp"
#include "source.hpp"
#include "table.hpp"
#include "top.hpp"

namespace idealrank {

// Queries in this order: all of the qrels, then those only the run has, by first appearance.
struct Aligned {
  size_t n_qrels_queries = 0, n_queries = 0;
  Array<int64_t> hit_offsets, hit_row;
  Array<int32_t> hit_rank, tie_first, tie_last;
  Array<int64_t> unjudged_offsets;  // empty where nothing was asked of documents without a judgment
  Array<uint64_t> unjudged_key;
  Array<int32_t> unjudged_rank, unjudged_first, unjudged_last;
  Array<int64_t> returned, judged, shorter;  // shorter: empty when every list has its length as given
  Array<uint8_t> in_run;
  Array<int32_t> first_unjudged, tied, straddling, duplicates, identical, excluded, breaches;
  IdPool run_only;
  Counters counters;
  Top top;  // empty where it was not asked for

  const Array<int64_t>& length() const { return shorter.size() ? shorter : returned; }
};

// Takes the results of single lists, from several threads at once (never two for the same query), and puts them together.
class Assembly {
 public:
  Assembly(size_t n_qrels_queries, size_t workers, const ListOptions& options)
      : pools_(workers), unjudged_pools_(workers), top_pools_(workers), with_top_(options.top_depth > 0) {
    aligned_.n_qrels_queries = n_qrels_queries;
    places_ = Array<uint64_t>::zeros(n_qrels_queries);
    if (options.unjudged_depth > 0) {
      unjudged_places_ = Array<uint64_t>::zeros(n_qrels_queries);
      aligned_.unjudged_offsets = Array<int64_t>::zeros(n_qrels_queries + 1);
    }
    size_queries(n_qrels_queries);
  }

  HitPool& pool(size_t worker) { return pools_[worker]; }
  Pool<Unjudged>& unjudged_pool(size_t worker) { return unjudged_pools_[worker]; }
  TopPool& top_pool(size_t worker) { return top_pools_[worker]; }

  // The arrays come as zero pages; zeros are not written, so that what is zero everywhere takes no memory.
  void put(size_t query, const ListSummary& list) {
    aligned_.in_run[query] = 1;
    store(aligned_.returned[query], list.returned);
    store(lost_[query], list.returned - list.length);
    store(aligned_.judged[query], list.judged);
    store(aligned_.first_unjudged[query], list.first_unjudged);
    store(aligned_.tied[query], list.tied);
    store(aligned_.straddling[query], list.straddling);
    store(aligned_.duplicates[query], list.duplicates);
    store(aligned_.identical[query], list.identical);
    store(aligned_.excluded[query], list.excluded);
    store(aligned_.breaches[query], list.breaches);
    if (list.returned != list.length) any_lost_.store(true, std::memory_order_relaxed);
  }
  // The hits of a query of the qrels: those from `start` to the end of this worker's pool.
  void put_hits(size_t query, size_t worker, size_t start) {
    places_[query] = place(worker, start);
    aligned_.hit_offsets[query + 1] = static_cast<int64_t>(pools_[worker].size() - start);
  }
  // The same for documents without a judgment.
  void put_unjudged(size_t query, size_t worker, size_t start) {
    unjudged_places_[query] = place(worker, start);
    aligned_.unjudged_offsets[query + 1] = static_cast<int64_t>(unjudged_pools_[worker].size() - start);
  }

  // The first documents of any query that the run answers.
  void put_top(size_t query, size_t worker, size_t start, size_t count) {
    top_places_[query] = place(worker, start);
    top_sizes_[query] = static_cast<uint32_t>(count);
  }

  // Makes room for `count` queries that only the run has.
  void add_queries(size_t count) { size_queries(aligned_.n_qrels_queries + count); }
  IdPool& run_only() { return aligned_.run_only; }

  Aligned finish(const Table& qrels) {
    size_t n = aligned_.n_queries;
    for (size_t query = 0; query < n; ++query) aligned_.hit_offsets[query + 1] += aligned_.hit_offsets[query];
    copy_hits(qrels);
    if (unjudged_places_.size()) copy_unjudged();
    if (with_top_) copy_top(qrels);
    if (any_lost_) {
      for (size_t query = 0; query < n; ++query) lost_[query] = aligned_.returned[query] - lost_[query];
      aligned_.shorter = std::move(lost_);
    }
    int64_t duplicates = 0;
    for (int32_t count : aligned_.duplicates) duplicates += count;
    aligned_.counters["duplicates"] = duplicates;
    return std::move(aligned_);
  }

 private:
  template <class T>
  static void store(T& place, T value) {
    if (place != value) place = value;
  }
  template <class T>
  static void widen(Array<T>& array, size_t size) {
    if (size == array.size()) return;
    Array<T> wider = Array<T>::zeros(size);
    for (size_t i = 0; i < array.size(); ++i) store(wider[i], array[i]);
    array = std::move(wider);
  }
  void size_queries(size_t n) {
    aligned_.n_queries = n;
    widen(aligned_.hit_offsets, n + 1);
    widen(aligned_.returned, n);
    widen(lost_, n);
    widen(aligned_.judged, n);
    widen(aligned_.in_run, n);
    widen(aligned_.first_unjudged, n);
    widen(aligned_.tied, n);
    widen(aligned_.straddling, n);
    widen(aligned_.duplicates, n);
    widen(aligned_.identical, n);
    widen(aligned_.excluded, n);
    widen(aligned_.breaches, n);
    if (!with_top_) return;
    widen(top_places_, n);
    widen(top_sizes_, n);
  }
  // Whether any hit that counts is tied. The pools may also hold hits of lists that were done again later.
  bool any_tied() const {
    bool possible = false;
    for (const HitPool& pool : pools_) possible = possible || pool.tied();
    for (size_t query = 0; possible && query < aligned_.n_qrels_queries; ++query) {
      size_t from = first_hit(query), count = static_cast<size_t>(aligned_.hit_offsets[query + 1] - aligned_.hit_offsets[query]);
      for (size_t i = from; i < from + count; ++i) {
        TieSpan span = pool_of(query).span(i);
        if (span.first != span.last) return true;
      }
    }
    return false;
  }
  static uint64_t place(size_t worker, size_t start) { return (static_cast<uint64_t>(worker) << 48) | start; }
  static size_t start_of(uint64_t place) { return place & ((1ull << 48) - 1); }
  const HitPool& pool_of(size_t query) const { return pools_[places_[query] >> 48]; }
  size_t first_hit(size_t query) const { return start_of(places_[query]); }
  void copy_hits(const Table& qrels) {
    size_t hits = static_cast<size_t>(aligned_.hit_offsets[aligned_.n_queries]);
    bool tied = any_tied();
    aligned_.hit_row = Array<int64_t>::raw(hits);
    aligned_.hit_rank = Array<int32_t>::raw(hits);
    aligned_.tie_first = Array<int32_t>::raw(tied ? hits : 0);
    aligned_.tie_last = Array<int32_t>::raw(tied ? hits : 0);
    for (size_t query = 0; query < aligned_.n_qrels_queries; ++query) {
      const HitPool& pool = pool_of(query);
      size_t from = first_hit(query);
      auto to = static_cast<size_t>(aligned_.hit_offsets[query]), end = static_cast<size_t>(aligned_.hit_offsets[query + 1]);
      for (; to < end; ++to, ++from) {
        aligned_.hit_row[to] = qrels.offsets[query] + pool[from].judgment;
        aligned_.hit_rank[to] = pool[from].rank;
        if (!tied) continue;
        TieSpan span = pool.span(from);
        aligned_.tie_first[to] = span.first;
        aligned_.tie_last[to] = span.last;
      }
    }
    pools_.clear();
  }
  void copy_unjudged() {
    Array<int64_t>& offsets = aligned_.unjudged_offsets;
    for (size_t query = 0; query < aligned_.n_qrels_queries; ++query) offsets[query + 1] += offsets[query];
    auto size = static_cast<size_t>(offsets[aligned_.n_qrels_queries]);
    aligned_.unjudged_key = Array<uint64_t>::raw(size);
    aligned_.unjudged_rank = Array<int32_t>::raw(size);
    aligned_.unjudged_first = Array<int32_t>::raw(size);
    aligned_.unjudged_last = Array<int32_t>::raw(size);
    for (size_t query = 0; query < aligned_.n_qrels_queries; ++query) {
      const Pool<Unjudged>& pool = unjudged_pools_[unjudged_places_[query] >> 48];
      size_t from = start_of(unjudged_places_[query]);
      for (auto to = static_cast<size_t>(offsets[query]), end = static_cast<size_t>(offsets[query + 1]); to < end; ++to, ++from) {
        const Unjudged& one = pool[from];
        aligned_.unjudged_key[to] = one.key;
        aligned_.unjudged_rank[to] = one.rank;
        aligned_.unjudged_first[to] = one.first;
        aligned_.unjudged_last[to] = one.last;
      }
    }
    unjudged_pools_.clear();
  }
  void copy_top(const Table& qrels) {
    Table& table = aligned_.top.table;
    size_t answered = 0, rows = 0;
    for (size_t query = 0; query < aligned_.n_queries; ++query) {
      answered += aligned_.in_run[query];
      rows += top_sizes_[query];
    }
    table.offsets = Array<int64_t>::raw(answered + 1);
    table.values = Array<double>::raw(rows);
    aligned_.top.tied = Array<uint8_t>::raw(rows);
    table.offsets[0] = 0;
    size_t to = 0, place = 0;
    for (size_t query = 0; query < aligned_.n_queries; ++query) {
      if (!aligned_.in_run[query]) continue;
      table.index.add(table.queries, query < qrels.n_queries() ? qrels.queries[query] : aligned_.run_only[query - qrels.n_queries()]);
      const TopPool& pool = top_pools_[top_places_[query] >> 48];
      size_t from = start_of(top_places_[query]);
      for (size_t end = from + top_sizes_[query]; from < end; ++from, ++to) {
        table.documents.push(pool.document(from));
        table.values[to] = pool.score(from);
        aligned_.top.tied[to] = pool.tied(from);
      }
      table.offsets[++place] = static_cast<int64_t>(to);
    }
    top_pools_.clear();
  }

  Aligned aligned_;
  Array<uint64_t> places_;  // per query of the qrels: worker, and first hit in its pool
  Array<uint64_t> unjudged_places_;
  Array<uint64_t> top_places_;  // per query of either
  Array<uint32_t> top_sizes_;
  Array<int64_t> lost_;     // documents of the list that are not ranked
  std::atomic<bool> any_lost_{false};
  std::vector<HitPool> pools_;
  std::vector<Pool<Unjudged>> unjudged_pools_;
  std::vector<TopPool> top_pools_;
  bool with_top_;
};

}  // namespace idealrank
