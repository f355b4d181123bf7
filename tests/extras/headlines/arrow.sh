# A run as Parquet, written and read again.
idealrank convert examples/pydocs/bm25.run bm25.parquet
idealrank evaluate examples/pydocs/qrels.txt bm25.parquet --measure nDCG@10 | grep 0.5047
