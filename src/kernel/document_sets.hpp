// Which documents may count at all, query by query: what a list loses before its ranks are given.
#pragma once

#include <cstdint>

#include "duplicates.hpp"
#include "table.hpp"

namespace idealrank {

// Documents of each query; of each group of queries, where `groups` lists the groups of a query as a run lists documents; or of every
// query, where the only query of the table stands for all. The tables must stay where they are.
class DocumentSets {
 public:
  DocumentSets(const Table& table, const Table* groups, bool for_all) : table_(table), groups_(groups), for_all_(for_all) {
    if (!for_all_ || !table_.n_queries()) return;
    shared_.start(table_.rows(0));
    for (size_t row = 0; row < table_.rows(0); ++row) shared_.add(document(row), row, [&](size_t i) { return document(i); });
  }

  bool for_all() const { return for_all_; }
  // Whether a document is in the set of every query.
  bool holds(Bytes id) const {
    return table_.n_queries() && shared_.find(id, [&](size_t i) { return document(i); }) != SIZE_MAX;
  }
  // Calls with_document(id) for each document of a query; a document of two groups comes twice.
  template <class WithDocument>
  void each(Bytes query, WithDocument&& with_document) const {
    if (!groups_) return each_of(table_.find_query(query), with_document);
    uint32_t member = groups_->find_query(query);
    if (member == IdIndex::absent) return;
    for (size_t row = groups_->first(member), end = row + groups_->rows(member); row < end; ++row) {
      each_of(table_.find_query(groups_->documents[row]), with_document);
    }
  }

 private:
  Bytes document(size_t row) const { return table_.documents[row]; }
  template <class WithDocument>
  void each_of(uint32_t query, WithDocument&& with_document) const {
    if (query == IdIndex::absent) return;
    for (size_t row = table_.first(query), end = row + table_.rows(query); row < end; ++row) with_document(document(row));
  }

  const Table& table_;
  const Table* groups_;
  bool for_all_;
  DuplicateFinder shared_;
};

}  // namespace idealrank
