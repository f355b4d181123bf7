// Lines of a piece of text, one after the other, with what was seen on the way counted.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "line.hpp"
#include "memory.hpp"
#include "scan.hpp"
#include "source.hpp"

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

inline void count_lines(const LineCounts& counts, Counters& counters) {
  counters["lines"] = counts.lines;
  counters["rows"] = counts.rows;
  counters["comments"] = counts.comments;
  counters["comments_like_data"] = counts.comments_like_data;
  counters["blank"] = counts.blank;
  counters["tab_lines"] = counts.tab_lines;
}

// comment: one that would parse as data, handed out only on request.
enum class Step { data, problem, comment, end };

class LineReader {
 public:
  // [begin, end) starts at a line. Bytes from `end` to `limit` may be looked at but are not read as lines.
  LineReader(Layout layout, const char* begin, const char* end, const char* limit)
      : layout_(layout), at_(begin), end_(end), fast_end_(safe_end(begin, end, limit)) {}

  // `line.same_query` says whether the query is that of the data line before.
  Step next(Line& line) {
    if (at_ < fast_end_ && *at_ != '#' && plain(line)) {
      ++plain_lines_;
      return Step::data;
    }
    return careful(line);
  }

  // Hands out comments that would parse as data, too.
  void show_comments() { show_comments_ = true; }
  // Where the next line begins.
  const char* at() const { return at_; }
  LineCounts counts() const {
    LineCounts all = counts_;
    all.lines += plain_lines_;
    all.rows += plain_lines_;
    return all;
  }
  // After Step::problem: what is wrong with the line that begins at `line.begin`.
  Problem problem() const { return problem_; }
  const std::string& detail() const { return detail_; }

 private:
  static const char* safe_end(const char* begin, const char* end, const char* limit) {
    // A block, and the words that may be read from any place inside it.
    constexpr ptrdiff_t window = block_bytes + 16;
    if (!fast_scan || limit - begin <= window) return begin;
    return limit - window < end ? limit - window : end;
  }

  // A line whose fields stand between single blanks and that ends inside the block. False: the careful way, nothing has happened yet.
  bool plain(Line& line) {
    const char* at = at_;
    Block block(at);
    BlockMasks masks = classify(block);
    if (!masks.controls) return false;
    unsigned stop = lowest(masks.controls);
    uint64_t blanks = masks.spaces & below(stop);
    bool tabs = at[stop] == '\t';
    if (tabs) [[unlikely]] {
      if (blanks) return false;
      uint64_t all = block.equal('\t');
      masks.controls &= ~all;
      if (!masks.controls) return false;
      stop = lowest(masks.controls);
      blanks = all & below(stop);
      if ((masks.spaces & below(stop)) || std::popcount(blanks) != field_count(layout_) - 1) return false;
    }
    unsigned feed = stop;
    if (at[stop] == '\r') ++feed;
    if (at[feed] != '\n' || at + feed >= end_limit()) return false;
    if (blanks & ((blanks << 1) | 1)) return false;
    if (!take_fields(line, at, blanks, stop)) return false;
    counts_.tab_lines += tabs;
    at_ = at + feed + 1;
    return true;
  }

  bool take_fields(Line& line, const char* at, uint64_t blanks, unsigned stop) {
    uint64_t second = without_lowest(blanks), third = without_lowest(second), fourth = without_lowest(third);
    unsigned document = lowest(second) + 1, document_end, number, number_end;
    if (!third) return false;
    document_end = lowest(third);
    if (layout_ == Layout::run) {
      uint64_t fifth = without_lowest(fourth);
      if (!fifth) return false;
      number = lowest(fourth) + 1;
      number_end = lowest(fifth);
      if (number_end + 1 == stop) return false;
      line.rank = Bytes(at + document_end + 1, number - 2 - document_end);
    } else {
      number = document_end + 1;
      number_end = stop;
      if (fourth || number == stop) return false;
    }
    unsigned query_end = lowest(blanks);
    const char* text = at + number;
    if (!plain_number(text, number_end - number, line.value)) [[unlikely]] {
      if (parse_number(text, at + number_end, line.value) != NumberKind::number) return false;
    }
    line.same_query = query_end == query_.size() && same_bytes(at, query_.data(), query_end);
    line.query = query_ = Bytes(at, query_end);
    line.document = Bytes(at + document, document_end - document);
    line.number = Bytes(text, number_end - number);
    line.begin = at;
    return true;
  }

  // The line feed must be inside what belongs to this reader.
  const char* end_limit() const { return end_; }

  Step careful(Line& line) {
    while (at_ < end_) {
      Step step = one_line(line);
      if (step != Step::end) return step;
    }
    return Step::end;
  }

  // Reads one line of any kind; Step::end stands for "nothing to hand out, go on".
  Step one_line(Line& line) {
    const void* feed = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
    const char* stop = feed ? static_cast<const char*>(feed) : end_;
    ParsedLine parsed = parse_line(layout_, at_, stop);
    at_ = feed ? stop + 1 : end_;
    ++counts_.lines;
    counts_.blank += parsed.kind == LineKind::blank;
    counts_.comments += parsed.kind == LineKind::comment;
    counts_.comments_like_data += parsed.comment_like_data;
    if (parsed.kind == LineKind::blank) return Step::end;
    line = parsed.line;
    if (parsed.kind == LineKind::comment) return show_comments_ && parsed.comment_like_data ? Step::comment : Step::end;
    if (parsed.kind == LineKind::problem) {
      problem_ = parsed.problem;
      detail_ = std::move(parsed.detail);
      return Step::problem;
    }
    ++counts_.rows;
    counts_.tab_lines += parsed.tab_separated;
    line.same_query = line.query == query_;
    query_ = line.query;
    return Step::data;
  }

  Layout layout_;
  const char* at_;
  const char* end_;
  const char* fast_end_;
  Bytes query_;
  int64_t plain_lines_ = 0;
  LineCounts counts_;
  Problem problem_ = Problem::none;
  std::string detail_;
  bool show_comments_ = false;
};

}  // namespace idealrank
