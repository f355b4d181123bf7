// What the linter found: a count and the first few lines of each kind.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "line.hpp"
#include "source.hpp"

namespace idealrank {

// Errors first, then warnings; reported in this order.
enum class Finding : uint8_t { fields, number, nan, control, too_long, duplicate, no_data, comment_like_data, infinite, utf8, rank, rank_order, scattered };

inline constexpr std::array<const char*, 13> finding_names = {"fields",  "number",            "nan",      "control", "too-long", "duplicate",
                                                              "no-data", "comment-like-data", "infinite", "utf8",    "rank",     "rank-order", "scattered"};

inline Finding finding_of(Problem problem) {
  switch (problem) {
    case Problem::number: return Finding::number;
    case Problem::nan: return Finding::nan;
    case Problem::control: return Finding::control;
    case Problem::too_long: return Finding::too_long;
    default: return Finding::fields;
  }
}

struct FindingExample {
  uint32_t source;
  uint64_t line;
  std::string text, detail;
};

struct FindingReport {
  std::string kind;
  int64_t count;
  std::vector<FindingExample> examples;
};

class Findings {
 public:
  explicit Findings(size_t examples) : wanted_(examples) {}

  void note(Finding kind, uint64_t place, uint64_t earlier = Sources::nowhere, Bytes detail = {}) {
    Kind& found = kinds_[static_cast<size_t>(kind)];
    ++found.count;
    if (found.first.size() < wanted_ || (wanted_ && place < found.first.back().place)) {
      keep(found, {place, earlier, std::string(detail.substr(0, detail::shown_bytes))});
    }
  }
  void note_without_line(Finding kind) { ++kinds_[static_cast<size_t>(kind)].count; }

  void add(const Findings& other) {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      kinds_[i].count += other.kinds_[i].count;
      for (const Place& place : other.kinds_[i].first) keep(kinds_[i], place);
    }
  }

  std::vector<FindingReport> report(const Sources& sources) const {
    std::map<uint64_t, uint64_t> lines = line_numbers(sources);
    std::vector<FindingReport> reports;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (!kinds_[i].count) continue;
      FindingReport report{finding_names[i], kinds_[i].count, {}};
      for (const Place& found : kinds_[i].first) {
        std::string detail = found.detail;
        if (found.earlier != Sources::nowhere) detail = std::to_string(sources.source_of(found.earlier)) + ":" + std::to_string(lines[found.earlier]);
        report.examples.push_back({sources.source_of(found.place), lines[found.place], sources.text_of(found.place), detail});
      }
      reports.push_back(std::move(report));
    }
    return reports;
  }

 private:
  struct Place {
    uint64_t place, earlier;
    std::string detail;
  };
  struct Kind {
    int64_t count = 0;
    std::vector<Place> first;  // by place
  };

  void keep(Kind& found, Place place) {
    auto after = std::upper_bound(found.first.begin(), found.first.end(), place.place, [](uint64_t value, const Place& other) { return value < other.place; });
    found.first.insert(after, std::move(place));
    if (found.first.size() > wanted_) found.first.pop_back();
  }
  // One walk through the text for all of them.
  std::map<uint64_t, uint64_t> line_numbers(const Sources& sources) const {
    std::map<uint64_t, uint64_t> lines;
    for (const Kind& kind : kinds_) {
      for (const Place& found : kind.first) {
        lines[found.place] = 0;
        if (found.earlier != Sources::nowhere) lines[found.earlier] = 0;
      }
    }
    uint32_t source = UINT32_MAX;
    uint64_t line = 1;
    const char* at = nullptr;
    for (auto& [place, number] : lines) {
      if (sources.source_of(place) != source) {
        source = sources.source_of(place);
        at = sources.parts[source].begin;
        line = 1;
      }
      const char* here = sources.at(place);
      line += static_cast<uint64_t>(std::count(at, here, '\n'));
      at = here;
      number = line;
    }
    return lines;
  }

  size_t wanted_;
  std::array<Kind, finding_names.size()> kinds_;
};

}  // namespace idealrank
