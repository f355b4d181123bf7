// rank_groups for NumPy: picks the instance for the dtypes at hand. Part of the binding.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "groups.hpp"

namespace idealrank {

namespace nb = nanobind;
using namespace nb::literals;

using Column = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Use>
auto with_labels(const Column& labels, Use&& use) {
  const auto as = [&]<class Label>(Label) { return use(static_cast<const Label*>(labels.data())); };
  if (labels.dtype() == nb::dtype<float>()) return as(float{});
  if (labels.dtype() == nb::dtype<double>()) return as(double{});
  if (labels.dtype() == nb::dtype<int8_t>()) return as(int8_t{});
  if (labels.dtype() == nb::dtype<int16_t>()) return as(int16_t{});
  if (labels.dtype() == nb::dtype<int32_t>()) return as(int32_t{});
  if (labels.dtype() == nb::dtype<int64_t>()) return as(int64_t{});
  throw nb::type_error("labels must be float32, float64, int8, int16, int32 or int64");
}

inline Groups groups_of_arrays(const Column& labels, const Column& scores, const Integers& offsets, const std::string& ties, bool float32, int64_t depth,
                               const std::optional<Integers>& order, int threads) {
  const size_t n_rows = labels.shape(0);
  if (scores.shape(0) != n_rows) throw nb::value_error("labels and scores must have the same length");
  if (order && order->shape(0) != n_rows) throw nb::value_error("order must have the length of labels");
  if (offsets.shape(0) == 0) throw nb::value_error("offsets must have one entry more than there are lists");
  if (depth < 0) throw nb::value_error("depth must not be negative; 0 keeps all ranks");
  if (threads < 0) throw nb::value_error("threads must not be negative; 0 uses all cores");
  if (ties != "input" && ties != "reversed") throw nb::value_error(("ties must be one of input, reversed; found " + ties).c_str());
  const GroupOptions options{.reversed = ties == "reversed", .float32 = float32, .depth = depth, .threads = threads};
  const auto run = [&](const auto* label_data, const auto* score_data) {
    return rank_groups(label_data, score_data, static_cast<int64_t>(n_rows), offsets.data(), static_cast<int64_t>(offsets.shape(0)) - 1,
                       order ? order->data() : nullptr, options);
  };
  const bool is_float = scores.dtype() == nb::dtype<float>();
  if (!is_float && scores.dtype() != nb::dtype<double>()) throw nb::type_error("scores must be float32 or float64");
  nb::gil_scoped_release unlocked;
  return with_labels(labels, [&](const auto* label_data) {
    return is_float ? run(label_data, static_cast<const float*>(scores.data())) : run(label_data, static_cast<const double*>(scores.data()));
  });
}

template <class T>
auto column_of(Array<T> Groups::*member) {
  return [member](nb::handle_t<Groups> self) {
    const Array<T>& array = nb::cast<const Groups&>(self).*member;
    return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(array.data(), {array.size()}, self);
  };
}

inline void bind_groups(nb::module_& m) {
  nb::class_<Groups>(m, "Groups")
      .def_ro("n_queries", &Groups::n_queries)
      .def_ro("width", &Groups::width)
      .def_prop_ro("hit_offsets", column_of(&Groups::hit_offsets))
      .def_prop_ro("grades", column_of(&Groups::grades))
      .def_prop_ro("ideal_grades", column_of(&Groups::ideal_grades))
      .def_prop_ro("length", column_of(&Groups::length))
      .def_prop_ro("tied", column_of(&Groups::tied))
      .def_prop_ro("tie_query", column_of(&Groups::tie_query))
      .def_prop_ro("tie_rank", column_of(&Groups::tie_rank))
      .def_prop_ro("tie_first", column_of(&Groups::tie_first))
      .def_prop_ro("tie_last", column_of(&Groups::tie_last))
      .def_prop_ro("tie_grade", column_of(&Groups::tie_grade));
  m.def("rank_groups", &groups_of_arrays, nb::arg("labels").noconvert(), nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(), nb::kw_only(),
        "ties"_a = "input", "float32"_a = false, "depth"_a = 0, nb::arg("order").noconvert() = nb::none(), "threads"_a = 0);
}

}  // namespace idealrank
