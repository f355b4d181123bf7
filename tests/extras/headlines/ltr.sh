# Two boosting libraries, a file in YAML, and rankers in scikit-learn.
for headline in train lightgbm xgboost sklearn; do
    mkdir "$headline"
    cp -r examples "$headline"
    (cd "$headline" && bash -euo pipefail "$EXTRAS/headlines/$headline.sh")
done
