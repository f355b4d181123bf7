// What every harness shares: taking choices from the input, and stopping loudly when a promise is broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

// Not `assert`: a harness must check in every build.
#define PROMISE(holds)                                                              \
  do {                                                                              \
    if (!(holds)) {                                                                 \
      std::fprintf(stderr, "broken promise, %s:%d: %s\n", __FILE__, __LINE__, #holds); \
      std::abort();                                                                 \
    }                                                                               \
  } while (false)

namespace fuzz {

// Reads choices from the front of the input; zeros when it is used up.
class Choices {
 public:
  Choices(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  uint8_t byte() { return at_ < end_ ? *at_++ : uint8_t{0}; }
  size_t below(size_t bound) { return byte() % bound; }
  bool yes() { return byte() & 1; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* rest() const { return at_; }

  template <class T>
  T raw() {
    uint8_t bytes[sizeof(T)];
    for (uint8_t& one : bytes) one = byte();
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// A copy that ends where its memory ends, so that the sanitizer sees a read of one byte too many.
class ExactCopy {
 public:
  ExactCopy(const void* data, size_t size) : bytes_(new char[size]), size_(size) {
    if (size) std::memcpy(bytes_.get(), data, size);
  }
  const char* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
