//===- ArtifactWriter.cpp - Writing compiled models -----------------------===//

#include "compiler/Artifact/ArtifactWriter.h"

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Format.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

using namespace tenon;

namespace {

/// A file without a name, or with one that goes away unless it is published.
class UnpublishedFile {
public:
  explicit UnpublishedFile(std::string Path) : Path(std::move(Path)) {}
  UnpublishedFile(const UnpublishedFile &) = delete;
  UnpublishedFile &operator=(const UnpublishedFile &) = delete;
  ~UnpublishedFile() {
    if (!TemporaryName.empty())
      ::unlink(TemporaryName.c_str());
    if (Descriptor >= 0)
      ::close(Descriptor);
  }

  const std::string &path() const { return Path; }

  Status open() {
    struct stat Info;
    // Renaming over a device or a directory would destroy it or fail late.
    if (::stat(Path.c_str(), &Info) == 0 && !S_ISREG(Info.st_mode))
      return Error(Path + ": exists and is not a regular file");
    std::string Directory = std::filesystem::path(Path).parent_path().string();
    if (Directory.empty())
      Directory = ".";
    // A file without a name disappears even when the process is killed.
    Descriptor =
        ::open(Directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (Descriptor >= 0)
      return {};
    return openNamed();
  }

  Status write(uint64_t Offset, std::span<const std::byte> Bytes) {
    while (!Bytes.empty()) {
      ssize_t Written = ::pwrite(Descriptor, Bytes.data(), Bytes.size(),
                                 static_cast<off_t>(Offset));
      if (Written < 0 && errno == EINTR)
        continue;
      if (Written <= 0)
        return systemError("cannot write " + std::to_string(Bytes.size()) +
                           " bytes at offset " + std::to_string(Offset));
      Offset += static_cast<uint64_t>(Written);
      Bytes = Bytes.subspan(static_cast<size_t>(Written));
    }
    return {};
  }

  /// Makes `Path` this file, replacing what is there.
  Status publish() {
    if (TemporaryName.empty())
      if (Status S = giveName(); !S)
        return S;
    // Some file systems report a failed write only here.
    int Copy = ::dup(Descriptor);
    if (Copy >= 0 && ::close(Copy) != 0)
      return systemError("cannot write");
    if (::rename(TemporaryName.c_str(), Path.c_str()) != 0)
      return systemError("cannot rename '" + TemporaryName + "'");
    TemporaryName.clear();
    return {};
  }

private:
  Error systemError(const std::string &What) const {
    return Error(Path + ": " + What + ": " + std::strerror(errno));
  }

  Status openNamed() {
    std::string Name = Path + ".XXXXXX";
    Descriptor = ::mkostemp(Name.data(), O_CLOEXEC);
    if (Descriptor < 0)
      return systemError("cannot create a file beside it");
    TemporaryName = Name;
    // mkostemp makes files private; give what open() would have given.
    mode_t Mask = ::umask(0);
    ::umask(Mask);
    if (::fchmod(Descriptor, 0666 & ~Mask) != 0)
      return systemError("cannot set permissions");
    return {};
  }

  /// linkat() does not replace files, so the file gets a name of its own first.
  Status giveName() {
    std::string Source = "/proc/self/fd/" + std::to_string(Descriptor);
    for (int Try = 0; Try < 100; ++Try) {
      std::string Name =
          Path + "." + std::to_string(::getpid()) + "-" + std::to_string(Try);
      if (::linkat(AT_FDCWD, Source.c_str(), AT_FDCWD, Name.c_str(),
                   AT_SYMLINK_FOLLOW) == 0) {
        TemporaryName = Name;
        return {};
      }
      if (errno != EEXIST)
        break;
    }
    return systemError("cannot name the file");
  }

  std::string Path;
  std::string TemporaryName;
  int Descriptor = -1;
};

} // namespace

struct ArtifactWriter::Implementation {
  explicit Implementation(const std::string &Path) : File(Path) {
    XXH3_64bits_reset(Hash.get());
  }

  struct FreeHash {
    void operator()(XXH3_state_t *State) const { XXH3_freeState(State); }
  };

  /// Small pieces are gathered up to this size, larger ones written at once.
  static constexpr size_t GatherBytes = 1 << 20;

  UnpublishedFile File;
  uint64_t Position = ArtifactPage; ///< End of what was taken so far.
  std::vector<std::byte> Gathered;  ///< The last bytes before Position.
  std::unique_ptr<XXH3_state_t, FreeHash> Hash{XXH3_createState()};
  std::optional<WeightInfo> Current;
  std::vector<WeightInfo> Weights;
  std::vector<CodeInfo> Code;
  std::optional<TokenizerInfo> Tokenizer;

  Error fail(const std::string &Why) const {
    return Error(File.path() + ": " + Why);
  }

  Status flush() {
    Status S = File.write(Position - Gathered.size(), Gathered);
    Gathered.clear();
    return S;
  }

  Status put(std::span<const std::byte> Bytes) {
    if (Gathered.size() + Bytes.size() > GatherBytes)
      if (Status S = flush(); !S)
        return S;
    Position += Bytes.size();
    if (Bytes.size() > GatherBytes)
      return File.write(Position - Bytes.size(), Bytes);
    Gathered.insert(Gathered.end(), Bytes.begin(), Bytes.end());
    return {};
  }

  /// Sections start on pages; what is skipped reads as zeros.
  Status startSection() {
    if (Status S = flush(); !S)
      return S;
    Position = alignToPage(Position);
    return {};
  }

  /// A whole section; the fields that locate it are returned through the
  /// references.
  Status putSection(std::span<const std::byte> Bytes, uint64_t &Offset,
                    uint64_t &Size, uint64_t &Checksum) {
    if (Current)
      return fail("weight " + printable(Current->Name) + " is not ended");
    if (Status S = startSection(); !S)
      return S;
    Offset = Position;
    Size = Bytes.size();
    Checksum = checksumOf(Bytes);
    return put(Bytes);
  }
};

ArtifactWriter::ArtifactWriter(std::unique_ptr<Implementation> Impl)
    : Impl(std::move(Impl)) {}
ArtifactWriter::ArtifactWriter(ArtifactWriter &&) noexcept = default;
ArtifactWriter &ArtifactWriter::operator=(ArtifactWriter &&) noexcept = default;
ArtifactWriter::~ArtifactWriter() = default;

static std::span<const std::byte> bytesOf(std::string_view Text) {
  return std::as_bytes(std::span(Text.data(), Text.size()));
}

Result<ArtifactWriter> ArtifactWriter::create(const std::string &Path) {
  auto Impl = std::make_unique<Implementation>(Path);
  if (Status S = Impl->File.open(); !S)
    return S.error();
  return ArtifactWriter(std::move(Impl));
}

Status ArtifactWriter::beginWeight(WeightInfo Info) {
  if (Impl->Current)
    return Impl->fail("weight " + printable(Impl->Current->Name) +
                      " is not ended");
  if (Info.Rows < 1 || Info.Columns < 1)
    return Impl->fail(
        "weight " + printable(Info.Name) + " is " + std::to_string(Info.Rows) +
        " x " + std::to_string(Info.Columns) + ": expected positive sides");
  if (Status S = Impl->startSection(); !S)
    return S;
  Info.Offset = Impl->Position;
  Info.Bytes =
      static_cast<uint64_t>(packedBytes(Info.Layout, Info.Rows, Info.Columns));
  XXH3_64bits_reset(Impl->Hash.get());
  Impl->Current = std::move(Info);
  return {};
}

Status ArtifactWriter::append(std::span<const std::byte> Bytes) {
  if (!Impl->Current)
    return Impl->fail("bytes of no weight");
  XXH3_64bits_update(Impl->Hash.get(), Bytes.data(), Bytes.size());
  return Impl->put(Bytes);
}

Result<size_t> ArtifactWriter::endWeight() {
  if (!Impl->Current)
    return Impl->fail("no weight to end");
  WeightInfo Info = std::move(*Impl->Current);
  Impl->Current.reset();
  uint64_t Written = Impl->Position - Info.Offset;
  if (Written != Info.Bytes)
    return Impl->fail(
        "weight " + printable(Info.Name) + " has " + std::to_string(Written) +
        " bytes: expected " + std::to_string(Info.Bytes) + " for " +
        std::to_string(Info.Rows) + " x " + std::to_string(Info.Columns) +
        " in " + nameOf(Info.Layout));
  Info.Checksum = XXH3_64bits_digest(Impl->Hash.get());
  Impl->Weights.push_back(std::move(Info));
  return Impl->Weights.size() - 1;
}

Result<size_t> ArtifactWriter::addCode(CodeInfo Info,
                                       std::span<const std::byte> Object) {
  if (Status S =
          Impl->putSection(Object, Info.Offset, Info.Bytes, Info.Checksum);
      !S)
    return S.error();
  Impl->Code.push_back(std::move(Info));
  return Impl->Code.size() - 1;
}

Status ArtifactWriter::setTokenizer(std::string_view Text) {
  if (Impl->Tokenizer)
    return Impl->fail("a second tokenizer: expected at most one");
  if (Text.empty())
    return {};
  TokenizerInfo Info;
  if (Status S = Impl->putSection(bytesOf(Text), Info.Offset, Info.Bytes,
                                  Info.Checksum);
      !S)
    return S;
  Impl->Tokenizer = Info;
  return {};
}

Status ArtifactWriter::finish(Manifest M) {
  M.AbiMajor = TENON_RT_ABI_MAJOR;
  M.AbiMinor = TENON_RT_ABI_MINOR;
  M.Weights = std::move(Impl->Weights);
  M.Code = std::move(Impl->Code);
  M.Tokenizer = Impl->Tokenizer;
  Json Form = toJson(M);
  // What could not be opened again is not worth a file.
  if (Result<Manifest> Checked = manifestFromJson(Form, Impl->File.path());
      !Checked)
    return Checked.error();
  std::string Text =
      Form.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (Text.size() > MaxManifestBytes)
    return Impl->fail("manifest of " + std::to_string(Text.size()) +
                      " bytes: expected at most " +
                      std::to_string(MaxManifestBytes));
  ArtifactHeader Header;
  if (Status S =
          Impl->putSection(bytesOf(Text), Header.ManifestOffset,
                           Header.ManifestBytes, Header.ManifestChecksum);
      !S)
    return S;
  if (Status S = Impl->flush(); !S)
    return S;
  Header.FileBytes = Impl->Position;
  if (Status S = Impl->File.write(0, encodeHeader(Header)); !S)
    return S;
  return Impl->File.publish();
}
