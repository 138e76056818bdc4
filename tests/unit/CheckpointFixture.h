//===- CheckpointFixture.h - Files for the checkpoint tests -----*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_CHECKPOINTFIXTURE_H
#define TENON_TESTS_UNIT_CHECKPOINTFIXTURE_H

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace tenon {

/// A test with a directory of its own, removed at its end.
class TemporaryFiles : public testing::Test {
protected:
  void SetUp() override {
    Directory = testing::TempDir() + "tenon-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(Directory.data()), nullptr);
  }
  void TearDown() override {
    std::error_code Ignored;
    std::filesystem::remove_all(Directory, Ignored);
  }

  std::string pathOf(std::string_view Name) const {
    return Directory + "/" + std::string(Name);
  }
  /// Writes a file and returns its path.
  std::string write(std::string_view Name, std::string_view Content) const {
    std::ofstream(pathOf(Name), std::ios::binary) << Content;
    return pathOf(Name);
  }

  std::string Directory;
};

/// The 8 bytes that precede a header of `Length` bytes.
inline std::string lengthBytes(uint64_t Length) {
  std::string Bytes;
  for (int I = 0; I < 8; ++I)
    Bytes += static_cast<char>(Length >> (8 * I));
  return Bytes;
}

/// A safetensors file of this header and data.
inline std::string safetensors(std::string_view Header,
                               std::string_view Data = "") {
  return lengthBytes(Header.size()) + std::string(Header) + std::string(Data);
}

/// The raw bytes of values, as a file stores them.
template <typename T> std::string rawBytes(std::initializer_list<T> Values) {
  return {reinterpret_cast<const char *>(Values.begin()),
          Values.size() * sizeof(T)};
}

} // namespace tenon

/// Expects an error of one line that begins with `File` and has `Text` in it.
#define EXPECT_ERROR(Expression, File, Text)                                   \
  do {                                                                         \
    auto Outcome = (Expression);                                               \
    ASSERT_FALSE(Outcome) << "no error: expected " << (Text);                  \
    const std::string &Message = Outcome.error().message();                    \
    EXPECT_NE(Message.find(Text), std::string::npos) << Message;               \
    EXPECT_EQ(Message.find(File), 0u) << Message;                              \
    EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;               \
  } while (false)

#endif // TENON_TESTS_UNIT_CHECKPOINTFIXTURE_H
