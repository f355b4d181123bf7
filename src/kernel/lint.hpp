// Every problem of a text at once: what would stop a reader, and what should make one wonder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "duplicates.hpp"
#include "findings.hpp"
#include "parallel.hpp"
#include "segments.hpp"
#include "table.hpp"
#include "utf8.hpp"

namespace idealrank {

// The lines of one query, looked at together.
class QueryCheck {
 public:
  QueryCheck(const Sources& sources, Findings& findings) : sources_(sources), findings_(findings) {}

  void check(const Segment* segments, size_t count) {
    rows_.clear();
    uint64_t first = segments->place;
    read_segments(sources_, segments, count, Sources::nowhere, [&](const Line& line, uint64_t place, bool begins) {
      if (begins && !rows_.empty()) findings_.note(Finding::scattered, place, first);
      Row row{line.document.data(), static_cast<uint32_t>(line.document.size()), false, place, line.value, 0};
      row.ranked = whole_number(line.rank(), row.rank);
      rows_.push(row);
    });
    repeated_documents();
    if (sources_.layout == Layout::run) ranks_against_scores();
  }

  // Reads a rank; what is no whole number is reported per line, elsewhere.
  static bool whole_number(Bytes text, int64_t& value) {
    bool negative = !text.empty() && text[0] == '-';
    if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
    if (text.empty() || text.size() > 18) return false;
    value = 0;
    for (char digit : text) {
      if (!is_digit(digit)) return false;
      value = value * 10 + (digit - '0');
    }
    if (negative) value = -value;
    return true;
  }

 private:
  struct Row {
    const char* document;
    uint32_t size;
    bool ranked;
    uint64_t place;
    double score;
    int64_t rank;
  };

  void repeated_documents() {
    auto document = [&](size_t i) { return Bytes(rows_[i].document, rows_[i].size); };
    finder_.start(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      size_t other = finder_.add(document(i), i, document);
      if (other != i) findings_.note(Finding::duplicate, rows_[i].place, rows_[other].place);
    }
  }
  // A rank not above that of a document with a higher score.
  void ranks_against_scores() {
    auto falling = [](const Row& a, const Row& b) { return a.score > b.score; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), falling)) std::sort(rows_.begin(), rows_.end(), falling);
    int64_t above = INT64_MIN, so_far = INT64_MIN;  // largest rank of the strictly higher scores; and with the equal ones
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i && rows_[i].score < rows_[i - 1].score) above = so_far;
      if (!rows_[i].ranked) continue;
      if (rows_[i].rank <= above) findings_.note(Finding::rank_order, rows_[i].place);
      so_far = std::max(so_far, rows_[i].rank);
    }
  }

  const Sources& sources_;
  Findings& findings_;
  Pool<Row> rows_;
  DuplicateFinder finder_;
};

class Linter {
 public:
  Linter(const Sources& sources, size_t examples, int threads, size_t chunk_bytes)
      : sources_(sources), chunks_(cut(sources, chunk_size(sources, chunk_bytes))), examples_(examples) {
    size_t workers = worker_count(threads, chunks_.size());
    for (size_t i = 0; i < workers; ++i) workers_.push_back(std::make_unique<Worker>(sources, examples));
  }

  std::vector<FindingReport> lint(Progress* progress) {
    if (progress) progress->total = 2 * sources_.total();
    share(chunks_.size(), workers_.size(), progress, [&](size_t worker, size_t task) {
      const Chunk& chunk = chunks_[task];
      check_lines(*workers_[worker], chunk);
      if (progress) progress->done += static_cast<uint64_t>(chunk.end - chunk.begin);
    });
    check_queries(progress);
    Findings all(examples_);
    int64_t rows = 0;
    for (const auto& worker : workers_) {
      all.add(worker->findings);
      rows += worker->rows;
    }
    if (rows == 0) all.note_without_line(Finding::no_data);
    return all.report(sources_);
  }

 private:
  struct QueryRecord {
    uint64_t place;
    uint32_t id_size, target;
  };
  struct Worker {
    Worker(const Sources& sources, size_t examples) : findings(examples), query(sources, findings) {}
    Findings findings;
    QueryCheck query;
    Pool<QueryRecord> records;
    int64_t rows = 0;
    bool query_is_utf8 = true;
  };

  void check_lines(Worker& worker, const Chunk& chunk) {
    LineReader reader(sources_.layout, chunk.begin, chunk.end, sources_.parts[chunk.source].end);
    reader.show_comments();
    Line line;
    for (Step step; (step = reader.next(line)) != Step::end;) {
      uint64_t place = sources_.place(chunk.source, line.begin);
      if (step == Step::data) {
        check_line(worker, line, place);
      } else if (step == Step::comment) {
        worker.findings.note(Finding::comment_like_data, place);
      } else {
        worker.findings.note(finding_of(reader.problem()), place, Sources::nowhere, reader.detail());
      }
    }
  }
  void check_line(Worker& worker, const Line& line, uint64_t place) {
    ++worker.rows;
    if (!line.same_query) {
      worker.records.push({place, static_cast<uint32_t>(line.query.size()), 0});
      worker.query_is_utf8 = valid_utf8(line.query);
    }
    if (std::isinf(line.value)) worker.findings.note(Finding::infinite, place, Sources::nowhere, line.number);
    if (!worker.query_is_utf8 || !valid_utf8(line.document)) worker.findings.note(Finding::utf8, place);
    int64_t rank;
    if (sources_.layout == Layout::run && !QueryCheck::whole_number(line.rank(), rank)) {
      worker.findings.note(Finding::rank, place, Sources::nowhere, line.rank());
    }
  }
  void check_queries(Progress* progress) {
    std::vector<Pool<QueryRecord>*> pools;
    for (const auto& worker : workers_) pools.push_back(&worker->records);
    IdPool ids;
    number_queries(sources_, pools, ids);
    Pool<Segment> segments;
    for (const auto& worker : workers_) {
      for (const QueryRecord& record : worker->records) segments.push({record.place, record.target});
      worker->records = Pool<QueryRecord>();
    }
    std::vector<size_t> starts = group_segments(segments);
    constexpr size_t block = 16;
    size_t queries = starts.size() - 1, tasks = (queries + block - 1) / block;
    share(tasks, workers_.size(), progress, [&](size_t worker, size_t task) {
      for (size_t i = task * block; i < std::min((task + 1) * block, queries); ++i) {
        workers_[worker]->query.check(segments.data() + starts[i], starts[i + 1] - starts[i]);
      }
      if (progress) progress->done += sources_.total() / tasks;
    });
  }

  const Sources& sources_;
  std::vector<Chunk> chunks_;
  size_t examples_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace idealrank
