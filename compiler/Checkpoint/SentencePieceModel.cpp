//===- SentencePieceModel.cpp - The files of SentencePiece ----------------===//

#include "compiler/Checkpoint/SentencePieceModel.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Unicode.h"
#include "runtime/Tokenizer/Vocabulary.h"

#include <bit>
#include <cmath>
#include <unordered_set>

using namespace tenon;

namespace {

/// One field of a message: its number, and a number or a text.
struct Field {
  uint64_t Number = 0;
  enum WireType : uint64_t {
    Varint,
    Fixed64,
    Bytes,
    Fixed32 = 5
  } Type = Varint;
  /// Of the first two and the last.
  uint64_t Value = 0;
  std::string_view Text;
};

/// Takes the fields of one message one by one. What is read within a message
/// lies in the same file, so that offsets are those of the file.
class Message {
public:
  Message(std::string_view Whole, std::string_view Body,
          const std::string &File)
      : Whole(Whole), Rest(Body), File(File) {}

  bool atEnd() const { return Rest.empty(); }

  Result<Field> next() {
    Field F;
    auto Key = varint();
    if (!Key)
      return Key.error();
    F.Number = *Key >> 3;
    F.Type = static_cast<Field::WireType>(*Key & 7);
    if (F.Number == 0 || F.Number >= uint64_t{1} << 29)
      return damaged("a field with the number " + std::to_string(F.Number),
                     "1 to 536870911");
    switch (F.Type) {
    case Field::Varint: {
      auto Value = varint();
      if (!Value)
        return Value.error();
      F.Value = *Value;
      return F;
    }
    case Field::Fixed32:
    case Field::Fixed64: {
      size_t Size = F.Type == Field::Fixed32 ? 4 : 8;
      if (Rest.size() < Size)
        return damaged("the end", std::to_string(Size) + " bytes");
      for (size_t I = 0; I < Size; ++I)
        F.Value |= uint64_t{static_cast<unsigned char>(Rest[I])} << (8 * I);
      Rest.remove_prefix(Size);
      return F;
    }
    case Field::Bytes: {
      auto Size = varint();
      if (!Size)
        return Size.error();
      if (*Size > Rest.size())
        return damaged("a field of " + std::to_string(*Size) + " bytes",
                       "at most " + std::to_string(Rest.size()));
      F.Text = Rest.substr(0, *Size);
      Rest.remove_prefix(*Size);
      return F;
    }
    }
    return damaged("a field of wire type " + std::to_string(*Key & 7),
                   "0, 1, 2 or 5");
  }

private:
  Result<uint64_t> varint() {
    uint64_t Value = 0;
    for (unsigned I = 0; I < 10; ++I) {
      if (I >= Rest.size())
        return damaged("the end", "the rest of a number");
      auto Byte = static_cast<unsigned char>(Rest[I]);
      Value |= uint64_t{Byte & 127u} << (7 * I);
      if (Byte < 128) {
        Rest.remove_prefix(I + 1);
        return Value;
      }
    }
    return damaged("a number of more than 10 bytes", "at most 10");
  }

  Error damaged(const std::string &What, const std::string &Expected) const {
    size_t Offset = static_cast<size_t>(Rest.data() - Whole.data());
    return Error(File + ": byte " + std::to_string(Offset) + ": is " + What +
                 ": expected " + Expected + ", as in a model of SentencePiece");
  }

  std::string_view Whole, Rest;
  const std::string &File;
};

class ModelReader {
public:
  ModelReader(std::string_view Whole, const std::string &File)
      : Whole(Whole), File(File) {}

  Result<SentencePieceModel> run() {
    Status Read = each("", Whole, [&](const Field &F, std::string_view) {
      switch (F.Number) {
      case 1:
        return piece(F);
      case 2:
        return part("trainer_spec", F,
                    [&](const Field &Own, std::string_view Place) {
                      return trainerSpec(Own, Place);
                    });
      case 3:
        return part("normalizer_spec", F,
                    [&](const Field &Own, std::string_view Place) {
                      return Own.Number == 2
                                 ? text("precompiled_charsmap", Place, Own,
                                        Made.CharacterMap)
                                 : Status();
                    });
      default:
        return Status();
      }
    });
    if (!Read)
      return Read.error();
    if (Made.Pieces.empty())
      return wrong("pieces", "empty", "the pieces of a model");
    if (Made.UnknownId < 0 ||
        Made.UnknownId >= static_cast<int64_t>(Made.Pieces.size()))
      return wrong("trainer_spec.unk_id", std::to_string(Made.UnknownId),
                   "an id below " + std::to_string(Made.Pieces.size()) +
                       ", the number of pieces");
    std::unordered_set<std::string_view> Texts;
    Texts.reserve(Made.Pieces.size());
    for (size_t I = 0; I < Made.Pieces.size(); ++I)
      if (!Texts.insert(Made.Pieces[I].Text).second)
        return wrong(nameOfPiece(I), printable(Made.Pieces[I].Text),
                     "each piece once");
    return std::move(Made);
  }

private:
  static std::string nameOfPiece(size_t Index) {
    return "pieces[" + std::to_string(Index) + "]";
  }

  Error wrong(const std::string &Name, const std::string &Found,
              const std::string &Expected) const {
    return Error(File + ": field '" + Name + "' is " + Found + ": expected " +
                 Expected);
  }

  template <typename Function>
  Status each(std::string_view Place, std::string_view Body, Function Handle) {
    Message M(Whole, Body, File);
    while (!M.atEnd()) {
      auto F = M.next();
      if (!F)
        return F.error();
      if (Status Done = Handle(*F, Place); !Done)
        return Done;
    }
    return {};
  }

  template <typename Function>
  Status part(std::string_view Name, const Field &F, Function Handle) {
    if (F.Type != Field::Bytes)
      return wrong(std::string(Name), "a number", "a message");
    return each(Name, F.Text, Handle);
  }

  static std::string joined(std::string_view Place, std::string_view Name) {
    return std::string(Place) + "." + std::string(Name);
  }

  Status text(std::string_view Name, std::string_view Place, const Field &F,
              std::string &Into) const {
    if (F.Type != Field::Bytes)
      return wrong(joined(Place, Name), "a number", "a text");
    Into = F.Text;
    return {};
  }

  Status number(std::string_view Name, std::string_view Place, const Field &F,
                int64_t &Into) const {
    if (F.Type != Field::Varint)
      return wrong(joined(Place, Name), "of another type", "a whole number");
    Into = static_cast<int64_t>(F.Value);
    return {};
  }

  Status piece(const Field &Whole) {
    const std::string Place = nameOfPiece(Made.Pieces.size());
    if (Made.Pieces.size() >= static_cast<size_t>(tokenizer::MaxTokenId))
      return wrong("pieces", "longer",
                   "at most " + std::to_string(tokenizer::MaxTokenId));
    SentencePieceModel::Piece P;
    Status Read = part(Place, Whole, [&](const Field &F, std::string_view) {
      if (F.Number == 1)
        return text("piece", Place, F, P.Text);
      if (F.Number == 2) {
        if (F.Type != Field::Fixed32)
          return Status(wrong(Place + ".score", "of another type", "32 bits"));
        P.Score = std::bit_cast<float>(static_cast<uint32_t>(F.Value));
        return std::isfinite(P.Score)
                   ? Status()
                   : wrong(Place + ".score", "not finite", "a number");
      }
      if (F.Number != 3)
        return Status();
      int64_t Type = 0;
      if (Status Done = number("type", Place, F, Type); !Done)
        return Done;
      P.Type = static_cast<SentencePieceModel::PieceType>(Type);
      return Type >= SentencePieceModel::Normal &&
                     Type <= SentencePieceModel::Byte
                 ? Status()
                 : wrong(Place + ".type", std::to_string(Type), "1 to 6");
    });
    if (!Read)
      return Read;
    if (P.Text.empty() || tokenizer::findInvalidUtf8(P.Text))
      return wrong(Place + ".piece", printable(P.Text),
                   "UTF-8 of one character or more");
    Made.Pieces.push_back(std::move(P));
    return {};
  }

  Status trainerSpec(const Field &F, std::string_view Place) {
    if (F.Number == 40)
      return number("unk_id", Place, F, Made.UnknownId);
    if (F.Number != 3)
      return {};
    int64_t Kind = 0;
    if (Status Done = number("model_type", Place, F, Kind); !Done)
      return Done;
    Made.Kind = static_cast<SentencePieceModel::ModelType>(Kind);
    return Kind >= SentencePieceModel::Unigram &&
                   Kind <= SentencePieceModel::Characters
               ? Status()
               : wrong(joined(Place, "model_type"), std::to_string(Kind),
                       "1 to 4");
  }

  std::string_view Whole;
  const std::string &File;
  SentencePieceModel Made;
};

} // namespace

Result<SentencePieceModel> SentencePieceModel::parse(std::string_view Bytes,
                                                     const std::string &File) {
  auto Made = ModelReader(Bytes, File).run();
  return Made ? std::move(Made) : Made.error().ofContent();
}

Result<SentencePieceModel> SentencePieceModel::open(const std::string &Path) {
  constexpr uint64_t MaxBytes = 100u << 20;
  auto Content = readFile(Path, MaxBytes);
  if (!Content)
    return Content.error();
  return parse(*Content, Path);
}

std::string_view tenon::nameOf(SentencePieceModel::ModelType Kind) {
  constexpr std::string_view Names[] = {"unigram", "bpe", "word", "char"};
  return Names[static_cast<size_t>(Kind) - 1];
}
