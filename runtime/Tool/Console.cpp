//===- Console.cpp - Standard output and other executables ----------------===//

#include "runtime/Tool/Commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

Status tool::print(const std::string &Text) {
  if (std::fwrite(Text.data(), 1, Text.size(), stdout) != Text.size() ||
      std::fflush(stdout) != 0)
    return Error(std::string("cannot write to standard output: ") +
                 std::strerror(errno));
  return {};
}

Error tool::startCompiler(const std::vector<std::string> &Arguments) {
  std::error_code Failure;
  auto Self = std::filesystem::read_symlink("/proc/self/exe", Failure);
  if (Failure)
    return Error("cannot find this executable: " + Failure.message());
  std::string Compiler = Self.parent_path() / "tenon-compile";
  std::vector<char *> Values{Compiler.data()};
  std::vector<std::string> Copies = Arguments;
  for (std::string &Copy : Copies)
    Values.push_back(Copy.data());
  Values.push_back(nullptr);
  ::execv(Compiler.c_str(), Values.data());
  if (errno == ENOENT)
    return Error(Compiler + " does not exist: this is a runtime-only build, "
                            "which runs artifacts but cannot compile models");
  return Error(Compiler + ": cannot start: " + std::strerror(errno));
}
