// lambda_gradients for NumPy: picks the instance for the dtype of the results. Part of the binding.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "lambdas.hpp"

namespace idealrank {

namespace nb = nanobind;
using namespace nb::literals;

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ListOffsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Written = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline Swap swap_of(const std::string& name) {
  if (name == "discounted") return Swap::discounted;
  if (name == "even") return Swap::even;
  if (name == "precision") return Swap::precision;
  if (name == "first") return Swap::first;
  if (name == "cascade") return Swap::cascade;
  throw nb::value_error(("swap must be one of discounted, even, precision, first, cascade; found " + name).c_str());
}

inline void check_lambdas(const Doubles& gains, const Doubles& scores, const ListOffsets& offsets, const Doubles& scale, const std::optional<Doubles>& up,
                          const std::optional<Doubles>& down, const Written& gradients, const Written& hessians) {
  const size_t n = gains.shape(0);
  if (scores.shape(0) != n || gradients.shape(0) != n || hessians.shape(0) != n || (up && up->shape(0) != n) || (down && down->shape(0) != n))
    throw nb::value_error("gains, scores, up, down, gradients and hessians must have the same length");
  if (offsets.shape(0) == 0 || scale.shape(0) != offsets.shape(0) - 1) throw nb::value_error("offsets must have one entry more than scale");
  if (gradients.dtype() != hessians.dtype()) throw nb::type_error("gradients and hessians must have one type");
  if (gradients.dtype() != nb::dtype<float>() && gradients.dtype() != nb::dtype<double>()) throw nb::type_error("gradients must be float32 or float64");
}

inline void lambda_gradients_of_arrays(const Doubles& gains, const Doubles& scores, const ListOffsets& offsets, const Doubles& weights, const Doubles& scale,
                                       const Written& gradients, const Written& hessians, const std::string& swap, int64_t truncation, double sigma,
                                       bool damped, const std::optional<Doubles>& up, const std::optional<Doubles>& down, int threads) {
  check_lambdas(gains, scores, offsets, scale, up, down, gradients, hessians);
  if (truncation < 0) throw nb::value_error("truncation must not be negative; 0 keeps all ranks");
  if (threads < 0) throw nb::value_error("threads must not be negative; 0 uses all cores");
  const LambdaOptions options{.swap = swap_of(swap), .truncation = truncation, .sigma = sigma, .damped = damped, .threads = threads};
  const LambdaInput input{gains.data(),   scores.data(),
                          static_cast<int64_t>(gains.shape(0)), offsets.data(),
                          static_cast<int64_t>(scale.shape(0)), weights.data(),
                          static_cast<int64_t>(weights.shape(0)), scale.data(),
                          up ? up->data() : nullptr, down ? down->data() : nullptr};
  const bool is_float = gradients.dtype() == nb::dtype<float>();
  nb::gil_scoped_release unlocked;
  if (is_float) return lambda_gradients(input, options, static_cast<float*>(gradients.data()), static_cast<float*>(hessians.data()));
  lambda_gradients(input, options, static_cast<double*>(gradients.data()), static_cast<double*>(hessians.data()));
}

inline void bind_lambdas(nb::module_& m) {
  m.def("lambda_gradients", &lambda_gradients_of_arrays, nb::arg("gains").noconvert(), nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("scale").noconvert(), nb::arg("gradients").noconvert(), nb::arg("hessians").noconvert(), nb::kw_only(),
        "swap"_a, "truncation"_a = 0, "sigma"_a = 1.0, "damped"_a = false, nb::arg("up").noconvert() = nb::none(), nb::arg("down").noconvert() = nb::none(),
        "threads"_a = 0);
}

}  // namespace idealrank
