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
  IDEALRANK_HOT Step next(Line& line) {
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
    constexpr ptrdiff_t window = block_bytes + 24;
    if (!fast_scan || limit - begin <= window) return begin;
    return limit - window < end ? limit - window : end;
  }

  // A line whose fields stand between single blanks and that ends inside the block. False: take another way, nothing has happened yet.
  IDEALRANK_HOT bool plain(Line& line) {
    const char* at = at_;
    Block block(at);
    BlockMasks masks = classify(block);
    if (!masks.controls) return roomy(line);
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
    const char* next = after_feed(at + stop);
    if (!next) return false;
    if (blanks & ((blanks << 1) | 1)) return !tabs && roomy(line);
    Cuts cuts;
    if (!cut_at(blanks, stop, cuts) || !take_fields(line, at, cuts)) return false;
    counts_.tab_lines += tabs;
    at_ = next;
    return true;
  }

  // Where the fields that matter begin and end, counted from the start of the line.
  struct Cuts {
    size_t query, query_end, document, document_end, number, number_end;
  };

  IDEALRANK_HOT bool cut_at(uint64_t blanks, unsigned stop, Cuts& cuts) const {
    uint64_t second = without_lowest(blanks), third = without_lowest(second), fourth = without_lowest(third);
    if (!third) return false;
    cuts.query = 0;
    cuts.query_end = lowest(blanks);
    cuts.document = lowest(second) + 1;
    cuts.document_end = lowest(third);
    if (layout_ == Layout::qrels) {
      cuts.number = cuts.document_end + 1;
      cuts.number_end = stop;
      return !fourth && cuts.number != stop;
    }
    uint64_t fifth = without_lowest(fourth);
    if (!fifth) return false;
    cuts.number = lowest(fourth) + 1;
    cuts.number_end = lowest(fifth);
    return cuts.number_end + 1 != stop;
  }

  // A line of any length with any number of spaces between fields, without tabs: begins and ends of its words are found block by block.
  IDEALRANK_COLD bool roomy(Line& line) {
    constexpr int most = 12;
    size_t edges[most];
    int count = 0, wanted = layout_ == Layout::run ? 11 : 9;
    uint64_t blank_before = 1;
    const char* stop = nullptr;
    for (const char* at = at_; !stop; at += block_bytes) {
      if (at >= fast_end_) return false;
      BlockMasks masks = classify(Block(at));
      uint64_t shifted = (masks.spaces << 1) | blank_before, found = masks.spaces ^ shifted;
      if (masks.controls) {
        stop = at + lowest(masks.controls);
        found &= below(lowest(masks.controls));
      }
      blank_before = masks.spaces >> 63;
      for (; found && count < wanted; found = without_lowest(found)) edges[count++] = static_cast<size_t>(at - at_) + lowest(found);
    }
    const char* next = after_feed(stop);
    if (!next || static_cast<size_t>(stop - at_) >= UINT32_MAX) return false;
    Cuts cuts;
    if (layout_ == Layout::run) {
      // The eleventh edge is where the tag begins.
      if (count < 11) return false;
      cuts = {edges[0], edges[1], edges[4], edges[5], edges[8], edges[9]};
    } else {
      if (count != 7 && count != 8) return false;
      cuts = {edges[0], edges[1], edges[4], edges[5], edges[6], count == 8 ? edges[7] : static_cast<size_t>(stop - at_)};
    }
    if (!take_fields(line, at_, cuts)) return false;
    at_ = next;
    return true;
  }

  // The start of the line behind an end of line, or nothing if this control byte does not end the line.
  const char* after_feed(const char* stop) const {
    if (*stop == '\r') ++stop;
    return *stop == '\n' && stop < end_ ? stop + 1 : nullptr;
  }

  IDEALRANK_HOT bool take_fields(Line& line, const char* at, const Cuts& cuts) {
    const char* number = at + cuts.number;
    size_t number_size = cuts.number_end - cuts.number;
    if (!plain_number(number, number_size, line.value)) [[unlikely]] {
      if (parse_number(number, number + number_size, line.value) != NumberKind::number) return false;
    }
    const char* query = at + cuts.query;
    size_t query_size = cuts.query_end - cuts.query;
    line.same_query = query_size == query_.size() && same_bytes(query, query_.data(), query_size);
    line.query = query_ = Bytes(query, query_size);
    line.document = Bytes(at + cuts.document, cuts.document_end - cuts.document);
    line.number = Bytes(number, number_size);
    line.between = Bytes(at + cuts.document_end, cuts.number - cuts.document_end);
    line.begin = at;
    return true;
  }

  IDEALRANK_COLD Step careful(Line& line) {
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
