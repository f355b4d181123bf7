// Python's own containers, walked under the GIL, into rows. Part of the binding: the only header besides binding.cpp that knows Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "build.hpp"
#include "columns.hpp"
#include "line.hpp"
#include "memory.hpp"

namespace idealrank {

namespace nb = nanobind;

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

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
      buffer_.n_rows = static_cast<size_t>(PySequence_Size(sequence_.ptr()));
      list_ = PyList_Check(sequence_.ptr());
    }
  }
  IdColumn(const IdColumn&) = delete;
  IdColumn& operator=(const IdColumn&) = delete;
  ~IdColumn() {
    if (opened_) PyBuffer_Release(&data_);
  }

  size_t size() const { return buffer_.n_rows; }
  bool is_buffer() const { return opened_; }  // and may be read without the GIL
  const IdBuffer& buffer() const { return buffer_; }
  Bytes operator[](size_t i) {
    if (opened_) return buffer_[i];
    auto at = static_cast<Py_ssize_t>(i);
    PyObject* item = list_ ? PyList_GetItem(sequence_.ptr(), at) : PyTuple_GetItem(sequence_.ptr(), at);
    if (!item) nb::raise_python_error();
    return ids_(item, i + 1);
  }

 private:
  template <class Number>
  using Column = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  // Two ids in a tuple are no pair; NumPy's integers are buffers too, but no sequences.
  static bool is_array(nb::handle object) {
    return PyObject_CheckBuffer(object.ptr()) && PySequence_Check(object.ptr()) && !PyBytes_Check(object.ptr());
  }
  void open_codes(nb::handle codes) {
    codes_ = nb::cast<Column<int32_t>>(codes);
    buffer_.codes = codes_.data();
    buffer_.n_rows = codes_.shape(0);
  }
  void open_buffers(nb::handle offsets, nb::handle data) {
    size_t n_offsets;
    if (nb::try_cast<Column<int32_t>>(offsets, narrow_, false)) {
      buffer_.narrow = narrow_.data();
      n_offsets = narrow_.shape(0);
    } else {
      wide_ = nb::cast<Column<int64_t>>(offsets);
      buffer_.wide = wide_.data();
      n_offsets = wide_.shape(0);
    }
    if (n_offsets == 0) throw nb::value_error("id offsets must have one entry more than there are rows");
    buffer_.n_rows = buffer_.n_ids = n_offsets - 1;
    if (PyObject_GetBuffer(data.ptr(), &data_, PyBUF_SIMPLE)) nb::raise_python_error();
    opened_ = true;
    buffer_.data = static_cast<const char*>(data_.buf);
    buffer_.size = data_.len;
  }

  nb::object sequence_;
  Column<int32_t> narrow_, codes_;
  Column<int64_t> wide_;
  IdBuffer buffer_;
  Py_buffer data_{};
  IdReader ids_;
  bool opened_ = false, list_ = false;
};

// A table that grows by pieces of three columns.
class ColumnTable {
 public:
  void add(nb::object query_ids, nb::object document_ids, Numbers values) {
    check_open();
    IdColumn queries(query_ids), documents(document_ids);
    const size_t n = values.shape(0);
    if (queries.size() != n || documents.size() != n) {
      throw nb::value_error(("columns differ in length: " + std::to_string(queries.size()) + " queries, " + std::to_string(documents.size()) +
                             " documents, " + std::to_string(n) + " values")
                                .c_str());
    }
    if (queries.is_buffer() && documents.is_buffer()) {
      nb::gil_scoped_release unlocked;
      return ColumnReader(builder_, queries.buffer(), documents.buffer(), values.data()).read();
    }
    const size_t before = builder_.rows();
    for (size_t row = 0; row < n; ++row) {
      Bytes query = queries[row], document = documents[row];
      double value = read_once(values.data() + row);
      if (query.empty() || document.empty()) throw row_error(Problem::empty_id, before + row + 1, query, document);
      if (std::isnan(value)) throw row_error(Problem::nan, before + row + 1, query, document);
      builder_.query(query);
      builder_.row(document, value);
    }
  }
  // Rows count from 1, over all pieces.
  Table finish(Duplicates duplicates) {
    check_open();
    finished_ = true;
    nb::gil_scoped_release unlocked;
    return builder_.finish(duplicates, [&](size_t first, size_t second) {
      ParseError error = builder_.error_at(Problem::duplicate, second + 1, second);
      error.detail = "0:" + std::to_string(first + 1);
      return error;
    });
  }

 private:
  void check_open() const {
    if (finished_) throw nb::value_error("the table is finished");
  }

  TableBuilder builder_;
  bool finished_ = false;
};

}  // namespace idealrank
