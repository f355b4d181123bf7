# An engine is asked, its run compared in a page, stored and shown; then watched.
for headline in search report web monitor; do
    mkdir "$headline"
    cp -r examples "$headline"
    (cd "$headline" && bash -euo pipefail "$EXTRAS/headlines/$headline.sh")
done
