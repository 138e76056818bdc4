//===- ArtifactFileTest.cpp - Writing, opening and damaging artifacts -----===//

#include "ArtifactTestSupport.h"

#include "runtime/Support/HugePages.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::test;

namespace {

std::vector<std::byte> anyBytes(size_t Count) {
  std::vector<std::byte> Bytes(Count);
  for (size_t I = 0; I < Count; ++I)
    Bytes[I] = static_cast<std::byte>(I * 13 + 5);
  return Bytes;
}

/// Fixture with one good artifact, and a place for damaged ones.
class ArtifactFile : public ::testing::Test {
protected:
  void SetUp() override {
    writeSample(Directory / "good", {{CpuLevel::AVX2, anyBytes(5000)},
                                     {CpuLevel::AMX, anyBytes(300)}});
    Good = readBytes(Directory / "good");
  }

  /// The error of opening a file with these bytes, "" for none.
  std::string openError(std::span<const std::byte> Bytes) {
    writeBytes(Directory / "bad", Bytes);
    return messageOf(Artifact::open(Directory / "bad"));
  }

  /// The error of opening it with one value of the manifest replaced and all
  /// checksums right.
  std::string editError(const char *Pointer, const Json &Value) {
    return openError(resealed(Good, [&](ArtifactHeader &, std::string &Text) {
      Json Edited = Json::parse(Text);
      Edited.at(Json::json_pointer(Pointer)) = Value;
      Text = Edited.dump();
    }));
  }

  TemporaryDirectory Directory;
  std::vector<std::byte> Good;
};

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

} // namespace

TEST_F(ArtifactFile, HoldsWhatWasWritten) {
  Result<Artifact> A = Artifact::open(Directory / "good");
  ASSERT_TRUE(A) << messageOf(A);
  EXPECT_EQ(A->manifest().AbiMajor, TENON_RT_ABI_MAJOR);
  EXPECT_EQ(A->manifest().Scopes.size(), 2u);
  EXPECT_EQ(A->fileBytes(), Good.size());
  std::vector<WeightInfo> Weights = sampleWeights();
  ASSERT_EQ(A->manifest().Weights.size(), Weights.size());
  for (size_t I = 0; I < Weights.size(); ++I) {
    std::vector<std::byte> Wanted = weightBytes(Weights[I], unsigned(I));
    std::span<const std::byte> Got = A->weight(I);
    ASSERT_EQ(Got.size(), Wanted.size());
    EXPECT_EQ(std::memcmp(Got.data(), Wanted.data(), Got.size()), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(Got.data()) % ArtifactPage, 0u);
  }
  ASSERT_EQ(A->manifest().Code.size(), 2u);
  std::vector<std::byte> Code = anyBytes(5000);
  ASSERT_TRUE(A->code(0));
  ASSERT_EQ(A->code(0)->size(), Code.size());
  EXPECT_EQ(std::memcmp(A->code(0)->data(), Code.data(), Code.size()), 0);
  EXPECT_EQ(A->code(1)->size(), 300u);
  EXPECT_EQ(*A->tokenizerJson(), TokenizerText);
  Status Verified = A->verifyMapped();
  EXPECT_TRUE(Verified) << messageOf(Verified);
  EXPECT_EQ(Directory.files(), 1u) << "temporary files are left";
}

TEST_F(ArtifactFile, HeaderIsLittleEndianAndFixed) {
  const unsigned char Start[] = {0x8a, 'T', 'E', 'N', 'O', 'N', '\r', '\n',
                                 2,    0,   0,   0,   64,  0,   0,    0};
  ASSERT_GE(Good.size(), sizeof(Start));
  EXPECT_EQ(std::memcmp(Good.data(), Start, sizeof(Start)), 0);
  uint64_t Size = 0;
  for (int I = 7; I >= 0; --I)
    Size = Size << 8 | std::to_integer<uint64_t>(Good[16 + I]);
  EXPECT_EQ(Size, Good.size());
}

TEST_F(ArtifactFile, OpensWithoutTokenizerOrCode) {
  Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "few");
  ASSERT_TRUE(Writer);
  Manifest M = sampleManifest();
  M.Scopes.clear();
  ASSERT_TRUE(Writer->finish(M));
  Result<Artifact> A = Artifact::open(Directory / "few");
  ASSERT_TRUE(A) << messageOf(A);
  EXPECT_EQ(*A->tokenizerJson(), "");
  EXPECT_TRUE(A->verifyMapped());
}

TEST_F(ArtifactFile, TruncationIsAnError) {
  Result<Artifact> A = Artifact::open(Directory / "good");
  ASSERT_TRUE(A);
  std::vector<size_t> Cuts = {0, 1, 7, 8, 12, 63, 64, 65, Good.size() - 1};
  for (const ArtifactSection &S : sectionsOf(A->manifest()))
    for (uint64_t Cut : {S.Offset - 1, S.Offset, S.Offset + 1,
                         S.Offset + S.Bytes, S.Offset + S.Bytes + 1})
      Cuts.push_back(Cut);
  for (size_t Cut = 0; Cut < Good.size(); Cut += ArtifactPage)
    Cuts.push_back(Cut);
  for (size_t Cut : Cuts) {
    std::string Message = openError(std::span(Good).first(Cut));
    EXPECT_TRUE(contains(Message, Cut < 8 && Cut == 0 ? "not a Tenon artifact"
                                                      : "truncated"))
        << Cut << ": " << Message;
    EXPECT_TRUE(contains(Message, Directory / "bad")) << Message;
    if (Cut < ArtifactPage)
      continue;
    // The same with a header that believes it.
    std::vector<std::byte> Bytes =
        resealed(Good, [&](ArtifactHeader &Header, std::string &) {
          Header.FileBytes = Cut;
        });
    EXPECT_NE(openError(std::span(Bytes).first(Cut)), "") << Cut;
  }
}

TEST_F(ArtifactFile, SurplusBytesAreAnError) {
  Good.push_back(std::byte(0));
  EXPECT_TRUE(contains(openError(Good), "damaged"));
}

TEST_F(ArtifactFile, EveryFlippedBitOfTheHeaderIsAnError) {
  for (size_t Bit = 0; Bit < ArtifactHeaderBytes * 8; ++Bit) {
    std::vector<std::byte> Bad = Good;
    Bad[Bit / 8] ^= std::byte(1 << Bit % 8);
    EXPECT_NE(openError(Bad), "") << Bit;
  }
}

TEST_F(ArtifactFile, FlippedBytesAreFound) {
  Result<Artifact> A = Artifact::open(Directory / "good");
  ASSERT_TRUE(A);
  Result<ArtifactHeader> Header = decodeHeader(Good, "good");
  ASSERT_TRUE(Header);
  std::vector<ArtifactSection> Sections = sectionsOf(A->manifest());
  Sections.push_back(
      {"the manifest", Header->ManifestOffset, Header->ManifestBytes});
  std::mt19937_64 Random(1);
  for (const ArtifactSection &S : Sections)
    for (int Try = 0; Try < 12; ++Try) {
      uint64_t At = Try == 0 ? 0 : Try == 1 ? S.Bytes - 1 : Random() % S.Bytes;
      std::vector<std::byte> Bad = Good;
      Bad[S.Offset + At] ^= std::byte(1 << Random() % 8);
      std::string Message = openError(Bad);
      if (S.IsMapped) {
        ASSERT_EQ(Message, "") << S.Name << " is read at opening";
        Result<Artifact> Opened = Artifact::open(Directory / "bad");
        ASSERT_TRUE(Opened);
        Message = messageOf(Opened->verifyMapped());
      }
      EXPECT_TRUE(contains(Message, "damaged: the checksum of " + S.Name))
          << S.Name << " at " << At << ": " << Message;
    }
}

TEST_F(ArtifactFile, OtherFilesAreRefused) {
  auto Text = std::as_bytes(std::span("GGUF and so on, longer than the header, "
                                      "so that only the magic is wrong......"));
  EXPECT_TRUE(contains(openError(Text), "not a Tenon artifact"));
  EXPECT_TRUE(
      contains(messageOf(Artifact::open(Directory / "absent")), "cannot open"));
  EXPECT_TRUE(contains(messageOf(Artifact::open(Directory / "")),
                       "not a regular file"));
}

TEST_F(ArtifactFile, OtherVersionsAreRefused) {
  for (unsigned Version : {0u, 1u, 255u}) {
    std::vector<std::byte> Bad = Good;
    Bad[8] = std::byte(Version);
    std::string Message = openError(Bad);
    EXPECT_TRUE(contains(Message, "header field 'version' is " +
                                      std::to_string(Version) + ": expected 2"))
        << Message;
  }
  // Byte-swapped.
  std::vector<std::byte> Bad = Good;
  std::swap(Bad[8], Bad[11]);
  EXPECT_TRUE(contains(openError(Bad), "'version' is 33554432"));
  EXPECT_TRUE(contains(editError("/abi_major", TENON_RT_ABI_MAJOR + 1),
                       "field 'abi_major' is"));
}

TEST_F(ArtifactFile, WrongManifestPlacesAreErrors) {
  struct Case {
    uint64_t Offset, Bytes;
    const char *Field;
  };
  uint64_t End = Good.size() / ArtifactPage * ArtifactPage;
  for (Case C :
       {Case{0, 100, "manifest offset"},
        {End + 1, 10, "manifest offset"},
        {End + ArtifactPage, 10, "manifest offset"},
        {UINT64_MAX - ArtifactPage + 1, ArtifactPage, "manifest offset"},
        {End, 0, "manifest size"},
        {End, ArtifactPage + 1, "manifest size"},
        {End, UINT64_MAX, "manifest size"}}) {
    std::vector<std::byte> Bad =
        resealed(Good, [&](ArtifactHeader &Header, std::string &) {
          Header.ManifestOffset = C.Offset;
          Header.ManifestBytes = C.Bytes;
        });
    std::string Message = openError(Bad);
    EXPECT_TRUE(contains(Message, C.Field)) << C.Offset << ": " << Message;
  }
}

TEST_F(ArtifactFile, WrongManifestsAreErrors) {
  EXPECT_EQ(editError("/family", "other"), "") << "editing must be harmless";
  uint64_t Manifest = decodeHeader(Good, "good")->ManifestOffset;
  EXPECT_TRUE(contains(editError("/weights/0/offset", Manifest),
                       "before the manifest"));
  EXPECT_TRUE(contains(editError("/weights/0/offset", int64_t(1) << 45),
                       "before the manifest"));
  EXPECT_TRUE(contains(editError("/code/0/offset", Manifest + ArtifactPage),
                       "before the manifest"));
  EXPECT_TRUE(
      contains(editError("/code/0/bytes", int64_t(1) << 46), "expected it"));
  EXPECT_TRUE(contains(editError("/weights/1/offset", ArtifactPage),
                       "expected it after the end of"));
  EXPECT_TRUE(contains(editError("/tokenizer/offset", ArtifactPage + 8),
                       "multiple of 4096"));
  EXPECT_TRUE(contains(editError("/tokenizer/checksum", "0000000000000000"),
                       "the checksum of tokenizer"));

  auto TextError = [&](const std::string &Content) {
    return openError(resealed(
        Good, [&](ArtifactHeader &, std::string &Text) { Text = Content; }));
  };
  EXPECT_TRUE(contains(TextError("{"), "invalid JSON"));
  EXPECT_TRUE(contains(TextError("[]"), "expected an object"));
  EXPECT_TRUE(contains(TextError("{\"abi\": 1, \"abi\": 1}"), "duplicate key"));
  EXPECT_TRUE(contains(TextError("{\"abi\": \"\xff\"}"), "invalid JSON"));
  EXPECT_TRUE(contains(TextError(std::string(100000, '[')), "nested deeper"));
}

TEST_F(ArtifactFile, ShrinkingIsReported) {
  // To the first page, to nothing, and within a page.
  for (uint64_t Left : {ArtifactPage, uint64_t(0), uint64_t(100)}) {
    writeBytes(Directory / "good", Good);
    Result<Artifact> A = Artifact::open(Directory / "good");
    ASSERT_TRUE(A);
    ASSERT_EQ(::truncate((Directory / "good").c_str(), off_t(Left)), 0);
    for (const std::string &Message :
         {messageOf(A->verifyMapped()), messageOf(A->tokenizerJson()),
          messageOf(A->code(0)), messageOf(loadCode(*A, CpuLevel::AVX2))})
      EXPECT_TRUE(contains(Message, "shrank from " +
                                        std::to_string(Good.size()) + " to " +
                                        std::to_string(Left) + " bytes"))
          << Message;
  }
}

TEST_F(ArtifactFile, OverwritingIsReported) {
  Result<Artifact> A = Artifact::open(Directory / "good");
  ASSERT_TRUE(A);
  // Later than the clock of the file system can tell apart.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::vector<std::byte> Other(Good.size(), std::byte(1));
  writeBytes(Directory / "good", Other);
  for (const std::string &Message :
       {messageOf(A->verifyMapped()), messageOf(A->tokenizerJson()),
        messageOf(loadCode(*A, CpuLevel::AVX2))})
    EXPECT_TRUE(contains(Message, "was written to while in use")) << Message;
}

TEST_F(ArtifactFile, ReplacingChangesNothing) {
  Result<Artifact> A = Artifact::open(Directory / "good");
  ASSERT_TRUE(A);
  writeBytes(Directory / "other", anyBytes(10));
  std::filesystem::rename(Directory / "other", Directory / "good");
  EXPECT_TRUE(A->verifyMapped());
  EXPECT_EQ(*A->tokenizerJson(), TokenizerText);
}

TEST_F(ArtifactFile, OpeningReadsNoWeights) {
  constexpr uint64_t WeightBytes = 64 << 20;
  std::string Path = Directory / "large";
  {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Path);
    ASSERT_TRUE(Writer);
    WeightInfo Info{
        "w", {LayoutKind::RowMajor, StorageFormat::F32}, 1 << 14, 1 << 10};
    ASSERT_TRUE(
        putWeight(*Writer, Info, anyBytes(WeightBytes), WeightBytes / 5));
    Manifest M = sampleManifest();
    M.Scopes.clear();
    ASSERT_TRUE(Writer->finish(M));
  }
  Result<Artifact> A = Artifact::open(Path);
  ASSERT_TRUE(A);
  // Resident kilobytes of the mapping, as the kernel counts them.
  auto Resident = [&] {
    std::ifstream Maps("/proc/self/smaps");
    std::string Line;
    bool Inside = false;
    for (; std::getline(Maps, Line);) {
      if (contains(Line, "-") && contains(Line, " r--s "))
        Inside = Line.ends_with(Path);
      if (Inside && Line.starts_with("Rss:"))
        return std::stol(Line.substr(4));
    }
    return -1L;
  };
  long AtOpening = Resident();
  EXPECT_GE(AtOpening, 4);
  // Header and manifest, each of which may bring a huge page.
  EXPECT_LE(AtOpening, long(2 * HugePageBytes >> 10) + 1024);
  ASSERT_TRUE(A->verifyMapped());
  EXPECT_GE(Resident(), long(WeightBytes >> 10)) << "the measure is blind";
}

//===----------------------------------------------------------------------===//
// The writer
//===----------------------------------------------------------------------===//

TEST(ArtifactWriterTest, APreviewIsReplacedByWhatFollows) {
  TemporaryDirectory Directory;
  Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
  ASSERT_TRUE(Writer);
  ASSERT_TRUE(Writer->setTokenizer(TokenizerText));
  Manifest M = sampleManifest();
  M.Scopes.clear();
  for (int Try = 0; Try < 2; ++Try) {
    Result<std::string> Path = Writer->preview(M);
    ASSERT_TRUE(Path) << messageOf(Path);
    Result<Artifact> A = Artifact::open(*Path);
    ASSERT_TRUE(A) << messageOf(A);
    EXPECT_EQ(*A->tokenizerJson(), TokenizerText);
    EXPECT_TRUE(A->prefixes().empty());
    EXPECT_FALSE(std::filesystem::exists(Directory / "a"));
  }
  auto Write = [](const ByteSink &Out) {
    Status First = Out("abc");
    return First ? Out("defgh") : First;
  };
  ASSERT_TRUE(Writer->setPrefixes(2, 128, Write));
  EXPECT_FALSE(Writer->setPrefixes(2, 128, Write));
  ASSERT_TRUE(Writer->finish(M));
  Result<Artifact> A = Artifact::open(Directory / "a");
  ASSERT_TRUE(A) << messageOf(A);
  EXPECT_EQ(*A->tokenizerJson(), TokenizerText);
  ASSERT_EQ(A->prefixes().size(), 8u);
  EXPECT_EQ(std::memcmp(A->prefixes().data(), "abcdefgh", 8), 0);
  EXPECT_EQ(A->manifest().Prefixes->Tokens, 128);
  EXPECT_TRUE(A->verifyMapped());
  const TokenizerInfo &T = *A->manifest().Tokenizer;
  EXPECT_EQ(A->manifest().Prefixes->Offset, alignToPage(T.Offset + T.Bytes))
      << "the manifest of the preview is still there";
}

TEST(ArtifactWriterTest, PrefixesThatFailLeaveNothing) {
  TemporaryDirectory Directory;
  {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
    ASSERT_TRUE(Writer);
    Status Done = Writer->setPrefixes(
        1, 64, [](const ByteSink &) { return Status(Error("no pages")); });
    EXPECT_EQ(messageOf(Done), "no pages");
  }
  EXPECT_EQ(Directory.files(), 0u);
}

TEST(ArtifactWriterTest, NothingIsLeftUnlessFinished) {
  TemporaryDirectory Directory;
  {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
    ASSERT_TRUE(Writer);
    ASSERT_TRUE(Writer->setTokenizer("x"));
    EXPECT_FALSE(std::filesystem::exists(Directory / "a"));
  }
  EXPECT_EQ(Directory.files(), 0u);

  // An older file stays as it is until the new one is whole.
  writeBytes(Directory / "a", anyBytes(10));
  {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
    ASSERT_TRUE(Writer);
    Manifest Wrong = sampleManifest();
    Wrong.MaxSequence = 0;
    Status S = Writer->finish(Wrong);
    EXPECT_TRUE(contains(messageOf(S), "field 'max_sequence' is 0"));
  }
  EXPECT_EQ(readBytes(Directory / "a"), anyBytes(10));
  writeSample(Directory / "a", {});
  EXPECT_TRUE(Artifact::open(Directory / "a"));
  EXPECT_EQ(Directory.files(), 1u);
}

TEST(ArtifactWriterTest, PermissionsFollowTheUmask) {
  TemporaryDirectory Directory;
  mode_t Before = ::umask(027);
  writeSample(Directory / "a", {});
  ::umask(Before);
  EXPECT_EQ(std::filesystem::status(Directory / "a").permissions(),
            std::filesystem::perms(0640));
}

TEST(ArtifactWriterTest, DevicesAreWrittenInto) {
  struct stat Before, After;
  ASSERT_EQ(::stat("/dev/null", &Before), 0);
  writeSample("/dev/null", {});
  ASSERT_EQ(::stat("/dev/null", &After), 0);
  EXPECT_TRUE(S_ISCHR(After.st_mode));
  EXPECT_EQ(After.st_ino, Before.st_ino);
}

TEST(ArtifactWriterTest, AKilledProcessLeavesNothing) {
  TemporaryDirectory Directory;
  int Nameless = ::open((Directory / "").c_str(), O_TMPFILE | O_RDWR, 0600);
  if (Nameless < 0)
    GTEST_SKIP() << "this file system has no files without a name";
  ::close(Nameless);
  pid_t Child = ::fork();
  if (Child == 0) {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
    WeightInfo Info{
        "w", {LayoutKind::RowMajor, StorageFormat::F32}, 1024, 1024};
    if (!Writer || !Writer->beginWeight(Info) ||
        !Writer->append(anyBytes(2 << 20)))
      ::_exit(1);
    ::raise(SIGTERM);
    ::_exit(2);
  }
  int Ended = 0;
  ASSERT_EQ(::waitpid(Child, &Ended, 0), Child);
  ASSERT_TRUE(WIFSIGNALED(Ended));
  EXPECT_EQ(Directory.files(), 0u);
}

TEST(ArtifactWriterTest, FailedWritesAreErrors) {
  TemporaryDirectory Directory;
  struct rlimit Before, Small;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &Before), 0);
  Small = {1 << 20, Before.rlim_max};
  auto Handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &Small), 0);
  Status Large, Tail;
  {
    Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
    WeightInfo Info{
        "w", {LayoutKind::RowMajor, StorageFormat::F32}, 1024, 1024};
    Large = Writer->beginWeight(Info);
    Large = Writer->append(anyBytes(4 << 20));
    // Pieces that are only gathered fail when they are written.
    Writer = ArtifactWriter::create(Directory / "b");
    Info.Rows = 240;
    Info.Columns = 1024;
    Tail = putWeight(*Writer, Info, anyBytes(240 << 12), 4096);
    if (Tail)
      if (Result<size_t> Code =
              Writer->addCode(sampleCode(CpuLevel::AVX2), anyBytes(100000));
          !Code)
        Tail = Code.error();
    Manifest M = sampleManifest();
    M.Scopes.clear();
    if (Tail)
      Tail = Writer->finish(M);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &Before), 0);
  std::signal(SIGXFSZ, Handler);
  EXPECT_TRUE(contains(messageOf(Large), "cannot write")) << messageOf(Large);
  EXPECT_TRUE(contains(messageOf(Large), "File too large"));
  EXPECT_TRUE(contains(messageOf(Tail), "File too large")) << messageOf(Tail);
  EXPECT_EQ(Directory.files(), 0u);
}

TEST(ArtifactWriterTest, RefusesWrongPaths) {
  TemporaryDirectory Directory;
  std::string Message =
      messageOf(ArtifactWriter::create(Directory / "no/such/a"));
  EXPECT_TRUE(contains(Message, "No such file")) << Message;
  Message = messageOf(ArtifactWriter::create(Directory / ""));
  EXPECT_TRUE(contains(Message, "is a directory")) << Message;
}

TEST(ArtifactWriterTest, RefusesWrongUse) {
  TemporaryDirectory Directory;
  Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
  ASSERT_TRUE(Writer);
  WeightInfo Info{"w", {LayoutKind::RowMajor, StorageFormat::F32}, 2, 3};
  EXPECT_FALSE(Writer->append(anyBytes(1)));
  EXPECT_FALSE(Writer->endWeight());
  WeightInfo Empty = Info;
  Empty.Rows = 0;
  EXPECT_TRUE(contains(messageOf(Writer->beginWeight(Empty)), "0 x 3"));
  ASSERT_TRUE(Writer->beginWeight(Info));
  EXPECT_FALSE(Writer->beginWeight(Info));
  EXPECT_FALSE(Writer->setTokenizer("x"));
  ASSERT_TRUE(Writer->append(anyBytes(23)));
  std::string Message = messageOf(Writer->endWeight());
  EXPECT_TRUE(contains(Message, "weight 'w' has 23 bytes: expected 24 for 2 x "
                                "3 in row_major.f32"))
      << Message;
  ASSERT_TRUE(Writer->setTokenizer("x"));
  EXPECT_FALSE(Writer->setTokenizer("y"));
  // An index of no weight.
  Message = messageOf(Writer->finish(sampleManifest()));
  EXPECT_TRUE(contains(Message, "scopes[0].weights[0]")) << Message;
}

TEST(ArtifactWriterTest, PiecesOfAnySizeGiveTheSameFile) {
  TemporaryDirectory Directory;
  WeightInfo Info{"w", {LayoutKind::RowMajor, StorageFormat::BF16}, 777, 2049};
  std::vector<std::byte> Bytes = weightBytes(Info, 3);
  std::vector<std::byte> First;
  for (size_t Piece :
       {size_t(4093), size_t(1) << 20, (size_t(1) << 20) + 1, Bytes.size()}) {
    {
      Result<ArtifactWriter> Writer = ArtifactWriter::create(Directory / "a");
      ASSERT_TRUE(Writer);
      ASSERT_TRUE(putWeight(*Writer, Info, Bytes, Piece));
      ASSERT_TRUE(putWeight(*Writer, sampleWeights()[2],
                            weightBytes(sampleWeights()[2], 0), 7));
      Manifest M = sampleManifest();
      M.Scopes.clear();
      ASSERT_TRUE(Writer->finish(M));
    }
    std::vector<std::byte> File = readBytes(Directory / "a");
    if (First.empty())
      First = File;
    EXPECT_EQ(File, First) << Piece;
  }
}
