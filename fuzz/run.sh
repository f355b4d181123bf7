#!/usr/bin/env bash
# Fuzzes the kernel under AddressSanitizer and UndefinedBehaviorSanitizer, starting from the committed corpus.
#
#   fuzz/run.sh [--target text|columns|groups|subsets|lambdas|mapped] [--seconds N]   libFuzzer (needs clang++) for N seconds, 60 unless said otherwise
#   fuzz/run.sh [--target text|columns|groups|subsets|lambdas|mapped] --replay        every committed input once (any compiler: CXX=g++)
#   fuzz/run.sh  --target text|columns|groups|subsets|lambdas|mapped --minimise       replaces the corpus by the fewest inputs with the same coverage
#   fuzz/run.sh  --target commands [--seconds N] [--seed S]           mutated files through every command, in Python (fuzz/mutate.py)
#   fuzz/run.sh  --target structures [--seconds N] [--seed S]         files of every format with another structure (fuzz/structures.py)
#
# CXXFLAGS are passed on: -DIDEALRANK_PORTABLE_SCAN fuzzes what processors without SSE2 or NEON run.
# What is found stays in build/fuzz/TARGET/: crash-*, timeout-*, and new inputs in found/. All targets unless one is named.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(text columns groups subsets lambdas mapped commands structures) seconds=60 mode=fuzz seed=0
while [[ $# -gt 0 ]]; do
  case $1 in
    --target) targets=("$2"); shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --replay) mode=replay; shift ;;
    --minimise) mode=minimise; shift ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
done

flags=(-std=c++20 -g -O1 -fno-omit-frame-pointer -ffp-contract=off -fno-sanitize-recover=all -Wall -Wextra -Isrc/kernel -pthread)
[[ -z ${CXXFLAGS:-} ]] || flags+=($CXXFLAGS)
export UBSAN_OPTIONS=print_stacktrace=1

for target in "${targets[@]}"; do
  if [[ $target == commands || $target == structures ]]; then
    [[ $mode == fuzz ]] || continue # its cases follow from their numbers, and no file of them is kept
    [[ $target == commands ]] && program=mutate || program=structures
    "${PYTHON:-.venv/bin/python}" "fuzz/$program.py" --seconds "$seconds" --seed "$seed"
    continue
  fi
  folder=build/fuzz/$target corpus=fuzz/corpus/$target
  mkdir -p "$folder/found" "$corpus"
  if [[ $mode == replay ]]; then
    "${CXX:-g++}" "${flags[@]}" -fsanitize=address,undefined "fuzz/$target.cpp" fuzz/replay.cpp -o "$folder/replay"
    "$folder/replay" "$corpus"
    continue
  fi
  "${CLANGXX:-clang++}" "${flags[@]}" -fsanitize=fuzzer,address,undefined "fuzz/$target.cpp" -o "$folder/fuzz"
  options=(-max_len=3000 -timeout=20 -artifact_prefix="$folder/" -print_final_stats=1)
  if [[ $mode == minimise ]]; then
    rm -rf "$folder/least" && mkdir "$folder/least"
    "$folder/fuzz" -merge=1 -use_counters=0 -max_len=1000 "$folder/least" "$corpus" "$folder/found"
    rm -rf "$corpus" && mv "$folder/least" "$corpus"
  else
    "$folder/fuzz" "${options[@]}" -max_total_time="$seconds" "$folder/found" "$corpus"
  fi
done
