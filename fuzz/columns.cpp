// Tables from columns of ids and values: no bad read through offsets and codes that point anywhere, the same table and the same error as row
// by row, whether the columns come whole or in two pieces.
//
// Input: number of rows and of ids, how each column is laid out, where the rows are divided, then offsets (each a step, or raw bytes behind a
// marker), codes, values and the bytes of the ids.
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "columns.hpp"
#include "harness.hpp"

namespace {

using namespace idealrank;
using fuzz::Choices;
using fuzz::ExactCopy;

// One column of ids, each of its arrays a copy that ends where its memory ends.
struct Column {
  Column(Choices& choices, size_t n_rows, std::string_view bytes) : rows(n_rows), wide(choices.yes()), coded(choices.yes()) {
    n_ids = coded ? choices.below(6) : rows;
    int64_t end = choices.byte() >= 250 ? choices.raw<int32_t>() : 0;
    for (size_t i = 0; i <= n_ids; ++i) {
      offsets.push_back(end);
      const uint8_t step = choices.byte();
      end = step >= 252 ? choices.raw<int32_t>() : end + step % 3;
    }
    for (size_t row = 0; coded && row < rows; ++row) {
      const uint8_t code = choices.byte();
      codes.push_back(code >= 252 ? choices.raw<int32_t>() : static_cast<int32_t>(n_ids ? code % n_ids : 0));
    }
    data.emplace(bytes.data(), bytes.size());
    const std::vector<int32_t> narrow(offsets.begin(), offsets.end());
    kept_offsets.emplace(wide ? static_cast<const void*>(offsets.data()) : narrow.data(), offsets.size() * (wide ? 8 : 4));
    kept_codes.emplace(codes.data(), codes.size() * sizeof(int32_t));
  }

  // The rows from `first`, so many.
  IdBuffer part(size_t first, size_t count) const {
    IdBuffer out;
    const size_t skipped = coded ? 0 : first;
    if (wide) out.wide = reinterpret_cast<const int64_t*>(kept_offsets->data()) + skipped;
    else out.narrow = reinterpret_cast<const int32_t*>(kept_offsets->data()) + skipped;
    out.n_ids = coded ? n_ids : count;
    out.data = data->data();
    out.size = static_cast<int64_t>(data->size());
    if (coded) out.codes = reinterpret_cast<const int32_t*>(kept_codes->data()) + first;
    out.n_rows = count;
    return out;
  }
  // By the definition; nothing where the arrays do not fit each other.
  std::optional<std::string> id(size_t row) const {
    size_t place = row;
    if (coded) {
      if (codes[row] < 0 || static_cast<size_t>(codes[row]) >= n_ids) return std::nullopt;
      place = static_cast<size_t>(codes[row]);
    }
    const int64_t first = offsets[place], end = offsets[place + 1];
    if (first < 0 || end < first || end > static_cast<int64_t>(data->size())) return std::nullopt;
    return std::string(data->data() + first, static_cast<size_t>(end - first));
  }

  size_t rows, n_ids = 0;
  bool wide, coded;
  std::vector<int64_t> offsets;
  std::vector<int32_t> codes;
  std::optional<ExactCopy> data, kept_offsets, kept_codes;
};

// What comes of the rows: a table, an error of a row, or the refusal of arrays that do not fit.
struct Found {
  std::optional<Table> table;
  std::optional<ParseError> error;
  bool refused = false;
};

template <class Add>
Found found(Duplicates policy, Add&& add) {
  Found out;
  try {
    TableBuilder builder;
    add(builder);
    out.table = builder.finish(policy, [&](size_t first, size_t second) {
      ParseError error = builder.error_at(Problem::duplicate, second + 1, second);
      error.detail = std::to_string(first);
      return error;
    });
  } catch (const ParseError& error) {
    out.error = error;
  } catch (const std::invalid_argument&) {
    out.refused = true;
  }
  return out;
}

void same(const Found& a, const Found& b) {
  // Where several things are wrong, whichever is met first is told: a query is looked at before the rows of its stretch.
  PROMISE(a.table.has_value() == b.table.has_value());
  if (a.error && b.error && a.error->kind == std::string("duplicate"))
    PROMISE(b.error->kind == a.error->kind && a.error->line == b.error->line && a.error->text == b.error->text && a.error->detail == b.error->detail);
  if (!a.table) return;
  PROMISE(a.table->n_queries() == b.table->n_queries() && a.table->n_rows() == b.table->n_rows());
  for (size_t query = 0; query < a.table->n_queries(); ++query) {
    PROMISE(a.table->queries[query] == b.table->queries[query] && a.table->offsets[query] == b.table->offsets[query]);
  }
  for (size_t row = 0; row < a.table->n_rows(); ++row) {
    PROMISE(a.table->documents[row] == b.table->documents[row] && a.table->values[row] == b.table->values[row]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices(data, size);
  const size_t rows = choices.below(40), divided = choices.below(rows + 1);
  constexpr Duplicates policies[] = {Duplicates::error, Duplicates::first, Duplicates::last, Duplicates::best, Duplicates::keep};
  const Duplicates policy = policies[choices.below(5)];
  const size_t n_bytes = choices.below(64);
  std::string bytes;
  for (size_t i = 0; i < n_bytes; ++i) bytes += static_cast<char>('a' + choices.below(3));
  const Column queries(choices, rows, bytes), documents(choices, rows, bytes);
  std::vector<double> values;
  for (size_t row = 0; row < rows; ++row) values.push_back(choices.byte() >= 252 ? NAN : static_cast<double>(choices.below(4)));
  const ExactCopy kept(values.data(), values.size() * sizeof(double));
  const auto* numbers = reinterpret_cast<const double*>(kept.data());

  const Found by_row = found(policy, [&](TableBuilder& builder) {
    for (size_t row = 0; row < rows; ++row) {
      const auto query = queries.id(row), document = documents.id(row);
      if (!query || !document) throw std::invalid_argument("ids");
      if (query->empty() || document->empty()) throw row_error(Problem::empty_id, row + 1, *query, *document);
      if (std::isnan(values[row])) throw row_error(Problem::nan, row + 1, *query, *document);
      builder.query(*query);
      builder.row(*document, values[row]);
    }
  });
  const auto add = [&](TableBuilder& builder, size_t first, size_t count) {
    const IdBuffer some = queries.part(first, count), other = documents.part(first, count);
    ColumnReader(builder, some, other, numbers + first).read();
  };
  same(found(policy, [&](TableBuilder& builder) { add(builder, 0, rows); }), by_row);
  same(found(policy, [&](TableBuilder& builder) { add(builder, 0, divided), add(builder, divided, rows - divided); }), by_row);
  return 0;
}
