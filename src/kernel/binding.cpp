// The Python face of the kernel: argument checking, buffers in, arrays out. No logic of its own.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "lint.hpp"
#include "progress.hpp"
#include "python_fingerprint.hpp"
#include "python_groups.hpp"
#include "python_lambdas.hpp"
#include "python_rows.hpp"
#include "python_subsets.hpp"
#include "read.hpp"
#include "stream.hpp"
#include "watch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace idealrank;

namespace {

PyObject* parse_error_type = nullptr;

nb::bytes to_bytes(Bytes text) { return nb::bytes(text.data(), text.size()); }

// A read-only view; the owner keeps the memory alive.
template <class T>
auto view(const Array<T>& array, nb::handle owner) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(array.data(), {array.size()}, owner);
}

template <class T>
auto give(Array<T>&& array) {
  auto* kept = new Array<T>(std::move(array));
  nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Array<T>*>(memory); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

nb::dict to_dict(const Counters& counters) {
  nb::dict out;
  for (const auto& [name, count] : counters) out[name.c_str()] = count;
  return out;
}

template <class Value, size_t n>
Value choose(const char* option, const std::string& given, const std::pair<const char*, Value> (&choices)[n]) {
  std::string expected;
  for (const auto& [name, value] : choices) {
    if (given == name) return value;
    expected += (expected.empty() ? "" : ", ") + std::string(name);
  }
  throw nb::value_error((std::string(option) + " must be one of " + expected + "; found " + given).c_str());
}

Duplicates duplicates_of_reading(const std::string& name) {
  static constexpr std::pair<const char*, Duplicates> choices[] = {
      {"error", Duplicates::error}, {"first", Duplicates::first}, {"last", Duplicates::last}, {"best", Duplicates::best}, {"keep", Duplicates::keep}};
  return choose("duplicates", name, choices);
}

Duplicates duplicates_of_ranking(const std::string& name) {
  static constexpr std::pair<const char*, Duplicates> choices[] = {
      {"error", Duplicates::error}, {"first", Duplicates::first}, {"last", Duplicates::last}, {"best", Duplicates::best}, {"twice", Duplicates::twice}};
  return choose("duplicates", name, choices);
}

Ties ties_of(const std::string& name) {
  static constexpr std::pair<const char*, Ties> choices[] = {{"descending", Ties::descending}, {"ascending", Ties::ascending}, {"input", Ties::input}};
  return choose("ties", name, choices);
}

Layout layout_of(const std::string& name) {
  static constexpr std::pair<const char*, Layout> choices[] = {{"qrels", Layout::qrels}, {"run", Layout::run}};
  return choose("kind", name, choices);
}

int checked_threads(int threads) {
  if (threads < 0) throw nb::value_error("threads must not be negative; 0 uses all processors");
  return threads;
}

// The buffers of a text, held open as long as it lives.
class Text {
 public:
  Text(nb::sequence buffers, const std::string& kind) {
    sources.layout = layout_of(kind);
    held_.reserve(nb::len(buffers));
    for (nb::handle buffer : buffers) {
      auto held = std::make_unique<Py_buffer>();
      if (PyObject_GetBuffer(buffer.ptr(), held.get(), PyBUF_SIMPLE)) {
        release();
        nb::raise_python_error();
      }
      held_.push_back(std::move(held));
      sources.add(static_cast<const char*>(held_.back()->buf), static_cast<size_t>(held_.back()->len));
      nbytes += held_.back()->len;
    }
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { release(); }

  // Calls work() without the GIL, unless a file was cut short: then what it returns or throws is made of zeros.
  template <class Work>
  auto whole(Work&& work) const {
    nb::gil_scoped_release unlocked;
    try {
      auto result = work();
      refuse_cut();
      return result;
    } catch (const ParseError&) {
      refuse_cut();
      throw;
    }
  }

  Sources sources;
  int64_t nbytes = 0;

 private:
  void refuse_cut() const {
    for (size_t source = 0; source < sources.parts.size(); ++source) {
      const Source& part = sources.parts[source];
      if (watching::was_cut(part.begin, part.end)) throw ParseError{problem_name(Problem::cut), static_cast<uint32_t>(source), 0, "", ""};
    }
  }
  void release() {
    for (auto& held : held_) PyBuffer_Release(held.get());
    held_.clear();
  }
  std::vector<std::unique_ptr<Py_buffer>> held_;
};

Table read_text(const Text& text, const std::string& duplicates, std::optional<nb::bytes> only_query, int threads, Progress* progress, size_t chunk_bytes) {
  ReadOptions options;
  options.threads = checked_threads(threads);
  options.chunk_bytes = chunk_bytes;
  options.duplicates = duplicates_of_reading(duplicates);
  if (only_query) options.only_query = std::string(only_query->c_str(), only_query->size());
  return text.whole([&] { return read_sources(text.sources, options, progress); });
}

nb::list lint_text(const Text& text, size_t examples, int threads, Progress* progress, size_t chunk_bytes) {
  checked_threads(threads);
  const std::vector<FindingReport> reports = text.whole([&] { return Linter(text.sources, examples, threads, chunk_bytes).lint(progress); });
  nb::list out;
  for (const FindingReport& report : reports) {
    nb::list found;
    for (const FindingExample& example : report.examples) {
      found.append(nb::make_tuple(example.source, example.line, to_bytes(example.text), to_bytes(example.detail)));
    }
    out.append(nb::make_tuple(report.kind, report.count, found));
  }
  return out;
}

using Mask = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Table from_columns(nb::object queries, nb::object documents, Numbers values, const std::string& duplicates) {
  const Duplicates policy = duplicates_of_reading(duplicates);
  ColumnTable table;
  table.add(queries, documents, values);
  return table.finish(policy);
}

Aligned align(const Table& qrels, nb::object run, const std::string& ties, bool float32, const std::string& duplicates, bool skip_unjudged,
              std::optional<Mask> removed, const DocumentSets* excluded, const DocumentSets* permitted, bool drop_identical, int64_t depth,
              int64_t unjudged_depth, int64_t top_depth, int threads, Progress* progress, size_t chunk_bytes) {
  checked_threads(threads);
  ListOptions options;
  options.ties = ties_of(ties);
  options.float32 = float32;
  options.duplicates = duplicates_of_ranking(duplicates);
  options.skip_unjudged = skip_unjudged;
  options.depth = depth;
  options.unjudged_depth = unjudged_depth;
  options.top_depth = top_depth;
  if (unjudged_depth < 0) throw nb::value_error("unjudged_depth must not be negative; 0 tells of no unjudged document");
  if (top_depth < 0) throw nb::value_error("top_depth must not be negative; 0 keeps no list");
  if (depth < 0) throw nb::value_error("depth must not be negative; 0 keeps all ranks");
  if (removed && removed->shape(0) != qrels.n_rows()) throw nb::value_error("removed must have one entry per row of the qrels");
  if (removed) options.removed = removed->data();
  options.excluded = excluded;
  options.permitted = permitted;
  options.drop_identical = drop_identical;
  if (nb::isinstance<Table>(run)) {
    const Table& table = nb::cast<const Table&>(run);
    nb::gil_scoped_release unlocked;
    return TableAligner(qrels, table, options, threads).align(progress);
  }
  const Text& text = nb::cast<const Text&>(run);
  return text.whole([&] { return TextAligner(qrels, text.sources, options, threads, chunk_bytes).align(progress); });
}

size_t checked(int64_t index, size_t size, const char* what) {
  if (index < 0 || static_cast<size_t>(index) >= size) throw nb::index_error((std::string(what) + " out of range").c_str());
  return static_cast<size_t>(index);
}

nb::tuple rank_query(const Table& run, int64_t query, const std::string& ties, bool float32, const std::string& duplicates, int64_t depth) {
  if (depth < 0) throw nb::value_error("depth must not be negative; 0 keeps all ranks");
  ListOptions options;
  options.ties = ties_of(ties);
  options.float32 = float32;
  options.duplicates = duplicates_of_ranking(duplicates);
  RankedList list(options);
  ListSummary summary;
  size_t number = checked(query, run.n_queries(), "query"), first_of = 0;
  fill(list, run, number);
  size_t repeated = list.settle_duplicates(summary, first_of);
  if (repeated != RankedList::none) throw repeated_document(run.queries[number], list.id(repeated));
  list.join_nothing();
  list.rank();
  const size_t n = depth > 0 ? std::min(list.size(), static_cast<size_t>(depth)) : list.size();
  auto scores = Array<double>::raw(n);
  auto first = Array<int32_t>::raw(n), last = Array<int32_t>::raw(n);
  nb::list ids;
  list.each_group([&](size_t from, size_t to) {
    for (size_t rank = from; rank <= std::min(to, n); ++rank) {
      ids.append(to_bytes(list.id(list.at_rank(rank))));
      scores[rank - 1] = list.score(list.at_rank(rank));
      first[rank - 1] = static_cast<int32_t>(from);
      last[rank - 1] = static_cast<int32_t>(to);
    }
  });
  return nb::make_tuple(ids, give(std::move(scores)), give(std::move(first)), give(std::move(last)));
}

nb::list id_list(const IdPool& pool) {
  nb::list out;
  for (size_t i = 0; i < pool.size(); ++i) out.append(to_bytes(pool[i]));
  return out;
}

template <class T, class Owner>
auto array_of(Array<T> Owner::*member) {
  return [member](nb::handle_t<Owner> self) { return view(nb::cast<const Owner&>(self).*member, self); };
}

void raise_parse_error(const ParseError& error) {
  nb::object args = nb::make_tuple(nb::str(error.kind.c_str()), error.source, error.line, to_bytes(error.text), to_bytes(error.detail));
  nb::object instance = nb::steal(PyObject_Call(parse_error_type, args.ptr(), nullptr));
  if (instance.is_valid()) PyErr_SetObject(parse_error_type, instance.ptr());
}

// Of a buffer that its owner keeps longer than this: a reference would be a circle.
void bind_watch(nb::module_& m) {
  nb::class_<watching::Watch>(m, "Watch")
      .def("__init__",
           [](watching::Watch* self, nb::handle mapped) {
             Py_buffer held;
             if (PyObject_GetBuffer(mapped.ptr(), &held, PyBUF_SIMPLE)) nb::raise_python_error();
             const void* data = held.buf;
             const auto size = static_cast<size_t>(held.len);
             PyBuffer_Release(&held);
             new (self) watching::Watch(data, size);
           },
           "mapped"_a)
      .def_prop_ro("cut", &watching::Watch::cut);
}

void bind_table(nb::module_& m) {
  nb::class_<Table>(m, "Table")
      .def_prop_ro("n_queries", &Table::n_queries)
      .def_prop_ro("n_rows", &Table::n_rows)
      .def_prop_ro("offsets", array_of(&Table::offsets))
      .def_prop_ro("values", array_of(&Table::values))
      .def_prop_ro("counters", [](const Table& self) { return to_dict(self.counters); })
      .def("query_id", [](const Table& self, int64_t query) { return to_bytes(self.queries[checked(query, self.n_queries(), "query")]); }, "query"_a)
      .def("query_ids", [](const Table& self) { return id_list(self.queries); })
      .def("document_id", [](const Table& self, int64_t row) { return to_bytes(self.documents[checked(row, self.n_rows(), "row")]); }, "row"_a)
      .def("document_ids",
           [](const Table& self, Rows rows) {
             nb::list out;
             for (size_t i = 0; i < rows.shape(0); ++i) out.append(to_bytes(self.documents[checked(rows.data()[i], self.n_rows(), "row")]));
             return out;
           },
           "rows"_a)
      .def("find_query",
           [](const Table& self, nb::bytes id) -> int64_t {
             uint32_t found = self.find_query(Bytes(id.c_str(), id.size()));
             return found == IdIndex::absent ? -1 : static_cast<int64_t>(found);
           },
           "query_id"_a)
      .def("find_document",
           [](const Table& self, int64_t query, nb::bytes id) {
             return self.find_document(checked(query, self.n_queries(), "query"), Bytes(id.c_str(), id.size()));
           },
           "query"_a, "document_id"_a);
}

void bind_document_sets(nb::module_& m) {
  nb::class_<DocumentSets>(m, "DocumentSets")
      .def(
          "__init__",
          [](DocumentSets* self, const Table& table, const Table* groups, bool for_all) {
            if (for_all && (groups || table.n_queries() > 1)) throw nb::value_error("for_all: expected a table of one query, and no groups");
            new (self) DocumentSets(table, groups, for_all);
          },
          "table"_a, "groups"_a = nb::none(), nb::kw_only(), "for_all"_a = false, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

void bind_aligned(nb::module_& m) {
  nb::class_<Aligned>(m, "Aligned")
      .def_ro("n_qrels_queries", &Aligned::n_qrels_queries)
      .def_ro("n_queries", &Aligned::n_queries)
      .def_prop_ro("hit_offsets", array_of(&Aligned::hit_offsets))
      .def_prop_ro("hit_row", array_of(&Aligned::hit_row))
      .def_prop_ro("hit_rank", array_of(&Aligned::hit_rank))
      .def_prop_ro("tie_first", array_of(&Aligned::tie_first))
      .def_prop_ro("tie_last", array_of(&Aligned::tie_last))
      .def_prop_ro("unjudged_offsets", array_of(&Aligned::unjudged_offsets))
      .def_prop_ro("unjudged_key", array_of(&Aligned::unjudged_key))
      .def_prop_ro("unjudged_rank", array_of(&Aligned::unjudged_rank))
      .def_prop_ro("unjudged_first", array_of(&Aligned::unjudged_first))
      .def_prop_ro("unjudged_last", array_of(&Aligned::unjudged_last))
      .def_prop_ro("length", [](nb::handle_t<Aligned> self) { return view(nb::cast<const Aligned&>(self).length(), self); })
      .def_prop_ro("returned", array_of(&Aligned::returned))
      .def_prop_ro("judged", array_of(&Aligned::judged))
      .def_prop_ro("in_run",
                   [](nb::handle_t<Aligned> self) {
                     const Aligned& aligned = nb::cast<const Aligned&>(self);
                     return nb::ndarray<nb::numpy, const bool, nb::ndim<1>>(aligned.in_run.data(), {aligned.in_run.size()}, self);
                   })
      .def_prop_ro("first_unjudged", array_of(&Aligned::first_unjudged))
      .def_prop_ro("tied", array_of(&Aligned::tied))
      .def_prop_ro("straddling", array_of(&Aligned::straddling))
      .def_prop_ro("duplicates", array_of(&Aligned::duplicates))
      .def_prop_ro("identical", array_of(&Aligned::identical))
      .def_prop_ro("excluded", array_of(&Aligned::excluded))
      .def_prop_ro("breaches", array_of(&Aligned::breaches))
      .def_prop_ro("counters", [](const Aligned& self) { return to_dict(self.counters); })
      .def_prop_ro("top", [](const Aligned& self) -> const Table& { return self.top.table; }, nb::rv_policy::reference_internal)
      .def_prop_ro("top_tied",
                   [](nb::handle_t<Aligned> self) {
                     const Array<uint8_t>& tied = nb::cast<const Aligned&>(self).top.tied;
                     return nb::ndarray<nb::numpy, const bool, nb::ndim<1>>(tied.data(), {tied.size()}, self);
                   })
      .def("run_only_ids", [](const Aligned& self) { return id_list(self.run_only); });
}

// Taking the GIL back knows the main interpreter only: anywhere else the first long call would wait for ever.
void refuse_subinterpreters() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return;
  throw std::runtime_error("idealrank cannot run in a subinterpreter; import it in the main interpreter, or in a process of its own");
}

}  // namespace

NB_MODULE(_kernel, m) {
  refuse_subinterpreters();
  // A process may end while a thread still holds tables, as after Ctrl-C: users need not read at its end that they were never freed.
  nb::set_leak_warnings(false);
  m.doc() = "Reading and ranking; no measures, no policy names.";
  parse_error_type = PyErr_NewException("idealrank._kernel.ParseError", nullptr, nullptr);
  m.attr("ParseError") = nb::handle(parse_error_type);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const ParseError& error) {
      raise_parse_error(error);
    } catch (const Stopped&) {
      raise_parse_error({"stopped", 0, 0, "", ""});
    }
  });
  nb::class_<Progress>(m, "Progress")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& self) { return self.done.load(); })
      .def_prop_ro("total", [](const Progress& self) { return self.total.load(); })
      .def("stop", [](Progress& self) { self.stopped = true; });
  nb::class_<Text>(m, "Text")
      .def(nb::init<nb::sequence, const std::string&>(), "buffers"_a, "kind"_a)
      .def_ro("nbytes", &Text::nbytes);
  bind_watch(m);
  bind_table(m);
  bind_document_sets(m);
  bind_aligned(m);
  bind_groups(m);
  bind_fingerprints(m);
  bind_subsets(m);
  bind_lambdas(m);
  m.def("read_text", &read_text, "text"_a, nb::kw_only(), "duplicates"_a, "only_query"_a = nb::none(), "threads"_a = 0, "progress"_a = nb::none(), "chunk_bytes"_a = 0);
  m.def("lint_text", &lint_text, "text"_a, nb::kw_only(), "examples"_a = 3, "threads"_a = 0, "progress"_a = nb::none(), "chunk_bytes"_a = 0);
  m.def("from_mapping", [](nb::object mapping, const std::string& duplicates) { return table_from_mapping(mapping, duplicates_of_reading(duplicates)); },
        "mapping"_a, nb::kw_only(), "duplicates"_a = "error");
  nb::class_<ColumnTable>(m, "ColumnTable")
      .def(nb::init<>())
      .def("add", &ColumnTable::add, "queries"_a, "documents"_a, "values"_a)
      .def("finish", [](ColumnTable& self, const std::string& duplicates) { return self.finish(duplicates_of_reading(duplicates)); }, nb::kw_only(),
           "duplicates"_a = "error");
  m.def("from_columns", &from_columns, "queries"_a, "documents"_a, "values"_a, nb::kw_only(), "duplicates"_a = "error");
  m.def("align", &align, "qrels"_a, "run"_a, nb::kw_only(), "ties"_a, "float32"_a = false, "duplicates"_a = "error", "skip_unjudged"_a = false,
        "removed"_a = nb::none(), "excluded"_a = nb::none(), "permitted"_a = nb::none(), "drop_identical"_a = false, "depth"_a = 0, "unjudged_depth"_a = 0, "top_depth"_a = 0, "threads"_a = 0, "progress"_a = nb::none(), "chunk_bytes"_a = 0);
  m.def("rank_query", &rank_query, "run"_a, "query"_a, nb::kw_only(), "ties"_a, "float32"_a = false, "duplicates"_a = "error",
        "depth"_a = 0);
}
