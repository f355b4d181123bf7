// Joins a run that is still text to its qrels, query by query: each chunk of lines is parsed, ranked, joined and forgotten.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "align.hpp"
#include "aligned.hpp"
#include "list.hpp"
#include "parallel.hpp"
#include "segments.hpp"

namespace idealrank {

// The list of a query the qrels do not know, small because there may be ten million of them: what few lists have stands elsewhere.
struct RunOnlyList {
  uint64_t place;
  uint32_t id_size, target;
  uint32_t returned;
  uint32_t remarks;  // their number + 1, or 0: as long as returned, no ties, no duplicates, no id of the query
};
struct Remarks {
  uint32_t length;
  int32_t tied, straddling, duplicates, identical, excluded, breaches;
};

class TextAligner {
 public:
  TextAligner(const Table& qrels, const Sources& sources, const ListOptions& options, int threads, size_t chunk_bytes)
      : qrels_(qrels),
        sources_(sources),
        chunks_(cut(sources, chunk_size(sources, chunk_bytes))),
        assembly_(qrels.n_queries(), worker_count(threads, chunks_.size()), options),
        seen_(qrels.n_queries()),
        first_place_(Array<uint64_t>::raw(qrels.n_queries())) {
    size_t workers = worker_count(threads, chunks_.size());
    for (size_t i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>(options));
  }

  Aligned align(Progress* progress) {
    if (progress) progress->total = sources_.total();
    share(chunks_.size(), workers_.size(), progress, [&](size_t worker, size_t task) {
      read_chunk(worker, chunks_[task]);
      if (progress) progress->done += static_cast<uint64_t>(chunks_[task].end - chunks_[task].begin);
    });
    gather_run_only();
    redo_scattered(progress);
    if (problem_.any()) throw problem_.error(sources_);
    first_place_ = Array<uint64_t>();  // the results need the room more
    Aligned aligned = assembly_.finish(qrels_);
    LineCounts counts;
    for (const auto& worker : workers_) counts.add(worker->counts);
    count_lines(counts, aligned.counters);
    aligned.counters["scattered_queries"] = scattered_.load();
    return aligned;
  }

 private:
  struct Worker {
    explicit Worker(const ListOptions& options) : list(options) {}
    RankedList list;
    Pool<RunOnlyList> run_only;
    Pool<Remarks> remarks;
    Pool<uint64_t> tops;  // per list of run_only, where they are kept: the first of its documents
    Pool<Segment> more;  // segments of queries that some segment had claimed before
    LineCounts counts;
    uint32_t last_target = IdIndex::absent;
  };

  void read_chunk(size_t number, const Chunk& chunk) {
    if (problem_.place() <= sources_.place(chunk.source, chunk.begin)) return;
    Worker& worker = *workers_[number];
    LineReader reader(sources_.layout, chunk.begin, chunk.end, sources_.parts[chunk.source].end);
    Line line;
    Bytes query;
    const char* start = chunk.begin;
    worker.list.clear();
    for (;;) {
      Step step = reader.next(line);
      if (step != Step::data || !line.same_query) [[unlikely]] {
        if (worker.list.size() && !close(number, sources_.place(chunk.source, start), query)) break;
        if (step == Step::problem) problem_.note(reader.problem(), sources_.place(chunk.source, line.begin), reader.detail());
        if (step != Step::data) break;
        query = line.query;
        start = line.begin;
        worker.list.clear();
      }
      worker.list.push(line.document, line.value);
    }
    worker.counts.add(reader.counts());
  }

  // One segment is complete. False: it has a problem, and nothing after it in the chunk matters any more.
  bool close(size_t number, uint64_t place, Bytes query) {
    Worker& worker = *workers_[number];
    uint32_t target = qrels_.find_query(query, worker.last_target);
    if (target != IdIndex::absent) {
      worker.last_target = target;
      if (seen_[target].exchange(1, std::memory_order_relaxed)) {
        worker.more.push({place, target});
        return true;
      }
      first_place_[target] = place;
    }
    // The segment is noted even if it has a duplicate: put together with others the query may have one earlier.
    if (target == IdIndex::absent) worker.run_only.push({place, static_cast<uint32_t>(query.size()), 0, 0, 0});
    ListSummary summary;
    if (!settle(worker.list, query, summary)) return false;
    if (target != IdIndex::absent) {
      place_list(worker.list, qrels_, target, summary, assembly_, number);
    } else {
      rank_run_only(worker, number, summary);
    }
    return true;
  }
  void rank_run_only(Worker& worker, size_t number, ListSummary& summary) {
    worker.list.join_nothing();
    worker.list.rank();
    worker.list.emit(summary, assembly_.pool(number));
    if (worker.list.keeps_top()) {
      worker.tops.push(assembly_.top_pool(number).size());
      worker.list.emit_top(assembly_.top_pool(number));
    }
    RunOnlyList& list = worker.run_only.back();
    list.returned = static_cast<uint32_t>(summary.returned);
    if (summary.length == summary.returned && !summary.tied && !summary.duplicates && !summary.identical) return;
    worker.remarks.push({static_cast<uint32_t>(summary.length), summary.tied, summary.straddling, summary.duplicates, summary.identical,
                         summary.excluded, summary.breaches});
    list.remarks = static_cast<uint32_t>(worker.remarks.size());
  }

  bool settle(RankedList& list, Bytes query, ListSummary& summary) {
    size_t first_of = 0, repeated = list.settle_duplicates(summary, first_of);
    if (repeated == RankedList::none) {
      list.screen(query, summary);
      return true;
    }
    uint64_t earlier = line_place(sources_, list.id(first_of).data());
    problem_.note(Problem::duplicate, line_place(sources_, list.id(repeated).data()), "", earlier);
    return false;
  }

  void gather_run_only() {
    std::vector<Pool<RunOnlyList>*> pools;
    for (const auto& worker : workers_) pools.push_back(&worker->run_only);
    IdPool& ids = assembly_.run_only();
    std::vector<bool> scattered = number_queries(sources_, pools, ids);
    assembly_.add_queries(ids.size());
    for (size_t number = 0; number < workers_.size(); ++number) place_run_only(number, scattered);
  }
  void place_run_only(size_t number, const std::vector<bool>& scattered) {
    Worker& worker = *workers_[number];
    for (size_t i = 0; i < worker.run_only.size(); ++i) {
      const RunOnlyList& list = worker.run_only[i];
      auto target = static_cast<uint32_t>(qrels_.n_queries() + list.target);
      if (scattered[list.target]) worker.more.push({list.place, target});
      ListSummary summary;
      const Remarks plain{list.returned, 0, 0, 0, 0, 0, 0}, remarks = list.remarks ? worker.remarks[list.remarks - 1] : plain;
      summary.returned = list.returned;
      summary.length = remarks.length;
      summary.first_unjudged = remarks.length ? 1 : 0;
      summary.tied = remarks.tied;
      summary.straddling = remarks.straddling;
      summary.duplicates = remarks.duplicates;
      summary.identical = remarks.identical;
      summary.excluded = remarks.excluded;
      summary.breaches = remarks.breaches;
      assembly_.put(target, summary);
      if (i < worker.tops.size()) assembly_.put_top(target, number, worker.tops[i], worker.list.top_of(remarks.length));
    }
    worker.run_only = Pool<RunOnlyList>();
    worker.remarks = Pool<Remarks>();
    worker.tops = Pool<uint64_t>();
  }

  void redo_scattered(Progress* progress) {
    Pool<Segment> segments;
    for (const auto& worker : workers_) {
      for (const Segment& segment : worker->more) segments.push(segment);
      worker->more = Pool<Segment>();
    }
    add_first_segments(segments);
    std::vector<size_t> starts = group_segments(segments);
    size_t queries = starts.size() - 1;
    constexpr size_t block = 16;
    share((queries + block - 1) / block, workers_.size(), progress, [&](size_t worker, size_t task) {
      for (size_t i = task * block; i < std::min((task + 1) * block, queries); ++i) {
        redo(worker, segments.data() + starts[i], starts[i + 1] - starts[i]);
      }
    });
  }
  // The segment that claimed a query of the qrels is known by that query only.
  void add_first_segments(Pool<Segment>& segments) {
    size_t known = segments.size();
    for (size_t i = 0; i < known; ++i) {
      uint32_t target = segments[i].target;
      if (target >= qrels_.n_queries() || seen_[target].load(std::memory_order_relaxed) != 1) continue;
      seen_[target] = 2;
      segments.push({first_place_[target], target});
    }
  }
  void redo(size_t number, const Segment* segments, size_t count) {
    RankedList& list = workers_[number]->list;
    list.clear();
    size_t pieces = 0;
    read_segments(sources_, segments, count, problem_.place(), [&](const Line& line, uint64_t, bool begins) {
      list.push(line.document, line.value);
      pieces += begins;
    });
    if (pieces > 1) scattered_.fetch_add(1, std::memory_order_relaxed);
    ListSummary summary;
    const uint32_t target = segments->target;
    const Bytes query = target < qrels_.n_queries() ? qrels_.queries[target] : assembly_.run_only()[target - qrels_.n_queries()];
    if (settle(list, query, summary)) place_list(list, qrels_, target, summary, assembly_, number);
  }

  const Table& qrels_;
  const Sources& sources_;
  std::vector<Chunk> chunks_;
  Assembly assembly_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::atomic<uint8_t>> seen_;  // per query of the qrels: 1 = a segment has been met
  Array<uint64_t> first_place_;
  FirstProblem problem_;
  std::atomic<int64_t> scattered_{0};
};

}  // namespace idealrank
