//===- PrefixFile.cpp - Cached prefixes that outlive their engine ---------===//

#include "runtime/Serving/PrefixFile.h"

#include "runtime/Artifact/Format.h"
#include "runtime/Serving/ImageNumbers.h"
#include "runtime/Support/MappedFile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <unordered_map>

using namespace tenon;
using namespace tenon::serving;
using artifact::checksumOf;
using cache::PageCache;
using cache::SequenceId;

static_assert(std::endian::native == std::endian::little);

static constexpr std::array<unsigned char, 8> Magic = {0x8a, 'P', 'R',  'E',
                                                       'F',  'X', '\r', '\n'};
/// Changes whenever what is written does.
static constexpr uint32_t Version = 1;
/// Bytes before the first prompt.
static constexpr size_t FixedBytes = 56;

uint64_t serving::bindingOf(const engine::Model &M) {
  // The manifest has the checksums of all sections.
  artifact::Manifest Info = M.manifest();
  Info.Prefixes.reset();
  std::string Text =
      toJson(Info).dump(-1, ' ', false, Json::error_handler_t::replace);
  Text += TENON_VERSION;
  Text += infoOf(M.code().Level).Name;
  if (Result<CpuLevel> Level = effectiveLevel())
    Text += infoOf(*Level).Name;
  std::ifstream Cpus("/proc/cpuinfo");
  for (std::string Line; std::getline(Cpus, Line) && !Line.empty();)
    if (Line.starts_with("model") || Line.starts_with("flags") ||
        Line.starts_with("cache size") || Line.starts_with("vendor"))
      Text += Line;
  return checksumOf(std::as_bytes(std::span(Text)));
}

namespace {

template <typename T> void append(std::string &To, T Value) {
  To.append(reinterpret_cast<const char *>(&Value), sizeof(Value));
}
template <typename T> void append(std::string &To, std::span<const T> Values) {
  To.append(reinterpret_cast<const char *>(Values.data()), Values.size_bytes());
}

/// Reads numbers one after another; what lies beyond the end is an error of
/// the file.
class Reader {
public:
  Reader(const std::string &File, std::span<const std::byte> Bytes)
      : File(File), Bytes(Bytes) {}

  template <typename T> Result<T> next(const char *Field) {
    if (Bytes.size() < sizeof(T))
      return ends(Field);
    T Value;
    std::memcpy(&Value, Bytes.data(), sizeof(T));
    Bytes = Bytes.subspan(sizeof(T));
    return Value;
  }
  template <typename T>
  Result<std::vector<T>> next(const char *Field, size_t Count) {
    if (Count > Bytes.size() / sizeof(T))
      return ends(Field);
    std::vector<T> Values(Count);
    if (Count != 0)
      std::memcpy(Values.data(), Bytes.data(), Count * sizeof(T));
    Bytes = Bytes.subspan(Count * sizeof(T));
    return Values;
  }
  size_t left() const { return Bytes.size(); }

  Error wrong(const std::string &Field, const std::string &Value,
              const std::string &Expected) const {
    return Error(ErrorKind::DamagedFile, File + ": " + Field + " is " + Value +
                                             ": expected " + Expected);
  }

private:
  Error ends(const char *Field) const {
    return Error(ErrorKind::DamagedFile,
                 File + ": ends within the field '" + Field + "'");
  }

  const std::string &File;
  std::span<const std::byte> Bytes;
};

struct StoredPrompt {
  std::string Salt;
  std::vector<int32_t> Tokens;
  std::vector<uint32_t> Pages;
};

struct StoredPrefixes {
  bool IsOfAnother = false;          ///< Nothing else is known then.
  std::vector<StoredPrompt> Prompts; ///< Last used first.
  /// Of each page.
  std::vector<std::span<const std::byte>> Pages;
};

} // namespace

/// A prompt's numbers, against what the model and the file have.
static Result<StoredPrompt> readPrompt(Reader &In, size_t PageTokens,
                                       uint64_t PageCount, int64_t Vocabulary) {
  StoredPrompt P;
  Result<uint32_t> SaltBytes = In.next<uint32_t>("salt_bytes");
  if (!SaltBytes)
    return SaltBytes.error();
  Result<uint32_t> Pages = In.next<uint32_t>("pages");
  if (!Pages)
    return Pages.error();
  Result<std::vector<char>> Salt = In.next<char>("salt", *SaltBytes);
  if (!Salt)
    return Salt.error();
  P.Salt.assign(Salt->begin(), Salt->end());
  if (*Pages == 0)
    return In.wrong("pages", "0", "at least 1");
  // Before memory is taken for them.
  if (*Pages > In.left() / (PageTokens * sizeof(int32_t)))
    return In.wrong("pages", std::to_string(*Pages), "what the file holds");
  Result<std::vector<int32_t>> Tokens =
      In.next<int32_t>("tokens", *Pages * PageTokens);
  if (!Tokens)
    return Tokens.error();
  for (int32_t Token : *Tokens)
    if (Token < 0 || Token >= Vocabulary)
      return In.wrong("tokens", std::to_string(Token),
                      "0 to " + std::to_string(Vocabulary - 1));
  P.Tokens = std::move(*Tokens);
  Result<std::vector<uint32_t>> Numbers =
      In.next<uint32_t>("page_numbers", *Pages);
  if (!Numbers)
    return Numbers.error();
  for (uint32_t Number : *Numbers)
    if (Number >= PageCount)
      return In.wrong("page_numbers", std::to_string(Number),
                      "less than " + std::to_string(PageCount));
  P.Pages = std::move(*Numbers);
  return P;
}

/// All of the file, checked. Of one that is bound to something else than
/// `Binding` nothing behind that.
static Result<StoredPrefixes> readAll(const std::string &File,
                                      std::span<const std::byte> Bytes,
                                      const engine::Session &S,
                                      uint64_t Binding) {
  Reader In(File, Bytes);
  Result<std::vector<unsigned char>> Begin =
      In.next<unsigned char>("magic", Magic.size());
  if (!Begin)
    return Begin.error();
  if (!std::equal(Magic.begin(), Magic.end(), Begin->begin()))
    return Error(ErrorKind::DamagedFile,
                 File + ": is no file of cached prefixes: its first bytes are "
                        "others");
  Result<uint32_t> Made = In.next<uint32_t>("version");
  Result<uint32_t> PageTokens = In.next<uint32_t>("page_tokens");
  Result<uint64_t> Bound = In.next<uint64_t>("binding");
  Result<uint64_t> PageBytes = In.next<uint64_t>("page_bytes");
  Result<uint64_t> Prompts = In.next<uint64_t>("prompts");
  Result<uint64_t> Pages = In.next<uint64_t>("pages");
  Result<uint64_t> HeaderBytes = In.next<uint64_t>("header_bytes");
  if (!HeaderBytes) // The last of these: none before it is there without it.
    return HeaderBytes.error();
  StoredPrefixes All;
  All.IsOfAnother = *Made != Version || *Bound != Binding;
  if (All.IsOfAnother)
    return All;

  if (*HeaderBytes < FixedBytes + sizeof(uint64_t) ||
      *HeaderBytes > Bytes.size())
    return In.wrong("header_bytes", std::to_string(*HeaderBytes),
                    std::to_string(FixedBytes + sizeof(uint64_t)) + " to " +
                        std::to_string(Bytes.size()));
  std::span<const std::byte> Header =
      Bytes.first(*HeaderBytes - sizeof(uint64_t));
  uint64_t Checksum = 0;
  std::memcpy(&Checksum, Bytes.data() + Header.size(), sizeof(Checksum));
  if (Checksum != checksumOf(Header))
    return Error(ErrorKind::DamagedFile,
                 File + ": header: its checksum is wrong: the file is damaged");
  const PageCache &Cache = S.cache();
  if (*PageTokens != static_cast<uint64_t>(Cache.pageTokens()))
    return In.wrong("page_tokens", std::to_string(*PageTokens),
                    std::to_string(Cache.pageTokens()));
  if (*PageBytes != Cache.bytesPerPage())
    return In.wrong("page_bytes", std::to_string(*PageBytes),
                    std::to_string(Cache.bytesPerPage()));
  uint64_t Rest = Bytes.size() - *HeaderBytes;
  if (*PageBytes == 0 || Rest % *PageBytes != 0 || *Pages != Rest / *PageBytes)
    return In.wrong("pages", std::to_string(*Pages),
                    "those of the " + std::to_string(Rest) +
                        " bytes that follow");
  Result<const engine::Entry *> Code = S.model().entry("step");
  if (!Code)
    return Code.error();
  int64_t Vocabulary = S.model().manifest().vocabularyOf((*Code)->Info);
  Reader Body(File, Header.subspan(FixedBytes));
  for (uint64_t I = 0; I < *Prompts; ++I) {
    Result<StoredPrompt> P = readPrompt(Body, *PageTokens, *Pages, Vocabulary);
    if (!P)
      return P.error().withContext("prompt " + std::to_string(I));
    All.Prompts.push_back(std::move(*P));
  }
  Result<std::vector<uint64_t>> Sums =
      Body.next<uint64_t>("page_checksums", *Pages);
  if (!Sums)
    return Sums.error();
  if (Body.left() != 0)
    return In.wrong("header_bytes", std::to_string(*HeaderBytes),
                    std::to_string(*HeaderBytes - Body.left()));
  for (uint64_t I = 0; I < *Pages; ++I) {
    All.Pages.push_back(
        Bytes.subspan(*HeaderBytes + I * *PageBytes, *PageBytes));
    if (checksumOf(All.Pages.back()) != (*Sums)[I])
      return Error(ErrorKind::DamagedFile,
                   File + ": page " + std::to_string(I) +
                       ": its checksum is wrong: the file is damaged");
  }
  return All;
}

/// Keeps a prompt; what it shares with one that is kept is not taken again.
static Status keep(const StoredPrompt &P,
                   std::span<const std::span<const std::byte>> Pages,
                   engine::Session &S, PrefixCache &Prefixes) {
  auto PageTokens = static_cast<size_t>(S.cache().pageTokens());
  size_t Shared = 0;
  SequenceId Id{};
  if (auto Match = Prefixes.find(P.Tokens, P.Salt, P.Tokens.size())) {
    Result<SequenceId> Fork = forkPrefix(S, *Match);
    if (!Fork)
      return Fork.error();
    Id = *Fork;
    Shared = Match->Tokens;
  } else {
    Id = S.createSequence();
  }
  Status Grown =
      S.growSequence(Id, static_cast<int64_t>(P.Tokens.size() - Shared));
  if (!Grown) {
    (void)S.endSequence(Id); // It exists.
    return Grown;
  }
  for (size_t Page = Shared / PageTokens; Page < P.Pages.size(); ++Page) {
    const std::byte *From = Pages[P.Pages[Page]].data();
    for (std::span<std::byte> To : S.pageMemory(Id, Page)) {
      std::memcpy(To.data(), From, To.size());
      From += To.size();
    }
  }
  for (SequenceId Old :
       Prefixes.insert(Id, S.cache().pages(Id), P.Tokens, P.Salt))
    if (Status Ended = S.endSequence(Old); !Ended)
      return Ended;
  return {};
}

/// Keeps what `Bytes` hold, under `Salt` if there is one.
static Result<PrefixesRead> take(const std::string &File,
                                 std::span<const std::byte> Bytes,
                                 std::optional<std::string_view> Salt,
                                 engine::Session &S, int64_t MaxPages,
                                 PrefixCache &Prefixes) {
  Result<StoredPrefixes> All = readAll(File, Bytes, S, bindingOf(S.model()));
  if (!All)
    return All.error();
  if (Salt)
    for (StoredPrompt &P : All->Prompts)
      P.Salt = *Salt;
  PrefixesRead Done;
  Done.IsOfAnother = All->IsOfAnother;
  if (Done.IsOfAnother)
    return Done;
  // Those that were used last, as many as there are pages for.
  MaxPages = std::min(MaxPages, S.cache().freePages());
  size_t Fit = 0;
  std::vector<bool> Counted(All->Pages.size());
  int64_t Needed = 0;
  for (; Fit < All->Prompts.size(); ++Fit) {
    const StoredPrompt &P = All->Prompts[Fit];
    int64_t More = 0;
    for (uint32_t Page : P.Pages)
      More += !Counted[Page];
    if (Needed + More > MaxPages ||
        P.Tokens.size() > static_cast<size_t>(S.model().manifest().MaxSequence))
      break;
    Needed += More;
    for (uint32_t Page : P.Pages)
      Counted[Page] = true;
  }
  Done.LeftOut = All->Prompts.size() - Fit;
  for (size_t I = Fit; I-- > 0;) {
    Status Kept = keep(All->Prompts[I], All->Pages, S, Prefixes);
    ++(Kept ? Done.Prompts : Done.LeftOut);
  }
  return Done;
}

/// What was taken may be none of what was checked: `Same` says.
static Result<PrefixesRead> kept(Result<PrefixesRead> Done, const Status &Same,
                                 engine::Session &S, PrefixCache &Prefixes) {
  if (!Done || Same)
    return Done;
  while (std::optional<SequenceId> Taken = Prefixes.evict())
    (void)S.endSequence(*Taken); // It exists.
  return Same.error();
}

Result<PrefixesRead> serving::readPrefixes(const std::string &Path,
                                           engine::Session &S, int64_t MaxPages,
                                           PrefixCache &Prefixes) {
  Result<MappedFile> File = MappedFile::open(Path);
  if (!File)
    return File.error();
  Result<PrefixesRead> Done =
      take(Path, File->bytes(), std::nullopt, S, MaxPages, Prefixes);
  return kept(std::move(Done), File->checkUnchanged(), S, Prefixes);
}

Result<PrefixesRead> serving::readArtifactPrefixes(engine::Session &S,
                                                   int64_t MaxPages,
                                                   PrefixCache &Prefixes) {
  const artifact::Artifact &File = S.model().artifact();
  if (File.prefixes().empty())
    return PrefixesRead();
  Result<PrefixesRead> Done = take(File.path() + ": prefixes", File.prefixes(),
                                   ArtifactSalt, S, MaxPages, Prefixes);
  return kept(std::move(Done), File.checkUnchanged(), S, Prefixes);
}

std::optional<PrefixCache::Match>
serving::findPrefix(PrefixCache &Prefixes, std::span<const int32_t> Prompt,
                    std::string_view Salt, size_t MaxTokens) {
  std::optional<PrefixCache::Match> Own =
      Prefixes.find(Prompt, Salt, MaxTokens);
  std::optional<PrefixCache::Match> Common =
      Prefixes.find(Prompt, ArtifactSalt, MaxTokens);
  return Common && (!Own || Own->Tokens < Common->Tokens) ? Common : Own;
}

Result<SequenceId> serving::forkPrefix(engine::Session &S,
                                       const PrefixCache::Match &Found) {
  Result<SequenceId> Fork = S.forkSequence(Found.Sequence);
  if (!Fork)
    return Fork;
  if (Status Cut =
          S.truncateSequence(*Fork, static_cast<int64_t>(Found.Tokens));
      !Cut) {
    (void)S.endSequence(*Fork); // It exists.
    return Cut.error();
  }
  return Fork;
}

Status serving::writePrefixes(const std::string &Path, const engine::Session &S,
                              const PrefixCache &Prefixes) {
  Result<OutputFile> File =
      OutputFile::create(Path, {{S.model().artifact().path()}});
  if (!File)
    return File.error();
  Status Done = writePrefixes(
      [&](std::string_view Bytes) { return File->append(Bytes); }, S, Prefixes);
  return Done ? File->finish() : Done;
}

Status serving::writePrefixes(const ByteSink &Out, const engine::Session &S,
                              const PrefixCache &Prefixes) {
  const PageCache &Cache = S.cache();
  std::string Body;
  std::unordered_map<int32_t, uint32_t> Numbers; ///< Of pages in the file.
  std::vector<int32_t> Order;
  uint64_t Prompts = 0;
  Prefixes.forEach([&](SequenceId Id, std::span<const int32_t> Tokens,
                       const std::string &Salt) {
    if (Salt == ArtifactSalt || hasImage(Tokens))
      return;
    const int32_t *Table = Cache.pages(Id);
    size_t Count = Tokens.size() / static_cast<size_t>(Cache.pageTokens());
    append(Body, static_cast<uint32_t>(Salt.size()));
    append(Body, static_cast<uint32_t>(Count));
    Body += Salt;
    append(Body, Tokens.first(Count * static_cast<size_t>(Cache.pageTokens())));
    for (size_t Page = 0; Page < Count; ++Page) {
      auto [At, IsNew] =
          Numbers.try_emplace(Table[Page], static_cast<uint32_t>(Order.size()));
      if (IsNew)
        Order.push_back(Table[Page]);
      append(Body, At->second);
    }
    ++Prompts;
  });
  std::string Sums, Page;
  auto Gather = [&](int32_t Number) {
    Page.clear();
    for (std::span<const std::byte> Range : Cache.pageMemory(Number))
      append(Page, Range);
  };
  for (int32_t Number : Order) {
    Gather(Number);
    append(Sums, checksumOf(std::as_bytes(std::span(Page))));
  }
  std::string Header(reinterpret_cast<const char *>(Magic.data()),
                     Magic.size());
  append(Header, Version);
  append(Header, static_cast<uint32_t>(Cache.pageTokens()));
  append(Header, bindingOf(S.model()));
  append(Header, Cache.bytesPerPage());
  append(Header, Prompts);
  append(Header, static_cast<uint64_t>(Order.size()));
  append(Header, static_cast<uint64_t>(FixedBytes + Body.size() + Sums.size() +
                                       sizeof(uint64_t)));
  Header += Body + Sums;
  append(Header, checksumOf(std::as_bytes(std::span(Header))));
  if (Status Done = Out(Header); !Done)
    return Done;
  for (int32_t Number : Order) {
    Gather(Number);
    if (Status Done = Out(Page); !Done)
      return Done;
  }
  return {};
}

Result<ArtifactPrompts> ArtifactPrompts::create(engine::Session &S) {
  ArtifactPrompts Made(S);
  Result<PrefixesRead> Done =
      readArtifactPrefixes(S, S.cache().freePages(), Made.Kept);
  if (!Done)
    return Done.error();
  Made.Read = *Done;
  return Made;
}

std::optional<generation::PromptStart>
ArtifactPrompts::startOf(const generation::Request &R) {
  if (!generation::canSharePrompt(R))
    return std::nullopt;
  // The last token runs in any case: its row is what comes next. Cached
  // prefixes have no images.
  size_t Most = R.Prompt.size() - 1;
  for (size_t Begin : generation::imageStarts(S->model(), R.Prompt))
    Most = std::min(Most, Begin);
  std::optional<PrefixCache::Match> Found =
      Kept.find(R.Prompt, ArtifactSalt, Most);
  if (!Found)
    return std::nullopt;
  Result<SequenceId> Fork = forkPrefix(*S, *Found);
  if (!Fork)
    return std::nullopt;
  return generation::PromptStart{*Fork, Found->Tokens};
}
