// One line of a TREC file, by the written rules and without haste. scan.hpp has the fast way for the lines that look ordinary;
// whatever it does not recognise comes here, so the rules stand in one place only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "memory.hpp"
#include "number.hpp"

namespace idealrank {

enum class Layout { qrels, run };  // QUERY ITERATION DOCUMENT GRADE | QUERY Q0 DOCUMENT RANK SCORE TAG

inline int field_count(Layout layout) { return layout == Layout::run ? 6 : 4; }

// changed: the text is not what it was when it was read first. cut: its file became shorter.
enum class Problem : uint8_t { none, fields, number, nan, control, duplicate, empty_id, too_long, changed, cut };

inline const char* problem_name(Problem problem) {
  switch (problem) {
    case Problem::none: return "none";
    case Problem::fields: return "fields";
    case Problem::number: return "number";
    case Problem::nan: return "nan";
    case Problem::control: return "control";
    case Problem::duplicate: return "duplicate";
    case Problem::empty_id: return "empty-id";
    case Problem::too_long: return "too-long";
    case Problem::changed: return "changed";
    case Problem::cut: return "cut";
  }
  return "none";
}

enum class LineKind : uint8_t { data, blank, comment, problem };

// The spans point into the text.
struct Line {
  Bytes query, document, number;
  Bytes between;  // from the document to the number: blanks, and in a run the rank
  const char* begin = nullptr;
  double value = 0.0;
  bool same_query = false;  // as the data line before; set by LineReader

  // The rank as written; empty in qrels.
  Bytes rank() const {
    constexpr std::string_view blanks = " \t";
    size_t first = between.find_first_not_of(blanks);
    return first == Bytes::npos ? Bytes() : between.substr(first, between.find_last_not_of(blanks) + 1 - first);
  }
};

struct ParsedLine {
  LineKind kind = LineKind::blank;
  Problem problem = Problem::none;
  bool tab_separated = false;
  bool comment_like_data = false;
  Line line;
  std::string detail;  // number of fields, the bad field, or the control byte
};

namespace detail {

inline constexpr size_t shown_bytes = 120;  // of a line or field in an error

inline bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }

struct Fields {
  Bytes field[6];
  int count = 0;  // fields found; more than 6 are counted, not kept
};

// Tabs as the only separators, so that ids may hold spaces; blanks at either end of a field are not part of it.
inline bool split_at_tabs(const char* begin, const char* end, int wanted, Fields& fields) {
  fields.count = 0;
  for (const char* at = begin;; ++at) {
    const char* stop = at;
    while (stop < end && *stop != '\t') ++stop;
    const char* last = stop;
    while (at < last && *at == ' ') ++at;
    while (last > at && last[-1] == ' ') --last;
    if (at == last || fields.count == wanted) return false;
    fields.field[fields.count++] = Bytes(at, static_cast<size_t>(last - at));
    at = stop;
    if (at == end) return fields.count == wanted;
  }
}

// Runs of blanks separate; in a run file the sixth field is all the rest of the line.
inline void split_at_blanks(const char* begin, const char* end, int wanted, Fields& fields) {
  fields.count = 0;
  const char* at = begin;
  while (true) {
    while (at < end && is_blank(*at)) ++at;
    if (at == end) return;
    // The byte just seen is in the field whatever it is by now: no field is empty, even if the text changes.
    const char* first = at++;
    if (wanted == 6 && fields.count == 5) {
      while (end > at && is_blank(end[-1])) --end;
      at = end;
    } else {
      while (at < end && !is_blank(*at)) ++at;
    }
    if (fields.count < 6) fields.field[fields.count] = Bytes(first, static_cast<size_t>(at - first));
    ++fields.count;
  }
}

inline bool has_tabs(const char* begin, const char* end, int wanted) {
  int count = 0;
  for (const char* at = begin; count <= wanted; ++at, ++count) {
    at = static_cast<const char*>(std::memchr(at, '\t', static_cast<size_t>(end - at)));
    if (!at) break;
  }
  return count == wanted;
}

inline const char* find_control(const char* begin, const char* end) {
  for (const char* at = begin; at < end; ++at) {
    if (static_cast<unsigned char>(*at) < 0x20 && *at != '\t') return at;
  }
  return nullptr;
}

inline std::string hexadecimal(char byte) {
  const char* digits = "0123456789abcdef";
  unsigned value = static_cast<unsigned char>(byte);
  return std::string("0x") + digits[value >> 4] + digits[value & 15];
}

inline void fail(ParsedLine& parsed, Problem problem, std::string detail) {
  parsed.kind = LineKind::problem;
  parsed.problem = problem;
  parsed.detail = std::move(detail);
}

inline void parse_data(Layout layout, const char* begin, const char* end, ParsedLine& parsed) {
  Fields fields;
  int wanted = field_count(layout);
  parsed.tab_separated = has_tabs(begin, end, wanted - 1) && split_at_tabs(begin, end, wanted, fields);
  if (!parsed.tab_separated) split_at_blanks(begin, end, wanted, fields);
  if (const char* control = find_control(begin, end)) return fail(parsed, Problem::control, hexadecimal(*control));
  if (fields.count != wanted) return fail(parsed, Problem::fields, std::to_string(fields.count));
  bool run = layout == Layout::run;
  Bytes number = fields.field[run ? 4 : 3];
  const char* after = fields.field[2].data() + fields.field[2].size();
  parsed.line = {fields.field[0], fields.field[2], number, Bytes(after, static_cast<size_t>(number.data() - after)), begin};
  // Lengths are kept in 32 bits further on.
  if (parsed.line.document.size() >= UINT32_MAX || parsed.line.query.size() >= UINT32_MAX) {
    return fail(parsed, Problem::too_long, std::to_string(end - begin));
  }
  NumberKind kind = parse_number(number.data(), number.data() + number.size(), parsed.line.value);
  if (kind == NumberKind::number) {
    parsed.kind = LineKind::data;
  } else {
    fail(parsed, kind == NumberKind::nan ? Problem::nan : Problem::number, std::string(number.substr(0, shown_bytes)));
  }
}

}  // namespace detail

// The line [begin, end) without its line feed. One carriage return before the line feed (or the end of the text) belongs to it.
inline ParsedLine parse_line(Layout layout, const char* begin, const char* end) {
  ParsedLine parsed;
  parsed.line.begin = begin;
  if (end > begin && end[-1] == '\r') --end;
  const char* first = begin;
  while (first < end && detail::is_blank(*first)) ++first;
  if (first == end) return parsed;
  detail::parse_data(layout, begin, end, parsed);
  if (*begin == '#') {
    parsed.comment_like_data = parsed.kind == LineKind::data;
    parsed.kind = LineKind::comment;
    parsed.problem = Problem::none;
    parsed.tab_separated = false;
  }
  return parsed;
}

}  // namespace idealrank
