//===- TokenizerParts.cpp - A tokenizer.json that is put together ---------===//

#include "compiler/Checkpoint/TokenizerParts.h"

#include <algorithm>

using namespace tenon;

void TokenizerParts::setVocabulary(
    std::vector<std::pair<std::string, int64_t>> Tokens) {
  Vocabulary = std::move(Tokens);
  Ids.reserve(Vocabulary.size());
  for (const auto &[Token, Id] : Vocabulary)
    Ids.insert_or_assign(Token, Id);
}

/// `Text` in quotes, as JSON has it.
static std::string jsonText(std::string_view Text) { return Json(Text).dump(); }

std::string TokenizerParts::vocabularyText() const {
  std::string Text = "{";
  for (const auto &[Token, Id] : Vocabulary) {
    if (Text.size() > 1)
      Text += ',';
    Text += jsonText(Token) + ':' + std::to_string(Id);
  }
  return Text + "}";
}

void TokenizerParts::setModel(std::string_view Type, const Json &Options,
                              std::string_view Vocab, std::string_view Merges) {
  Model = "{\"type\":" + jsonText(Type);
  for (const auto &[Key, Value] : Options.items())
    Model += "," + jsonText(Key) + ":" + Value.dump();
  Model.append(",\"vocab\":").append(Vocab);
  if (!Merges.empty())
    Model.append(",\"merges\":").append(Merges);
  Model += "}";
}

void TokenizerParts::setBytePairs(
    const std::vector<std::pair<std::string_view, std::string_view>> &Merges,
    const Json &Options) {
  std::string Text = "[";
  for (const auto &[Left, Right] : Merges) {
    if (Text.size() > 1)
      Text += ',';
    Text += "[" + jsonText(Left) + "," + jsonText(Right) + "]";
  }
  setModel("BPE", Options, vocabularyText(), Text + "]");
}

void TokenizerParts::setWordPieces(const Json &Options) {
  setModel("WordPiece", Options, vocabularyText(), "");
}

void TokenizerParts::setUnigram(const std::vector<float> &Scores,
                                const Json &Options) {
  std::string Text = "[";
  for (size_t I = 0; I < Vocabulary.size(); ++I) {
    if (I)
      Text += ',';
    Text += "[" + jsonText(Vocabulary[I].first) + "," +
            Json(static_cast<double>(Scores[I])).dump() + "]";
  }
  setModel("Unigram", Options, Text + "]", "");
}

void TokenizerParts::addTokens(const std::vector<AddedToken> &Tokens) {
  int64_t Next = static_cast<int64_t>(Vocabulary.size());
  for (const AddedToken &Token : Tokens) {
    int64_t Id = Ids.emplace(Token.Content, Next).first->second;
    Next = std::max(Next, Id + 1);
    Added.push_back({{"id", Id},
                     {"content", Token.Content},
                     {"single_word", Token.SingleWord},
                     {"lstrip", Token.StripLeft},
                     {"rstrip", Token.StripRight},
                     {"normalized", Token.Normalized.value_or(!Token.Special)},
                     {"special", Token.Special}});
  }
}

std::optional<int64_t> TokenizerParts::idOf(std::string_view Token) const {
  auto Found = Ids.find(Token);
  if (Found == Ids.end())
    return std::nullopt;
  return Found->second;
}

Json TokenizerParts::around(const std::vector<std::string> &Before,
                            const std::vector<std::string> &After) const {
  auto Sequence = [](const char *Name, int Type) {
    return Json{{"Sequence", {{"id", Name}, {"type_id", Type}}}};
  };
  Json Specials = Json::object(), Single = Json::array();
  auto Add = [&](const std::vector<std::string> &Tokens) {
    for (const std::string &Token : Tokens) {
      Single.push_back({{"SpecialToken", {{"id", Token}, {"type_id", 0}}}});
      Specials[Token] = {{"id", Token},
                         {"ids", Json::array({*idOf(Token)})},
                         {"tokens", Json::array({Token})}};
    }
  };
  Add(Before);
  Single.push_back(Sequence("A", 0));
  Add(After);
  if (Specials.empty())
    return nullptr;
  // No text of this project has two parts.
  Json Pair = Single;
  Pair.push_back(Sequence("B", 1));
  return {{"type", "TemplateProcessing"},
          {"single", std::move(Single)},
          {"pair", std::move(Pair)},
          {"special_tokens", std::move(Specials)}};
}

std::string TokenizerParts::text() const {
  return R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":)" +
         Added.dump() + R"(,"normalizer":)" + Normalizer.dump() +
         R"(,"pre_tokenizer":)" + PreTokenizer.dump() +
         R"(,"post_processor":)" + PostProcessor.dump() + R"(,"decoder":)" +
         Decoder.dump() + R"(,"model":)" + Model + "}";
}

std::string tenon::encodeBase64(std::string_view Bytes) {
  constexpr char Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "abcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string Text;
  for (size_t I = 0; I < Bytes.size(); I += 3) {
    uint32_t Group = 0;
    size_t Count = std::min<size_t>(3, Bytes.size() - I);
    for (size_t K = 0; K < 3; ++K)
      Group = Group << 8 |
              (K < Count ? static_cast<unsigned char>(Bytes[I + K]) : 0u);
    for (size_t K = 0; K < 4; ++K)
      Text += K <= Count ? Digits[Group >> (18 - 6 * K) & 63] : '=';
  }
  return Text;
}
