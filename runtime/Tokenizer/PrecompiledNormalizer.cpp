//===- PrecompiledNormalizer.cpp - SentencePiece's normalization ----------===//

#include "runtime/Support/Base64.h"
#include "runtime/Tokenizer/CharacterMap.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Graphemes.h"
#include "runtime/Tokenizer/Normalizers.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

/// Counts the bytes of the new text that stem from the first `AtStart` bytes of
/// the old one. As in `tokenizers`, each new character stands for the next of
/// the old text, but characters that go before there is any new one do not
/// count.
class StartCounter {
public:
  StartCounter(std::string_view Old, size_t AtStart)
      : Old(Old), AtStart(AtStart) {}

  void replace(std::string_view OldPart, std::string_view NewPart) {
    if (Next >= AtStart)
      return;
    size_t Left = countCodes(OldPart);
    for (size_t At = 0; At < NewPart.size();) {
      size_t Begin = At;
      nextCode(NewPart, At);
      // More characters than before belong to the last of them.
      bool First = Left > 0 ? Next < AtStart : Next <= AtStart;
      Count += First ? At - Begin : 0;
      Left -= take(Left > 0);
      Begun = true;
    }
    while (Begun && Left > 0)
      Left -= take(true);
  }

  size_t count() const { return Count; }

private:
  size_t take(bool One) {
    if (One && Next < Old.size())
      nextCode(Old, Next);
    return One;
  }

  std::string_view Old;
  size_t AtStart;
  size_t Next = 0;
  size_t Count = 0;
  bool Begun = false;
};

class Precompiled : public Normalizer {
public:
  explicit Precompiled(CharacterMap Map) : Map(std::move(Map)) {}

  Status apply(std::string &Text, size_t &AtStart) const override {
    std::string Out;
    Out.reserve(Text.size());
    StartCounter Start(Text, AtStart);
    auto Take = [&](std::string_view Part, std::string_view New) {
      Out += New;
      Start.replace(Part, New);
    };
    std::string_view Old = Text;
    for (size_t Begin = 0; Begin < Old.size();) {
      size_t End = graphemeEnd(Old, Begin);
      std::string_view Cluster = Old.substr(Begin, End - Begin);
      Begin = End;
      // As in `tokenizers`: what replaces the beginning of a short cluster
      // replaces all of it.
      if (Cluster.size() < 6)
        if (std::optional<std::string_view> New = Map.find(Cluster)) {
          Take(Cluster, *New);
          continue;
        }
      for (size_t At = 0; At < Cluster.size();) {
        size_t From = At;
        nextCode(Cluster, At);
        std::string_view Part = Cluster.substr(From, At - From);
        Take(Part, Map.find(Part).value_or(Part));
      }
    }
    AtStart = Start.count();
    Text = std::move(Out);
    return {};
  }

private:
  CharacterMap Map;
};

} // namespace

Result<std::unique_ptr<Normalizer>>
tokenizer::readPrecompiledNormalizer(const JsonField &Field) {
  if (Status Known = expectOnly(Field, {"type", "precompiled_charsmap"});
      !Known)
    return Known.error();
  Result<JsonField> Value = Field.member("precompiled_charsmap");
  if (!Value)
    return Value.error();
  Result<std::string> Spelled = Value->asString();
  if (!Spelled)
    return Spelled.error();
  auto Fail = [&](const Error &Why) {
    return Error(Field.file() + ": field " + printable(Value->path()) + " " +
                 Why.message());
  };
  Result<std::string> Blob = decodeBase64(*Spelled);
  if (!Blob)
    return Fail(Blob.error());
  Result<CharacterMap> Map = CharacterMap::fromBytes(*Blob);
  if (!Map)
    return Fail(Map.error());
  return std::unique_ptr<Normalizer>(
      std::make_unique<Precompiled>(std::move(*Map)));
}
