// The bytes of a qrels or run: one or several buffers, read in order as if they were one file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "line.hpp"
#include "memory.hpp"

namespace idealrank {

struct Source {
  const char* begin = nullptr;
  const char* end = nullptr;
};

// A place in the text that can be compared with others: first the source, then the byte.
struct Position {
  uint32_t source = UINT32_MAX;
  const char* at = nullptr;
  bool operator<(const Position& other) const { return source != other.source ? source < other.source : at < other.at; }
  bool known() const { return source != UINT32_MAX; }
};

// What the kernel throws about its input; the binding turns it into the Python exception of the same name.
struct ParseError {
  std::string kind;
  uint32_t source = 0;
  uint64_t line = 0;  // from 1; 0 where the data has no lines
  std::string text;
  std::string detail;
};

struct Sources {
  Layout layout = Layout::run;
  std::vector<Source> parts;

  // A byte order mark is no part of the first id.
  void add(const char* data, size_t size) {
    bool mark = size >= 3 && std::memcmp(data, "\xef\xbb\xbf", 3) == 0;
    parts.push_back({data + (mark ? 3 : 0), data + size});
  }
  uint64_t size() const {
    uint64_t total = 0;
    for (const Source& part : parts) total += static_cast<uint64_t>(part.end - part.begin);
    return total;
  }
  // Lines are counted only when somebody must be told one: reading need not carry the number along.
  uint64_t line_of(Position position) const {
    const char* at = parts[position.source].begin;
    return 1 + static_cast<uint64_t>(std::count(at, position.at, '\n'));
  }
  std::string text_of(Position position) const {
    const char* end = parts[position.source].end;
    size_t window = std::min<size_t>(static_cast<size_t>(end - position.at), detail::shown_bytes);
    const void* feed = std::memchr(position.at, '\n', window);
    if (feed) window = static_cast<size_t>(static_cast<const char*>(feed) - position.at);
    if (window && position.at[window - 1] == '\r') --window;
    return std::string(position.at, window);
  }
  ParseError error(Problem problem, Position position, std::string detail) const {
    return {problem_name(problem), position.source, line_of(position), text_of(position), std::move(detail)};
  }
};

using Counters = std::map<std::string, int64_t>;

}  // namespace idealrank
