//===- OutputFileTest.cpp - Where files are written, and where not --------===//

#include "runtime/Support/OutputFile.h"
#include "tests/unit/CheckpointFixture.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
namespace fs = std::filesystem;

namespace {

class OutputFiles : public TemporaryFiles {
protected:
  static std::string contentOf(const std::string &Path) {
    std::ifstream File(Path, std::ios::binary);
    return {std::istreambuf_iterator<char>(File), {}};
  }
  static Status writeTo(const std::string &Path, std::string_view Text,
                        bool Nameless = true) {
    Result<OutputFile> File = OutputFile::create(Path, {}, Nameless);
    if (!File)
      return File.error();
    if (Status Done = File->append(Text); !Done)
      return Done;
    return File->finish();
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(Directory), {}));
  }
};

TEST_F(OutputFiles, ReplacesInOneStep) {
  for (bool Nameless : {true, false}) {
    std::string Path = pathOf("a");
    {
      Result<OutputFile> File = OutputFile::create(Path, {}, Nameless);
      ASSERT_TRUE(File);
      ASSERT_TRUE(File->append("lost"));
      EXPECT_FALSE(fs::exists(Path));
      EXPECT_EQ(files(), Nameless ? 0u : 1u);
    }
    EXPECT_EQ(files(), 0u);
    ASSERT_TRUE(writeTo(Path, "first", Nameless));
    {
      Result<OutputFile> File = OutputFile::create(Path, {}, Nameless);
      ASSERT_TRUE(File);
      ASSERT_TRUE(File->append("second"));
      EXPECT_EQ(contentOf(Path), "first");
      ASSERT_TRUE(File->finish());
    }
    EXPECT_EQ(contentOf(Path), "second");
    EXPECT_EQ(files(), 1u);
    fs::remove(Path);
  }
}

TEST_F(OutputFiles, PiecesHolesAndCorrections) {
  Result<OutputFile> File = OutputFile::create(pathOf("a"));
  ASSERT_TRUE(File);
  std::string Large(3 << 20, 'l');
  ASSERT_TRUE(File->skipTo(4));
  ASSERT_TRUE(File->append("ab"));
  ASSERT_TRUE(File->append(Large));
  EXPECT_EQ(File->position(), 6 + Large.size());
  ASSERT_TRUE(File->skipTo(8 + Large.size()));
  ASSERT_TRUE(File->overwrite(0, std::as_bytes(std::span("head", 4))));
  ASSERT_TRUE(File->finish());
  EXPECT_EQ(contentOf(pathOf("a")), "headab" + Large + std::string(2, '\0'));
}

// Content does not depend on where the pieces end that are written.
TEST_F(OutputFiles, PiecesOfAnySize) {
  constexpr size_t Piece = 2 << 20;
  std::string Expected;
  Result<OutputFile> File = OutputFile::create(pathOf("a"));
  ASSERT_TRUE(File);
  auto Append = [&](size_t Bytes) {
    std::string Part;
    for (size_t I = 0; I < Bytes; ++I)
      Part += static_cast<char>((Expected.size() + I) * 31 >> 9);
    ASSERT_TRUE(File->append(Part));
    Expected += Part;
    ASSERT_EQ(File->position(), Expected.size());
  };
  auto Skip = [&](size_t Bytes) {
    Expected.resize(Expected.size() + Bytes);
    ASSERT_TRUE(File->skipTo(Expected.size()));
    ASSERT_EQ(File->position(), Expected.size());
  };
  for (size_t Bytes : {size_t(1), Piece - 2, size_t(1), Piece, 2 * Piece + 7,
                       Piece - 8, size_t(1), 3 * Piece, size_t(0)})
    Append(Bytes);
  for (size_t Bytes : {size_t(0), size_t(9), Piece - 1, Piece, 3 * Piece + 5}) {
    Skip(Bytes);
    Append(Bytes / 2 + 3);
  }
  // What is still gathered too.
  for (size_t At : {size_t(5), Piece - 2, Expected.size() - 4}) {
    ASSERT_TRUE(File->overwrite(At, std::as_bytes(std::span("over", 4))));
    Expected.replace(At, 4, "over");
  }
  Append(Piece + 1);
  Skip(3);
  ASSERT_TRUE(File->finish());
  EXPECT_TRUE(contentOf(pathOf("a")) == Expected);
}

TEST_F(OutputFiles, KeepsModesAndLinks) {
  ASSERT_TRUE(writeTo(pathOf("a"), "1"));
  fs::permissions(pathOf("a"), fs::perms(0600));
  fs::create_directory(pathOf("d"));
  fs::create_symlink("../a", pathOf("d/link"));
  fs::create_symlink("d/link", pathOf("twice"));
  ASSERT_TRUE(writeTo(pathOf("twice"), "2"));
  EXPECT_TRUE(fs::is_symlink(pathOf("twice")));
  EXPECT_TRUE(fs::is_symlink(pathOf("d/link")));
  EXPECT_FALSE(fs::is_symlink(pathOf("a")));
  EXPECT_EQ(contentOf(pathOf("a")), "2");
  EXPECT_EQ(fs::status(pathOf("a")).permissions(), fs::perms(0600));
  // A link whose file is not there yet.
  fs::create_symlink("new", pathOf("dangling"));
  ASSERT_TRUE(writeTo(pathOf("dangling"), "3"));
  EXPECT_EQ(contentOf(pathOf("new")), "3");
  EXPECT_TRUE(fs::is_symlink(pathOf("dangling")));
}

TEST_F(OutputFiles, DevicesAndFifosAreWrittenInto) {
  struct stat Before, After;
  ASSERT_EQ(::stat("/dev/null", &Before), 0);
  EXPECT_TRUE(writeTo("/dev/null", "x"));
  fs::create_symlink("/dev/null", pathOf("null"));
  EXPECT_TRUE(writeTo(pathOf("null"), "x"));
  ASSERT_EQ(::stat("/dev/null", &After), 0);
  EXPECT_TRUE(S_ISCHR(After.st_mode));
  EXPECT_EQ(After.st_ino, Before.st_ino);
  EXPECT_ERROR(writeTo("/dev/full", "x"), "/dev/full",
               "cannot write: No space left on device");

  std::string Fifo = pathOf("fifo"), Read;
  ASSERT_EQ(::mkfifo(Fifo.c_str(), 0600), 0);
  std::string Text(200000, 'f');
  std::thread Reader([&] { Read = contentOf(Fifo); });
  EXPECT_TRUE(writeTo(Fifo, Text));
  Reader.join();
  EXPECT_EQ(Read, Text);
  EXPECT_TRUE(fs::is_fifo(Fifo));
  // Half of something reaches nobody.
  Reader = std::thread([&] { Read = contentOf(Fifo); });
  {
    Result<OutputFile> File = OutputFile::create(Fifo);
    ASSERT_TRUE(File);
    ASSERT_TRUE(File->append(Text));
  }
  Reader.join();
  EXPECT_EQ(Read, "");

  // An open file that has no other name, like a shell's redirection.
  int Open = ::open(pathOf("r").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(::write(Open, "1 ", 2), 2);
  EXPECT_TRUE(writeTo("/dev/fd/" + std::to_string(Open), "2"));
  EXPECT_EQ(contentOf(pathOf("r")), "1 2");
  ::close(Open);
}

TEST_F(OutputFiles, RefusedBeforeTheWork) {
  std::string Input = write("input", "x");
  fs::create_hard_link(Input, pathOf("hard"));
  fs::create_symlink(Input, pathOf("soft"));
  fs::create_symlink(pathOf("loop"), pathOf("loop"));
  std::vector<std::string> Inputs = {pathOf("none"), Input};
  std::string Long(300, 'n');
  struct {
    std::string Path;
    const char *Why;
  } Rows[] = {
      {"", "is empty"},
      {Directory, "is a directory"},
      {Directory + "/", "is a directory"},
      {pathOf("no/such/file"), "No such file or directory"},
      {pathOf("new/"), "expected the name of a file"},
      {pathOf("input/file"), "Not a directory"},
      {pathOf(Long), "File name too long"},
      {std::string(5000, '/') + "x/" + Long, "File name too long"},
      {pathOf("loop"), "Too many levels of symbolic links"},
      {Input, "is also an input"},
      {pathOf("hard"), "is also an input"},
      {pathOf("soft"), "is also an input"},
      {pathOf("../") + fs::path(Directory).filename().string() + "/input",
       "is also an input"}};
  for (const auto &Row : Rows) {
    Result<OutputFile> File = OutputFile::create(Row.Path, Inputs);
    ASSERT_FALSE(File) << Row.Path;
    EXPECT_NE(File.error().message().find(Row.Why), std::string::npos)
        << File.error().message();
  }
  EXPECT_EQ(contentOf(Input), "x");
  // The longest name there is has room for a temporary file.
  ASSERT_TRUE(writeTo(pathOf(std::string(255, 'n')), "1"));
  ASSERT_TRUE(writeTo(pathOf(std::string(255, 'n')), "2"));
  ASSERT_TRUE(writeTo(pathOf(std::string(255, 'n')), "3", false));
}

TEST_F(OutputFiles, RefusedWithoutPermission) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can become somebody else";
  write("file", "x");
  fs::permissions(pathOf("file"), fs::perms(0444));
  fs::permissions(Directory, fs::perms(0777));
  fs::create_directory(pathOf("closed"));
  fs::create_directory(pathOf("shared"));
  write("shared/other", "x");
  fs::permissions(pathOf("shared/other"), fs::perms(0666));
  fs::permissions(pathOf("shared"), fs::perms(01777));
  pid_t Child = ::fork();
  if (Child == 0) {
    constexpr uid_t Nobody = 65534;
    bool IsNobody = ::setresuid(Nobody, Nobody, Nobody) == 0;
    auto Refuses = [&](const std::string &Path, const char *Why) {
      Result<OutputFile> File = OutputFile::create(Path);
      return !File && File.error().message().find(Why) != std::string::npos;
    };
    ::_exit(IsNobody && Refuses(pathOf("file"), "Permission denied") &&
                    Refuses(pathOf("closed/new"), "Permission denied") &&
                    Refuses(pathOf("shared/other"), "not permitted")
                ? 0
                : 1);
  }
  int Ended = 0;
  ASSERT_EQ(::waitpid(Child, &Ended, 0), Child);
  EXPECT_TRUE(WIFEXITED(Ended) && WEXITSTATUS(Ended) == 0) << Ended;
}

TEST_F(OutputFiles, SignalsLeaveNothing) {
  for (bool Nameless : {true, false})
    for (int Signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
      // A file with a name survives what cannot be caught.
      if (!Nameless && Signal == SIGKILL)
        continue;
      pid_t Child = ::fork();
      if (Child == 0) {
        // What a server does that has ended.
        if (!OutputFile::create(pathOf("before"), {}, false))
          ::_exit(1);
        std::signal(Signal, SIG_DFL);
        Result<OutputFile> File =
            OutputFile::create(pathOf("out"), {}, Nameless);
        if (!File || !File->append(std::string(3 << 20, 'x')))
          ::_exit(1);
        ::raise(Signal);
        ::_exit(0);
      }
      int Ended = 0;
      ASSERT_EQ(::waitpid(Child, &Ended, 0), Child);
      EXPECT_TRUE(WIFSIGNALED(Ended));
      EXPECT_EQ(WTERMSIG(Ended), Signal) << "whoever waits sees the signal";
      EXPECT_TRUE(fs::is_empty(Directory)) << Signal;
    }
}

TEST_F(OutputFiles, HandlersFromBeforeStillRun) {
  // In a process that has written nothing yet, as this one may have.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  static std::string Folder;
  Folder = Directory;
  EXPECT_EXIT(
      {
        std::signal(SIGTERM, [](int) {
          // What is complete stays.
          bool IsWhole = contentOf(Folder + "/a") == "whole";
          fs::remove(Folder + "/a");
          bool IsAll = fs::is_empty(Folder);
          fs::remove_all(Folder);
          ::_exit(IsWhole && IsAll ? 9 : 8);
        });
        Result<OutputFile> File = OutputFile::create(pathOf("b"), {}, false);
        if (File && writeTo(pathOf("a"), "whole", false))
          ::raise(SIGTERM);
      },
      testing::ExitedWithCode(9), "");
}

} // namespace
