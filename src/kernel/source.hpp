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
  uint64_t base = 0;  // place of `begin` among the bytes of all sources
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
  static constexpr uint64_t nowhere = UINT64_MAX;

  Layout layout = Layout::run;
  std::vector<Source> parts;

  // A byte order mark is no part of the first id.
  void add(const char* data, size_t size) {
    bool mark = size >= 3 && std::memcmp(data, "\xef\xbb\xbf", 3) == 0;
    parts.push_back({data + (mark ? 3 : 0), data + size, total()});
  }
  uint64_t total() const { return parts.empty() ? 0 : parts.back().base + static_cast<uint64_t>(parts.back().end - parts.back().begin); }

  // A place in the whole text is one number: smaller means earlier, in the first file or the first line.
  uint64_t place(uint32_t source, const char* at) const {
    return parts[source].base + static_cast<uint64_t>(at - parts[source].begin);
  }
  uint32_t source_of(uint64_t place) const {
    auto after = std::upper_bound(parts.begin(), parts.end(), place, [](uint64_t value, const Source& part) { return value < part.base; });
    return static_cast<uint32_t>(after - parts.begin()) - 1;
  }
  const char* at(uint64_t place) const {
    const Source& part = parts[source_of(place)];
    return part.begin + (place - part.base);
  }
  // Lines are counted only when somebody must be told one: reading need not carry the number along.
  uint64_t line_of(uint64_t place) const {
    return 1 + static_cast<uint64_t>(std::count(parts[source_of(place)].begin, at(place), '\n'));
  }
  // The first bytes of a line, without its end.
  std::string text_of(uint64_t place) const {
    const char* first = at(place);
    const char* end = parts[source_of(place)].end;
    size_t window = std::min<size_t>(static_cast<size_t>(end - first), detail::shown_bytes + 2);
    const void* feed = std::memchr(first, '\n', window);
    const char* stop = feed ? static_cast<const char*>(feed) : first + window;
    if ((feed || stop == end) && stop > first && stop[-1] == '\r') --stop;
    return std::string(first, std::min<size_t>(static_cast<size_t>(stop - first), detail::shown_bytes));
  }
  ParseError error(Problem problem, uint64_t place, std::string detail) const {
    return {problem_name(problem), source_of(place), line_of(place), text_of(place), std::move(detail)};
  }
  // What is read a second time is not what it was.
  ParseError changed(uint64_t place) const { return {problem_name(Problem::changed), source_of(place), 0, "", ""}; }
  // The detail of a duplicate.
  std::string source_and_line(uint64_t place) const {
    return std::to_string(source_of(place)) + ":" + std::to_string(line_of(place));
  }
};

// A piece of one source, cut at lines.
struct Chunk {
  uint32_t source = 0;
  const char* begin = nullptr;
  const char* end = nullptr;
};

inline const char* after_line(const char* at, const char* end) {
  const void* feed = std::memchr(at, '\n', static_cast<size_t>(end - at));
  return feed ? static_cast<const char*>(feed) + 1 : end;
}

inline Bytes first_word(const char* at, const char* end) {
  const char* stop = at;
  while (stop < end && *stop != ' ' && *stop != '\t' && *stop != '\n') ++stop;
  return Bytes(at, static_cast<size_t>(stop - at));
}

// Cuts the text into pieces of about `size` bytes, where one query's lines end and the next one's begin if that can be seen
// cheaply. Only speed depends on it: a query that is cut in two is put together again like any other with scattered lines.
inline std::vector<Chunk> cut(const Sources& sources, size_t size) {
  std::vector<Chunk> chunks;
  for (uint32_t source = 0; source < sources.parts.size(); ++source) {
    const char* at = sources.parts[source].begin;
    const char* end = sources.parts[source].end;
    while (at < end) {
      const char* stop = static_cast<size_t>(end - at) <= size ? end : after_line(at + size, end);
      Bytes word = first_word(stop, end);
      while (stop < end && first_word(stop, end) == word) stop = after_line(stop, end);
      chunks.push_back({source, at, stop});
      at = stop;
    }
  }
  return chunks;
}

// Small enough to share out evenly, large enough that starting a piece costs nothing.
inline size_t chunk_size(const Sources& sources, size_t asked) {
  if (asked) return asked;
  return static_cast<size_t>(std::clamp<uint64_t>(sources.total() / 64, 1 << 16, 1 << 20));
}

using Counters = std::map<std::string, int64_t>;

}  // namespace idealrank
