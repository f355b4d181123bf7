// A yardstick, not a design: the least that hand-written C++ must do to evaluate a TREC run with nDCG@10, nDCG, AP and RR.
// It trusts its input: one blank between fields, no comments, the lines of a query together, no document twice, whole grades.
// g++ -O3 -march=native -std=c++20 -pthread text.cpp -o text && ./text QRELS RUN THREADS
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

using std::string_view;

static string_view map_file(const char* path) {
  const int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) std::exit(2);
  const auto size = static_cast<size_t>(info.st_size);
  return {static_cast<const char*>(mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0)), size};
}

// The field at `at`, which then stands after the byte that ends the field.
static inline string_view field(const char*& at) {
  const char* begin = at;
  while (static_cast<unsigned char>(*at) > ' ') ++at;
  return {begin, static_cast<size_t>(at++ - begin)};
}

static inline uint64_t hash_of(string_view text) {
  uint64_t hash = text.size();
  const char* at = text.data();
  size_t left = text.size();
  for (uint64_t word; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  for (size_t i = 0; i < left; ++i) word |= static_cast<uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

struct Judgment {
  string_view document;
  int grade;
};

struct Query {
  std::vector<Judgment> judgments;
  std::vector<int32_t> slots;  // open addressing; -1 is free
  std::vector<int> ideal;      // grades above 0, highest first

  void close() {
    size_t size = 4;
    while (size < 2 * judgments.size()) size *= 2;
    slots.assign(size, -1);
    for (size_t i = 0; i < judgments.size(); ++i) {
      size_t slot = hash_of(judgments[i].document) & (size - 1);
      while (slots[slot] >= 0) slot = (slot + 1) & (size - 1);
      slots[slot] = static_cast<int32_t>(i);
      if (judgments[i].grade > 0) ideal.push_back(judgments[i].grade);
    }
    std::sort(ideal.begin(), ideal.end(), std::greater<>());
  }

  int grade_of(string_view document) const {
    const size_t mask = slots.size() - 1;
    for (size_t slot = hash_of(document) & mask; slots[slot] >= 0; slot = (slot + 1) & mask) {
      const Judgment& found = judgments[static_cast<size_t>(slots[slot])];
      if (found.document == document) return found.grade;
    }
    return 0;
  }
};

using Queries = std::unordered_map<string_view, Query>;

static Queries read_judgments(string_view text) {
  Queries queries;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const string_view query = field(at);
    field(at);
    const string_view document = field(at);
    int grade = 0;
    at = std::from_chars(at, end, grade).ptr;
    while (*at++ != '\n') {
    }
    queries[query].judgments.push_back({document, grade});
  }
  for (auto& [id, query] : queries) query.close();
  return queries;
}

struct Sums {
  double ndcg10 = 0, ndcg = 0, ap = 0, rr = 0;
  long queries = 0;
};

class Worker {
 public:
  explicit Worker(const Queries& queries) : queries_(queries), discount_(1 << 16) {
    for (size_t i = 0; i < discount_.size(); ++i) discount_[i] = 1 / std::log2(static_cast<double>(i) + 2);
  }

  void take(const char* at, const char* end) {
    while (at < end) {
      const char* start = at;
      const string_view id = field(at);
      const auto query = queries_.find(id);
      at = read_list(start, end, id, query == queries_.end() ? nullptr : &query->second);
      if (query != queries_.end()) measure(query->second);
    }
  }

  Sums sums;

 private:
  // Reads the lines of one query; a key sorts by falling score, then by place.
  const char* read_list(const char* at, const char* end, string_view id, const Query* query) {
    keys_.clear();
    grades_.clear();
    do {
      at += id.size() + 1;
      field(at);
      const string_view document = field(at);
      field(at);
      float score = 0;
      at = std::from_chars(at, end, score).ptr;
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at))) + 1;
      uint32_t bits;
      std::memcpy(&bits, &score, 4);
      bits = bits >> 31 ? bits : ~bits & 0x7FFFFFFFu;
      keys_.push_back(static_cast<uint64_t>(bits) << 32 | grades_.size());
      grades_.push_back(query ? query->grade_of(document) : 0);
    } while (static_cast<size_t>(end - at) > id.size() && at[id.size()] <= ' ' && std::memcmp(at, id.data(), id.size()) == 0);
    return at;
  }

  void measure(const Query& query) {
    ++sums.queries;
    if (query.ideal.empty()) return;
    if (!std::is_sorted(keys_.begin(), keys_.end())) std::sort(keys_.begin(), keys_.end());
    double dcg10 = 0, dcg = 0, precisions = 0, ideal10 = 0, ideal = 0;
    size_t found = 0, first = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const int grade = grades_[static_cast<uint32_t>(keys_[i])];
      if (grade <= 0) continue;
      dcg += grade * discount_[i];
      if (i < 10) dcg10 = dcg;
      precisions += static_cast<double>(++found) / static_cast<double>(i + 1);
      if (first == 0) first = i + 1;
    }
    for (size_t i = 0; i < query.ideal.size(); ++i) {
      ideal += query.ideal[i] * discount_[i];
      if (i < 10) ideal10 = ideal;
    }
    sums.ndcg10 += dcg10 / ideal10;
    sums.ndcg += dcg / ideal;
    sums.ap += precisions / static_cast<double>(query.ideal.size());
    if (first > 0) sums.rr += 1.0 / static_cast<double>(first);
  }

  const Queries& queries_;
  std::vector<double> discount_;
  std::vector<uint64_t> keys_;
  std::vector<int> grades_;
};

// Where the text can be cut so that no query is torn: the first line of a new query at or after each even share.
static std::vector<const char*> cuts(string_view text, size_t pieces) {
  const char *begin = text.data(), *end = begin + text.size();
  std::vector<const char*> places{begin};
  for (size_t piece = 1; piece < pieces; ++piece) {
    const char* at = std::max(begin + text.size() * piece / pieces, places.back());
    if (at > begin) at = static_cast<const char*>(std::memchr(at - 1, '\n', static_cast<size_t>(end - at + 1))) + 1;
    if (at >= end) break;
    const char* reader = at;
    for (const string_view id = field(reader); at < end;) {
      reader = at;
      if (field(reader) != id) break;
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at))) + 1;
    }
    places.push_back(at);
  }
  places.push_back(end);
  return places;
}

int main(int, char** arguments) {
  const Queries queries = read_judgments(map_file(arguments[1]));
  const string_view run = map_file(arguments[2]);
  const auto n_threads = static_cast<size_t>(std::atoi(arguments[3]));
  const auto places = cuts(run, n_threads == 1 ? 1 : 8 * n_threads);
  std::vector<Worker> workers(n_threads, Worker(queries));
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (Worker& worker : workers)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) + 1 < places.size();) worker.take(places[i], places[i + 1]);
    });
  Sums all;
  for (size_t i = 0; i < n_threads; ++i) {
    threads[i].join();
    const Sums& part = workers[i].sums;
    all.ndcg10 += part.ndcg10, all.ndcg += part.ndcg, all.ap += part.ap, all.rr += part.rr, all.queries += part.queries;
  }
  const auto n = static_cast<double>(all.queries);
  std::printf("{\"nDCG@10\": %.17g, \"nDCG\": %.17g, \"AP\": %.17g, \"RR\": %.17g}\n", all.ndcg10 / n, all.ndcg / n, all.ap / n, all.rr / n);
}
