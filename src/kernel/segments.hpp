// Where the lines of a query stand. Mostly together, in one segment; but files that were merged or sorted by something else have them
// scattered, and a chunk may end inside a query. Such queries are read again, all their segments in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "memory.hpp"
#include "reader.hpp"
#include "source.hpp"
#include "table.hpp"

namespace idealrank {

struct Segment {
  uint64_t place;   // of its first line
  uint32_t target;  // number of its query
};

// The problem that stands first in the text, whichever thread met it.
class FirstProblem {
 public:
  uint64_t place() const { return place_.load(std::memory_order_relaxed); }
  bool any() const { return place() != Sources::nowhere; }
  void note(Problem problem, uint64_t place, const std::string& detail, uint64_t earlier = Sources::nowhere) {
    std::lock_guard<std::mutex> locked(guard_);
    if (place >= place_) return;
    place_ = place;
    problem_ = problem;
    detail_ = detail;
    earlier_ = earlier;
  }
  ParseError error(const Sources& sources) const {
    return sources.error(problem_, place(), earlier_ == Sources::nowhere ? detail_ : sources.source_and_line(earlier_));
  }

 private:
  std::atomic<uint64_t> place_{Sources::nowhere};
  std::mutex guard_;
  Problem problem_ = Problem::none;
  std::string detail_;
  uint64_t earlier_ = Sources::nowhere;
};

// The place of the line that `inside` points into.
inline uint64_t line_place(const Sources& sources, const char* inside) {
  for (uint32_t source = 0; source < sources.parts.size(); ++source) {
    const Source& part = sources.parts[source];
    if (inside < part.begin || inside >= part.end) continue;
    while (inside > part.begin && inside[-1] != '\n') --inside;
    return sources.place(source, inside);
  }
  return Sources::nowhere;
}

// Hands over every data line of one query in the order of the text, and whether it begins a piece apart from the lines before. `segments` are
// sorted by place; one that is only the rest of the one before it (a chunk ended there) begins nothing. Stops before the line at `limit`.
template <class TakeLine>
void read_segments(const Sources& sources, const Segment* segments, size_t count, uint64_t limit, TakeLine&& take) {
  uint64_t covered = 0;
  for (size_t i = 0; i < count; ++i) {
    if (segments[i].place < covered || segments[i].place >= limit) continue;
    uint32_t source = sources.source_of(segments[i].place);
    const char* end = sources.parts[source].end;
    LineReader reader(sources.layout, sources.at(segments[i].place), end, end);
    Line line;
    Step step;
    bool first = true;
    covered = sources.place(source, end);
    while ((step = reader.next(line)) != Step::end) {
      uint64_t place = sources.place(source, line.begin);
      if (place >= limit || (step == Step::data && !first && !line.same_query)) {
        covered = place;
        break;
      }
      if (step != Step::data) continue;
      take(line, place, first);
      first = false;
    }
  }
}

// A copy of the query id of the line at `place`, which was read before and had this size: the text may have changed since.
inline Bytes id_at(const Sources& sources, uint64_t place, size_t size, std::string& copy) {
  const char *at = sources.at(place), *end = sources.parts[sources.source_of(place)].end;
  while (at < end && detail::is_blank(*at)) ++at;
  if (static_cast<size_t>(end - at) < size) throw sources.changed(place);
  return copy.assign(at, size);
}

// Numbers queries by first appearance. Every record has a place and an id_size, and gets its `target`; each pool is in the order of the text.
// Returns, per query, whether it has more than one record.
template <class Record>
std::vector<bool> number_queries(const Sources& sources, std::vector<Pool<Record>*> pools, IdPool& ids) {
  std::vector<size_t> next(pools.size(), 0);
  std::vector<bool> repeated;
  IdIndex index;
  std::string id;
  for (;;) {
    Record* earliest = nullptr;
    size_t owner = 0;
    for (size_t i = 0; i < pools.size(); ++i) {
      if (next[i] == pools[i]->size()) continue;
      Record& record = (*pools[i])[next[i]];
      if (earliest && earliest->place < record.place) continue;
      earliest = &record;
      owner = i;
    }
    if (!earliest) return repeated;
    ++next[owner];
    earliest->target = index.add(ids, id_at(sources, earliest->place, earliest->id_size, id));
    if (repeated.size() == ids.size()) {
      repeated[earliest->target] = true;
    } else {
      repeated.push_back(false);
    }
  }
}

// Groups of equal target in segments sorted by (target, place).
inline std::vector<size_t> group_segments(Pool<Segment>& segments) {
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) {
    return a.target != b.target ? a.target < b.target : a.place < b.place;
  });
  std::vector<size_t> starts;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (i == 0 || segments[i].target != segments[i - 1].target) starts.push_back(i);
  }
  starts.push_back(segments.size());
  return starts;
}

}  // namespace idealrank
