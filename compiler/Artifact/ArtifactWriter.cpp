//===- ArtifactWriter.cpp - Writing compiled models -----------------------===//

#include "compiler/Artifact/ArtifactWriter.h"

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Format.h"

#include <utility>
#include <vector>
#include <xxhash.h>

using namespace tenon;

struct ArtifactWriter::Implementation {
  explicit Implementation(OutputFile Out) : File(std::move(Out)) {
    XXH3_64bits_reset(Hash.get());
  }

  struct FreeHash {
    void operator()(XXH3_state_t *State) const { XXH3_freeState(State); }
  };

  OutputFile File;
  std::unique_ptr<XXH3_state_t, FreeHash> Hash{XXH3_createState()};
  std::optional<WeightInfo> Current;
  std::vector<WeightInfo> Weights;
  std::vector<CodeInfo> Code;
  std::optional<TokenizerInfo> Tokenizer;
  std::optional<PrefixesInfo> Prefixes;
  std::optional<uint64_t> PreviewAt; ///< Where the manifest of one is.

  Error fail(const std::string &Why) const {
    return Error(File.path() + ": " + Why);
  }

  /// Sections start on pages; what is skipped reads as zeros.
  Status startSection() {
    if (PreviewAt)
      if (Status Done = File.rewindTo(*std::exchange(PreviewAt, {})); !Done)
        return Done;
    return File.skipTo(alignToPage(File.position()));
  }

  Status putManifest(Manifest M);

  /// A whole section; the fields that locate it are returned through the
  /// references.
  Status putSection(std::span<const std::byte> Bytes, uint64_t &Offset,
                    uint64_t &Size, uint64_t &Checksum) {
    if (Current)
      return fail("weight " + printable(Current->Name) + " is not ended");
    if (Status S = startSection(); !S)
      return S;
    Offset = File.position();
    Size = Bytes.size();
    Checksum = checksumOf(Bytes);
    return File.append(Bytes);
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
  Result<OutputFile> File = OutputFile::create(Path);
  if (!File)
    return File.error();
  return ArtifactWriter::create(std::move(*File));
}

Result<ArtifactWriter> ArtifactWriter::create(OutputFile File) {
  ArtifactWriter Writer(std::make_unique<Implementation>(std::move(File)));
  // The header comes last, when all is known.
  if (Status S = Writer.Impl->File.skipTo(ArtifactPage); !S)
    return S.error();
  return Writer;
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
  Info.Offset = Impl->File.position();
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
  return Impl->File.append(Bytes);
}

Result<size_t> ArtifactWriter::endWeight() {
  if (!Impl->Current)
    return Impl->fail("no weight to end");
  WeightInfo Info = std::move(*Impl->Current);
  Impl->Current.reset();
  uint64_t Written = Impl->File.position() - Info.Offset;
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

Status ArtifactWriter::setPrefixes(
    int64_t Prompts, int64_t Tokens,
    const std::function<Status(const ByteSink &)> &Write) {
  if (Impl->Prefixes)
    return Impl->fail("prefixes for a second time: expected them once");
  if (Status S = Impl->startSection(); !S)
    return S;
  PrefixesInfo Info;
  Info.Offset = Impl->File.position();
  Info.Prompts = Prompts;
  Info.Tokens = Tokens;
  XXH3_64bits_reset(Impl->Hash.get());
  Status Written = Write([&](std::string_view Bytes) {
    XXH3_64bits_update(Impl->Hash.get(), Bytes.data(), Bytes.size());
    return Impl->File.append(Bytes);
  });
  if (!Written)
    return Written;
  Info.Bytes = Impl->File.position() - Info.Offset;
  Info.Checksum = XXH3_64bits_digest(Impl->Hash.get());
  Impl->Prefixes = Info;
  return {};
}

const std::string &ArtifactWriter::path() const { return Impl->File.path(); }

Result<std::string> ArtifactWriter::preview(Manifest M) {
  uint64_t Before = Impl->PreviewAt.value_or(Impl->File.position());
  if (Status Put = Impl->putManifest(std::move(M)); !Put)
    return Put.error();
  Impl->PreviewAt = Before;
  return Impl->File.openablePath();
}

Status ArtifactWriter::finish(Manifest M) {
  if (Status Put = Impl->putManifest(std::move(M)); !Put)
    return Put;
  return Impl->File.finish();
}

Status ArtifactWriter::Implementation::putManifest(Manifest M) {
  M.AbiMajor = TENON_RT_ABI_MAJOR;
  M.AbiMinor = TENON_RT_ABI_MINOR;
  M.Weights = Weights;
  M.Code = Code;
  M.Tokenizer = Tokenizer;
  M.Prefixes = Prefixes;
  Json Form = toJson(M);
  // What could not be opened again is not worth a file.
  if (Result<Manifest> Checked = manifestFromJson(Form, File.path()); !Checked)
    return Checked.error();
  std::string Text =
      Form.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (Text.size() > MaxManifestBytes)
    return fail("manifest of " + std::to_string(Text.size()) +
                " bytes: expected at most " + std::to_string(MaxManifestBytes));
  ArtifactHeader Header;
  if (Status S = putSection(bytesOf(Text), Header.ManifestOffset,
                            Header.ManifestBytes, Header.ManifestChecksum);
      !S)
    return S;
  Header.FileBytes = File.position();
  return File.overwrite(0, encodeHeader(Header));
}
