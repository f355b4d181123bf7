# An evaluation on Spark: a file that Spark reads, and one that this machine reads.
python - <<'PYTHON'
import pyarrow
import pyarrow.parquet

import idealrank as ir

run = ir.read_run("examples/pydocs/bm25.run")
rows = [(query, document, score) for query in run for document, score in run[query].items()]
columns = dict(zip(["query", "document", "score"], map(list, zip(*rows)), strict=True))
pyarrow.parquet.write_table(pyarrow.table(columns), "bm25.parquet")
PYTHON
for run in bm25.parquet examples/pydocs/bm25.run; do
    idealrank evaluate examples/pydocs/qrels.txt "$run" --measure nDCG@10 --engine spark | grep 0.5047
done
