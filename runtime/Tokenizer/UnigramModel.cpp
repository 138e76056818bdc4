//===- UnigramModel.cpp - Unigram language model --------------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Models.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::tokenizer;

/// Longer tokens are refused: each place of a text is a step through the tokens
/// that start there, so that their length multiplies the time.
static constexpr size_t MaxTokenBytes = 1024;

/// How much worse than the worst token an unknown character is.
static constexpr double UnknownPenalty = 10;

namespace {

/// Tokens with shared beginnings; the children of a node lie side by side,
/// sorted by their bytes.
class TokenTrie {
public:
  void build(const std::vector<std::pair<std::string, double>> &Tokens) {
    std::vector<int32_t> Order(Tokens.size());
    std::iota(Order.begin(), Order.end(), 0);
    std::sort(Order.begin(), Order.end(), [&](int32_t A, int32_t B) {
      return textOf(Tokens, A) < textOf(Tokens, B);
    });
    // The sorted tokens [Begin, End) share the first Depth bytes, which lead to
    // the node of the same number.
    struct Range {
      size_t Begin, End, Depth;
    };
    std::vector<Range> Ranges = {{0, Order.size(), 0}};
    Nodes.emplace_back();
    for (size_t I = 0; I < Nodes.size(); ++I) {
      auto [Begin, End, Depth] = Ranges[I];
      while (Begin < End && textOf(Tokens, Order[Begin]).size() == Depth)
        Nodes[I].Id = Order[Begin++];
      Nodes[I].FirstChild = static_cast<uint32_t>(Nodes.size());
      while (Begin < End) {
        char Byte = textOf(Tokens, Order[Begin])[Depth];
        size_t Next = Begin;
        while (Next < End && textOf(Tokens, Order[Next])[Depth] == Byte)
          ++Next;
        Nodes.emplace_back();
        Nodes.back().Byte = static_cast<unsigned char>(Byte);
        Ranges.push_back({Begin, Next, Depth + 1});
        ++Nodes[I].Children;
        Begin = Next;
      }
    }
  }

  /// Calls `Found(End, Id)` for each token that starts at `Begin`, the shortest
  /// first.
  template <typename Function>
  void forEachAt(std::string_view Text, size_t Begin, Function Found) const {
    size_t At = 0;
    for (size_t I = Begin; I < Text.size(); ++I) {
      const Node &Parent = Nodes[At];
      auto First = Nodes.begin() + static_cast<ptrdiff_t>(Parent.FirstChild);
      auto Last = First + Parent.Children;
      auto Byte = static_cast<unsigned char>(Text[I]);
      auto Child = std::lower_bound(
          First, Last, Byte,
          [](const Node &N, unsigned char B) { return N.Byte < B; });
      if (Child == Last || Child->Byte != Byte)
        return;
      At = static_cast<size_t>(Child - Nodes.begin());
      if (Child->Id >= 0)
        Found(I + 1, Child->Id);
    }
  }

private:
  struct Node {
    uint32_t FirstChild = 0;
    int32_t Id = -1;
    uint16_t Children = 0;
    unsigned char Byte = 0;
  };

  static const std::string &
  textOf(const std::vector<std::pair<std::string, double>> &Tokens,
         int32_t Id) {
    return Tokens[static_cast<size_t>(Id)].first;
  }

  std::vector<Node> Nodes;
};

class UnigramModel : public Model {
public:
  using Model::Model;

  std::unique_ptr<ModelRun> start() const override;

  std::string File;
  /// -1 for none.
  int32_t Unknown = -1;
  double UnknownScore = 0;
  std::vector<double> Scores;
  TokenTrie Trie;
  std::optional<ByteTokens> Bytes;
};

class UnigramRun : public ModelRun {
public:
  explicit UnigramRun(const UnigramModel &M) : M(M) {}

  Status encode(std::string_view Piece, std::vector<int32_t> &Ids) override {
    if (Status Done = findPath(Piece); !Done)
      return Done;
    // The path is known from its end.
    size_t Before = Ids.size();
    for (size_t End = Piece.size(); End > 0;) {
      size_t Begin = Ends[End].Begin;
      if (Ends[End].Id != M.Unknown) {
        Ids.push_back(Ends[End].Id);
        End = Begin;
        continue;
      }
      // Unknown tokens side by side are one.
      while (Begin > 0 && Ends[Begin].Id == M.Unknown)
        Begin = Ends[Begin].Begin;
      appendUnknown(Piece.substr(Begin, End - Begin), Ids);
      End = Begin;
    }
    std::reverse(Ids.begin() + static_cast<ptrdiff_t>(Before), Ids.end());
    return {};
  }

private:
  /// The last token of the best path to a place.
  struct Step {
    double Score = 0;
    uint32_t Begin = 0;
    int32_t Id = -1;
  };

  /// The path of the highest sum of scores; of equal ones that whose last
  /// tokens start first.
  Status findPath(std::string_view Piece) {
    Ends.assign(Piece.size() + 1, Step());
    for (size_t Begin = 0; Begin < Piece.size();) {
      size_t Next = Begin;
      nextCode(Piece, Next);
      double Score = Ends[Begin].Score;
      auto Take = [&](size_t End, int32_t Id, double More) {
        if (Ends[End].Id >= 0 && Score + More <= Ends[End].Score)
          return;
        Ends[End] = {Score + More, static_cast<uint32_t>(Begin), Id};
      };
      bool HasCharacter = false;
      M.Trie.forEachAt(Piece, Begin, [&](size_t End, int32_t Id) {
        Take(End, Id, M.Scores[static_cast<size_t>(Id)]);
        HasCharacter |= End == Next;
      });
      if (!HasCharacter && M.Unknown >= 0)
        Take(Next, M.Unknown, M.UnknownScore);
      else if (!HasCharacter && Ends[Next].Id < 0)
        return Error(M.File +
                     ": field 'model.unk_id' is null: expected the id "
                     "of a token, for the character " +
                     printable(Piece.substr(Begin, Next - Begin)) +
                     " that the vocabulary lacks");
      Begin = Next;
    }
    return {};
  }

  /// Appends last ids first.
  void appendUnknown(std::string_view Text, std::vector<int32_t> &Ids) const {
    if (std::optional<int32_t> Whole = M.vocabulary().idOf(Text))
      Ids.push_back(*Whole);
    else if (M.Bytes && M.Bytes->spells(Text))
      for (size_t I = Text.size(); I-- > 0;)
        Ids.push_back(M.Bytes->idOf(Text[I]));
    else
      Ids.push_back(M.Unknown);
  }

  const UnigramModel &M;
  /// For each place of the piece.
  std::vector<Step> Ends;
};

} // namespace

std::unique_ptr<ModelRun> UnigramModel::start() const {
  return std::make_unique<UnigramRun>(*this);
}

Result<std::unique_ptr<Model>>
tokenizer::readUnigramModel(const JsonField &Field, TokenizerFile &File) {
  Status Known =
      expectOnly(Field, {"type", "vocab", "unk_id", "byte_fallback"});
  if (!Known)
    return Known.error();
  Result<JsonField> List = Field.member("vocab");
  if (!List)
    return List.error();
  if (!List->json().is_array())
    return List->expected("an array of tokens and scores");
  auto Scored = std::move(File.ScoredVocabulary);
  auto Named = [&](size_t Id) {
    return File.File + ": field 'model.vocab[" + std::to_string(Id) + "]' ";
  };
  if (Scored.size() >= static_cast<size_t>(MaxTokenId))
    return Error(Named(Scored.size() - 1) +
                 "is one too many: expected at most " +
                 std::to_string(MaxTokenId - 1) + " tokens");
  std::vector<std::pair<std::string, int64_t>> Tokens;
  Tokens.reserve(Scored.size());
  double Worst = std::numeric_limits<double>::infinity();
  for (const auto &[Text, Score] : Scored) {
    if (Text.size() > MaxTokenBytes)
      return Error(Named(Tokens.size()) + "has the token " + printable(Text) +
                   " of " + std::to_string(Text.size()) +
                   " bytes: expected at most " + std::to_string(MaxTokenBytes));
    Worst = std::min(Worst, Score);
    Tokens.emplace_back(Text, static_cast<int64_t>(Tokens.size()));
  }
  Result<Vocabulary> Built =
      Vocabulary::build(std::move(Tokens), File.File + ": field 'model.vocab'");
  if (!Built)
    return Built.error();

  auto Made = std::make_unique<UnigramModel>(std::move(*Built));
  Made->File = Field.file();
  if (Field.has("unk_id")) {
    Result<JsonField> Unknown = Field.member("unk_id");
    Result<int64_t> Id = Unknown->asInteger(0, MaxTokenId - 1);
    if (!Id)
      return Id.error();
    if (static_cast<size_t>(*Id) >= Scored.size())
      return Unknown->expected("less than " + std::to_string(Scored.size()) +
                               ", the number of tokens");
    Made->Unknown = static_cast<int32_t>(*Id);
  }
  Result<bool> ByteFallback = boolOr(Field, "byte_fallback", false);
  if (!ByteFallback)
    return ByteFallback.error();
  if (*ByteFallback)
    Made->Bytes = ByteTokens(Made->vocabulary());
  Made->UnknownScore = Worst - UnknownPenalty;
  Made->Scores.reserve(Scored.size());
  for (const auto &[Text, Score] : Scored)
    Made->Scores.push_back(Score);
  Made->Trie.build(Scored);
  return std::unique_ptr<Model>(std::move(Made));
}
