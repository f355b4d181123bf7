// Gradients of a pairwise logistic loss over ranked lists, each pair weighed with the change that swapping its two ranks makes.
//
// Entry point (Out = float or double; nothing is copied):
//
//     template <class Out>
//     void lambda_gradients(const LambdaInput& input, const LambdaOptions& options, Out* gradients, Out* hessians);
//
// A list is ranked by score, falling, rows of equal score in input order. For ranks i < j with i among the first `truncation`, with
// `change` as the swap gives it (signed: positive if the row at i is worth more) and x = score at i - score at j:
//
//     weight = scale of the list * change * up[row worth more] * down[other row], divided by (0.01 + x) if damped
//     probability of the wrong order = 1 / (1 + exp(sigma * (score of the row worth more - score of the other)))
//     gradient of the row worth more -= sigma * |weight| * probability, of the other row += as much
//     hessian of both += sigma^2 * |weight| * probability * (1 - probability)
//
// A damped list is not divided if all its scores are equal; its sums are multiplied by log2(1 + S) / S, S twice the sum of
// sigma * |weight| * probability. The gradient is that of a loss to be made small.
//
// Lists are independent, and each is summed in one fixed order, by additions, multiplications and divisions alone: the same bits for
// any number of threads, and on every processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "order.hpp"
#include "parallel.hpp"

// A pointer to memory that no other pointer of its function writes to.
#if defined(_MSC_VER)
#define IDEALRANK_ALONE __restrict
#else
#define IDEALRANK_ALONE __restrict__
#endif

namespace idealrank {

enum class Swap { discounted, even, precision, first, cascade };

struct LambdaInput {
  const double* gains;     // [n_rows]; precision and first: 0 or more than 0; cascade: in [0, 1)
  const double* scores;    // [n_rows]
  int64_t n_rows;
  const int64_t* offsets;  // [n_lists + 1], from 0 to n_rows
  int64_t n_lists;
  const double* weights;   // [n_weights]: of ranks 1, 2, ...; the rest of a list has 0
  int64_t n_weights;
  const double* scale;     // [n_lists]
  const double* up;        // [n_rows] or nullptr
  const double* down;      // [n_rows] or nullptr
};

struct LambdaOptions {
  Swap swap = Swap::discounted;
  int64_t truncation = 0;  // 0: all ranks
  double sigma = 1.0;
  bool damped = false;
  int threads = 0;
  int64_t block_rows = 1 << 14;
};

namespace lambdas {

constexpr double farthest = 700.0;  // the exponential of minus this is nothing
constexpr double widest = 1e308;    // two scores may be farther apart than a double holds

// exp(-y) for 0 <= y < farthest, within 1e-12 of it: a power of two times a polynomial, without a branch, so that loops of it are vectors.
inline double exp_of_minus(double y) {
  constexpr double to_binary = 1.4426950408889634, high = 0.693147180369123816490, low = 1.90821492927058770002e-10;
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number, in the low bits
  const double shifted = y * to_binary + magic, whole = shifted - magic;
  const double r = (whole * high - y) + whole * low;  // -y + whole * ln 2
  double p = 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const uint64_t scale = (uint64_t{1023} - std::bit_cast<uint64_t>(shifted)) << 52;
  return p * std::bit_cast<double>(scale);
}

// A choice by the sign bit, without a branch.
inline double if_positive(double value, double yes, double no) {
  const uint64_t negative = uint64_t{0} - (std::bit_cast<uint64_t>(value) >> 63);
  return std::bit_cast<double>((std::bit_cast<uint64_t>(yes) & ~negative) | (std::bit_cast<uint64_t>(no) & negative));
}

// log2(1 + x) for x > 0, by the series of the inverse hyperbolic tangent.
inline double log2_of_one_plus(double x) {
  int exponent = 0;
  double m = std::frexp(1.0 + x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double f = (m - 1) / (m + 1), square = f * f;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent + 2 * f * sum * 1.4426950408889634;
}

// One list by rank, and what the swaps need of it.
struct RankedRows {
  std::vector<double> gain, score, weight, up, down, gradient, hessian, force, curve, factor;
  std::vector<double> before, within;  // running sums; their meaning is the swap's
  size_t first = 0, second = 0;        // ranks (from 0) of the first two rows that gain; the length where there is none

  void resize(size_t n) {
    for (auto* column : {&gain, &score, &weight, &up, &down, &gradient, &hessian, &force, &curve, &factor, &before}) column->resize(n);
    within.resize(n + 1);
  }
};

struct DiscountedSwap {
  void prepare(RankedRows&, size_t) {}
  static double change(const RankedRows& rows, size_t i, size_t j) {
    return (rows.gain[i] - rows.gain[j]) * std::fabs(rows.weight[i] - rows.weight[j]);
  }
};

struct EvenSwap {
  void prepare(RankedRows&, size_t) {}
  static double change(const RankedRows& rows, size_t i, size_t j) { return rows.gain[i] - rows.gain[j]; }
};

// Sum over gaining rows of weight times the number of gaining rows down to it.
struct PrecisionSwap {
  void prepare(RankedRows& rows, size_t n) {
    double count = 0, sum = 0;
    for (size_t i = 0; i < n; ++i) {
      rows.within[i] = sum;
      if (rows.gain[i] > 0) {
        count += 1;
        sum += rows.weight[i];
      }
      rows.before[i] = count;
    }
    rows.within[n] = sum;
  }
  static double change(const RankedRows& rows, size_t i, size_t j) {
    const bool at_i = rows.gain[i] > 0, at_j = rows.gain[j] > 0;
    if (at_i == at_j) return 0;
    const double between = rows.within[j] - rows.within[i + 1];
    const double size = (rows.before[i] + (at_i ? 0 : 1)) * rows.weight[i] + between - rows.before[j] * rows.weight[j];
    return at_i ? size : -size;
  }
};

// The weight of the first gaining row.
struct FirstSwap {
  void prepare(RankedRows& rows, size_t n) {
    rows.first = rows.second = n;
    for (size_t i = 0; i < n && rows.second == n; ++i)
      if (rows.gain[i] > 0) (rows.first == n ? rows.first : rows.second) = i;
  }
  static double change(const RankedRows& rows, size_t i, size_t j) {
    const bool at_i = rows.gain[i] > 0, at_j = rows.gain[j] > 0;
    if (at_i == at_j) return 0;
    if (at_i) return i == rows.first ? rows.weight[i] - rows.weight[std::min(j, rows.second)] : 0;
    return i < rows.first ? rows.weight[rows.first] - rows.weight[i] : 0;
  }
};

// Sum of weight * gain * chance that no row above stopped, a gain being the chance to stop.
struct CascadeSwap {
  void prepare(RankedRows& rows, size_t n) {
    double passing = 1, sum = 0;
    for (size_t i = 0; i < n; ++i) {
      rows.before[i] = passing;
      rows.within[i] = sum;
      sum += rows.weight[i] * rows.gain[i] * passing;
      passing *= 1 - rows.gain[i];
    }
    rows.within[n] = sum;
  }
  static double change(const RankedRows& rows, size_t i, size_t j) {
    const double between = rows.within[j] - rows.within[i + 1];
    return (rows.gain[i] - rows.gain[j]) * (rows.weight[i] * rows.before[i] - (between + rows.weight[j] * rows.before[j]) / (1 - rows.gain[i]));
  }
};

// Four running sums, so that additions need not wait for each other; always the same four.
inline double sum_of(const double* values, size_t from, size_t to) {
  double a = 0, b = 0, c = 0, d = 0;
  size_t k = from;
  for (; k + 4 <= to; k += 4) {
    a += values[k];
    b += values[k + 1];
    c += values[k + 2];
    d += values[k + 3];
  }
  for (; k < to; ++k) a += values[k];
  return (a + b) + (c + d);
}

// A row and what pulls at the rows below it: its score, the steepness, and the distance at which a pull halves.
struct Pull {
  double score, sigma, least, share;
};

// Forces and curvatures of the pairs with the rows from `from` to before `to`, added to what these have; no exponential if `far`.
template <bool far>
void pull_rows(const Pull pull, size_t from, size_t to, const double* IDEALRANK_ALONE scores, const double* IDEALRANK_ALONE factor,
               double* IDEALRANK_ALONE force, double* IDEALRANK_ALONE curve, double* IDEALRANK_ALONE gradient, double* IDEALRANK_ALONE hessian) {
  for (size_t j = from; j < to; ++j) {
    const double gap = pull.score - scores[j], x = far ? std::min(gap, widest) : gap, e = far ? 0.0 : exp_of_minus(pull.sigma * x);
    const double one = 1.0 + e, distance = pull.least + pull.share * x;
    const double inverse = 1.0 / (one * distance), weight = factor[j] * inverse;
    const double drawn = weight * if_positive(factor[j], e, 1.0), bent = std::fabs(weight) * e * (inverse * distance);
    force[j] = drawn;
    curve[j] = bent;
    gradient[j] += drawn;
    hessian[j] += bent;
  }
}

template <class Out>
class Differentiator {
 public:
  Differentiator(const LambdaInput& input, const LambdaOptions& options, Out* gradients, Out* hessians)
      : input_(input), options_(options), gradients_(gradients), hessians_(hessians) {}

  template <class SwapKind>
  void differentiate(int64_t list, int64_t begin, int64_t end) {
    const auto n = static_cast<size_t>(end - begin);
    const double scale = input_.scale[list];
    if (n == 0) return;
    std::fill(gradients_ + begin, gradients_ + end, Out{0});
    std::fill(hessians_ + begin, hessians_ + end, Out{0});
    if (n < 2 || !(scale != 0)) return;
    rank(begin, n);
    SwapKind swap;
    swap.prepare(rows_, n);
    const bool damped = options_.damped && rows_.score[0] != rows_.score[n - 1], weighed = input_.up || input_.down;
    const size_t top = options_.truncation > 0 ? std::min(n - 1, static_cast<size_t>(options_.truncation)) : n - 1;
    double total = 0;
    for (size_t i = 0; i < top; ++i) total += weighed ? meet<SwapKind, true>(i, n, scale, damped) : meet<SwapKind, false>(i, n, scale, damped);
    // The sum of the forces is that of sigma * |weight| * probability.
    const double sum = 2 * options_.sigma * total;
    const double norm = options_.damped && sum > 0 ? log2_of_one_plus(sum) / sum : 1.0;
    const double slope = options_.sigma * norm, bend = options_.sigma * slope;
    for (size_t i = 0; i < n; ++i) {
      const int64_t row = begin + order_.data()[i];
      gradients_[row] = static_cast<Out>(rows_.gradient[i] * slope);
      hessians_[row] = static_cast<Out>(rows_.hessian[i] * bend);
    }
  }

 private:
  void rank(int64_t begin, size_t n) {
    sorter_.by_score(input_.scores + begin, n, order_);
    rows_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const int64_t row = begin + order_.data()[i];
      rows_.gain[i] = input_.gains[row];
      rows_.score[i] = input_.scores[row];
      rows_.weight[i] = static_cast<int64_t>(i) < input_.n_weights ? input_.weights[i] : 0.0;
      rows_.up[i] = input_.up ? input_.up[row] : 1.0;
      rows_.down[i] = input_.down ? input_.down[row] : 1.0;
      rows_.gradient[i] = rows_.hessian[i] = 0;
    }
  }

  // All pairs of rank i with the ranks below it; returns the sum of |weight| * probability.
  template <class SwapKind, bool weighed>
  double meet(size_t i, size_t n, double scale, bool damped) {
    double* factor = rows_.factor.data();
    for (size_t j = i + 1; j < n; ++j) factor[j] = SwapKind::change(rows_, i, j) * scale;
    if constexpr (weighed)
      for (size_t j = i + 1; j < n; ++j) factor[j] *= factor[j] > 0 ? rows_.up[i] * rows_.down[j] : rows_.up[j] * rows_.down[i];
    double *force = rows_.force.data(), *curve = rows_.curve.data(), *gradient = rows_.gradient.data(), *hessian = rows_.hessian.data();
    const double* scores = rows_.score.data();
    const double score = scores[i], sigma = options_.sigma, least = damped ? 0.01 : 1.0, share = damped ? 1.0 : 0.0;
    size_t near = n;  // of the rows from here on the exponential is nothing
    while (near > i + 1 && !(sigma * (score - scores[near - 1]) < farthest)) --near;
    const Pull pull{score, sigma, least, share};
    pull_rows<false>(pull, i + 1, near, scores, factor, force, curve, gradient, hessian);
    pull_rows<true>(pull, near, n, scores, factor, force, curve, gradient, hessian);
    gradient[i] -= sum_of(force, i + 1, n);
    hessian[i] += sum_of(curve, i + 1, n);
    if (!options_.damped) return 0;
    for (size_t j = i + 1; j < n; ++j) force[j] = std::fabs(force[j]);
    return sum_of(force, i + 1, n);
  }

  LambdaInput input_;
  LambdaOptions options_;
  Out *gradients_, *hessians_;
  Sorter sorter_;
  Pool<uint32_t> order_;
  RankedRows rows_;
};

// Checks the offsets and cuts the lists into blocks; the first list of each block, and n_lists at the end.
inline std::vector<int64_t> blocks_of(const int64_t* offsets, const LambdaInput& input, int64_t block_rows) {
  if (offsets[0] != 0 || offsets[input.n_lists] != input.n_rows) throw std::invalid_argument("offsets must run from 0 to the number of rows");
  std::vector<int64_t> blocks;
  int64_t work = block_rows;
  for (int64_t list = 0; list < input.n_lists; ++list) {
    const int64_t begin = offsets[list], end = offsets[list + 1];
    if (end < begin || end > input.n_rows) throw std::invalid_argument("offsets must not fall");
    if (end - begin > std::numeric_limits<int32_t>::max()) throw std::invalid_argument("a list has more than 2147483647 items");
    if (work >= block_rows) {
      blocks.push_back(list);
      work = 0;
    }
    work += end - begin + 1;
  }
  blocks.push_back(input.n_lists);
  return blocks;
}

template <class SwapKind, class Out>
void differentiate_all(const LambdaInput& input, const LambdaOptions& options, const std::vector<int64_t>& offsets, Out* gradients, Out* hessians) {
  const std::vector<int64_t> blocks = blocks_of(offsets.data(), input, options.block_rows);
  const size_t n_blocks = blocks.size() - 1, n_workers = worker_count(options.threads, n_blocks);
  std::vector<std::unique_ptr<Differentiator<Out>>> workers(n_workers);
  share(n_blocks, n_workers, nullptr, [&](size_t number, size_t block) {
    if (!workers[number]) workers[number] = std::make_unique<Differentiator<Out>>(input, options, gradients, hessians);
    for (int64_t list = blocks[block]; list < blocks[block + 1]; ++list)
      workers[number]->template differentiate<SwapKind>(list, offsets[list], offsets[list + 1]);
  });
}

}  // namespace lambdas

template <class Out>
void lambda_gradients(const LambdaInput& input, const LambdaOptions& options, Out* gradients, Out* hessians) {
  // Copied, for another thread may write to them after they were checked.
  const std::vector<int64_t> offsets(input.offsets, input.offsets + input.n_lists + 1);
  using namespace lambdas;
  switch (options.swap) {
    case Swap::discounted: return differentiate_all<DiscountedSwap>(input, options, offsets, gradients, hessians);
    case Swap::even: return differentiate_all<EvenSwap>(input, options, offsets, gradients, hessians);
    case Swap::precision: return differentiate_all<PrecisionSwap>(input, options, offsets, gradients, hessians);
    case Swap::first: return differentiate_all<FirstSwap>(input, options, offsets, gradients, hessians);
    case Swap::cascade: return differentiate_all<CascadeSwap>(input, options, offsets, gradients, hessians);
  }
}

}  // namespace idealrank
