// Python's own containers, walked under the GIL, into rows. Part of the binding: the only header besides binding.cpp that knows Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "build.hpp"
#include "line.hpp"
#include "memory.hpp"

namespace idealrank {

namespace nb = nanobind;

inline ParseError row_error(Problem problem, uint64_t line, Bytes query, Bytes document) {
  return {problem_name(problem), 0, line, std::string(query) + " " + std::string(document), ""};
}

// The bytes of an id. They live in the object or, for integers, in `spare_`.
class IdReader {
 public:
  Bytes operator()(PyObject* object, uint64_t line = 0) {
    if (PyUnicode_Check(object)) return utf8(object, line);
    if (PyBytes_Check(object)) return Bytes(PyBytes_AsString(object), static_cast<size_t>(PyBytes_Size(object)));
    if (PyIndex_Check(object)) {
      nb::object integer = nb::steal(PyNumber_Index(object));
      if (!integer.is_valid()) nb::raise_python_error();
      spare_ = nb::steal(PyObject_Str(integer.ptr()));
      if (!spare_.is_valid()) nb::raise_python_error();
      return utf8(spare_.ptr(), line);
    }
    throw nb::type_error(("an id must be str, bytes or int, not " + type_name(object)).c_str());
  }
  static std::string type_name(PyObject* object) { return nb::str(nb::handle(object).type().attr("__name__")).c_str(); }

 private:
  static Bytes utf8(PyObject* text, uint64_t line) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text, &size);
    if (data) return Bytes(data, static_cast<size_t>(size));
    // Half of a surrogate pair: no UTF-8 has it.
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) nb::raise_python_error();
    PyErr_Clear();
    nb::object shown = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    if (!shown.is_valid()) nb::raise_python_error();
    throw ParseError{"utf8", 0, line, std::string(nb::borrow<nb::bytes>(shown).c_str()), ""};
  }
  nb::object spare_;
};

class MappingReader {
 public:
  void query(PyObject* key, PyObject* documents) {
    query_id_ = query_ids_(key);
    if (query_id_.empty()) throw row_error(Problem::empty_id, 0, query_id_, "");
    only_str_ = only_str_ && PyUnicode_CheckExact(key);
    builder_.query(query_id_);
    if (PyDict_Check(documents)) {
      scored(documents);
    } else if (nb::hasattr(nb::handle(documents), "items")) {
      only_str_ = false;
      for (nb::handle pair : nb::iter(nb::handle(documents).attr("items")())) {
        nb::object document = pair[0], number = pair[1];
        row(document.ptr(), read_number(document.ptr(), number.ptr()));
      }
    } else if (PyUnicode_Check(documents) || PyBytes_Check(documents)) {
      throw nb::type_error("the documents of a query must be a mapping or a list of ids, not one id");
    } else {
      only_str_ = false;
      int64_t index = 0;
      for (nb::handle document : nb::iter(nb::handle(documents))) row(document.ptr(), 0.0 - static_cast<double>(index++));
    }
  }
  Table finish(Duplicates duplicates) {
    // The keys of a dict differ, and so do their bytes unless 1, "1" and b"1" come together: nobody need look for duplicates.
    nb::gil_scoped_release unlocked;
    return builder_.finish(only_str_ ? Duplicates::keep : duplicates,
                           [&](size_t, size_t second) { return builder_.error_at(Problem::duplicate, 0, second); });
  }

 private:
  void scored(PyObject* documents) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(documents, &at, &key, &value)) {
      only_str_ &= PyUnicode_CheckExact(key) != 0;
      if (PyFloat_CheckExact(value)) {
        row(key, PyFloat_AsDouble(value));
      } else {
        // Turning a foreign number into a double runs foreign code, which may drop both objects from the dict.
        nb::object kept_key = nb::borrow(key), kept_value = nb::borrow(value);
        row(key, read_number(key, value));
      }
    }
  }
  void row(PyObject* key, double value) {
    Bytes id = document_ids_(key);
    if (id.empty()) throw row_error(Problem::empty_id, 0, query_id_, id);
    if (std::isnan(value)) throw row_error(Problem::nan, 0, query_id_, id);
    builder_.row(id, value);
  }
  double read_number(PyObject* key, PyObject* object) {
    double value = PyFloat_AsDouble(object);
    if (value != -1.0 || !PyErr_Occurred()) return value;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
    PyErr_Clear();
    std::string where = "query " + std::string(query_id_) + ", document " + std::string(document_ids_(key));
    throw nb::type_error((where + ": expected a number, found " + IdReader::type_name(object)).c_str());
  }

  TableBuilder builder_;
  IdReader query_ids_, document_ids_;
  Bytes query_id_;
  bool only_str_ = true;
};

inline Table table_from_mapping(nb::handle mapping, Duplicates duplicates) {
  MappingReader reader;
  if (PyDict_Check(mapping.ptr())) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(mapping.ptr(), &at, &key, &value)) {
      nb::object kept_key = nb::borrow(key), kept_value = nb::borrow(value);
      reader.query(key, value);
    }
  } else {
    for (nb::handle pair : nb::iter(mapping.attr("items")())) {
      nb::object key = pair[0], value = pair[1];
      reader.query(key.ptr(), value.ptr());
    }
  }
  return reader.finish(duplicates);
}

// A column of ids: a Python sequence, or offsets and bytes as Arrow keeps them, also with the place of each row's id among them.
class IdColumn {
 public:
  explicit IdColumn(nb::handle column) {
    const auto parts = PyTuple_Check(column.ptr()) ? PyTuple_Size(column.ptr()) : 0;
    if ((parts == 2 || parts == 3) && is_array(nb::object(column[0]))) {
      open_buffers(nb::object(column[0]), nb::object(column[1]));
      if (parts == 3) open_codes(nb::object(column[2]));
    } else {
      sequence_ = nb::steal(PySequence_Fast(column.ptr(), "ids must be a sequence, or a pair (offsets, data)"));
      if (!sequence_.is_valid()) nb::raise_python_error();
      size_ = static_cast<size_t>(PySequence_Size(sequence_.ptr()));
      list_ = PyList_Check(sequence_.ptr());
    }
  }
  IdColumn(const IdColumn&) = delete;
  IdColumn& operator=(const IdColumn&) = delete;
  ~IdColumn() {
    if (opened_) PyBuffer_Release(&data_);
  }

  size_t size() const { return size_; }
  bool is_buffer() const { return opened_; }  // and may be read without the GIL
  Bytes operator[](size_t i) {
    if (opened_) {
      if (coded_) i = place_of(read_once(codes_.data() + i));
      auto first = read_once(offsets_ + i), end = read_once(offsets_ + i + 1);
      if (first < 0 || end < first || end > data_.len) throw nb::value_error("id offsets must rise from 0 to the size of the data");
      return Bytes(static_cast<const char*>(data_.buf) + first, static_cast<size_t>(end - first));
    }
    auto at = static_cast<Py_ssize_t>(i);
    PyObject* item = list_ ? PyList_GetItem(sequence_.ptr(), at) : PyTuple_GetItem(sequence_.ptr(), at);
    if (!item) nb::raise_python_error();
    return ids_(item, i + 1);
  }

 private:
  using Offsets = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  using Codes = nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  // Two ids in a tuple are no pair; NumPy's integers are buffers too, but no sequences.
  static bool is_array(nb::handle object) {
    return PyObject_CheckBuffer(object.ptr()) && PySequence_Check(object.ptr()) && !PyBytes_Check(object.ptr());
  }
  size_t place_of(int32_t code) const {
    if (code < 0 || static_cast<size_t>(code) >= n_ids_) throw nb::value_error("id codes must be places of the ids");
    return static_cast<size_t>(code);
  }
  void open_codes(nb::handle codes) {
    codes_ = nb::cast<Codes>(codes);
    size_ = codes_.shape(0);
    coded_ = true;
  }
  void open_buffers(nb::handle offsets, nb::handle data) {
    array_ = nb::cast<Offsets>(offsets);
    if (array_.shape(0) == 0) throw nb::value_error("id offsets must have one entry more than there are rows");
    offsets_ = array_.data();
    size_ = n_ids_ = array_.shape(0) - 1;
    if (PyObject_GetBuffer(data.ptr(), &data_, PyBUF_SIMPLE)) nb::raise_python_error();
    opened_ = true;
  }

  nb::object sequence_;
  Offsets array_;
  Py_buffer data_{};
  const int64_t* offsets_ = nullptr;
  IdReader ids_;
  Codes codes_;
  size_t size_ = 0, n_ids_ = 0;
  bool opened_ = false, coded_ = false;
  bool list_ = false;
};

inline Table table_from_columns(IdColumn& queries, IdColumn& documents, const double* values, size_t n, Duplicates duplicates) {
  if (queries.size() != n || documents.size() != n) {
    throw nb::value_error(("columns differ in length: " + std::to_string(queries.size()) + " queries, " + std::to_string(documents.size()) +
                           " documents, " + std::to_string(n) + " values")
                              .c_str());
  }
  TableBuilder builder;
  auto add_rows = [&] {
    for (size_t row = 0; row < n; ++row) {
      Bytes query = queries[row], document = documents[row];
      double value = read_once(values + row);
      if (query.empty() || document.empty()) throw row_error(Problem::empty_id, row + 1, query, document);
      if (std::isnan(value)) throw row_error(Problem::nan, row + 1, query, document);
      builder.query(query);
      builder.row(document, value);
    }
  };
  if (!queries.is_buffer() || !documents.is_buffer()) add_rows();
  nb::gil_scoped_release unlocked;
  if (queries.is_buffer() && documents.is_buffer()) add_rows();
  return builder.finish(duplicates, [&](size_t first, size_t second) {
    ParseError error = builder.error_at(Problem::duplicate, second + 1, second);
    error.detail = "0:" + std::to_string(first + 1);
    return error;
  });
}

}  // namespace idealrank
