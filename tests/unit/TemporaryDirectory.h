//===- TemporaryDirectory.h - Files of one test -----------------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_TEMPORARYDIRECTORY_H
#define TENON_TESTS_UNIT_TEMPORARYDIRECTORY_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace tenon::test {

/// A directory that disappears with its content.
class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string Name =
        std::filesystem::path(::testing::TempDir()) / "tenon-XXXXXX";
    Path = ::mkdtemp(Name.data()) ? Name : "";
    EXPECT_FALSE(Path.empty());
  }
  ~TemporaryDirectory() {
    std::error_code Ignored;
    std::filesystem::remove_all(Path, Ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::string operator/(const std::string &Name) const {
    return Path + "/" + Name;
  }
  /// Number of files in it, hidden ones included.
  size_t files() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(Path), {}));
  }

private:
  std::string Path;
};

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_TEMPORARYDIRECTORY_H
