# A ranker from a file in YAML.
python "$EXTRAS/small_data.py" rows
cat > ranker.yaml <<'YAML'
data: {train: train.svm, valid_share: 0.2, test: test.svm}
model: {library: lightgbm, rounds: 5}
seed: 1
output: ranker
YAML
idealrank train ranker.yaml | grep nDCG
ls ranker/test.run
