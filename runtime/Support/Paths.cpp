//===- Paths.cpp - What is wrong with a path ------------------------------===//

#include "runtime/Support/Paths.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

using namespace tenon;

/// ORGANISATION/NAME, where no folder is called ORGANISATION.
static bool isHubId(const std::string &Path) {
  size_t Slash = Path.find('/');
  if (Slash == std::string::npos || Slash == 0 || Slash + 1 == Path.size() ||
      Path.find('/', Slash + 1) != std::string::npos || Path.front() == '.' ||
      Path.ends_with(".tenon"))
    return false;
  std::error_code Ignored;
  return std::all_of(Path.begin(), Path.end(),
                     [](unsigned char C) {
                       return std::isalnum(C) || C == '/' || C == '-' ||
                              C == '_' || C == '.';
                     }) &&
         !std::filesystem::exists(Path.substr(0, Slash), Ignored);
}

Error tenon::noSuchPath(const std::string &Path) {
  std::string Text = Path + ": no such file or directory";
  if (isHubId(Path)) {
    std::string Name = Path.substr(Path.find('/') + 1);
    Text += " (a model of the Hugging Face hub is fetched first: hf download " +
            Path + " --local-dir " + Name + ")";
  }
  return Error(Text);
}
