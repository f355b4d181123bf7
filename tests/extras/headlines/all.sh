# What every other extra is for, in one environment.
for script in "$EXTRAS"/headlines/*.sh; do
    headline=$(basename "$script" .sh)
    case $headline in all | ltr | paper | rag | search-team) continue ;; esac
    echo "--- $headline"
    mkdir "$headline"
    cp -r examples "$headline"
    (cd "$headline" && bash -euo pipefail "$script")
done
