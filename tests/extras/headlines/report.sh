# The page of a comparison.
idealrank compare examples/pydocs/qrels.txt examples/pydocs/bm25.run examples/pydocs/minilm.run --no-robust --report report.html
grep --max-count=1 --only-matching "minilm is better than bm25" report.html
