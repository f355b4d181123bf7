// Ranks every list of (label, score) arrays: the grades in the order of the scores, the ideal order, and the ties.
//
// Entry point (Label = float, double or any integer type; Score = float or double; nothing is copied):
//
//     template <class Label, class Score>
//     Groups rank_groups(const Label* labels, const Score* scores, int64_t n_rows,
//                        const int64_t* offsets, int64_t n_queries,  // offsets[n_queries + 1], from 0 to n_rows
//                        const int64_t* order,                       // permutation of the rows, or nullptr
//                        const GroupOptions& options);               // {reversed, float32, depth, threads, ...}
//
// Throws ParseError "nan" (line = row from 1), std::invalid_argument (offsets or order that do not fit), std::bad_alloc.
// The result is the same for any number of threads: lists are independent, and ties are joined in the order of lists.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "group_ranker.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "source.hpp"

namespace idealrank {

namespace groups {

// An array that will be written whole. Large ones ask for large pages: with small ones a quarter of the time of
// rank_groups goes into page faults. It is advice, so its failure does not matter.
template <class T>
Array<T> whole_array(size_t size) {
  auto array = Array<T>::raw(size);
#ifdef __linux__
  constexpr uintptr_t page = 4096, worthwhile = 4 << 20;
  const auto first = reinterpret_cast<uintptr_t>(array.data()), end = first + size * sizeof(T);
  const uintptr_t begin = (first + page - 1) / page * page;
  if (end - first >= worthwhile) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  return array;
}

// Checks the offsets, fills the lengths and where each list's kept items go, and cuts the lists into blocks. Returns the
// first list of each block, and n_queries at the end.
inline std::vector<int64_t> plan(const int64_t* offsets, int64_t n_rows, const GroupOptions& options, Groups& out) {
  const int64_t n = out.n_queries;
  if (offsets[0] != 0 || offsets[n] != n_rows) throw std::invalid_argument("offsets must run from 0 to the number of rows");
  std::vector<int64_t> blocks;
  int64_t hits = 0, work = options.block_rows, end = 0;
  int64_t narrowest = std::numeric_limits<int64_t>::max(), widest = 0;
  for (int64_t query = 0; query < n; ++query) {
    // Compared before they are subtracted: the difference of any two numbers may not fit.
    const int64_t begin = end;
    end = read_once(offsets + query + 1);
    if (end < begin || end > n_rows) throw std::invalid_argument("offsets must not fall");
    const int64_t length = end - begin;
    if (length > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("a list has more than 2147483647 items");
    if (work >= options.block_rows) {
      blocks.push_back(query);
      work = 0;
    }
    work += length + 1;
    const int64_t kept = options.depth > 0 ? std::min(length, options.depth) : length;
    out.length[query] = length;
    out.hit_offsets[query] = hits;
    hits += kept;
    narrowest = std::min(narrowest, kept);
    widest = std::max(widest, kept);
  }
  blocks.push_back(n);
  out.hit_offsets[n] = hits;
  out.width = narrowest == widest ? widest : 0;
  return blocks;
}

// Writes the members of all ties one block after another into the columns.
template <class Label>
void join_ties(std::vector<TieBuffer<Label>>& blocks, int threads, Groups& out) {
  std::vector<size_t> starts{0};
  for (const auto& block : blocks) starts.push_back(starts.back() + block.members.size());
  const size_t total = starts.back();
  out.tie_query = whole_array<int64_t>(total);
  out.tie_rank = whole_array<int32_t>(total);
  out.tie_first = whole_array<int32_t>(total);
  out.tie_last = whole_array<int32_t>(total);
  out.tie_grade = whole_array<double>(total);
  if (total == 0) return;
  share(blocks.size(), worker_count(threads, blocks.size()), nullptr, [&](size_t, size_t i) {
    const auto block = std::exchange(blocks[i], {});  // freed at the end of its task
    size_t at = starts[i];
    for (const Label label : block.members) out.tie_grade[at++] = static_cast<double>(label);
    at = starts[i];
    for (const Tie& tie : block.ties)
      for (int32_t above = tie.first - 1; above < tie.last; ++at) {
        out.tie_query[at] = tie.query;
        out.tie_rank[at] = ++above;
        out.tie_first[at] = tie.first;
        out.tie_last[at] = tie.last;
      }
  });
}

template <class Label, class Score>
int64_t smallest_nan_row(const Input<Label, Score>& input) {
  int64_t smallest = input.n_rows;
  for (int64_t i = 0; i < input.n_rows; ++i) {
    const int64_t row = input.order ? input.row(i) : i;
    if (row < smallest && (sorting::is_flagged(nan_flag(input.labels[row])) || sorting::is_flagged(nan_flag(input.scores[row])))) smallest = row;
  }
  return smallest;
}

template <class Compare, class Label, class Score>
void rank_all(const Input<Label, Score>& input, const GroupOptions& options, const std::vector<int64_t>& blocks, Groups& out) {
  const size_t n_blocks = blocks.size() - 1;
  std::vector<TieBuffer<Label>> ties(n_blocks);
  struct Worker {
    Ranker<Label, Score, Compare> ranker;
    TieBuffer<Label> found;  // grows once per thread, not once per block
  };
  const size_t n_workers = worker_count(options.threads, n_blocks);
  std::vector<std::optional<Worker>> workers(n_workers);
  std::atomic<bool> nan{false};
  share(n_blocks, n_workers, nullptr, [&](size_t number, size_t block) {
    if (nan.load(std::memory_order_relaxed)) return;
    if (!workers[number]) workers[number].emplace(Worker{{input, options, out}, {}});
    auto& [ranker, found] = *workers[number];
    found.ties.clear();
    found.members.clear();
    for (int64_t query = blocks[block]; query < blocks[block + 1]; ++query)
      if (!ranker.rank(query, found)) {
        nan = true;
        return;
      }
    ties[block] = found;
  });
  if (nan) throw ParseError{problem_name(Problem::nan), 0, static_cast<uint64_t>(smallest_nan_row(input)) + 1, "", ""};
  workers.clear();
  join_ties(ties, options.threads, out);
}

}  // namespace groups

template <class Label, class Score>
Groups rank_groups(const Label* labels, const Score* scores, int64_t n_rows, const int64_t* offsets,
                   int64_t n_queries, const int64_t* order, const GroupOptions& options) {
  Groups out;
  out.n_queries = n_queries;
  out.hit_offsets = groups::whole_array<int64_t>(static_cast<size_t>(n_queries) + 1);
  out.length = groups::whole_array<int64_t>(static_cast<size_t>(n_queries));
  out.tied = groups::whole_array<int32_t>(static_cast<size_t>(n_queries));
  const auto blocks = groups::plan(offsets, n_rows, options, out);
  if (order != nullptr)
    for (int64_t i = 0; i < n_rows; ++i)
      if (order[i] < 0 || order[i] >= n_rows) throw std::invalid_argument("order must hold each row number once");
  const auto hits = static_cast<size_t>(out.hit_offsets[n_queries]);
  out.grades = groups::whole_array<double>(hits);
  out.ideal_grades = groups::whole_array<double>(hits);
  const groups::Input<Label, Score> input{labels, scores, n_rows, offsets, n_queries, order};
  if constexpr (std::is_same_v<Score, double>) {
    if (!options.float32) {
      groups::rank_all<double>(input, options, blocks, out);
      return out;
    }
  }
  groups::rank_all<float>(input, options, blocks, out);
  return out;
}

}  // namespace idealrank
