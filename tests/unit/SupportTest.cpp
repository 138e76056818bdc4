//===- SupportTest.cpp - Results, mapped files and 16-bit floats ----------===//

#include "runtime/Support/Base64.h"
#include "runtime/Support/Half.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Support/MappedFile.h"
#include "runtime/Support/Result.h"
#include "runtime/Support/Sha256.h"
#include "runtime/Support/Thread.h"
#include "tests/unit/CheckpointFixture.h"
#include "tests/unit/NoRoomForThreads.h"

#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tenon;

namespace {

class SupportFiles : public TemporaryFiles {};

std::span<const std::byte> bytesOf(const std::string &Text) {
  return std::as_bytes(std::span(Text));
}

TEST(SupportTest, Threads) {
  bool HasRun = false;
  Result<std::thread> Started = startThread([&] { HasRun = true; });
  ASSERT_TRUE(Started) << Started.error().message();
  Started->join();
  EXPECT_TRUE(HasRun);

  NoRoomForThreads Full;
  Result<std::thread> Failed = startThread([] {});
  ASSERT_FALSE(Failed);
  EXPECT_EQ(Failed.error().kind(), ErrorKind::OutOfMemory);
  EXPECT_TRUE(Failed.error().message().starts_with("cannot start a thread: "))
      << Failed.error().message();
}

TEST_F(SupportFiles, GgufByNameOrContent) {
  EXPECT_TRUE(isGgufFile("any/thing.gguf"));
  EXPECT_TRUE(isGgufFile(write("model.bin", "GGUF....")));
  EXPECT_FALSE(isGgufFile(write("other.bin", "GGU")));
  EXPECT_FALSE(isGgufFile(pathOf("none")));
  EXPECT_FALSE(isGgufFile(Directory));
}

TEST(SupportTest, Base64) {
  // RFC 4648, section 10.
  const std::pair<std::string, std::string> Cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xff\xfe\x3f\xfb\xf0", "//4/+/A="}};
  for (const auto &[Bytes, Text] : Cases) {
    EXPECT_EQ(encodeBase64(bytesOf(Bytes)), Text);
    EXPECT_EQ(*decodeBase64(Text), Bytes);
  }
  for (const char *Bad : {"a", "ab", "abc", "ab=c", "a===", "====", "ab\nc",
                          "ab-_", "abc\xc3", "=abc", "abcd="}) {
    EXPECT_FALSE(decodeBase64(Bad)) << Bad;
  }
  EXPECT_ERROR(decodeBase64("abcd!bcd"),
               "has a character at 4 that is not base64", "A-Z");
  EXPECT_ERROR(decodeBase64("abc"), "has 3 characters", "a multiple of 4");
}

TEST(SupportTest, Sha256) {
  auto Hex = [](const std::string &Text) {
    std::string All;
    for (uint32_t Word : sha256(bytesOf(Text))) {
      char Digits[9];
      std::snprintf(Digits, sizeof(Digits), "%08x", Word);
      All += Digits;
    }
    return All;
  };
  // What Python's hashlib gives.
  EXPECT_EQ(Hex(""), "e3b0c44298fc1c149afbf4c8996fb924"
                     "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223"
                        "b00361a396177a9cb410ff61f20015ad");
  // Where the length is in a block of its own, and before and after.
  EXPECT_EQ(Hex(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9a"
                                       "e9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(Hex(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f"
                                       "590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(Hex(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209"
                                       "f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(Hex(std::string(1000, 'a')), "41edece42d63e8d9bf515a9ba6932e1c"
                                         "20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST(SupportTest, Results) {
  Result<std::unique_ptr<int>> Value = std::make_unique<int>(3);
  ASSERT_TRUE(Value);
  EXPECT_EQ(**Value, 3);
  Result<std::unique_ptr<int>> Failed = Error("f: bad");
  ASSERT_FALSE(Failed);
  EXPECT_EQ(Failed.error().withContext("g").message(), "g: f: bad");
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(Error("x")));
}

TEST(SupportTest, EveryHalf) {
  for (uint32_t Bits = 0; Bits < 0x10000; ++Bits) {
    float Got = halfToFloat(static_cast<uint16_t>(Bits));
    int Exponent = (Bits >> 10) & 31, Mantissa = Bits & 1023;
    EXPECT_EQ(std::signbit(Got), Bits >= 0x8000) << Bits;
    if (Exponent == 31 && Mantissa != 0) {
      EXPECT_TRUE(std::isnan(Got)) << Bits;
      continue;
    }
    double Want = Exponent == 31  ? INFINITY
                  : Exponent == 0 ? std::ldexp(Mantissa, -24)
                                  : std::ldexp(1024 + Mantissa, Exponent - 25);
    EXPECT_EQ(std::abs(static_cast<double>(Got)), Want) << Bits;
  }
}

TEST(SupportTest, FloatToHalf) {
  for (uint32_t Bits = 0; Bits < 0x10000; ++Bits) {
    auto Short = static_cast<uint16_t>(Bits);
    float Value = halfToFloat(Short);
    if (std::isnan(Value)) {
      EXPECT_TRUE(std::isnan(halfToFloat(floatToHalf(Value)))) << Bits;
      continue;
    }
    EXPECT_EQ(floatToHalf(Value), Short);
    if ((Bits & 0x7fff) >= 0x7bff)
      continue;
    // Halfway to the next f16, and the f32 on either side of that.
    float Next = halfToFloat(static_cast<uint16_t>(Bits + 1));
    float Middle = (Value + Next) / 2;
    EXPECT_EQ(floatToHalf(Middle), (Bits + 1) & ~1u) << Bits;
    EXPECT_EQ(floatToHalf(std::nextafter(Middle, Value)), Bits) << Bits;
    EXPECT_EQ(floatToHalf(std::nextafter(Middle, Next)), Bits + 1) << Bits;
  }
  EXPECT_EQ(floatToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(floatToHalf(65520.0f), 0x7c00); // A tie with what would be 2^16.
  EXPECT_EQ(floatToHalf(-INFINITY), 0xfc00);
  EXPECT_EQ(floatToHalf(-1e30f), 0xfc00);
  EXPECT_EQ(floatToHalf(-1e-30f), 0x8000);
  EXPECT_TRUE(
      std::isnan(halfToFloat(floatToHalf(std::bit_cast<float>(0x7f800001u)))));
}

TEST(SupportTest, Bf16) {
  for (uint32_t Bits = 0; Bits < 0x10000; ++Bits) {
    auto Short = static_cast<uint16_t>(Bits);
    if (std::isnan(bf16ToFloat(Short)))
      EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(bf16ToFloat(Short)))));
    else
      EXPECT_EQ(floatToBf16(bf16ToFloat(Short)), Short);
  }
  auto Rounded = [](uint32_t Bits) {
    return floatToBf16(std::bit_cast<float>(Bits));
  };
  EXPECT_EQ(Rounded(0x3f808000), 0x3f80); // A tie goes to the even side,
  EXPECT_EQ(Rounded(0x3f818000), 0x3f82); // which may be up,
  EXPECT_EQ(Rounded(0x3f808001), 0x3f81); // and above the tie always up.
  EXPECT_EQ(Rounded(0x3f807fff), 0x3f80);
  EXPECT_EQ(Rounded(0x7f7fffff), 0x7f80); // The largest f32 is no bf16.
  EXPECT_TRUE(std::isnan(bf16ToFloat(Rounded(0x7f800001))));
}

TEST_F(SupportFiles, MappedFiles) {
  std::string Path = write("a", "hello");
  auto File = MappedFile::open(Path);
  ASSERT_TRUE(File);
  MappedFile Moved = std::move(*File);
  ASSERT_EQ(Moved.bytes().size(), 5u);
  EXPECT_EQ(Moved.bytes()[4], std::byte('o'));
  EXPECT_EQ(Moved.path(), Path);
  EXPECT_TRUE(Moved.checkUnchanged());
  auto Empty = MappedFile::open(write("b", ""));
  ASSERT_TRUE(Empty);
  EXPECT_TRUE(Empty->bytes().empty());
  Moved = std::move(*Empty);
  EXPECT_TRUE(Moved.bytes().empty());
  EXPECT_ERROR(MappedFile::open(pathOf("none")), pathOf("none"),
               "cannot open: No such file");
  EXPECT_ERROR(MappedFile::open(Directory), Directory,
               "is a directory, not a regular file");
}

TEST_F(SupportFiles, OnlyRegularFilesAreOpened) {
  // Neither waits for somebody at the other end.
  ASSERT_EQ(::mkfifo(pathOf("fifo").c_str(), 0600), 0);
  for (auto [Path, Kind] : {std::pair(pathOf("fifo"), "a FIFO"),
                            {std::string("/dev/null"), "a device"},
                            {Directory, "a directory"}}) {
    std::string Text = std::string("is ") + Kind + ", not a regular file";
    EXPECT_ERROR(MappedFile::open(Path), Path, Text);
    EXPECT_ERROR(readFile(Path, 4), Path, Text);
    EXPECT_ERROR(readStart(Path, 4), Path, Text);
  }
}

TEST_F(SupportFiles, ChangedFiles) {
  std::string Whole(20000, 'x');
  auto File = MappedFile::open(write("a", Whole));
  ASSERT_TRUE(File);
  std::filesystem::resize_file(pathOf("a"), 20001);
  EXPECT_ERROR(File->checkUnchanged(), pathOf("a"),
               "grew from 20000 to 20001 bytes while in use");
  std::filesystem::resize_file(pathOf("a"), 5000);
  EXPECT_ERROR(File->checkUnchanged(), pathOf("a"),
               "shrank from 20000 to 5000 bytes while in use");
  // What is gone reads as zeros, in any thread, and stays so.
  auto At = [&](size_t I) { return std::to_integer<int>(File->bytes()[I]); };
  EXPECT_EQ(At(4999), 'x');
  std::thread([&] { EXPECT_EQ(At(19999), 0); }).join();
  EXPECT_EQ(At(9000), 0);
  write("a", Whole);
  EXPECT_EQ(At(19999), 0);
  EXPECT_FALSE(File->checkUnchanged());
  // Other mappings, of the same addresses too, know nothing of it.
  MappedFile Moved = std::move(*File);
  Moved = std::move(*MappedFile::open(pathOf("a")));
  EXPECT_TRUE(Moved.checkUnchanged());
  EXPECT_EQ(Moved.bytes()[19999], std::byte('x'));
}

TEST_F(SupportFiles, OtherBusErrorsGoToTheHandlerBefore) {
  struct sigaction Present;
  ASSERT_EQ(::sigaction(SIGBUS, nullptr, &Present), 0);
  if (Present.sa_handler != SIG_DFL)
    GTEST_SKIP() << "this process has a handler of SIGBUS already";
  write("a", std::string(5000, 'x'));
  for (bool HasHandler : {false, true}) {
    pid_t Child = ::fork();
    if (Child == 0) {
      ::signal(SIGBUS, HasHandler ? [](int) { ::_exit(7); } : SIG_DFL);
      auto Guarded = MappedFile::open(pathOf("a"));
      int Other = ::open(pathOf("a").c_str(), O_RDONLY);
      auto *Plain = static_cast<volatile char *>(
          ::mmap(nullptr, 5000, PROT_READ, MAP_SHARED, Other, 0));
      (void)!::truncate(pathOf("a").c_str(), 0);
      bool IsZero = Guarded->bytes()[4500] == std::byte(0);
      ::_exit(IsZero && Plain[4500] == 0 ? 0 : 1);
    }
    int Ended = 0;
    ASSERT_EQ(::waitpid(Child, &Ended, 0), Child);
    write("a", std::string(5000, 'x'));
    if (HasHandler)
      EXPECT_TRUE(WIFEXITED(Ended) && WEXITSTATUS(Ended) == 7) << Ended;
    else
      EXPECT_TRUE(WIFSIGNALED(Ended) && WTERMSIG(Ended) == SIGBUS) << Ended;
  }
}

TEST_F(SupportFiles, WholeFiles) {
  std::string Path = write("a", "hello");
  EXPECT_EQ(*readFile(Path, 5), "hello");
  EXPECT_ERROR(readFile(Path, 4), Path, "is 5 bytes long: expected at most 4");
  EXPECT_ERROR(readFile(pathOf("none"), 4), pathOf("none"), "cannot open");
}

} // namespace
