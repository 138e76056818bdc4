//===- HugePagesTest.cpp - Memory in pages of 2 MiB -----------------------===//
//
// Whether memory is huge in the end is up to the machine: what is tested is
// what we ask for and read, and that nothing else depends on it.
//
//===----------------------------------------------------------------------===//

#include "ArtifactTestSupport.h"

#include "runtime/Cache/PageCache.h"
#include "runtime/Engine/Executor.h"
#include "runtime/Engine/Memory.h"
#include "runtime/Engine/Model.h"
#include "runtime/Support/HugePages.h"
#include "runtime/Tool/Inspect.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::test;

namespace {

using Range = std::span<const std::byte>;

Range rangeAt(uintptr_t Begin, size_t Bytes) {
  return {reinterpret_cast<const std::byte *>(Begin), Bytes};
}

bool isAligned(const void *Address) {
  return reinterpret_cast<uintptr_t>(Address) % HugePageBytes == 0;
}

/// Write calls of this process so far, nothing where that is not counted.
std::optional<int64_t> writeCalls() {
#ifdef __SANITIZE_ADDRESS__
  return std::nullopt; // The sanitizers have calls of their own.
#endif
  std::ifstream File("/proc/self/io");
  for (std::string Name; File >> Name;)
    if (int64_t Count; Name == "syscw:" && File >> Count)
      return Count;
  return std::nullopt;
}

constexpr int64_t Rows = 1536;

/// Two weights of 9 MiB of f32, neither a whole number of huge pages with the
/// header before them, in pieces of an odd size.
std::vector<std::byte> writeLarge(const std::string &Path) {
  std::vector<std::byte> Bytes(static_cast<size_t>(Rows) * Rows * 4);
  for (size_t I = 0; I < Bytes.size(); ++I)
    Bytes[I] = static_cast<std::byte>((I >> 12) * 7 + I % 251);
  Result<ArtifactWriter> Writer = ArtifactWriter::create(Path);
  EXPECT_TRUE(Writer);
  for (const char *Name : {"first", "second"}) {
    WeightInfo Weight;
    Weight.Name = Name;
    Weight.Layout = {LayoutKind::RowMajor, StorageFormat::F32};
    Weight.Rows = Weight.Columns = Rows;
    EXPECT_TRUE(Writer->beginWeight(Weight));
    size_t Piece = 300'001;
    for (Range Rest = Bytes; !Rest.empty(); Piece = 5 * Piece % 7'000'003) {
      Range Part = Rest.first(std::min(Piece, Rest.size()));
      EXPECT_TRUE(Writer->append(Part));
      Rest = Rest.subspan(Part.size());
    }
    EXPECT_TRUE(Writer->endWeight());
  }
  Manifest M = sampleManifest();
  M.Scopes.clear();
  Status Written = Writer->finish(M);
  EXPECT_TRUE(Written) << messageOf(Written);
  return Bytes;
}

} // namespace

TEST(HugePagesTest, MappingsAreAligned) {
  // Below a huge page nothing is special.
  for (size_t Bytes :
       {size_t(5000), size_t(HugePageBytes), size_t(3 * HugePageBytes + 5)}) {
    for (int I = 0; I < 3; ++I) {
      void *Address = mapHuge(Bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1);
      ASSERT_NE(Address, MAP_FAILED);
      EXPECT_TRUE(Bytes < HugePageBytes || isAligned(Address));
      auto *Data = static_cast<std::byte *>(Address);
      Data[0] = Data[Bytes - 1] = std::byte(1);
      // What was mapped around it to find the place is gone again.
      auto Page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
      size_t Whole = (Bytes + Page - 1) / Page * Page;
      auto Use = pageUse({{Range(Data, Whole)}});
      ASSERT_TRUE(Use);
      EXPECT_GE(Use->Resident, Page);
      EXPECT_EQ(::munmap(Address, Whole), 0);
    }
  }
  EXPECT_EQ(
      mapHuge(size_t(1) << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1),
      MAP_FAILED);
  EXPECT_EQ(mapHuge(SIZE_MAX, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1),
            MAP_FAILED);
  EXPECT_EQ(mapHuge(2 * HugePageBytes, PROT_READ, MAP_SHARED, 12345),
            MAP_FAILED);
  EXPECT_EQ(errno, EBADF);
}

TEST(HugePagesTest, ReadsSmaps) {
  const std::string Smaps =
      "10000000-10800000 r--s 00000000 fe:00 42     /a model.tenon\n"
      "Size:               8192 kB\n"
      "Rss:                6144 kB\n"
      "AnonHugePages:         0 kB\n"
      "ShmemPmdMapped:        0 kB\n"
      "FilePmdMapped:      4096 kB\n"
      "VmFlags: rd mr mw me ms sd hg \n"
      "10800000-10a00000 rw-p 00000000 00:00 0\n"
      "Rss:                2048 kB\n"
      "AnonHugePages:      2048 kB\n"
      "FilePmdMapped:         0 kB\n"
      "20000000-20200000 r--p 00000000 00:00 0\n"
      "Rss:                   0 kB\n"
      "AnonHugePages:         0 kB\n"
      "FilePmdMapped:         0 kB\n"
      "30000000-30200000 rw-p 00000000 00:00 0\n"
      "Rss:                   8 kB\n"
      "AnonHugePages:         0 kB\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n";
  auto UseOf = [&](std::vector<Range> Ranges) {
    return pageUseIn(Smaps, Ranges);
  };
  auto Use = UseOf({rangeAt(0x10000000, 0x800000)});
  ASSERT_TRUE(Use);
  EXPECT_EQ(Use->Resident, 6u << 20);
  EXPECT_EQ(Use->Huge, 4u << 20);
  EXPECT_NEAR(*Use->share(), 2.0 / 3, 1e-12);
  // A part of a mapping stands for the whole, and two for one.
  Use = UseOf({rangeAt(0x107fffff, 1), rangeAt(0x10000000, 1)});
  ASSERT_TRUE(Use);
  EXPECT_EQ(Use->Resident, 6u << 20);
  Use = UseOf({rangeAt(0x107fffff, 2), rangeAt(0x20000000, 4096)});
  ASSERT_TRUE(Use);
  EXPECT_EQ(Use->Resident, 8u << 20);
  EXPECT_EQ(Use->Huge, 6u << 20);
  // Nothing is resident, so there is no share of it.
  Use = UseOf({rangeAt(0x20000000, 4096)});
  ASSERT_TRUE(Use);
  EXPECT_FALSE(Use->share());
  // What is not said is not known: no such mapping, a kernel without the
  // field, also at the end of the text, no text.
  EXPECT_FALSE(UseOf({rangeAt(0x10a00000, 4096)}));
  EXPECT_FALSE(UseOf({rangeAt(0x10000000, 0)}));
  EXPECT_FALSE(UseOf({}));
  EXPECT_FALSE(UseOf({rangeAt(0x30000000, 1)}));
  EXPECT_FALSE(UseOf({rangeAt(0xffffffffff600000, 1)}));
  EXPECT_FALSE(pageUseIn("", {{rangeAt(0x10000000, 1)}}));
  for (const char *Odd : {"10000000-", "10000000-10800000", "zz-10 r\n",
                          "10000000-10800000 r\nRss:\nFilePmdMapped: x kB\n",
                          "10000000-10800000 r\nRss: 99999999999999999999 kB"})
    EXPECT_FALSE(pageUseIn(Odd, {{rangeAt(0x10000000, 1)}})) << Odd;
}

TEST(HugePagesTest, AvailableMemory) {
  EXPECT_EQ(availableMemoryIn("MemTotal:       24 kB\nMemFree: 1 kB\n"
                              "MemAvailable:   12 kB\nBuffers: 3 kB\n"),
            12u << 10);
  EXPECT_EQ(availableMemoryIn("MemTotal: 24 kB\n"), 0u);
  EXPECT_EQ(availableMemoryIn("MemAvailable: much\n"), 0u);
  EXPECT_GT(availableMemory(), 0u);
  EXPECT_TRUE(engine::isPrefaulted(16 << 20, 16 << 20));
  EXPECT_FALSE(engine::isPrefaulted((16 << 20) - 1, 1 << 30));
  EXPECT_FALSE(engine::isPrefaulted(1 << 30, (1 << 30) - 1));
  EXPECT_FALSE(engine::isPrefaulted(1 << 30, 0));
}

TEST(HugePagesTest, WorkingMemoryAndCachesAreAligned) {
  auto Memory = engine::WorkingMemory::reserve(5 << 20, "test");
  ASSERT_TRUE(Memory);
  EXPECT_TRUE(isAligned(Memory->data()));
  Memory->data()[(5 << 20) - 1] = std::byte(1);
  CacheInfo Info;
  Info.Layers = 3;
  Info.KvHeads = 2;
  Info.HeadDim = 64;
  Info.PageTokens = 64;
  Info.PageBytes = 2 * 2 * 64 * 64 * 4;
  auto Cache = cache::PageCache::create({{Info}}, 4096, 4096);
  ASSERT_TRUE(Cache);
  ASSERT_EQ(Cache->memory().size(), 1u);
  EXPECT_EQ(Cache->memory()[0].size(), 3u * 64 * Info.PageBytes);
  EXPECT_TRUE(isAligned(Cache->layer(0, 0)));
}

TEST(HugePagesTest, ArtifactsAreWrittenInHugePages) {
  TemporaryDirectory Directory;
  std::string Path = Directory / "large";
  std::optional<int64_t> Before = writeCalls();
  std::vector<std::byte> Bytes = writeLarge(Path);
  std::optional<int64_t> After = writeCalls();
  Result<Artifact> A = Artifact::open(Path);
  ASSERT_TRUE(A) << messageOf(A);
  // No padding but to pages: the format is what it was.
  EXPECT_LT(A->fileBytes(), 2 * Bytes.size() + (64 << 10));
  EXPECT_EQ(A->manifest().Weights[0].Offset, ArtifactPage);
  EXPECT_EQ(A->manifest().Weights[1].Offset,
            alignToPage(ArtifactPage + Bytes.size()));
  // One call for each piece begun, but those in the middle of what was
  // appended at once; the last piece and the header.
  if (Before && After) {
    EXPECT_LE(*After - *Before,
              static_cast<int64_t>(A->fileBytes() / HugePageBytes) + 2);
  }
  EXPECT_TRUE(isAligned(A->bytes().data()));
  EXPECT_TRUE(A->verifyMapped());
  for (size_t I : {0, 1})
    EXPECT_EQ(std::memcmp(A->weight(I).data(), Bytes.data(), Bytes.size()), 0);
  Range File = A->bytes();
  auto Use = pageUse({{File}});
  ASSERT_TRUE(Use);
  EXPECT_GE(Use->Resident, 2 * Bytes.size());
  EXPECT_LE(Use->Huge, Use->Resident);

  std::string Text;
  tool::InspectOptions Options;
  ASSERT_TRUE(tool::inspectArtifact(*A, Options, Text));
  EXPECT_EQ(Text.find("huge pages"), std::string::npos) << Text;
  Options.Verify = true;
  ASSERT_TRUE(tool::inspectArtifact(*A, Options, Text));
  EXPECT_NE(Text.find("% of the file in memory"), std::string::npos) << Text;
}

TEST(HugePagesTest, PopulatedFilesMayShrink) {
  TemporaryDirectory Directory;
  std::string Path = Directory / "large";
  std::vector<std::byte> Bytes = writeLarge(Path);
  Result<Artifact> A = Artifact::open(Path);
  ASSERT_TRUE(A);
  Range File = A->bytes();
  // Whether or not the kernel can, nothing is lost.
  (void)populate(File);
  (void)populate(File.subspan(5, 1));
  EXPECT_TRUE(A->verifyMapped());
  // In the middle of what may be a huge page.
  std::filesystem::resize_file(Path, 3 * HugePageBytes + 12345);
  EXPECT_FALSE(populate(File));
  EXPECT_EQ(A->weight(1)[Bytes.size() - 1], std::byte(0));
  EXPECT_EQ(A->weight(0)[0], Bytes[0]);
  EXPECT_EQ(messageOf(A->verifyMapped()).find(Path + ": shrank from "), 0u);
}
