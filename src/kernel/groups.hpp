// Ranks every list of (label, score) arrays: the grades in the order of the scores, the ideal order, and the ties.
//
// Entry point (T = label type, any arithmetic type; S = float or double; nothing is copied):
//
//     template <class T, class S>
//     Groups rank_groups(const T* labels, const S* scores, std::int64_t n_rows,
//                        const std::int64_t* offsets, std::int64_t n_queries,   // offsets[n_queries + 1], from 0 to n_rows
//                        const std::int64_t* order,                             // permutation of the rows, or nullptr
//                        const GroupOptions& options);                          // {reversed, float32, depth, threads}
//
// Throws NanAt (its `row` counts from 0), std::invalid_argument (offsets or order that do not fit), std::bad_alloc.
// Every Column of the result owns its array (`release()` hands it to the caller, who frees it with Column<T>::free).
// The result is the same for any number of threads: lists are independent, and ties are joined in the order of lists.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "sorting.hpp"

namespace idealrank {

// Asks for large pages below a large array that is about to be written whole: with small ones a quarter of the time of
// rank_groups goes into page faults. Advice only, so failure does not matter.
inline void advise_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    constexpr std::uintptr_t page = 4096, worthwhile = 4 << 20;
    if (bytes < worthwhile) return;
    const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

template <class T>
class Column {
  public:
    Column() = default;
    explicit Column(std::size_t size) : data_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {
        advise_large_pages(data(), size * sizeof(T));
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* release() { return data_.release(); }
    static void free(void* data) noexcept { delete[] static_cast<T*>(data); }

  private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

struct GroupOptions {
    bool reversed = false;  // equal scores stand in reversed input order
    bool float32 = false;   // scores are rounded to float32 before they are compared
    std::int64_t depth = 0;  // ranks kept; 0 keeps all
    unsigned threads = 0;   // 0 uses all cores
};

struct Groups {
    std::int64_t n_queries = 0;
    std::int64_t width = 0;  // items kept of every list when that is the same number, else 0
    Column<std::int64_t> hit_offsets;
    Column<double> grades, ideal_grades;
    Column<std::int64_t> length;
    Column<std::int32_t> tied;
    Column<std::int64_t> tie_query;
    Column<std::int32_t> tie_rank, tie_first, tie_last;
    Column<double> tie_grade;
};

struct NanAt : std::runtime_error {
    explicit NanAt(std::int64_t where) : std::runtime_error("a score or label is NaN"), row(where) {}
    std::int64_t row;
};

namespace groups {

struct TieMember {
    std::int64_t query;
    std::int32_t rank, first, last;
    double grade;
};

template <class Label, class Score>
struct Input {
    const Label* labels;
    const Score* scores;
    std::int64_t n_rows;
    const std::int64_t* offsets;
    std::int64_t n_queries;
    const std::int64_t* order;
};

template <class Number>
inline auto nan_flag(Number number) {
    if constexpr (std::is_floating_point_v<Number>) return sorting::nan_flag(number);
    else return std::uint32_t{0};
}

// The label as one of the whole numbers 0 ... Most (a power of two less one). Sets bits in `other` when it is none of
// them: -0.0, fractions and NaN are not. Adding 2^23 (2^52) shifts a whole number to the low bits of a float (double);
// what rounding does to any other label does not matter, since it does not come back as the same bits.
template <unsigned Most, class Label, class Word>
inline std::uint32_t small_grade(Label label, Word& other) {
    if constexpr (std::is_floating_point_v<Label>) {
        constexpr Label shift = static_cast<Label>(sizeof(Label) == 4 ? 0x1p23 : 0x1p52);
        const auto grade = static_cast<std::int32_t>(std::bit_cast<Word>(label + shift) & Most);
        other |= std::bit_cast<Word>(static_cast<Label>(grade)) ^ std::bit_cast<Word>(label);
        return static_cast<std::uint32_t>(grade);
    } else {
        other |= static_cast<Word>(label) & ~Word{Most};
        return static_cast<std::uint32_t>(label) & Most;
    }
}
template <class Label>
using LabelWord = std::conditional_t<sizeof(Label) <= 4, std::uint32_t, std::uint64_t>;

// Ranks one list at a time; each thread has one. Compare is the type in which scores are compared.
template <class Label, class Score, class Compare>
class Ranker {
  public:
    Ranker(const Input<Label, Score>& input, const GroupOptions& options, Groups& out)
        : input_(input), options_(options), out_(out), keys_(sorting::short_list), spare_(sorting::short_list) {}

    // False when the list has a NaN.
    bool rank(std::int64_t query, std::vector<TieMember>& ties) {
        const auto begin = input_.offsets[query];
        n_ = static_cast<std::size_t>(input_.offsets[query + 1] - begin);
        out_.tied[query] = 0;
        if (n_ == 0) return true;
        if (keys_.size() < n_) {
            keys_.resize(n_);
            spare_.resize(n_);
        }
        if (!find_rows(begin)) return false;
        const auto first_hit = out_.hit_offsets[query];
        const auto kept = static_cast<std::size_t>(out_.hit_offsets[query + 1] - first_hit);
        if (!write_ideal(kept, out_.ideal_grades.data() + first_hit) || !sort_scores()) return false;
        if (has_neighbours_alike()) out_.tied[query] = settle_ties(query, ties);
        double* grades = out_.grades.data() + first_hit;
        for (std::size_t i = 0; i < kept; ++i) grades[i] = grade_at(i);
        return true;
    }

  private:
    static constexpr bool exact = std::is_same_v<Compare, float>;  // the whole score fits beside the position

    // Points labels_ and scores_ at the list; rows that stand apart are brought together first.
    bool find_rows(std::int64_t begin) {
        labels_ = input_.labels + begin;
        scores_ = input_.scores + begin;
        if (input_.order == nullptr) return true;
        gathered_labels_.resize(n_);
        gathered_scores_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            const auto row = input_.order[begin + static_cast<std::int64_t>(i)];
            gathered_labels_[i] = input_.labels[row];
            gathered_scores_[i] = input_.scores[row];
        }
        labels_ = gathered_labels_.data();
        scores_ = gathered_scores_.data();
        return true;
    }

    std::size_t row_at(std::uint64_t key) const {
        const auto position = static_cast<std::size_t>(key & ((std::uint64_t{1} << shift_) - 1));
        return (position ^ flip_) + start_;
    }
    double grade_at(std::size_t rank) const { return static_cast<double>(labels_[row_at(sorted_[rank])]); }
    auto score_key(std::size_t row) const { return sorting::descending_key(static_cast<Compare>(scores_[row])); }
    bool are_alike(std::uint64_t a, std::uint64_t b) const { return ((a ^ b) >> shift_) == 0; }

    // Packs each score with its position in the tie order into one key and sorts the keys. A double loses its last bits
    // there; settle_ties looks at the whole score wherever the packed parts are alike.
    bool sort_scores() {
        shift_ = 32;
        if constexpr (!exact) shift_ = n_ <= sorting::short_list ? 6 : std::max(24u, static_cast<unsigned>(std::bit_width(n_ - 1)));
        flip_ = options_.reversed ? ~std::size_t{0} : 0;  // n - 1 - i is ~i + n
        start_ = options_.reversed ? n_ : 0;
        if (options_.reversed ? pack<true>() : pack<false>()) return false;
        sorted_ = sorting::sort_keys(keys_.data(), n_, spare_.data(), shift_);
        return true;
    }

    // True when a score is NaN.
    template <bool Reversed>
    bool pack() {
        const Score* scores = scores_;
        std::uint64_t* keys = keys_.data();
        const std::size_t n = n_;
        const unsigned shift = shift_;
        decltype(nan_flag(*scores)) nan = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Score score = scores[Reversed ? n - 1 - i : i];
            nan |= nan_flag(score);
            const std::uint64_t key = sorting::descending_key(static_cast<Compare>(score));
            keys[i] = (exact ? key << 32 : key >> shift << shift) | i;
        }
        return sorting::is_flagged(nan);
    }

    bool has_neighbours_alike() const {
        bool alike = false;
        for (std::size_t i = 1; i < n_; ++i) alike |= are_alike(sorted_[i - 1], sorted_[i]);
        return alike;
    }

    // Finishes the order where the packed parts of doubles are alike, and reports the ties. Returns the tied items.
    std::int32_t settle_ties(std::int64_t query, std::vector<TieMember>& ties) {
        std::int32_t tied = 0;
        for (std::size_t begin = 0, end; begin < n_; begin = end) {
            for (end = begin + 1; end < n_ && are_alike(sorted_[begin], sorted_[end]);) ++end;
            if (end - begin < 2) continue;
            if constexpr (exact) {
                tied += report_tie(query, begin, end, ties);
            } else {
                sort_run(begin, end);
                for (std::size_t first = begin, last; first < end; first = last) {
                    for (last = first + 1; last < end && whole_keys_[first - begin].first == whole_keys_[last - begin].first;) ++last;
                    tied += report_tie(query, first, last, ties);
                }
            }
        }
        return tied;
    }

    void sort_run(std::size_t begin, std::size_t end) {
        whole_keys_.clear();
        for (std::size_t i = begin; i < end; ++i) whole_keys_.emplace_back(score_key(row_at(sorted_[i])), sorted_[i]);
        if (std::is_sorted(whole_keys_.begin(), whole_keys_.end())) return;
        std::sort(whole_keys_.begin(), whole_keys_.end());
        for (std::size_t i = begin; i < end; ++i) sorted_[i] = whole_keys_[i - begin].second;
    }

    std::int32_t report_tie(std::int64_t query, std::size_t begin, std::size_t end, std::vector<TieMember>& ties) const {
        if (end - begin < 2) return 0;
        if (options_.depth == 0 || begin < static_cast<std::size_t>(options_.depth))
            for (std::size_t i = begin; i < end; ++i)
                ties.push_back({query, static_cast<std::int32_t>(i + 1), static_cast<std::int32_t>(begin + 1),
                                static_cast<std::int32_t>(end), grade_at(i)});
        return static_cast<std::int32_t>(end - begin);
    }

    // The `kept` highest grades from high to low; false when a label is NaN.
    bool write_ideal(std::size_t kept, double* ideal) {
        if (n_ < 128 ? count_few(kept, ideal) : count_many(kept, ideal)) return true;
        decltype(nan_flag(*labels_)) nan = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            nan |= nan_flag(labels_[i]);
            keys_[i] = sorting::descending_key(static_cast<double>(labels_[i]));
        }
        if (sorting::is_flagged(nan)) return false;
        const std::uint64_t* sorted = sorting::sort_keys(keys_.data(), n_, spare_.data(), 0);
        for (std::size_t i = 0; i < kept; ++i) ideal[i] = sorting::from_descending_key(sorted[i]);
        return true;
    }

    // Fewer than 128 grades of 0 ... 7: how many there are of each in the bytes of one word (7 in the lowest), from
    // which one multiplication makes how many are at least 7, 6, ... 1. The ideal grade of a rank is the number of
    // those that reach it. No branch depends on the data.
    bool count_few(std::size_t kept, double* ideal) const {
        constexpr std::uint64_t ones = 0x0101010101010101u, without_zero = 0x00FFFFFFFFFFFFFFu;
        std::uint32_t grades[128];
        LabelWord<Label> other = 0;
        for (std::size_t i = 0; i < n_; ++i) grades[i] = small_grade<7>(labels_[i], other);
        if (other != 0) return false;
        std::uint64_t counts = 0;
        for (std::size_t i = 0; i < n_; ++i) counts += std::uint64_t{1} << (56 - 8 * grades[i]);
        const std::uint64_t reached = (counts * ones) & without_zero;
        for (std::size_t i = 0; i < kept; ++i) {
            const std::uint64_t above = (reached + (ones & without_zero) * (127 - i)) >> 7 & ones;
            ideal[i] = static_cast<double>(static_cast<int>(above * ones >> 56));
        }
        return true;
    }

    // Grades of 0 ... 63 in a list of any length.
    bool count_many(std::size_t kept, double* ideal) const {
        constexpr unsigned most = 63;
        std::size_t counts[most + 1] = {};
        LabelWord<Label> other = 0;
        for (std::size_t i = 0; i < n_ && other == 0; ++i) ++counts[small_grade<most>(labels_[i], other)];
        if (other != 0) return false;
        std::size_t written = 0;
        for (unsigned grade = most; written < kept; --grade) {
            const std::size_t end = std::min(kept, written + counts[grade]);
            std::fill(ideal + written, ideal + end, static_cast<double>(grade));
            written = end;
        }
        return true;
    }

    const Input<Label, Score>& input_;
    const GroupOptions& options_;
    Groups& out_;
    const Label* labels_ = nullptr;
    const Score* scores_ = nullptr;
    std::size_t n_ = 0;
    unsigned shift_ = 32;  // the position is below this bit of a key
    std::size_t flip_ = 0, start_ = 0;  // the row of a position is (position ^ flip_) + start_
    std::uint64_t* sorted_ = nullptr;
    std::vector<std::uint64_t> keys_, spare_;
    std::vector<Label> gathered_labels_;
    std::vector<Score> gathered_scores_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> whole_keys_;
};

constexpr std::int64_t block_rows = 1 << 15;  // rows of a unit of work: enough to forget the hand-over, few enough to share

// Checks the offsets, fills the lengths and where each list's kept items go, and cuts the lists into blocks of about
// `block_rows` rows. Returns the first list of each block, and n_queries at the end.
inline std::vector<std::int64_t> plan(const std::int64_t* offsets, std::int64_t n_rows, std::int64_t depth, Groups& out) {
    const std::int64_t n = out.n_queries;
    if (offsets[0] != 0 || offsets[n] != n_rows) throw std::invalid_argument("offsets must run from 0 to the number of rows");
    std::vector<std::int64_t> blocks;
    std::int64_t hits = 0, work = block_rows;
    bool rectangle = n > 0;
    for (std::int64_t query = 0; query < n; ++query) {
        const std::int64_t length = offsets[query + 1] - offsets[query];
        if (length < 0 || offsets[query + 1] > n_rows) throw std::invalid_argument("offsets must not fall");
        if (length > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("a list has more than 2147483647 items");
        if (work >= block_rows) {
            blocks.push_back(query);
            work = 0;
        }
        work += length + 1;
        const std::int64_t kept = depth > 0 ? std::min(length, depth) : length;
        out.length[query] = length;
        out.hit_offsets[query] = hits;
        hits += kept;
        rectangle = rectangle && kept * (query + 1) == hits;
    }
    blocks.push_back(n);
    out.hit_offsets[n] = hits;
    out.width = rectangle ? hits / n : 0;
    return blocks;
}

// Runs `worker(next)` on each thread, where next() hands out 0 ... count - 1 once each, then `count`. The first
// exception is thrown again here. When no further thread can be had, those that run do all the work.
template <class Worker>
void run_blocks(std::size_t count, unsigned threads, Worker worker) {
    std::atomic<std::size_t> taken{0};
    std::exception_ptr failure;
    std::atomic<bool> failed{false};
    const auto next = [&] { return failed.load(std::memory_order_relaxed) ? count : std::min(count, taken.fetch_add(1)); };
    const auto body = [&] {
        try {
            worker(next);
        } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
        }
    };
    if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> others;
    try {
        while (others.size() + 1 < std::min<std::size_t>(threads, count)) others.emplace_back(body);
    } catch (const std::system_error&) {
    }
    body();
    for (auto& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

// Writes the ties of all blocks one after another into the columns.
inline void join_ties(std::vector<std::vector<TieMember>>& blocks, unsigned threads, Groups& out) {
    std::vector<std::size_t> starts{0};
    for (const auto& block : blocks) starts.push_back(starts.back() + block.size());
    const std::size_t total = starts.back();
    out.tie_query = Column<std::int64_t>(total);
    out.tie_rank = Column<std::int32_t>(total);
    out.tie_first = Column<std::int32_t>(total);
    out.tie_last = Column<std::int32_t>(total);
    out.tie_grade = Column<double>(total);
    if (total == 0) return;
    run_blocks(blocks.size(), threads, [&](auto next) {
        for (std::size_t block; (block = next()) < blocks.size();) {
            std::size_t at = starts[block];
            for (const TieMember& member : std::exchange(blocks[block], {})) {
                out.tie_query[at] = member.query;
                out.tie_rank[at] = member.rank;
                out.tie_first[at] = member.first;
                out.tie_last[at] = member.last;
                out.tie_grade[at++] = member.grade;
            }
        }
    });
}

template <class Label, class Score>
std::int64_t smallest_nan_row(const Input<Label, Score>& input) {
    std::int64_t smallest = input.n_rows;
    for (std::int64_t i = 0; i < input.n_rows; ++i) {
        const std::int64_t row = input.order ? input.order[i] : i;
        if (row < smallest && (sorting::is_flagged(nan_flag(input.labels[row])) || sorting::is_flagged(nan_flag(input.scores[row])))) smallest = row;
    }
    return smallest;
}

template <class Compare, class Label, class Score>
void rank_all(const Input<Label, Score>& input, const GroupOptions& options, const std::vector<std::int64_t>& blocks, Groups& out) {
    const std::size_t n_blocks = blocks.size() - 1;
    std::vector<std::vector<TieMember>> ties(n_blocks);
    std::atomic<bool> nan{false};
    run_blocks(n_blocks, options.threads, [&](auto next) {
        Ranker<Label, Score, Compare> ranker(input, options, out);
        for (std::size_t block; (block = next()) < n_blocks;)
            for (std::int64_t query = blocks[block]; query < blocks[block + 1] && !nan.load(std::memory_order_relaxed); ++query)
                if (!ranker.rank(query, ties[block])) nan = true;
    });
    if (nan) throw NanAt(smallest_nan_row(input));
    join_ties(ties, options.threads, out);
}

}  // namespace groups

template <class Label, class Score>
Groups rank_groups(const Label* labels, const Score* scores, std::int64_t n_rows, const std::int64_t* offsets,
                   std::int64_t n_queries, const std::int64_t* order, const GroupOptions& options) {
    Groups out;
    out.n_queries = n_queries;
    out.hit_offsets = Column<std::int64_t>(static_cast<std::size_t>(n_queries) + 1);
    out.length = Column<std::int64_t>(static_cast<std::size_t>(n_queries));
    out.tied = Column<std::int32_t>(static_cast<std::size_t>(n_queries));
    const auto blocks = groups::plan(offsets, n_rows, options.depth, out);
    if (order != nullptr)
        for (std::int64_t i = 0; i < n_rows; ++i)
            if (order[i] < 0 || order[i] >= n_rows) throw std::invalid_argument("order must hold each row number once");
    const auto hits = static_cast<std::size_t>(out.hit_offsets[n_queries]);
    out.grades = Column<double>(hits);
    out.ideal_grades = Column<double>(hits);
    const groups::Input<Label, Score> input{labels, scores, n_rows, offsets, n_queries, order};
    if (options.float32 || std::is_same_v<Score, float>) groups::rank_all<float>(input, options, blocks, out);
    else groups::rank_all<double>(input, options, blocks, out);
    return out;
}

}  // namespace idealrank
