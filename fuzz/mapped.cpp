// Bytes that change while they are read: a run file that another process overwrites in place, NumPy arrays that another thread writes to.
// The results are worthless then, but nothing is read or written outside its bounds, no sort follows an order that broke under it, and
// every call ends, with a result or with an error of its own.
//
// Input: eight bytes of options, then the qrels, the byte 0x1e and the run, as for `text`; the run is repeated until a thread has time to
// change it. A second thread writes into the text, or into the arrays, from the first byte read to the last.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fingerprint.hpp"
#include "groups.hpp"
#include "harness.hpp"
#include "lint.hpp"
#include "read.hpp"
#include "stream.hpp"

namespace {

using namespace idealrank;

// xorshift64: the two threads need no better chance.
struct Chance {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }
};

// Writes into memory until it goes away. `Disturb` is called with a Chance, over and over.
template <class Disturb>
class Disturber {
 public:
  Disturber(uint64_t seed, Disturb disturb) : thread_([this, seed, disturb] {
      for (Chance chance{seed | 1}; !stop_.load(std::memory_order_relaxed);) disturb(chance);
    }) {}
  ~Disturber() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// What a plain store would be, but one that no compiler drops or joins.
template <class T>
void write(T* at, T value) {
  *const_cast<volatile T*>(at) = value;
}

// Single bytes that mean something to a reader, whole lines moved, and stretches taken from elsewhere in the same text.
void disturb_text(char* text, size_t size, const std::string& original, Chance& chance) {
  static constexpr char telling[] = " \t\n\r#0919.-+eEnaif\0\x7f\xff";
  const size_t at = chance.below(size), length = std::min(size - at, size_t{1} << chance.below(17)), from = chance.below(size - length + 1);
  switch (chance.below(4)) {
    case 0: return write(text + at, telling[chance.below(sizeof telling)]);
    case 1:
      for (size_t i = 0; i < length; ++i) write(text + at + i, original[from + i]);
      return;
    case 2:
      for (size_t i = 0; i < length; ++i) write(text + at + i, static_cast<char>(original[at + i] ^ (original[at + i] >= '0')));
      return;
    default:
      for (size_t i = 0; i < length; ++i) write(text + at + i, original[at + i]);
  }
}

template <class Work>
void attempt(Work&& work) {
  try {
    work();
  } catch (const ParseError&) {
  } catch (const std::invalid_argument&) {
  }
}

// Lines in number enough that reading takes a while: the documents of every copy get a number, so that lists grow and duplicates stay few.
std::string repeated(std::string_view run, size_t wanted) {
  std::string all(run);
  if (run.empty() || run.back() != '\n') all += '\n';
  const std::string once = all;
  for (size_t copy = 1; all.size() < wanted; ++copy) {
    const std::string number = "x" + std::to_string(copy * 7919 % 100003) + "y";
    for (size_t at = 0, end; at < once.size(); at = end) {
      end = once.find('\n', at) + 1;
      const std::string_view line(once.data() + at, end - at);
      const size_t document = line.find(" d");
      all.append(line.substr(0, document == std::string_view::npos ? 0 : document + 1));
      if (document != std::string_view::npos) all += number;
      all.append(line.substr(document == std::string_view::npos ? 0 : document + 1));
    }
  }
  return all;
}

struct Plan {
  explicit Plan(fuzz::Choices& choices) {
    static constexpr Duplicates reading[] = {Duplicates::error, Duplicates::first, Duplicates::last, Duplicates::best, Duplicates::keep};
    static constexpr Duplicates ranking[] = {Duplicates::error, Duplicates::first, Duplicates::last, Duplicates::best, Duplicates::twice};
    static constexpr Ties ties[] = {Ties::descending, Ties::ascending, Ties::input};
    what = choices.below(8);
    read.duplicates = reading[choices.below(5)];
    rank.duplicates = ranking[choices.below(5)];
    rank.ties = ties[choices.below(3)];
    const uint8_t flags = choices.byte();
    rank.float32 = flags & 1;
    rank.skip_unjudged = flags & 2;
    threads = flags & 4 ? 2 : 1;
    rank.depth = flags & 8 ? 5 : 0;
    rank.unjudged_depth = flags & 16 ? 7 : 0;
    rank.top_depth = rank.depth;
    chunk_bytes = flags & 32 ? 0 : 1 + size_t{choices.byte()} * 16;
    text_bytes = size_t{1} << (12 + choices.below(6));
    seed = choices.byte() * 0x9e3779b97f4a7c15ull + 0x12345;
  }
  size_t what;
  ReadOptions read;
  ListOptions rank;
  int threads;
  size_t chunk_bytes, text_bytes;
  uint64_t seed;
};

void check_text(const Plan& plan, std::string_view judgments, std::string_view lines) {
  const fuzz::ExactCopy judged(judgments.data(), judgments.size());
  Sources sources;
  sources.layout = Layout::qrels;
  sources.add(judged.data(), judged.size());
  Table qrels;
  attempt([&] { qrels = read_sources(sources, {Duplicates::keep, std::nullopt, 1, 0}, nullptr); });
  const std::string original = repeated(lines, plan.text_bytes);
  const fuzz::ExactCopy copy(original.data(), original.size());
  char* text = const_cast<char*>(copy.data());
  const auto disturb = [&](Chance& chance) { disturb_text(text, original.size(), original, chance); };
  const Disturber disturber(plan.seed, disturb);
  Sources run;
  run.layout = Layout::run;
  run.add(copy.data(), copy.size());
  ReadOptions reading = plan.read;
  reading.threads = plan.threads;
  reading.chunk_bytes = plan.chunk_bytes;
  if (plan.what == 1) attempt([&] { read_sources(run, reading, nullptr); });
  if (plan.what == 2) attempt([&] { Linter(run, 2, plan.threads, plan.chunk_bytes).lint(nullptr); });
  if (plan.what > 2) attempt([&] { TextAligner(qrels, run, plan.rank, plan.threads, plan.chunk_bytes).align(nullptr); });
}

// Arrays of which every one changes: labels, scores, where lists begin and end, and the order of the rows.
template <class Label, class Score>
void check_arrays(const Plan& plan) {
  const size_t n = plan.text_bytes / 8, lists = 1 + n / 50;
  std::vector<Label> labels(n);
  std::vector<Score> scores(n);
  std::vector<int64_t> offsets(lists + 1), order(n);
  Chance chance{plan.seed | 1};
  for (size_t i = 0; i < n; ++i) {
    labels[i] = static_cast<Label>(chance.below(5));
    scores[i] = static_cast<Score>(chance.below(40));
    order[i] = static_cast<int64_t>((i * 7919 + 13) % n);
  }
  for (size_t i = 0; i <= lists; ++i) offsets[i] = static_cast<int64_t>(i * n / lists);
  const auto disturb = [&](Chance& chosen) {
    const size_t row = chosen.below(n), list = chosen.below(lists + 1);
    const int64_t wild = static_cast<int64_t>(chosen.next());
    write(&labels[row], static_cast<Label>(chosen.next() >> 58));
    write(&scores[row], static_cast<Score>(chosen.next() >> 60));
    write(&order[row], wild);
    write(&offsets[list], wild >> (wild & 63));
    for (int pause = 0; pause < 64; ++pause) write(&scores[row], static_cast<Score>(pause));
    write(&order[row], static_cast<int64_t>((row * 7919 + 13) % n));
    write(&offsets[list], static_cast<int64_t>(list * n / lists));
  };
  const Disturber disturber(plan.seed, disturb);
  GroupOptions options;
  options.reversed = plan.rank.ties == Ties::ascending;
  options.float32 = plan.rank.float32;
  options.depth = plan.rank.depth;
  options.threads = plan.threads;
  options.block_rows = 1 << 9;
  const auto rows = static_cast<int64_t>(n), groups = static_cast<int64_t>(lists);
  const int64_t* chosen_order = plan.rank.skip_unjudged ? order.data() : nullptr;
  attempt([&] { rank_groups(labels.data(), scores.data(), rows, offsets.data(), groups, chosen_order, options); });
  attempt([&] {
    fingerprint_lists(labels.data(), rows, offsets.data(), groups, chosen_order, plan.threads,
                      [](size_t list, char (&digits)[24]) { return decimal(static_cast<int64_t>(list), digits); });
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const Plan plan(choices);
  const std::string_view text(reinterpret_cast<const char*>(choices.rest()), choices.left());
  const size_t middle = text.find('\x1e');
  if (plan.what == 0) {
    if (plan.rank.float32) check_arrays<float, double>(plan);
    else if (plan.rank.ties == Ties::input) check_arrays<int8_t, float>(plan);
    else check_arrays<double, double>(plan);
  } else {
    check_text(plan, text.substr(0, middle), middle == std::string_view::npos ? std::string_view() : text.substr(middle + 1));
  }
  return 0;
}
