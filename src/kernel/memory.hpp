// Owned plain arrays. std::vector writes every element when it is sized; these arrays are either left raw or asked from the
// system as zero pages, so that a result for ten million queries costs no more memory than what is really written into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

// The way of ordinary lines is laid out as one piece of code; what is rare stays out of it.
#if defined(__GNUC__) || defined(__clang__)
#define IDEALRANK_HOT __attribute__((always_inline)) inline
#define IDEALRANK_COLD __attribute__((noinline))
#else
#define IDEALRANK_HOT __forceinline
#define IDEALRANK_COLD __declspec(noinline)
#endif

namespace idealrank {

using Bytes = std::string_view;  // ids are bytes; nothing here knows an encoding

// One load and no second one. Mapped files and foreign arrays may change while they are read: an offset that was checked must be the one
// that is used. (The same holds everywhere: lengths and keys are copied once, and no sort compares what may change under it.)
template <class T>
inline T read_once(const T* place) {
  return *static_cast<const volatile T*>(place);
}

// Memory of so many bytes, for `resized` and `give_back`, which must be told how many they were. On Linux that of large arrays is mapped by
// itself: it grows by more pages, which may move to another address, but nothing is copied and no page is touched twice. An allocator
// copies arrays of up to 32 MB to grow them, and first touches of pages take longer than moving the bytes. Large pages are asked for, except
// for zeros, most pages of which are never touched.
#ifdef __linux__
inline bool is_mapped(size_t size) { return size >= (size_t{4} << 20); }

// The whole of a mapping, since pages of another kind at its end could not grow with it.
inline void* in_large_pages(void* memory, size_t size) {
  madvise(memory, size, MADV_HUGEPAGE);  // if it cannot, nothing is lost
  return memory;
}
inline void* taken(size_t size, bool zeros) {
  if (!is_mapped(size)) return zeros ? std::calloc(size, 1) : std::malloc(size);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return zeros ? memory : in_large_pages(memory, size);
}
inline void give_back(void* memory, size_t size) {
  if (memory && is_mapped(size)) {
    munmap(memory, size);
  } else {
    std::free(memory);
  }
}
// Null where there is no room; then the old memory stays.
inline void* resized(void* memory, size_t before, size_t size) {
  if (!memory) return taken(size, false);
  if (!is_mapped(before) && !is_mapped(size)) return std::realloc(memory, size);
  if (is_mapped(before) && is_mapped(size)) {
    void* moved = mremap(memory, before, size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : in_large_pages(moved, size);
  }
  void* moved = taken(size, false);
  if (!moved) return nullptr;
  std::memcpy(moved, memory, before < size ? before : size);
  give_back(memory, before);
  return moved;
}
#else
inline void* taken(size_t size, bool zeros) { return zeros ? std::calloc(size, 1) : std::malloc(size); }
inline void give_back(void* memory, size_t) { std::free(memory); }
inline void* resized(void* memory, size_t, size_t size) { return std::realloc(memory, size); }
#endif

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { give_back(data_, bytes(size_)); }

  static Array raw(size_t size) { return Array(size, taken(bytes(size), false)); }
  static Array zeros(size_t size) { return Array(size, taken(bytes(size), true)); }

  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  // Grows or shrinks; the kept part stays, the new part is raw.
  void resize(size_t size) {
    void* moved = resized(data_, bytes(size_), bytes(size));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    size_ = size;
  }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  Array(size_t size, void* memory) : data_(static_cast<T*>(memory)), size_(size) {
    if (!memory) throw std::bad_alloc();
  }
  static size_t bytes(size_t size) {
    if (size > SIZE_MAX / sizeof(T) - 1) throw std::bad_alloc();
    return size ? size * sizeof(T) : 1;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
};

// An array that grows at its end. Unlike std::vector it never constructs, and it can hand its memory over as an Array.
template <class T>
class Pool {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return array_.data(); }
  const T* data() const { return array_.data(); }
  T& operator[](size_t i) { return array_[i]; }
  const T& operator[](size_t i) const { return array_[i]; }
  T& back() { return array_[size_ - 1]; }
  const T& back() const { return array_[size_ - 1]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  void clear() { size_ = 0; }
  void shrink(size_t size) { size_ = size; }

  void reserve(size_t capacity) {
    if (capacity > array_.size()) array_.resize(capacity);
  }
  T* extend(size_t count) {
    if (array_.size() - size_ < count) grow(count);
    T* first = array_.data() + size_;
    size_ += count;
    return first;
  }
  void push(const T& value) {
    if (size_ == array_.size()) grow(1);
    array_[size_++] = value;
  }
  Array<T> take() {
    array_.resize(size_);
    size_ = 0;
    return std::move(array_);
  }

 private:
  void grow(size_t count) {
    // By half, not by two: the slack of the last doubling would be the largest waste in a big table.
    size_t wanted = array_.size() + array_.size() / 2 + 16;
    array_.resize(wanted < size_ + count ? size_ + count : wanted);
  }
  Array<T> array_;
  size_t size_ = 0;
};

}  // namespace idealrank
