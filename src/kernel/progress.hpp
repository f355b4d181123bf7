// How far a long job is, and the wish to end it: shared between the kernel's threads and a Python thread that draws the bar.
#pragma once

#include <atomic>
#include <cstdint>

namespace idealrank {

struct Progress {
  std::atomic<uint64_t> done{0}, total{0};
  std::atomic<bool> stopped{false};
};

}  // namespace idealrank
