// A whole text into a Table.
#pragma once

#include <cstdint>
#include <optional>

#include "build.hpp"
#include "reader.hpp"
#include "source.hpp"
#include "table.hpp"

namespace idealrank {

struct ReadOptions {
  Duplicates duplicates = Duplicates::error;
  std::optional<std::string> only_query;
};

inline void count_lines(const LineCounts& counts, Counters& counters) {
  counters["lines"] = counts.lines;
  counters["rows"] = counts.rows;
  counters["comments"] = counts.comments;
  counters["comments_like_data"] = counts.comments_like_data;
  counters["blank"] = counts.blank;
  counters["tab_lines"] = counts.tab_lines;
}

inline Table read_sources(const Sources& sources, const ReadOptions& options) {
  TableBuilder builder;
  Pool<Position> places;
  LineCounts counts;
  std::optional<ParseError> failure;
  for (uint32_t source = 0; source < sources.parts.size() && !failure; ++source) {
    LineReader reader(sources.layout, sources.parts[source].begin, sources.parts[source].end);
    Line line;
    for (Step step; (step = reader.next(line)) != Step::end;) {
      if (step == Step::problem) {
        failure = sources.error(reader.problem(), {source, line.begin}, reader.detail());
        break;
      }
      if (options.only_query && line.query != *options.only_query) continue;
      builder.row(builder.query(line.query), line.document, line.value);
      places.push({source, line.begin});
    }
    counts.add(reader.counts());
  }
  Table table = builder.finish(options.duplicates, [&](size_t first, size_t second) {
    return sources.error(Problem::duplicate, places[second], std::to_string(places[first].source) + ":" + std::to_string(sources.line_of(places[first])));
  });
  if (failure) throw *failure;
  count_lines(counts, table.counters);
  return table;
}

}  // namespace idealrank
