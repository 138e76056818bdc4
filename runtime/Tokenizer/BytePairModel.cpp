//===- BytePairModel.cpp - Byte-pair encoding -----------------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Models.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

/// What a pair of neighbours becomes, and how early.
struct Merge {
  int32_t Rank;
  int32_t Id;
};

/// Pairs of ids and their merges, with open addressing: a lookup per
/// neighbouring pair is most of the work.
class MergeTable {
public:
  void reserve(size_t Count) {
    Slots.assign(std::bit_ceil(2 * Count + 2), Slot());
  }

  /// A later merge of the same pair replaces the earlier.
  void insert(int32_t Left, int32_t Right, Merge M) {
    Slot &Place = Slots[find(keyOf(Left, Right))];
    Place = {keyOf(Left, Right), M};
  }

  const Merge *lookup(int32_t Left, int32_t Right) const {
    const Slot &Place = Slots[find(keyOf(Left, Right))];
    return Place.Key == Empty ? nullptr : &Place.M;
  }

private:
  static constexpr uint64_t Empty = ~uint64_t{0};

  struct Slot {
    uint64_t Key = Empty;
    Merge M{};
  };

  static uint64_t keyOf(int32_t Left, int32_t Right) {
    return static_cast<uint64_t>(Left) << 32 | static_cast<uint32_t>(Right);
  }

  size_t find(uint64_t Key) const {
    uint64_t Hash = (Key ^ Key >> 29) * 0x9e3779b97f4a7c15u;
    size_t Mask = Slots.size() - 1;
    size_t At = (Hash ^ Hash >> 32) & Mask;
    while (Slots[At].Key != Empty && Slots[At].Key != Key)
      At = (At + 1) & Mask;
    return At;
  }

  std::vector<Slot> Slots;
};

class BytePairModel : public Model {
public:
  using Model::Model;

  std::unique_ptr<ModelRun> start() const override;

  std::string File;
  std::optional<std::string> Unknown;
  std::string Prefix; ///< Of characters after the first.
  std::string Suffix; ///< Of the last character.
  bool FuseUnknown = false;
  bool IgnoreMerges = false;
  MergeTable Merges;
  std::optional<ByteTokens> Bytes;
  /// Ids of the first code points, -1 for none; only without prefix and suffix.
  std::array<int32_t, 0x400> CodeIds{};
};

/// Also finds by string_view, without a copy.
struct PieceHash {
  using is_transparent = void;
  size_t operator()(std::string_view Text) const {
    return std::hash<std::string_view>()(Text);
  }
};

class BytePairRun : public ModelRun {
public:
  explicit BytePairRun(const BytePairModel &M) : M(M) {}

  Status encode(std::string_view Piece, std::vector<int32_t> &Ids) override {
    if (M.IgnoreMerges)
      if (std::optional<int32_t> Whole = M.vocabulary().idOf(Piece)) {
        Ids.push_back(*Whole);
        return {};
      }
    if (auto Seen = Cache.find(Piece); Seen != Cache.end()) {
      auto First = CachedIds.begin() + Seen->second.Begin;
      Ids.insert(Ids.end(), First, First + Seen->second.Count);
      return {};
    }
    if (Status Split = splitCodes(Piece); !Split)
      return Split;
    mergeAll();
    size_t Before = Ids.size();
    for (int32_t At = 0; At >= 0 && !Symbols.empty();
         At = Symbols[static_cast<size_t>(At)].Next)
      Ids.push_back(Symbols[static_cast<size_t>(At)].Id);
    if (Piece.size() <= MaxCachedBytes && Cache.size() < MaxCached) {
      Cache.emplace(Piece,
                    CachedPiece{static_cast<int32_t>(CachedIds.size()),
                                static_cast<int32_t>(Ids.size() - Before)});
      CachedIds.insert(CachedIds.end(),
                       Ids.begin() + static_cast<ptrdiff_t>(Before), Ids.end());
    }
    return {};
  }

private:
  static constexpr size_t MaxCachedBytes = 64;
  static constexpr size_t MaxCached = 1 << 15;

  struct CachedPiece {
    int32_t Begin;
    int32_t Count;
  };

  /// A token of the piece so far; a list that merging shortens.
  struct Symbol {
    int32_t Id;
    int32_t Previous;
    int32_t Next;
    bool Gone = false;
  };

  struct Candidate {
    int32_t Rank;
    int32_t At;
    int32_t Id;
    /// priority_queue has the greatest on top: the lowest rank, then the
    /// leftmost.
    bool operator<(const Candidate &Other) const {
      return Rank != Other.Rank ? Rank > Other.Rank : At > Other.At;
    }
  };

  void addSymbol(int32_t Id) {
    auto Index = static_cast<int32_t>(Symbols.size());
    if (Index > 0)
      Symbols.back().Next = Index;
    Symbols.push_back({Id, Index - 1, -1});
  }

  /// One symbol per code point; for one that the vocabulary lacks, its bytes or
  /// the unknown token, if there are such.
  Status splitCodes(std::string_view Piece) {
    Symbols.clear();
    // Kept back until the next known symbol, and fused if so asked. Byte
    // tokens do not bring it forth, as in `tokenizers`.
    int32_t Unknown = -1;
    bool Plain = M.Prefix.empty() && M.Suffix.empty();
    for (size_t At = 0; At < Piece.size();) {
      size_t Begin = At;
      char32_t Code = nextCode(Piece, At);
      std::string_view Text = Piece.substr(Begin, At - Begin);
      std::optional<int32_t> Id;
      if (Plain && Code < M.CodeIds.size()) {
        if (M.CodeIds[Code] >= 0)
          Id = M.CodeIds[Code];
      } else {
        if (!Plain) {
          Spelled = Begin > 0 ? M.Prefix : "";
          Spelled += Text;
          if (At == Piece.size())
            Spelled += M.Suffix;
          Text = Spelled;
        }
        Id = M.vocabulary().idOf(Text);
      }
      if (Id) {
        if (Unknown >= 0)
          addSymbol(Unknown);
        Unknown = -1;
        addSymbol(*Id);
        continue;
      }
      if (M.Bytes && M.Bytes->spells(Text)) {
        for (char C : Text)
          addSymbol(M.Bytes->idOf(C));
        continue;
      }
      if (!M.Unknown || (Unknown >= 0 && M.FuseUnknown))
        continue;
      if (Unknown >= 0)
        addSymbol(Unknown);
      Unknown = M.vocabulary().idOf(*M.Unknown).value_or(-1);
      if (Unknown < 0)
        return Error(
            M.File + ": field 'model.unk_token' is " + printable(*M.Unknown) +
            ": expected a token of the vocabulary, for the character " +
            printable(Text) + " that it lacks");
    }
    if (Unknown >= 0)
      addSymbol(Unknown);
    return {};
  }

  void consider(int32_t Left) {
    if (Left < 0)
      return;
    const Symbol &L = Symbols[static_cast<size_t>(Left)];
    if (L.Next < 0)
      return;
    const Merge *Found =
        M.Merges.lookup(L.Id, Symbols[static_cast<size_t>(L.Next)].Id);
    if (Found)
      Queue.push({Found->Rank, Left, Found->Id});
  }

  void mergeAll() {
    for (size_t I = 0; I + 1 < Symbols.size(); ++I)
      consider(static_cast<int32_t>(I));
    while (!Queue.empty()) {
      Candidate Top = Queue.top();
      Queue.pop();
      Symbol &Left = Symbols[static_cast<size_t>(Top.At)];
      if (Left.Gone || Left.Next < 0)
        continue;
      Symbol &Right = Symbols[static_cast<size_t>(Left.Next)];
      // Merged since it was queued, unless what is there now merges to the
      // same token.
      const Merge *Best = M.Merges.lookup(Left.Id, Right.Id);
      if (!Best || Best->Id != Top.Id)
        continue;
      Left.Id = Top.Id;
      Left.Next = Right.Next;
      Right.Gone = true;
      if (Left.Next >= 0)
        Symbols[static_cast<size_t>(Left.Next)].Previous = Top.At;
      consider(Left.Previous);
      consider(Top.At);
    }
  }

  const BytePairModel &M;
  std::vector<Symbol> Symbols;
  std::priority_queue<Candidate> Queue;
  std::string Spelled;
  std::unordered_map<std::string, CachedPiece, PieceHash, std::equal_to<>>
      Cache;
  std::vector<int32_t> CachedIds;
};

} // namespace

std::unique_ptr<ModelRun> BytePairModel::start() const {
  return std::make_unique<BytePairRun>(*this);
}

/// The two tokens of "a b" or ["a", "b"].
static Result<std::pair<std::string, std::string>>
readMerge(const JsonField &Field) {
  if (Field.json().is_array()) {
    if (Field.json().size() != 2 || !Field.json()[0].is_string() ||
        !Field.json()[1].is_string())
      return Field.expected("two tokens");
    return std::pair(Field.json()[0].get<std::string>(),
                     Field.json()[1].get<std::string>());
  }
  Result<std::string> Text = Field.asString();
  if (!Text)
    return Text.error();
  size_t Space = Text->find(' ');
  if (Space == std::string::npos ||
      Text->find(' ', Space + 1) != std::string::npos)
    return Field.expected("two tokens with one space between");
  return std::pair(Text->substr(0, Space), Text->substr(Space + 1));
}

static Status readMerges(BytePairModel &M, const JsonField &Field) {
  Result<JsonField> List = Field.member("merges");
  if (!List)
    return List.error();
  Result<size_t> Count = List->arraySize();
  if (!Count)
    return Count.error();
  M.Merges.reserve(*Count);
  int32_t Rank = 0;
  for (size_t I = 0; I < *Count; ++I) {
    const Json &Value = List->json()[I];
    // Old files have the first line of merges.txt here too.
    if (Value.is_string() &&
        Value.get_ref<const std::string &>().starts_with("#version"))
      continue;
    // Naming the field costs more than reading it: only for errors.
    JsonField Unnamed(Value, List->file());
    auto Named = [&] {
      return JsonField(Value, List->file(),
                       List->path() + "[" + std::to_string(I) + "]");
    };
    auto Pair = readMerge(Unnamed);
    if (!Pair)
      return readMerge(Named()).error();
    const auto &[Left, Right] = *Pair;
    auto Missing = [&](const std::string &Token) {
      return Error(List->file() + ": field " + printable(Named().path()) +
                   " names the token " + printable(Token) +
                   ": expected a token of the vocabulary");
    };
    std::optional<int32_t> LeftId = M.vocabulary().idOf(Left);
    if (!LeftId)
      return Missing(Left);
    std::optional<int32_t> RightId = M.vocabulary().idOf(Right);
    if (!RightId)
      return Missing(Right);
    // The right token's prefix, which marks it as not the first, goes.
    if (Right.size() < M.Prefix.size())
      return Named().expected("a second token longer than the prefix " +
                              printable(M.Prefix));
    std::string Whole = Left + Right.substr(M.Prefix.size());
    std::optional<int32_t> WholeId = M.vocabulary().idOf(Whole);
    if (!WholeId)
      return Missing(Whole);
    M.Merges.insert(*LeftId, *RightId, {Rank++, *WholeId});
  }
  return {};
}

Result<std::unique_ptr<Model>>
tokenizer::readBytePairModel(const JsonField &Field, TokenizerFile &File) {
  Status Known =
      expectOnly(Field, {"type", "vocab", "merges", "dropout", "unk_token",
                         "continuing_subword_prefix", "end_of_word_suffix",
                         "fuse_unk", "byte_fallback", "ignore_merges"});
  if (!Known)
    return Known.error();
  Result<Vocabulary> Tokens = takeVocabulary(Field, File);
  if (!Tokens)
    return Tokens.error();
  auto Made = std::make_unique<BytePairModel>(std::move(*Tokens));
  Made->File = Field.file();
  if (Field.has("dropout")) {
    Result<JsonField> Dropout = Field.member("dropout");
    Result<double> Value = Dropout->asNumber();
    if (!Value)
      return Value.error();
    if (*Value != 0)
      return Dropout->expected("null or 0: ids must not be random");
  }
  if (Field.has("unk_token")) {
    Result<std::string> Unknown = requiredString(Field, "unk_token");
    if (!Unknown)
      return Unknown.error();
    Made->Unknown = std::move(*Unknown);
  }
  struct {
    const char *Name;
    std::string &Option;
  } Texts[] = {{"continuing_subword_prefix", Made->Prefix},
               {"end_of_word_suffix", Made->Suffix}};
  for (auto &[Name, Option] : Texts) {
    Result<std::string> Text = stringOr(Field, Name, "");
    if (!Text)
      return Text.error();
    Option = std::move(*Text);
  }
  bool ByteFallback = false;
  struct {
    const char *Name;
    bool &Option;
  } Switches[] = {{"fuse_unk", Made->FuseUnknown},
                  {"byte_fallback", ByteFallback},
                  {"ignore_merges", Made->IgnoreMerges}};
  for (auto &[Name, Option] : Switches) {
    Result<bool> Value = boolOr(Field, Name, false);
    if (!Value)
      return Value.error();
    Option = *Value;
  }
  if (ByteFallback)
    Made->Bytes = ByteTokens(Made->vocabulary());
  for (char32_t Code = 0; Code < Made->CodeIds.size(); ++Code) {
    std::string Text;
    appendCode(Text, Code);
    Made->CodeIds[Code] = Made->vocabulary().idOf(Text).value_or(-1);
  }
  if (Status Done = readMerges(*Made, Field); !Done)
    return Done.error();
  return std::unique_ptr<Model>(std::move(Made));
}
