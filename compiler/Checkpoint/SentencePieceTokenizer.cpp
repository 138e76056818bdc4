//===- SentencePieceTokenizer.cpp - Classes on SentencePiece --------------===//

#include "compiler/Checkpoint/SentencePieceModel.h"
#include "compiler/Checkpoint/TokenizerFormats.h"
#include "runtime/Support/Base64.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;

/// What models of SentencePiece have in place of spaces.
static constexpr const char *Mark = "\u2581";

static Json replace(const char *Old, const char *New) {
  return {
      {"type", "Replace"}, {"pattern", {{"String", Old}}}, {"content", New}};
}

namespace {
/// What a class reads: models of this kind, with the unknown piece at this id.
struct Expected {
  SentencePieceModel::ModelType Kind;
  std::optional<int64_t> UnknownId;
};
} // namespace

/// Why a class does not read `Model`; empty if it does.
static std::string unfit(const SentencePieceModel &Model,
                         const std::string &Path, Expected Wanted) {
  auto Field = [&](const std::string &Name, std::string_view Found,
                   std::string_view Wanted) {
    return Path + ": field 'trainer_spec." + Name + "' is " +
           std::string(Found) + ": expected " + std::string(Wanted);
  };
  if (Model.Kind != Wanted.Kind)
    return Field("model_type", nameOf(Model.Kind), nameOf(Wanted.Kind));
  if (Wanted.UnknownId.value_or(Model.UnknownId) != Model.UnknownId)
    return Field("unk_id", std::to_string(Model.UnknownId),
                 std::to_string(*Wanted.UnknownId));
  return "";
}

/// Whether the file has lines of a token in base64 and its number, as
/// tiktoken's files do, which can have the same name.
static bool isTiktoken(const std::string &Path) {
  constexpr size_t LongestLine = 200;
  auto Start = readStart(Path, LongestLine);
  if (!Start)
    return false;
  std::string_view Line = std::string_view(*Start).substr(0, Start->find('\n'));
  size_t Space = Line.find(' ');
  return Space != Line.npos && Space > 0 && Space + 1 < Line.size() &&
         decodeBase64(Line.substr(0, Space)) &&
         Line.find_first_not_of("0123456789", Space + 1) == Line.npos;
}

/// Reads a model, or sets `Unfit` to why a class does not read it.
static Result<SentencePieceModel>
openModel(const std::string &Path, Expected Wanted, std::string &Unfit) {
  auto Model = SentencePieceModel::open(Path);
  if (Model)
    Unfit = unfit(*Model, Path, Wanted);
  else if (isTiktoken(Path))
    Unfit = Path + ": is a file of tiktoken: expected a model of SentencePiece";
  return Unfit.empty() || Model ? std::move(Model) : SentencePieceModel();
}

/// The pieces that are found before all else.
static std::vector<AddedToken> ownTokens(const SentencePieceModel &Model) {
  std::vector<AddedToken> Tokens;
  for (const SentencePieceModel::Piece &P : Model.Pieces)
    if (P.Type == SentencePieceModel::Control ||
        P.Type == SentencePieceModel::UserDefined) {
      AddedToken &Token = Tokens.emplace_back();
      Token.Content = P.Text;
      Token.Normalized = Token.IsText = false;
      Token.Special = P.Type == SentencePieceModel::Control;
    }
  return Tokens;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// SentencePiece merges what gives the piece that was learnt first: every way
/// to make a piece of two others, those of low ids first.
static Result<std::vector<std::pair<std::string_view, std::string_view>>>
mergesOf(const SentencePieceModel &Model, const TokenizerParts &Parts,
         const std::string &Path) {
  /// Trying all ways to cut a piece takes the square of its length.
  constexpr size_t MaxPieceBytes = 256;
  std::vector<std::pair<std::string_view, std::string_view>> Merges;
  for (size_t I = 0; I < Model.Pieces.size(); ++I) {
    std::string_view Whole = Model.Pieces[I].Text;
    if (Whole.size() > MaxPieceBytes)
      return Error(Path + ": field 'pieces[" + std::to_string(I) +
                   "].piece' is " + printable(Whole) + ": expected at most " +
                   std::to_string(MaxPieceBytes) + " bytes");
    size_t Cut = 0;
    for (tokenizer::nextCode(Whole, Cut); Cut < Whole.size();
         tokenizer::nextCode(Whole, Cut)) {
      std::string_view Left = Whole.substr(0, Cut), Right = Whole.substr(Cut);
      if (Parts.idOf(Left) && Parts.idOf(Right))
        Merges.emplace_back(Left, Right);
    }
  }
  return Merges;
}

/// The model and the tokens; steps are still to be set.
static Result<TokenizerParts> readPairs(const std::string &Path,
                                        const TokenizerSettings &Settings,
                                        const Json &UnknownToken) {
  TokenizerParts Parts;
  auto Model =
      openModel(Path, {SentencePieceModel::BytePairs, {}}, Parts.Unfit);
  if (!Model)
    return Model.error();
  if (!Parts.Unfit.empty())
    return Parts;
  std::vector<std::pair<std::string, int64_t>> Tokens;
  for (const SentencePieceModel::Piece &P : Model->Pieces)
    Tokens.emplace_back(P.Text, static_cast<int64_t>(Tokens.size()));
  Parts.setVocabulary(std::move(Tokens));
  auto Merges = mergesOf(*Model, Parts, Path);
  if (!Merges)
    return Merges.error();
  Parts.setBytePairs(*Merges, {{"dropout", nullptr},
                               {"unk_token", UnknownToken},
                               {"continuing_subword_prefix", nullptr},
                               {"end_of_word_suffix", nullptr},
                               {"fuse_unk", true},
                               {"byte_fallback", true},
                               {"ignore_merges", false}});
  Parts.addTokens(Settings.addedTokens(ownTokens(*Model)));
  return Parts;
}

Result<TokenizerParts>
tenon::readLlamaTokenizer(const std::vector<std::string> &Paths,
                          const TokenizerSettings &Settings) {
  auto AddSpace = Settings.flagOr("add_prefix_space", true);
  if (!AddSpace)
    return AddSpace.error();
  auto Legacy = Settings.flagOr("legacy", false);
  if (!Legacy)
    return Legacy.error();
  auto Parts = readPairs(Paths[0], Settings, nullptr);
  if (!Parts || !Parts->Unfit.empty())
    return Parts;
  auto Around = beginAndEnd(*Parts, Settings);
  if (!Around)
    return Around.error();
  Parts->PostProcessor = std::move(*Around);
  Parts->PreTokenizer = {{"type", "Metaspace"},
                         {"replacement", Mark},
                         {"prepend_scheme", !*AddSpace ? "never"
                                            : *Legacy  ? "always"
                                                       : "first"},
                         {"split", false}};
  Json Decoders = {
      replace(Mark, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (*AddSpace)
    Decoders.push_back(
        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  Parts->Decoder = {{"type", "Sequence"}, {"decoders", std::move(Decoders)}};
  return Parts;
}

Result<TokenizerParts>
tenon::readGemmaTokenizer(const std::vector<std::string> &Paths,
                          const TokenizerSettings &Settings) {
  auto Unknown = Settings.token("unk_token");
  if (!Unknown)
    return Unknown.error();
  auto Parts = readPairs(Paths[0], Settings, *Unknown);
  if (!Parts || !Parts->Unfit.empty())
    return Parts;
  auto Around = beginAndEnd(*Parts, Settings);
  if (!Around)
    return Around.error();
  Parts->PostProcessor = std::move(*Around);
  Parts->Normalizer = replace(" ", Mark);
  Parts->PreTokenizer = {{"type", "Split"},
                         {"pattern", {{"String", " "}}},
                         {"behavior", "MergedWithPrevious"},
                         {"invert", false}};
  Parts->Decoder = {
      {"type", "Sequence"},
      {"decoders",
       {replace(Mark, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}};
  return Parts;
}

//===----------------------------------------------------------------------===//
// Unigrams
//===----------------------------------------------------------------------===//

/// The steps that both classes have.
static void setUnigramSteps(TokenizerParts &Parts,
                            const SentencePieceModel &Model, bool AddSpace) {
  const char *Scheme = AddSpace ? "always" : "never";
  Json Metaspace = {{"type", "Metaspace"},
                    {"replacement", Mark},
                    {"prepend_scheme", Scheme},
                    {"split", true}};
  if (!Model.CharacterMap.empty())
    Parts.Normalizer = {
        {"type", "Precompiled"},
        {"precompiled_charsmap", encodeBase64(Model.CharacterMap)}};
  Parts.PreTokenizer = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "WhitespaceSplit"}}, Metaspace}}};
  Parts.Decoder = std::move(Metaspace);
}

/// Scores of the model's pieces from `First` on, behind and before those of
/// other tokens, which are 0.
static void setUnigramModel(TokenizerParts &Parts,
                            const SentencePieceModel &Model, size_t First,
                            const std::vector<std::string> &Before,
                            const std::vector<std::string> &After,
                            int64_t UnknownId) {
  std::vector<std::pair<std::string, int64_t>> Tokens;
  std::vector<float> Scores;
  auto Add = [&](const std::string &Text, float Score) {
    Tokens.emplace_back(Text, static_cast<int64_t>(Tokens.size()));
    Scores.push_back(Score);
  };
  for (const std::string &Text : Before)
    Add(Text, 0);
  for (size_t I = First; I < Model.Pieces.size(); ++I)
    Add(Model.Pieces[I].Text, Model.Pieces[I].Score);
  for (const std::string &Text : After)
    Add(Text, 0);
  Parts.setVocabulary(std::move(Tokens));
  Parts.setUnigram(Scores, {{"unk_id", UnknownId}, {"byte_fallback", false}});
}

Result<TokenizerParts>
tenon::readT5Tokenizer(const std::vector<std::string> &Paths,
                       const TokenizerSettings &Settings) {
  constexpr int64_t MaxSentinels = 1 << 16;
  auto Count = Settings.integerOr("extra_ids", 100, 0, MaxSentinels);
  if (!Count)
    return Count.error();
  auto End = Settings.token("eos_token");
  if (!End)
    return End.error();
  TokenizerParts Parts;
  auto Model =
      openModel(Paths[0], {SentencePieceModel::Unigram, 2}, Parts.Unfit);
  if (!Model)
    return Model.error();
  if (!Parts.Unfit.empty())
    return Parts;
  // The first sentinel has the last id.
  std::vector<std::string> Sentinels;
  std::vector<AddedToken> Own = ownTokens(*Model);
  for (int64_t I = 0; I < *Count; ++I) {
    Sentinels.push_back("<extra_id_" + std::to_string(I) + ">");
    Own.emplace_back().Content = Sentinels.back();
  }
  std::reverse(Sentinels.begin(), Sentinels.end());
  setUnigramModel(Parts, *Model, 0, {}, Sentinels, Model->UnknownId);
  Parts.addTokens(Settings.addedTokens(Own));
  setUnigramSteps(Parts, *Model, /*AddSpace=*/true);
  Parts.PostProcessor = Parts.around({}, {*End});
  return Parts;
}

Result<TokenizerParts>
tenon::readXlmRobertaTokenizer(const std::vector<std::string> &Paths,
                               const TokenizerSettings &Settings) {
  auto AddSpace = Settings.flagOr("add_prefix_space", true);
  if (!AddSpace)
    return AddSpace.error();
  std::vector<std::string> Own;
  for (const char *Role :
       {"bos_token", "pad_token", "eos_token", "unk_token", "mask_token"}) {
    auto Text = Settings.token(Role);
    if (!Text)
      return Text.error();
    Own.push_back(std::move(*Text));
  }
  const std::string Mask = Own.back();
  Own.pop_back();
  TokenizerParts Parts;
  auto Model =
      openModel(Paths[0], {SentencePieceModel::Unigram, 0}, Parts.Unfit);
  if (!Model)
    return Model.error();
  if (!Parts.Unfit.empty())
    return Parts;
  // The model's own first three are unknown, begin and end.
  constexpr size_t Replaced = 3;
  setUnigramModel(Parts, *Model, Replaced, Own, {Mask}, 3);
  Parts.addTokens(Settings.addedTokens(ownTokens(*Model)));
  setUnigramSteps(Parts, *Model, *AddSpace);
  Parts.PostProcessor = Parts.around({Own[0]}, {Own[2]});
  return Parts;
}
