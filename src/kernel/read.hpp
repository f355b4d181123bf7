// A whole text into a Table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "build.hpp"
#include "parallel.hpp"
#include "reader.hpp"
#include "source.hpp"
#include "table.hpp"

namespace idealrank {

struct ReadOptions {
  Duplicates duplicates = Duplicates::error;
  std::optional<std::string> only_query;
  int threads = 0;
  size_t chunk_bytes = 0;
};

// The rows of one chunk, parsed; its memory is used again for other chunks.
class Fragment {
 public:
  void read(const Sources& sources, const Chunk& chunk, const std::optional<std::string>& only_query) {
    queries_.clear();
    rows_.clear();
    documents_.clear();
    values_.clear();
    place = Sources::nowhere;
    LineReader reader(sources.layout, chunk.begin, chunk.end, sources.parts[chunk.source].end);
    Line line;
    Step step;
    bool wanted = true;
    while ((step = reader.next(line)) == Step::data) {
      if (!line.same_query) {
        wanted = !only_query || line.query == *only_query;
        if (wanted) {
          queries_.push(line.query);
          rows_.push(0);
        }
      }
      if (!wanted) continue;
      ++rows_.back();
      documents_.push(line.document);
      values_.push(line.value);
    }
    counts = reader.counts();
    if (step != Step::problem) return;
    place = sources.place(chunk.source, line.begin);
    problem = reader.problem();
    detail = reader.detail();
  }
  void append_to(TableBuilder& builder) const {
    constexpr size_t ahead = prefetch_distance;
    size_t row = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (i + ahead < rows_.size()) builder.expect(queries_[i + ahead]);
      builder.query(queries_[i]);
      for (size_t end = row + rows_[i]; row < end; ++row) builder.row(documents_[row], values_[row]);
    }
  }

  LineCounts counts;
  uint64_t place = Sources::nowhere;  // of the line with a problem, where reading ended
  Problem problem = Problem::none;
  std::string detail;

 private:
  // Copies: the builder looks at an id more than once, and the text may change.
  IdPool queries_, documents_;
  Pool<uint32_t> rows_;  // of each query in a row
  Pool<double> values_;
};

// Where input row `wanted` of a Table stands in its text. Asked once, for an error: so it is looked up by reading again.
inline uint64_t place_of_row(const Sources& sources, const ReadOptions& options, size_t wanted) {
  for (uint32_t source = 0; source < sources.parts.size(); ++source) {
    const Source& part = sources.parts[source];
    LineReader reader(sources.layout, part.begin, part.end, part.end);
    Line line;
    while (reader.next(line) == Step::data) {
      if (options.only_query && line.query != *options.only_query) continue;
      if (wanted-- == 0) return sources.place(source, line.begin);
    }
  }
  return Sources::nowhere;
}

// Parses a wave of chunks by all threads, then appends them in order, so that only a wave is ever held twice. Ends at the first line with a
// problem, which is returned.
inline std::optional<ParseError> read_rows(const Sources& sources, const ReadOptions& options, Progress* progress, TableBuilder& builder,
                                           LineCounts& counts) {
  std::vector<Chunk> chunks = cut(sources, chunk_size(sources, options.chunk_bytes));
  size_t workers = worker_count(options.threads, chunks.size());
  std::vector<Fragment> wave(std::min(chunks.size(), workers * 4));
  if (progress) progress->total = sources.total();
  for (size_t first = 0; first < chunks.size(); first += wave.size()) {
    size_t size = std::min(wave.size(), chunks.size() - first);
    share(size, workers, progress, [&](size_t, size_t task) {
      const Chunk& chunk = chunks[first + task];
      wave[task].read(sources, chunk, options.only_query);
      if (progress) progress->done += static_cast<uint64_t>(chunk.end - chunk.begin);
    });
    for (size_t i = 0; i < size; ++i) {
      wave[i].append_to(builder);
      counts.add(wave[i].counts);
      if (wave[i].place != Sources::nowhere) return sources.error(wave[i].problem, wave[i].place, wave[i].detail);
    }
  }
  return std::nullopt;
}

inline Table read_sources(const Sources& sources, const ReadOptions& options, Progress* progress) {
  TableBuilder builder;
  LineCounts counts;
  std::optional<ParseError> failure = read_rows(sources, options, progress, builder, counts);
  // All rows stand before the line that failed, so a duplicate among them comes first.
  Table table = builder.finish(options.duplicates, [&](size_t earlier, size_t later) {
    uint64_t first = place_of_row(sources, options, earlier), second = place_of_row(sources, options, later);
    if (first == Sources::nowhere || second == Sources::nowhere) return sources.changed(0);
    return sources.error(Problem::duplicate, second, sources.source_and_line(first));
  });
  if (failure) throw *failure;
  count_lines(counts, table.counters);
  return table;
}

}  // namespace idealrank
