// Mapped files that somebody cuts short: the system answers a read behind the new end with SIGBUS, which ends the process. While files are
// watched, a handler puts zero pages there instead and remembers the file, whose reader then refuses it.
//
// Why a handler: fstat before and after a block tells too late, reading by pread would copy every byte of every run, and jumping out of the
// reader (sigsetjmp in every thread) would skip the destructors of what it holds. A page of zeros lets every reader go on to its next check,
// in C++, in Python and in any library that was handed the bytes. What the handler does is allowed in one: it reads a list whose nodes are
// never freed, and makes one system call. Faults elsewhere go to the handler that was there before, which is put back with the last file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#if !defined(_WIN32)
#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace idealrank::watching {

struct Range {
  std::atomic<uintptr_t> begin{0}, end{0};  // end 0: free
  std::atomic<bool> cut{false};
  Range* next = nullptr;
};

inline std::atomic<Range*>& ranges() {
  static std::atomic<Range*> first{nullptr};
  return first;
}

// Whether some page of [begin, end) was missing.
inline bool was_cut(const void* begin, const void* end) {
  const auto first = reinterpret_cast<uintptr_t>(begin), last = reinterpret_cast<uintptr_t>(end);
  for (const Range* range = ranges().load(); range; range = range->next)
    if (range->cut.load() && range->begin.load() < last && first < range->end.load()) return true;
  return false;
}

#if defined(_WIN32)

// Windows refuses to shorten a file that is mapped.
class Handler {
 public:
  void install() {}
  void restore() {}
};

#else

inline struct sigaction& previous() {
  static struct sigaction action {};
  return action;
}

inline uintptr_t page_size() {
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// All that follows in the file is gone, too: one mapping covers it, however many pages that is.
inline bool cover(uintptr_t address) {
  for (Range* range = ranges().load(); range; range = range->next) {
    const uintptr_t begin = range->begin.load(), end = range->end.load();
    if (address < begin || address >= end) continue;
    const uintptr_t page = address / page_size() * page_size();
    void* place = reinterpret_cast<void*>(page);
    if (mmap(place, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
    range->cut.store(true);
    return true;
  }
  return false;
}

inline void answer(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  // A code above 0 comes from the processor; kill and raise send others, without an address.
  if (info->si_code > 0 && cover(reinterpret_cast<uintptr_t>(info->si_addr))) {
    errno = kept;
    return;
  }
  const struct sigaction& before = previous();
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    // What the system does without a handler happens when the instruction is done again, or the signal sent.
    sigaction(SIGBUS, &before, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
  errno = kept;
}

class Handler {
 public:
  void install() {
    if (installed_) return;
    page_size();  // not for the first time in the handler
    struct sigaction ours {};
    ours.sa_sigaction = answer;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    installed_ = sigaction(SIGBUS, &ours, &previous()) == 0;
  }
  // A handler that came after ours may lead to it: then ours stays, and hands on whatever comes.
  void restore() {
    struct sigaction now {};
    if (!installed_ || sigaction(SIGBUS, nullptr, &now) != 0) return;
    if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != answer) return;
    installed_ = sigaction(SIGBUS, &previous(), nullptr) != 0;
  }

 private:
  bool installed_ = false;
};

#endif

// The ranges that are watched. Adding and removing happen one at a time; the handler may look at any moment.
class Registry {
 public:
  Range* add(const void* data, size_t size) {
    std::lock_guard<std::mutex> locked(guard_);
    if (watched_++ == 0) handler_.install();
    Range* range = ranges().load();
    while (range && range->end.load()) range = range->next;
    if (!range) {
      range = new Range;
      range->next = ranges().load();
      ranges().store(range);
    }
    range->cut.store(false);
    range->begin.store(reinterpret_cast<uintptr_t>(data));
    range->end.store(reinterpret_cast<uintptr_t>(data) + (size + page() - 1) / page() * page());
    return range;
  }
  void remove(Range* range) {
    std::lock_guard<std::mutex> locked(guard_);
    range->end.store(0);
    range->begin.store(0);
    if (--watched_ == 0) handler_.restore();
  }
  static Registry& only() {
    static auto* registry = new Registry;  // never destroyed: files may outlive what is static
    return *registry;
  }

 private:
  static size_t page() {
#if defined(_WIN32)
    return 1;
#else
    return page_size();
#endif
  }
  std::mutex guard_;
  size_t watched_ = 0;
  Handler handler_;
};

// Watches mapped memory as long as it lives; must go before the mapping does.
class Watch {
 public:
  Watch(const void* data, size_t size) : range_(Registry::only().add(data, size)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { Registry::only().remove(range_); }
  bool cut() const { return range_->cut.load(); }

 private:
  Range* range_;
};

}  // namespace idealrank::watching
