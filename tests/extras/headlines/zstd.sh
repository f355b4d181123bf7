# A run that is compressed with Zstandard.
python -c '
import pathlib, zstandard
run = pathlib.Path("examples/pydocs/bm25.run").read_bytes()
pathlib.Path("bm25.run.zst").write_bytes(zstandard.compress(run))
'
idealrank evaluate examples/pydocs/qrels.txt bm25.run.zst --measure nDCG@10 | grep 0.5047
