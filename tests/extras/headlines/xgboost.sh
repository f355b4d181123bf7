# A ranker from one file.
python "$EXTRAS/small_data.py" rows
echo '{"data": {"train": "train.svm", "valid_share": 0.2, "test": "test.svm"}, "model": {"library": "xgboost", "rounds": 5}, "seed": 1, "output": "ranker"}' > ranker.json
idealrank train ranker.json | grep nDCG
ls ranker/test.run
