# An evaluation on Spark: a file that Spark reads, and one that this machine reads.
idealrank convert examples/pydocs/bm25.run bm25.parquet
for run in bm25.parquet examples/pydocs/bm25.run; do
    idealrank evaluate examples/pydocs/qrels.txt "$run" --measure nDCG@10 --engine spark | grep 0.5047
done
