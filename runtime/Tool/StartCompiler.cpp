//===- StartCompiler.cpp - Commands of the compiler -----------------------===//

#include "runtime/ModelCache/CompilerProcess.h"
#include "runtime/Tool/Commands.h"

#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

Error tool::startCompiler(const std::vector<std::string> &Arguments) {
  Result<std::string> Compiler = modelcache::compilerPath();
  if (!Compiler)
    return Compiler.error();
  std::vector<char *> Values{Compiler->data()};
  std::vector<std::string> Copies = Arguments;
  for (std::string &Copy : Copies)
    Values.push_back(Copy.data());
  Values.push_back(nullptr);
  ::execv(Compiler->c_str(), Values.data());
  return modelcache::cannotCompile(*Compiler);
}
