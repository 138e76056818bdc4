//===- StartCompiler.cpp - Commands of the compiler -----------------------===//

#include "runtime/Tool/Commands.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

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
