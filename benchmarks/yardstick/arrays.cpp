// A yardstick, not a design: nDCG@10 with linear gain of lists of 20 float32 scores and float32 labels 0 ... 7, in memory, one thread.
// It trusts its input: whole labels, no NaN, no ties to average.
// g++ -O3 -march=native -std=c++20 arrays.cpp -o arrays && ./arrays LABELS SCORES   (raw little-endian float32, 20 a list)
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static constexpr size_t width = 20, cutoff = 10;

static std::vector<float> read_floats(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr || std::fseek(file, 0, SEEK_END) != 0) std::exit(2);
  std::vector<float> values(static_cast<size_t>(std::ftell(file)) / sizeof(float));
  std::rewind(file);
  if (std::fread(values.data(), sizeof(float), values.size(), file) != values.size()) std::exit(2);
  std::fclose(file);
  return values;
}

static double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

static double list_value(const float* labels, const float* scores, const double* discount) {
  uint64_t keys[width];
  size_t counts[8] = {};
  for (size_t i = 0; i < width; ++i) {
    uint32_t bits;
    std::memcpy(&bits, &scores[i], 4);
    bits = bits >> 31 ? bits : ~bits & 0x7FFFFFFFu;  // grows as the score falls
    keys[i] = static_cast<uint64_t>(bits) << 32 | i;
  }
  for (size_t i = 0; i < width; ++i) ++counts[static_cast<size_t>(labels[i])];
  for (size_t i = 1; i < width; ++i) {
    const uint64_t key = keys[i];
    size_t place = i;
    for (; place > 0 && keys[place - 1] > key; --place) keys[place] = keys[place - 1];
    keys[place] = key;
  }
  double dcg = 0, ideal = 0;
  for (size_t i = 0; i < cutoff; ++i) dcg += static_cast<double>(labels[static_cast<uint32_t>(keys[i])]) * discount[i];
  size_t rank = 0;
  for (size_t label = 7; label > 0 && rank < cutoff; --label)
    for (size_t left = std::min(counts[label], cutoff - rank); left > 0; --left) ideal += static_cast<double>(label) * discount[rank++];
  return ideal > 0 ? dcg / ideal : 0.0;
}

int main(int, char** arguments) {
  const auto labels = read_floats(arguments[1]), scores = read_floats(arguments[2]);
  double discount[cutoff];
  for (size_t i = 0; i < cutoff; ++i) discount[i] = 1 / std::log2(static_cast<double>(i) + 2);
  const auto start = std::chrono::steady_clock::now();
  const double processor = processor_seconds();
  const size_t lists = labels.size() / width;
  double sum = 0;
  for (size_t list = 0; list < lists; ++list) sum += list_value(&labels[list * width], &scores[list * width], discount);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf("{\"value\": %.17g, \"cpu\": %.6f, \"wall\": %.6f}\n", sum / static_cast<double>(lists), processor_seconds() - processor, wall.count());
}
