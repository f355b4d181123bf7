// Sums over subsets of rows for NumPy. Part of the binding.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>

#include "subsets.hpp"

namespace idealrank {

namespace nb = nanobind;
using namespace nb::literals;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Picks = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SumsOfDraws = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void sum_subsets_of_arrays(const Matrix& columns, const Picks& picks, const SumsOfDraws& out) {
  const size_t rows = columns.shape(0), width = columns.shape(1), draws = picks.shape(1);
  if (picks.shape(0) != (rows + 7) / 8) throw nb::value_error("picks must have one row for every eight rows of columns");
  if (out.shape(0) != draws || out.shape(1) != width) throw nb::value_error("out must have a row for each draw and a column for each column");
  nb::gil_scoped_release unlocked;
  sum_subsets(columns.data(), rows, width, picks.data(), draws, out.data());
}

inline void bind_subsets(nb::module_& m) {
  m.def("sum_subsets", &sum_subsets_of_arrays, nb::arg("columns").noconvert(), nb::arg("picks").noconvert(), nb::arg("out").noconvert());
}

}  // namespace idealrank
