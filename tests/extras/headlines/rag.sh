# A vector index is asked, a file in YAML is read, and a page is made.
for headline in faiss qdrant search report; do
    mkdir "$headline"
    cp -r examples "$headline"
    (cd "$headline" && bash -euo pipefail "$EXTRAS/headlines/$headline.sh")
done
