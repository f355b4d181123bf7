# A table for a paper, figures, a page, and a compressed run.
python -c '
import pathlib, zstandard
run = pathlib.Path("examples/pydocs/bm25.run").read_bytes()
pathlib.Path("bm25.run.zst").write_bytes(zstandard.compress(run))
'
idealrank compare examples/pydocs/qrels.txt bm25.run.zst examples/pydocs/minilm.run --no-robust --table paper --sort-by nDCG@10 --figures figures --report report.html | grep nDCG
ls figures/*.pdf report.html
