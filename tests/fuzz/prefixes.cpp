//===- prefixes.cpp - Files of cached prefixes ----------------------------===//
//
// Input: a file of cached prefixes. It is read as it is, and once more bound to
// the model of the unit tests and with its checksums set right, so that damage
// goes further than them. What is kept can be written and read again, and goes
// without leaving a page behind.
//
//===----------------------------------------------------------------------===//

#include "runtime/Artifact/Format.h"
#include "runtime/Serving/PrefixFile.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/unit/EngineFixture.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::serving;
using artifact::checksumOf;
using cache::SequenceId;

// Of PrefixFile.h: where the numbers before the first prompt are.
static constexpr size_t VersionAt = 8, PageTokensAt = 12, BindingAt = 16,
                        PageBytesAt = 24, PagesAt = 40, HeaderBytesAt = 48,
                        FixedBytes = 56, SumBytes = sizeof(uint64_t);

/// The model of the unit tests, and a session with room for a few prompts.
static engine::Session &session() {
  static std::optional<engine::Session> Only = [] {
    fuzz::Directory Folder;
    std::string File = Folder.path() + "/model.tenon";
    fuzz::require(static_cast<bool>(test::writeModel(File)), "a model");
    Result<std::shared_ptr<const engine::Model>> M = engine::Model::load(File);
    fuzz::require(static_cast<bool>(M), "a model that can be loaded");
    Result<engine::Session> S =
        engine::Session::create(*M, {1, 12 * test::FixturePageTokens, 0});
    fuzz::require(static_cast<bool>(S), "a session");
    return std::optional(std::move(*S));
  }();
  return *Only;
}

template <typename T> static void set(std::string &Bytes, size_t At, T Value) {
  std::memcpy(Bytes.data() + At, &Value, sizeof(T));
}

/// `Bytes` as a file for the model that is whole, but for its prompts.
static std::string resealed(std::string Bytes) {
  const cache::PageCache &Cache = session().cache();
  auto PageBytes = static_cast<size_t>(Cache.bytesPerPage());
  Bytes.resize(std::max(Bytes.size(), FixedBytes + SumBytes));
  set(Bytes, VersionAt, uint32_t(1));
  set(Bytes, PageTokensAt, static_cast<uint32_t>(Cache.pageTokens()));
  set(Bytes, BindingAt, bindingOf(session().model()));
  set(Bytes, PageBytesAt, static_cast<uint64_t>(PageBytes));
  uint64_t Header = 0;
  std::memcpy(&Header, Bytes.data() + HeaderBytesAt, sizeof(Header));
  Header = std::clamp<uint64_t>(Header, FixedBytes + SumBytes, Bytes.size());
  set(Bytes, HeaderBytesAt, Header);
  uint64_t Pages = (Bytes.size() - Header) / PageBytes;
  set(Bytes, PagesAt, Pages);
  Bytes.resize(Header + Pages * PageBytes);
  std::span<const std::byte> All = std::as_bytes(std::span(Bytes));
  if (Header >= FixedBytes + (Pages + 1) * SumBytes)
    for (size_t I = 0; I < Pages; ++I)
      set(Bytes, Header - (Pages + 1 - I) * SumBytes,
          checksumOf(All.subspan(Header + I * PageBytes, PageBytes)));
  set(Bytes, Header - SumBytes, checksumOf(All.first(Header - SumBytes)));
  return Bytes;
}

static void drop(PrefixCache &Prefixes) {
  while (std::optional<SequenceId> Old = Prefixes.evict())
    fuzz::require(static_cast<bool>(session().endSequence(*Old)),
                  "kept sequences end once");
  fuzz::require(session().cache().freePages() == session().cache().pageCount(),
                "no page is left behind");
}

static std::string written(const PrefixCache &Prefixes) {
  std::string Bytes;
  Status Done = writePrefixes(
      [&](std::string_view More) {
        Bytes += More;
        return Status();
      },
      session(), Prefixes);
  fuzz::require(static_cast<bool>(Done), "what is kept can be written");
  return Bytes;
}

/// Reads a file; what is kept of it as a file.
static std::optional<std::string> roundTrip(std::string_view Content) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(Content);
  PrefixCache Prefixes(static_cast<size_t>(session().cache().pageTokens()));
  Result<PrefixesRead> Done = readPrefixes(
      Memory.path(), session(), session().cache().freePages(), Prefixes);
  if (!fuzz::isGood(Done)) {
    fuzz::require(Prefixes.size() == 0,
                  "of a file with an error nothing stays");
    drop(Prefixes);
    return std::nullopt;
  }
  fuzz::require(!Done->IsOfAnother || Prefixes.size() == 0,
                "of another's file nothing is taken");
  fuzz::require(Prefixes.size() <= Done->Prompts,
                "no prompt comes from nowhere");
  Prefixes.forEach(
      [&](SequenceId Id, std::span<const int32_t> Tokens, const std::string &) {
        fuzz::require(session().cache().pages(Id) != nullptr && !Tokens.empty(),
                      "a kept prompt has pages");
        for (int32_t Token : Tokens)
          fuzz::require(Token >= 0 && Token < test::Vocabulary,
                        "kept tokens are the model's");
      });
  std::string Bytes = written(Prefixes);
  drop(Prefixes);
  return Bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text = fuzz::textOf(Data, Size);
  roundTrip(Text);
  std::optional<std::string> Once = roundTrip(resealed(std::string(Text)));
  if (!Once)
    return 0;
  std::optional<std::string> Again = roundTrip(*Once);
  fuzz::require(Again == Once, "a file reads as it is written");
  return 0;
}
