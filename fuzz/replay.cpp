// Runs a harness once over every file named, or found below a folder named: no fuzzing engine needed, any compiler will do.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "harness.hpp"

namespace {

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const fuzz::ExactCopy copy(bytes.data(), bytes.size());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(copy.data()), copy.size());
}

}  // namespace

int main(int count, char** names) {
  size_t files = 0;
  for (int i = 1; i < count; ++i) {
    if (!std::filesystem::is_directory(names[i])) {
      replay(names[i]);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(names[i])) {
      if (!entry.is_regular_file()) continue;
      replay(entry.path());
      ++files;
    }
  }
  std::printf("%zu files replayed\n", files);
  return files ? 0 : 1;
}
