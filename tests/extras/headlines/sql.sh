# SQL over a store.
idealrank evaluate examples/pydocs/qrels.txt examples/pydocs/bm25.run --store results
idealrank store sql "select count(distinct query) as queries from values" --store results | grep 60
