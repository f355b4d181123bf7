// lambda_gradients on any arrays: no bad access, also through offsets that point outside, the sums of one pair after another, and the same
// bits for any number of threads and any division into blocks.
//
// Input: the swap, flags, truncation, number of weights, number of lists, a length per list, then gains and scores by turns (each a small
// number, a special one, or raw bytes behind a marker).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "harness.hpp"
#include "lambdas.hpp"

namespace {

using namespace idealrank;
using fuzz::Choices;

double number(Choices& choices) {
  static constexpr double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0.1, -1e308, 5e-324};
  const uint8_t kind = choices.byte();
  if (kind >= 250) return choices.raw<double>();
  if (kind >= 235) return special[kind % 8];
  return static_cast<double>(kind % 12) / 4.0;
}

// Exactly as long as its contents, so that the sanitizer sees one element too many.
template <class T>
std::unique_ptr<T[]> exact(const std::vector<T>& values) {
  std::unique_ptr<T[]> copy(new T[values.size()]);
  std::copy(values.begin(), values.end(), copy.get());
  return copy;
}

struct Case {
  std::vector<double> gains, scores, weights, scale, up, down;
  std::vector<int64_t> offsets;
  LambdaOptions options;
  bool weighed = false;

  std::vector<double> results(int threads, int64_t block_rows) const {
    const auto g = exact(gains), s = exact(scores), w = exact(weights), f = exact(scale), u = exact(up), d = exact(down);
    const auto o = exact(offsets);
    const size_t n = gains.size();
    std::unique_ptr<double[]> slope(new double[n]), bend(new double[n]);
    std::fill_n(slope.get(), n, 99.0);
    std::fill_n(bend.get(), n, 99.0);
    LambdaOptions chosen = options;
    chosen.threads = threads;
    chosen.block_rows = block_rows;
    const LambdaInput input{g.get(), s.get(), static_cast<int64_t>(n), o.get(), static_cast<int64_t>(scale.size()), w.get(),
                            static_cast<int64_t>(weights.size()), f.get(), weighed ? u.get() : nullptr, weighed ? d.get() : nullptr};
    lambda_gradients(input, chosen, slope.get(), bend.get());
    std::vector<double> out(slope.get(), slope.get() + n);
    out.insert(out.end(), bend.get(), bend.get() + n);
    return out;
  }
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The gradients of a pair that is alone in its list, by the definition.
void check_pair(const Case& one, const std::vector<double>& found) {
  const double difference = one.gains[0] - one.gains[1], x = one.scores[0] - one.scores[1];
  if (!(std::fabs(difference) < 1e6 && std::fabs(x) < 600) || !(one.scale[0] > 0) || one.weighed || one.options.damped || one.options.swap != Swap::even) return;
  const double wrong = 1 / (1 + std::exp(difference > 0 ? x : -x)), expected = one.scale[0] * difference * wrong;
  PROMISE(std::fabs(found[0] + expected) <= 1e-9 * std::fabs(expected) && found[0] == -found[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static constexpr Swap swaps[] = {Swap::discounted, Swap::even, Swap::precision, Swap::first, Swap::cascade};
  Choices choices(data, size);
  Case one;
  one.options.swap = swaps[choices.below(5)];
  const uint8_t flags = choices.byte();
  one.options.damped = flags & 1;
  one.weighed = flags & 2;
  one.options.truncation = static_cast<int64_t>(choices.below(6));
  const size_t n_weights = choices.below(12), n_lists = choices.below(5);
  one.offsets.push_back(0);
  for (size_t list = 0; list < n_lists; ++list) one.offsets.push_back(one.offsets.back() + static_cast<int64_t>(choices.below(20)));
  const auto n = static_cast<size_t>(one.offsets.back());
  for (size_t i = 0; i < n_weights; ++i) one.weights.push_back(1.0 / static_cast<double>(i + 1));
  for (size_t i = 0; i < n_lists; ++i) one.scale.push_back(static_cast<double>(choices.below(4)));
  for (size_t i = 0; i < n; ++i) {
    one.gains.push_back(number(choices));
    one.scores.push_back(number(choices));
    one.up.push_back(one.weighed ? number(choices) : 1.0);
    one.down.push_back(1.0);
  }
  if (flags >= 240 && n_lists > 0) one.offsets[choices.below(n_lists + 1)] = choices.raw<int64_t>();
  std::vector<double> whole;
  try {
    whole = one.results(1, 1 << 14);
  } catch (const std::invalid_argument&) {
    return 0;  // offsets that do not fit
  }
  if (n == 2 && n_lists == 1) check_pair(one, whole);
  const auto parts = one.results(flags & 4 ? 3 : 1, 1);
  for (size_t i = 0; i < whole.size(); ++i) PROMISE(same(whole[i], parts[i]));
  return 0;
}
