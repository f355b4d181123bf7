// Reading and joining any two texts: no bad read, the same result and the same error for any chunking and any number of threads,
// and what oracle.hpp says by the definition. The same rows as columns give the same table, and lists of the run ranked one by one, the
// same rankings.
//
// Input: eight bytes of options, then the qrels and the run, divided by the byte 0x1e; inside each, 0x1d starts a further source.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "align.hpp"
#include "build.hpp"
#include "fingerprint.hpp"
#include "harness.hpp"
#include "lint.hpp"
#include "oracle.hpp"
#include "read.hpp"
#include "stream.hpp"

namespace {

using namespace idealrank;

// Texts whose memory ends where they end.
struct Input {
  Input(Layout layout, std::string_view text) {
    sources.layout = layout;
    for (;;) {
      const size_t stop = text.find('\x1d');
      strings.emplace_back(text.substr(0, stop));
      if (stop == std::string_view::npos) break;
      text.remove_prefix(stop + 1);
    }
    for (const std::string& one : strings) copies.emplace_back(one.data(), one.size());
    for (const fuzz::ExactCopy& copy : copies) sources.add(copy.data(), copy.size());
  }
  std::vector<std::string> strings;
  std::vector<fuzz::ExactCopy> copies;
  Sources sources;
};

void same_error(const ParseError& a, const ParseError& b) {
  PROMISE(a.kind == b.kind && a.source == b.source && a.line == b.line && a.text == b.text && a.detail == b.detail);
}

template <class T>
void same_array(const Array<T>& a, const Array<T>& b) {
  PROMISE(a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0));
}

// The result, or the error.
template <class Result>
struct Outcome {
  std::optional<Result> result;
  std::optional<ParseError> error;
};

template <class Make>
auto outcome(Make&& make) {
  Outcome<decltype(make())> out;
  try {
    out.result.emplace(make());
  } catch (const ParseError& error) {
    out.error = error;
  }
  return out;
}

Outcome<Table> read(const Sources& sources, ReadOptions options, int threads, size_t chunk_bytes) {
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  return outcome([&] { return read_sources(sources, options, nullptr); });
}

void check_lines(const Counters& counters, const oracle::Rows& rows) {
  PROMISE(counters.at("lines") == rows.lines && counters.at("rows") == rows.data && counters.at("comments") == rows.comments);
  PROMISE(counters.at("comments_like_data") == rows.comments_like_data && counters.at("blank") == rows.blank && counters.at("tab_lines") == rows.tab_lines);
}

void check_rows(const Table& table, const oracle::Rows& rows) {
  PROMISE(table.n_queries() == rows.queries.size() && table.offsets.size() == rows.queries.size() + 1 && table.offsets[0] == 0);
  PROMISE(table.counters.at("duplicates") == rows.duplicates);
  size_t row = 0;
  for (size_t query = 0; query < rows.queries.size(); ++query) {
    const oracle::Query& expected = rows.queries[query];
    PROMISE(table.queries[query] == expected.id && table.find_query(expected.id) == query && !expected.id.empty());
    for (const oracle::Row& one : expected.rows) {
      PROMISE(row < table.n_rows() && table.documents[row] == one.document && table.values[row] == one.value);
      PROMISE(table.documents[static_cast<size_t>(table.find_document(query, one.document))] == one.document);
      ++row;
    }
    PROMISE(static_cast<size_t>(table.offsets[query + 1]) == row);
  }
  PROMISE(row == table.n_rows() && row == table.documents.size());
}

void check_table(const Outcome<Table>& read, const oracle::Rows& rows) {
  PROMISE(read.error.has_value() == rows.error.has_value());
  if (rows.error) return same_error(*read.error, *rows.error);
  check_lines(read.result->counters, rows);
  check_rows(*read.result, rows);
}

// The rows of a text without its lines, as mappings and columns come: a repeated document is told by its row.
void check_columns(const Input& text, Duplicates policy, const oracle::Rows& rows) {
  TableBuilder builder;
  std::vector<std::string> places;
  bool whole = true;
  oracle::each_line(text.strings, [&](uint32_t source, uint64_t number, std::string_view line) {
    const ParsedLine parsed = parse_line(text.sources.layout, line.data(), line.data() + line.size());
    if (parsed.kind == LineKind::problem) whole = false;
    if (parsed.kind != LineKind::data) return whole;
    builder.query(parsed.line.query);
    builder.row(parsed.line.document, parsed.line.value);
    places.push_back(std::to_string(source) + ":" + std::to_string(number));
    return true;
  });
  if (!whole) return;
  try {
    const Table table = builder.finish(policy, [&](size_t first, size_t second) {
      ParseError error = builder.error_at(Problem::duplicate, second + 1, second);
      error.detail = places.at(first);
      return error;
    });
    PROMISE(!rows.error);
    check_rows(table, rows);
  } catch (const ParseError& error) {
    PROMISE(rows.error && rows.error->kind == error.kind && rows.error->detail == error.detail && error.line > 0);
    PROMISE(places.at(error.line - 1) == std::to_string(rows.error->source) + ":" + std::to_string(rows.error->line));
    const ParsedLine repeated = parse_line(text.sources.layout, rows.error->text.data(), rows.error->text.data() + rows.error->text.size());
    // The text of a line is cut at 120 bytes, and then no line any more.
    if (rows.error->text.size() < 120) PROMISE(error.text == std::string(repeated.line.query) + " " + std::string(repeated.line.document));
  }
}

// Every list of a run on its own.
void check_rankings(const Table& table, const oracle::Rows& run, const ListOptions& given) {
  ListOptions options = given;
  options.skip_unjudged = false;
  options.removed = nullptr;
  RankedList list(options);
  for (size_t query = 0; query < run.queries.size(); ++query) {
    std::vector<oracle::Row> rows = run.queries[query].rows;
    if (options.float32)
      for (oracle::Row& row : rows) row.value = static_cast<double>(static_cast<float>(row.value));
    if (options.duplicates != Duplicates::twice) oracle::drop_duplicates(rows, options.duplicates);
    oracle::order(rows, options.ties);
    ListSummary summary;
    size_t first_of = 0;
    fill(list, table, query);
    PROMISE(list.settle_duplicates(summary, first_of) == RankedList::none);
    list.join_nothing();
    list.rank();
    PROMISE(list.size() == rows.size());
    size_t ranked = 0;
    list.each_group([&](size_t first, size_t last) {
      PROMISE(first == ranked + 1 && last >= first && last <= rows.size());
      for (size_t rank = first; rank <= last; ++rank) {
        PROMISE(list.id(list.at_rank(rank)) == rows[rank - 1].document && list.score(list.at_rank(rank)) == rows[rank - 1].value);
        PROMISE(rows[rank - 1].value == rows[first - 1].value);
      }
      PROMISE(last == rows.size() || rows[last].value != rows[last - 1].value);
      ranked = last;
    });
    PROMISE(ranked == rows.size());
  }
}

void same_aligned(const Aligned& a, const Aligned& b) {
  PROMISE(a.n_queries == b.n_queries && a.n_qrels_queries == b.n_qrels_queries && a.run_only.size() == b.run_only.size());
  for (size_t i = 0; i < a.run_only.size(); ++i) PROMISE(a.run_only[i] == b.run_only[i]);
  same_array(a.hit_offsets, b.hit_offsets);
  same_array(a.hit_row, b.hit_row);
  same_array(a.unjudged_offsets, b.unjudged_offsets);
  same_array(a.unjudged_key, b.unjudged_key);
  same_array(a.unjudged_rank, b.unjudged_rank);
  same_array(a.hit_rank, b.hit_rank);
  same_array(a.tie_first, b.tie_first);
  same_array(a.tie_last, b.tie_last);
  same_array(a.length(), b.length());
  same_array(a.returned, b.returned);
  same_array(a.judged, b.judged);
  same_array(a.in_run, b.in_run);
  same_array(a.first_unjudged, b.first_unjudged);
  same_array(a.tied, b.tied);
  same_array(a.straddling, b.straddling);
  same_array(a.top.tied, b.top.tied);
  same_array(a.top.table.offsets, b.top.table.offsets);
  same_array(a.top.table.values, b.top.table.values);
  for (size_t i = 0; i < a.top.table.n_queries(); ++i) PROMISE(a.top.table.queries[i] == b.top.table.queries[i]);
  for (size_t i = 0; i < a.top.table.n_rows(); ++i) PROMISE(a.top.table.documents[i] == b.top.table.documents[i]);
  same_array(a.duplicates, b.duplicates);
}

void check_list(const Aligned& aligned, size_t query, const oracle::List& list, bool in_run) {
  PROMISE((aligned.in_run[query] != 0) == in_run && aligned.length()[query] == list.length && aligned.returned[query] == list.returned);
  PROMISE(aligned.judged[query] == list.judged && aligned.first_unjudged[query] == list.first_unjudged && aligned.tied[query] == list.tied);
  PROMISE(aligned.straddling[query] == list.straddling && aligned.duplicates[query] == list.duplicates);
  const auto begin = static_cast<size_t>(aligned.hit_offsets[query]);
  PROMISE(static_cast<size_t>(aligned.hit_offsets[query + 1]) - begin == list.hits.size());
  for (size_t i = 0; i < list.hits.size(); ++i) {
    const oracle::Hit& hit = list.hits[i];
    PROMISE(aligned.hit_row[begin + i] == hit.row && aligned.hit_rank[begin + i] == hit.rank);
    if (aligned.tie_first.size()) PROMISE(aligned.tie_first[begin + i] == hit.first && aligned.tie_last[begin + i] == hit.last);
    else PROMISE(hit.first == hit.last);
  }
  if (query + 1 >= aligned.unjudged_offsets.size()) {
    PROMISE(list.unjudged.empty());
    return;
  }
  const auto from = static_cast<size_t>(aligned.unjudged_offsets[query]);
  PROMISE(static_cast<size_t>(aligned.unjudged_offsets[query + 1]) - from == list.unjudged.size());
  for (size_t i = 0; i < list.unjudged.size(); ++i) {
    const idealrank::Unjudged& one = list.unjudged[i];
    PROMISE(aligned.unjudged_key[from + i] == one.key && aligned.unjudged_rank[from + i] == one.rank);
    PROMISE(aligned.unjudged_first[from + i] == one.first && aligned.unjudged_last[from + i] == one.last);
  }
}

// The next list of those that the run answers.
void check_top(const Top& top, size_t place, const std::string& query, const oracle::List& list) {
  PROMISE(place < top.table.n_queries() && top.table.queries[place] == query && top.table.find_query(query) == place);
  PROMISE(top.table.rows(place) == list.top.size());
  for (size_t i = 0; i < list.top.size(); ++i) {
    const oracle::Row& row = list.top[i].row;
    const size_t at = top.table.first(place) + i;
    PROMISE(top.table.documents[at] == row.document && top.table.values[at] == row.value && (top.tied[at] != 0) == list.top[i].tied);
  }
}

void check_aligned(const Aligned& aligned, const oracle::Rows& qrels, const oracle::Rows& run, const ListOptions& options) {
  size_t run_only = 0, answered = 0;
  int64_t first_row = 0, duplicates = 0;
  for (size_t query = 0; query < qrels.queries.size(); ++query) {
    const oracle::Query& judged = qrels.queries[query];
    const oracle::Query* found = nullptr;
    for (const oracle::Query& one : run.queries)
      if (one.id == judged.id) found = &one;
    const oracle::List list = found ? oracle::rank(found->rows, &judged.rows, first_row, options) : oracle::List();
    check_list(aligned, query, list, found != nullptr);
    if (found && options.top_depth) check_top(aligned.top, answered++, judged.id, list);
    duplicates += list.duplicates;
    first_row += static_cast<int64_t>(judged.rows.size());
  }
  for (const oracle::Query& one : run.queries) {
    if (std::any_of(qrels.queries.begin(), qrels.queries.end(), [&](const oracle::Query& judged) { return judged.id == one.id; })) continue;
    PROMISE(run_only < aligned.run_only.size() && aligned.run_only[run_only] == one.id);
    const oracle::List list = oracle::rank(one.rows, nullptr, 0, options);
    check_list(aligned, qrels.queries.size() + run_only++, list, true);
    if (options.top_depth) check_top(aligned.top, answered++, one.id, list);
    duplicates += list.duplicates;
  }
  PROMISE(answered == aligned.top.table.n_queries());
  PROMISE(run_only == aligned.run_only.size() && aligned.n_queries == qrels.queries.size() + run_only && aligned.counters.at("duplicates") == duplicates);
}

// Problems are counted as the definition counts them, and the report does not depend on how the work was shared out.
void check_lint(const Input& text, int threads, size_t chunk_bytes) {
  const auto found = Linter(text.sources, 2, 1, 0).lint(nullptr), chunked = Linter(text.sources, 2, threads, chunk_bytes).lint(nullptr);
  const std::map<std::string, int64_t> counts = oracle::problems(text.sources.layout, text.strings);
  PROMISE(found.size() == chunked.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const FindingReport &a = found[i], &b = chunked[i];
    PROMISE(a.kind == b.kind && a.count == b.count && a.examples.size() == b.examples.size());
    for (size_t j = 0; j < a.examples.size(); ++j) {
      const FindingExample &one = a.examples[j], &other = b.examples[j];
      PROMISE(one.source == other.source && one.line == other.line && one.text == other.text && one.detail == other.detail);
    }
    const auto expected = counts.find(a.kind);
    if (expected != counts.end()) PROMISE(a.count == expected->second);
    else PROMISE(a.kind == "utf8" || a.kind == "rank" || a.kind == "rank-order" || a.kind == "scattered");
  }
  for (const auto& expected : counts) {
    const bool reported = std::any_of(found.begin(), found.end(), [&](const FindingReport& one) { return one.kind == expected.first; });
    PROMISE(reported == (expected.second > 0));
  }
}

struct Plan {
  explicit Plan(fuzz::Choices& choices) {
    static constexpr Duplicates reading[] = {Duplicates::error, Duplicates::first, Duplicates::last, Duplicates::best, Duplicates::keep};
    static constexpr Duplicates ranking[] = {Duplicates::error, Duplicates::first, Duplicates::last, Duplicates::best, Duplicates::twice};
    static constexpr Ties ties[] = {Ties::descending, Ties::ascending, Ties::input};
    read.duplicates = reading[choices.below(5)];
    rank.duplicates = ranking[choices.below(5)];
    rank.ties = ties[choices.below(3)];
    const uint8_t flags = choices.byte();
    rank.float32 = flags & 1;
    rank.skip_unjudged = flags & 2;
    with_removed = flags & 4;
    lint = flags & 32;
    threads = flags & 8 && flags & 16 ? 3 : 1;  // threads are slow to start: one input in four
    rank.depth = static_cast<int64_t>(choices.below(8));
    rank.unjudged_depth = rank.depth / 2;
    rank.top_depth = (rank.depth + 3) % 5;
    chunk_bytes = 1 + choices.byte();
    removed_bits = choices.byte();
    only_query = choices.byte();
  }
  ReadOptions read;
  ListOptions rank;
  bool with_removed, lint;
  int threads;
  size_t chunk_bytes;
  uint8_t removed_bits, only_query;
};

// Every way to the same lists: streamed whole, streamed in small chunks, from a table.
void check_run(const Plan& plan, const Table& qrels, const oracle::Rows& judged, const Input& text) {
  ListOptions options = plan.rank;
  std::vector<uint8_t> removed(qrels.n_rows());
  for (size_t i = 0; i < removed.size(); ++i) removed[i] = plan.removed_bits >> (i % 8) & 1;
  if (plan.with_removed) options.removed = removed.data();
  const auto stream = [&](int threads, size_t chunk_bytes) {
    return outcome([&] { return TextAligner(qrels, text.sources, options, threads, chunk_bytes).align(nullptr); });
  };
  const Duplicates reading = options.duplicates == Duplicates::error ? Duplicates::error : Duplicates::keep;
  const oracle::Rows run = oracle::read(Layout::run, text.strings, reading, std::nullopt);
  const auto whole = stream(1, 0), chunked = stream(plan.threads, plan.chunk_bytes);
  PROMISE(whole.error.has_value() == run.error.has_value() && chunked.error.has_value() == run.error.has_value());
  if (run.error) {
    same_error(*whole.error, *run.error);
    same_error(*chunked.error, *run.error);
    return;
  }
  check_lines(whole.result->counters, run);
  check_aligned(*whole.result, judged, run, options);
  same_aligned(*whole.result, *chunked.result);
  PROMISE(whole.result->counters == chunked.result->counters);
  const Table table = read_sources(text.sources, {Duplicates::keep, std::nullopt, plan.threads, plan.chunk_bytes}, nullptr);
  same_aligned(*whole.result, TableAligner(qrels, table, options, plan.threads).align(nullptr));
  check_rankings(table, run, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const Plan plan(choices);
  const std::string_view text(reinterpret_cast<const char*>(choices.rest()), choices.left());
  const size_t middle = text.find('\x1e');
  const Input qrels_text(Layout::qrels, text.substr(0, middle));
  const Input run_text(Layout::run, middle == std::string_view::npos ? std::string_view() : text.substr(middle + 1));

  ReadOptions options = plan.read;
  oracle::Rows rows = oracle::read(Layout::qrels, qrels_text.strings, options.duplicates, std::nullopt);
  check_columns(qrels_text, options.duplicates, rows);
  if (plan.only_query < rows.queries.size()) {
    options.only_query = rows.queries[plan.only_query].id;
    rows = oracle::read(Layout::qrels, qrels_text.strings, options.duplicates, options.only_query);
  }
  if (plan.lint) {
    check_lint(qrels_text, plan.threads, plan.chunk_bytes);
    check_lint(run_text, plan.threads, plan.chunk_bytes);
  }
  const Outcome<Table> whole = read(qrels_text.sources, options, 1, 0);
  check_table(whole, rows);
  const Outcome<Table> chunked = read(qrels_text.sources, options, plan.threads, plan.chunk_bytes);
  check_table(chunked, rows);
  if (whole.result) {
    const Fingerprint one = fingerprint_table(*whole.result, 1), other = fingerprint_table(*chunked.result, plan.threads);
    PROMISE(one.first == other.first && one.second == other.second);
  }
  // Judgments that are kept twice are joined by the first of them.
  if (whole.result) check_run(plan, *whole.result, rows, run_text);
  return 0;
}
