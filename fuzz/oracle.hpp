// Reading and ranking by the definition: one line at a time by parse_line, standard containers, no threads, no haste.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "duplicates.hpp"
#include "harness.hpp"
#include "line.hpp"
#include "list.hpp"
#include "source.hpp"

namespace oracle {

using idealrank::Duplicates;
using idealrank::Layout;
using idealrank::LineKind;
using idealrank::ListOptions;
using idealrank::ParseError;
using idealrank::Ties;

struct Row {
  std::string document;
  double value = 0.0;
  std::string place;  // SOURCE:LINE
};

struct Query {
  std::string id;
  std::vector<Row> rows;
};

struct Rows {
  std::vector<Query> queries;
  int64_t lines = 0, data = 0, comments = 0, comments_like_data = 0, blank = 0, tab_lines = 0, duplicates = 0;
  std::optional<ParseError> error;

  Query& query(std::string_view id) {
    for (Query& one : queries)
      if (one.id == id) return one;
    queries.push_back({std::string(id), {}});
    return queries.back();
  }
};

// The row with this document, or the number of rows.
inline size_t find(const std::vector<Row>& rows, std::string_view document) {
  size_t at = 0;
  while (at < rows.size() && rows[at].document != document) ++at;
  return at;
}

// Rows without repeated documents; the kept row stays at its own place. Returns how many went.
inline int64_t drop_duplicates(std::vector<Row>& rows, Duplicates policy) {
  std::vector<Row> kept;
  int64_t surplus = 0;
  for (const Row& row : rows) {
    const size_t twin = find(kept, row.document);
    if (twin == kept.size()) {
      kept.push_back(row);
      continue;
    }
    ++surplus;
    if (policy == Duplicates::last || (policy == Duplicates::best && row.value > kept[twin].value)) {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(twin));
      kept.push_back(row);
    }
  }
  rows = std::move(kept);
  return surplus;
}

// Takes one line in; false when it has a problem.
inline bool add_line(Rows& out, Layout layout, uint32_t source, uint64_t number, std::string_view text, bool refuse_duplicates,
                     const std::optional<std::string>& only_query) {
  const idealrank::ParsedLine parsed = idealrank::parse_line(layout, text.data(), text.data() + text.size());
  const auto fail = [&](idealrank::Problem problem, const std::string& detail) {
    if (text.ends_with('\r')) text.remove_suffix(1);
    out.error = ParseError{idealrank::problem_name(problem), source, number, std::string(text.substr(0, 120)), detail};
    return false;
  };
  ++out.lines;
  out.blank += parsed.kind == LineKind::blank;
  out.comments += parsed.kind == LineKind::comment;
  out.comments_like_data += parsed.comment_like_data;
  if (parsed.kind == LineKind::problem) return fail(parsed.problem, parsed.detail);
  if (parsed.kind != LineKind::data) return true;
  // The C library rounds correctly too, and shares no line with the parser.
  const std::string number_text(parsed.line.number);
  char* end = nullptr;
  const double expected = std::strtod(number_text.c_str(), &end);
  PROMISE(*end == '\0' && std::memcmp(&expected, &parsed.line.value, sizeof expected) == 0);
  ++out.data;
  out.tab_lines += parsed.tab_separated;
  if (only_query && parsed.line.query != *only_query) return true;
  std::vector<Row>& rows = out.query(parsed.line.query).rows;
  const size_t twin = refuse_duplicates ? find(rows, parsed.line.document) : rows.size();
  if (twin < rows.size()) return fail(idealrank::Problem::duplicate, rows[twin].place);
  rows.push_back({std::string(parsed.line.document), parsed.line.value, std::to_string(source) + ":" + std::to_string(number)});
  return true;
}

// Calls use(source, number of the line, line) until it says false.
template <class Use>
void each_line(const std::vector<std::string>& sources, Use&& use) {
  for (uint32_t source = 0; source < sources.size(); ++source) {
    std::string_view text = sources[source];
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    for (uint64_t number = 1; !text.empty(); ++number) {
      const size_t stop = text.find('\n');
      const std::string_view line = text.substr(0, stop);
      text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
      if (!use(source, number, line)) return;
    }
  }
}

inline Rows read(Layout layout, const std::vector<std::string>& sources, Duplicates policy, const std::optional<std::string>& only_query) {
  Rows out;
  each_line(sources, [&](uint32_t source, uint64_t number, std::string_view line) {
    return add_line(out, layout, source, number, line, policy == Duplicates::error, only_query);
  });
  if (policy != Duplicates::keep && !out.error)
    for (Query& query : out.queries) out.duplicates += drop_duplicates(query.rows, policy);
  return out;
}

// How often each kind of problem occurs that can be seen line by line, and repeated documents.
inline std::map<std::string, int64_t> problems(Layout layout, const std::vector<std::string>& sources) {
  std::map<std::string, int64_t> counts{{"fields", 0}, {"number", 0},    {"nan", 0},     {"control", 0},          {"too-long", 0},
                                        {"no-data", 0}, {"duplicate", 0}, {"infinite", 0}, {"comment-like-data", 0}};
  std::map<std::pair<std::string, std::string>, int> seen;
  each_line(sources, [&](uint32_t, uint64_t, std::string_view text) {
    const idealrank::ParsedLine parsed = idealrank::parse_line(layout, text.data(), text.data() + text.size());
    counts["comment-like-data"] += parsed.comment_like_data;
    if (parsed.kind == LineKind::problem) ++counts[idealrank::problem_name(parsed.problem)];
    if (parsed.kind != LineKind::data) return true;
    counts["infinite"] += parsed.line.value - parsed.line.value != 0.0;
    counts["duplicate"] += seen[{std::string(parsed.line.query), std::string(parsed.line.document)}]++ > 0;
    return true;
  });
  counts["no-data"] = seen.empty();
  return counts;
}

struct Hit {
  int64_t row;
  int32_t rank, first, last;
};

// A document among the first of a list, and whether another of the list has its score.
struct TopDocument {
  Row row;
  bool tied;
};

struct List {
  std::vector<Hit> hits;
  std::vector<TopDocument> top;
  std::vector<idealrank::Unjudged> unjudged;
  int64_t length = 0, returned = 0, judged = 0;
  int32_t first_unjudged = 0, tied = 0, straddling = 0, duplicates = 0;
};

inline void order(std::vector<Row>& rows, Ties ties) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (a.value != b.value) return a.value > b.value;
    if (ties == Ties::input) return false;
    return ties == Ties::descending ? a.document > b.document : a.document < b.document;
  });
}

// One list of a run (duplicates as read) against the judgments of its query, whose first row is `first_row`. No judgments: a
// query that only the run has.
inline List rank(std::vector<Row> rows, const std::vector<Row>* judgments, int64_t first_row, const ListOptions& options) {
  List out;
  out.returned = static_cast<int64_t>(rows.size());
  if (options.float32)
    for (Row& row : rows) row.value = static_cast<double>(static_cast<float>(row.value));
  std::vector<Row> once = rows;
  out.duplicates = static_cast<int32_t>(drop_duplicates(once, options.duplicates));
  if (options.duplicates != Duplicates::twice) rows = std::move(once);
  const auto judgment = [&](const Row& row) -> int64_t {
    const size_t found = judgments ? find(*judgments, row.document) : 0;
    return judgments && found < judgments->size() ? first_row + static_cast<int64_t>(found) : -1;
  };
  std::erase_if(rows, [&](const Row& row) {
    const int64_t found = judgment(row);
    return found < 0 ? options.skip_unjudged : options.removed != nullptr && options.removed[found] != 0;
  });
  order(rows, options.ties);
  out.length = static_cast<int64_t>(rows.size());
  const auto n = static_cast<int32_t>(rows.size()), depth = static_cast<int32_t>(options.depth);
  for (int32_t begin = 0, end; begin < n; begin = end) {
    for (end = begin + 1; end < n && rows[static_cast<size_t>(end)].value == rows[static_cast<size_t>(begin)].value;) ++end;
    if (end - begin > 1) out.tied += end - begin;
    out.straddling += depth > 0 && begin < depth && end > depth;
    for (int32_t i = begin; i < end; ++i) {
      if (i < options.top_depth) out.top.push_back({rows[static_cast<size_t>(i)], end - begin > 1});
      const int64_t found = judgment(rows[static_cast<size_t>(i)]);
      if (found < 0 && !out.first_unjudged) out.first_unjudged = i + 1;
      if (found < 0 && judgments != nullptr && begin < options.unjudged_depth) {
        out.unjudged.push_back({idealrank::document_key(rows[static_cast<size_t>(i)].document), i + 1, begin + 1, end});
      }
      out.judged += found >= 0;
      if (found >= 0 && (depth == 0 || begin < depth)) out.hits.push_back({found, i + 1, begin + 1, end});
    }
  }
  return out;
}

}  // namespace oracle
