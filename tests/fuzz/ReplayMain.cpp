//===- ReplayMain.cpp - Gives stored inputs to a fuzz target --------------===//
//
// fuzz-TARGET PATH...: runs the target once for every file, and for every file
// in a directory. libFuzzer's own main does the same when it is given files.
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/FuzzTarget.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

int main(int Argc, char **Argv) {
  std::vector<std::filesystem::path> Files;
  for (int I = 1; I < Argc; ++I) {
    if (!std::filesystem::is_directory(Argv[I])) {
      Files.emplace_back(Argv[I]);
      continue;
    }
    for (const auto &Entry : std::filesystem::directory_iterator(Argv[I]))
      Files.push_back(Entry.path());
  }
  std::sort(Files.begin(), Files.end());
  for (const std::filesystem::path &File : Files) {
    // The last line says which file ended the process.
    std::printf("%s\n", File.c_str());
    std::fflush(stdout);
    std::ifstream Stream(File, std::ios::binary);
    if (!Stream) {
      std::fprintf(stderr, "fuzz: error: %s: cannot be read\n", File.c_str());
      return 1;
    }
    std::string Content((std::istreambuf_iterator<char>(Stream)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(Content.data()),
                           Content.size());
  }
  std::printf("%zu inputs\n", Files.size());
  if (Files.empty())
    std::fprintf(stderr, "fuzz: error: no input: expected files\n");
  return Files.empty() ? 1 : 0;
}
