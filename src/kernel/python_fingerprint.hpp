// Fingerprints for Python: a pair of whole numbers. Part of the binding.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "fingerprint.hpp"
#include "python_groups.hpp"
#include "python_rows.hpp"

namespace idealrank {

using Sums = std::pair<uint64_t, uint64_t>;

inline Sums fingerprint_of_table(const Table& table, int threads) {
  if (threads < 0) throw nb::value_error("threads must not be negative; 0 uses all processors");
  nb::gil_scoped_release unlocked;
  const Fingerprint found = fingerprint_table(table, threads);
  return {found.first, found.second};
}

inline Sums fingerprint_of_lists(const Column& labels, const Integers& offsets, const std::optional<Integers>& order, nb::object queries, int threads) {
  if (threads < 0) throw nb::value_error("threads must not be negative; 0 uses all processors");
  if (offsets.shape(0) == 0) throw nb::value_error("offsets must have one entry more than there are lists");
  if (order && order->shape(0) != labels.shape(0)) throw nb::value_error("order must have the length of labels");
  const auto n = static_cast<size_t>(offsets.shape(0)) - 1;
  Integers numbers;
  IdPool ids;
  const bool numbered = !queries.is_none() && nb::try_cast(queries, numbers, false);
  if (!queries.is_none() && !numbered) {
    IdColumn column(queries);
    for (size_t i = 0; i < column.size(); ++i) ids.push(column[i]);
  }
  if (!queries.is_none() && (numbered ? numbers.shape(0) : ids.size()) != n) throw nb::value_error("queries must have one entry per list");
  nb::gil_scoped_release unlocked;
  const Fingerprint found = with_labels(labels, [&](const auto* data) {
    const auto sum = [&](auto&& name) {
      return fingerprint_lists(data, static_cast<int64_t>(labels.shape(0)), offsets.data(), static_cast<int64_t>(n), order ? order->data() : nullptr, threads, name);
    };
    if (ids.size()) return sum([&](size_t list, char (&)[24]) { return ids[list]; });
    if (numbered) return sum([&](size_t list, char (&digits)[24]) { return decimal(numbers.data()[list], digits); });
    return sum([](size_t list, char (&digits)[24]) { return decimal(static_cast<int64_t>(list), digits); });
  });
  return {found.first, found.second};
}

inline void bind_fingerprints(nb::module_& m) {
  m.def("fingerprint", &fingerprint_of_table, "table"_a, nb::kw_only(), "threads"_a = 0);
  m.def("fingerprint_lists", &fingerprint_of_lists, nb::arg("labels").noconvert(), nb::arg("offsets").noconvert(), nb::kw_only(),
        nb::arg("order").noconvert() = nb::none(), "queries"_a = nb::none(), "threads"_a = 0);
}

}  // namespace idealrank
