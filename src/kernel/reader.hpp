// Lines of a piece of text, one after the other, with what was seen on the way counted.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "line.hpp"
#include "memory.hpp"

namespace idealrank {

struct LineCounts {
  int64_t lines = 0, rows = 0, comments = 0, comments_like_data = 0, blank = 0, tab_lines = 0;

  void add(const LineCounts& other) {
    lines += other.lines;
    rows += other.rows;
    comments += other.comments;
    comments_like_data += other.comments_like_data;
    blank += other.blank;
    tab_lines += other.tab_lines;
  }
};

enum class Step { data, problem, end };

class LineReader {
 public:
  // [begin, end) starts at a line; bytes up to `limit` may be looked at but belong to nobody.
  LineReader(Layout layout, const char* begin, const char* end) : layout_(layout), at_(begin), end_(end) {}

  Step next(Line& line) {
    while (at_ < end_) {
      Step step = slow(line);
      if (step != Step::end) return step;
    }
    return Step::end;
  }

  const char* at() const { return at_; }
  const LineCounts& counts() const { return counts_; }
  // After Step::problem: what was wrong with the line that `line.begin` points at, and the parsed line for comment checks.
  Problem problem() const { return problem_; }
  const std::string& detail() const { return detail_; }

 private:
  // Reads one line of any kind; Step::end stands for "nothing to hand out, go on".
  Step slow(Line& line) {
    const void* feed = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    const char* stop = feed ? static_cast<const char*>(feed) : end_;
    ParsedLine parsed = parse_line(layout_, at_, stop);
    at_ = feed ? stop + 1 : end_;
    ++counts_.lines;
    counts_.blank += parsed.kind == LineKind::blank;
    counts_.comments += parsed.kind == LineKind::comment;
    counts_.comments_like_data += parsed.comment_like_data;
    if (parsed.kind == LineKind::problem) {
      problem_ = parsed.problem;
      detail_ = std::move(parsed.detail);
      line = parsed.line;
      return Step::problem;
    }
    if (parsed.kind != LineKind::data) return Step::end;
    ++counts_.rows;
    counts_.tab_lines += parsed.tab_separated;
    line = parsed.line;
    return Step::data;
  }

  Layout layout_;
  const char* at_;
  const char* end_;
  LineCounts counts_;
  Problem problem_ = Problem::none;
  std::string detail_;
};

}  // namespace idealrank
