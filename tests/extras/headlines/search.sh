# An engine that runs, from a file in YAML; then one that answers over HTTP.
python examples/pydocs/search_index.py pydocs.db
idealrank search examples/pydocs/search.yaml --output runs | grep any-word
python "$EXTRAS/http_engine.py" engine.port &
trap 'kill %1' EXIT
python "$EXTRAS/wait_for_file.py" engine.port
cat > http.yaml <<YAML
backend:
  kind: http
  url: http://127.0.0.1:$(cat engine.port)/_search
  body: {query: "{text}", size: "{limit}"}
  hits: hits.hits
  id: _id
  score: _score
queries: queries.tsv
qrels: qrels.txt
limit: 10
evaluation: {measures: [RR]}
YAML
printf 'q1\tfirst\nq2\tsecond\n' > queries.tsv
printf 'q1 0 a 1\nq2 0 a 1\n' > qrels.txt
idealrank search http.yaml --output http | grep 1.0000
