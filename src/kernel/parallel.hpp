// Many small tasks on all processors, in rising order of their number; what they do must not depend on who does them.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "progress.hpp"

namespace idealrank {

struct Stopped {};

inline size_t worker_count(int threads, size_t tasks) {
  size_t wanted = threads > 0 ? static_cast<size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  return std::max<size_t>(1, std::min(wanted, tasks));
}

// Calls work(worker, task) once for every task. The first exception ends the rest and is thrown again here.
template <class Work>
void share(size_t tasks, size_t workers, const Progress* progress, Work&& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::mutex guard;
  auto run = [&](size_t worker) {
    try {
      for (size_t task; !failed.load(std::memory_order_relaxed) && (task = next.fetch_add(1)) < tasks;) {
        if (progress && progress->stopped.load(std::memory_order_relaxed)) throw Stopped();
        work(worker, task);
      }
    } catch (...) {
      std::lock_guard<std::mutex> locked(guard);
      if (!failure) failure = std::current_exception();
      failed = true;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(workers);
  for (size_t worker = 1; worker < workers; ++worker) {
    try {
      threads.emplace_back(run, worker);
    } catch (const std::system_error&) {
      break;  // fewer threads do the same work
    }
  }
  run(0);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace idealrank
