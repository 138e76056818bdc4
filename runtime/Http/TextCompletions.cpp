//===- TextCompletions.cpp - /v1/completions ------------------------------===//

#include "runtime/Http/OpenAiFields.h"

#include <algorithm>
#include <limits>

using namespace tenon;
using namespace tenon::http;
using generation::Settings;

static size_t charactersOf(std::string_view Text) {
  return static_cast<size_t>(
      std::count_if(Text.begin(), Text.end(), [](char C) {
        return (static_cast<unsigned char>(C) & 0xC0) != 0x80;
      }));
}

namespace {

/// How much text there is of a choice.
struct TextSoFar {
  bool IsEmpty = true; ///< No token but special ones.
  size_t Characters = 0;
};

class TextFormat final : public CompletionFormat {
public:
  TextFormat() : CompletionFormat(Object) {}

  std::string begin(const GenerationTask &T) override {
    Texts.resize(T.choices());
    return {};
  }

  std::string add(const GenerationTask &T, ChoiceDelta D) override {
    std::string Text;
    for (const tools::AnswerPart &Part : D.Parts)
      Text += Part.Content;
    if (Text.empty() && D.Scores.empty() && !Options.ReturnsTokens)
      return {};
    return chunk(T, choice(D.Index, Text),
                 logProbabilities(T, D.Scores, Texts[D.Index], false),
                 &D.Tokens, nullptr);
  }

  std::string end(const GenerationTask &T, size_t Index,
                  const ChoiceEnd &E) override {
    return chunk(T, choice(Index, ""), nullptr, nullptr, finishReasonOf(E));
  }

  Json whole(const GenerationTask &T,
             const std::vector<FinishedChoice> &Choices) override {
    Json J = frame(T, Object);
    J["choices"] = Json::array();
    for (const FinishedChoice &F : Choices) {
      const generation::Request &R = *F.Asked;
      std::vector<sampling::ScoredToken> Scores;
      if (R.Echo && R.Scored) {
        Scores.push_back({{R.Prompt.front(), 0}, {}});
        Scores.insert(Scores.end(), F.Of->PromptScores.begin(),
                      F.Of->PromptScores.end());
      }
      Scores.insert(Scores.end(), F.Generated->Scores.begin(),
                    F.Generated->Scores.end());
      TextSoFar Before;
      Json Choice = {{"index", F.Index},
                     {"text", F.Generated->Text},
                     {"logprobs", logProbabilities(T, Scores, Before, R.Echo)},
                     {"finish_reason", finishReasonOf(F.End)}};
      if (Options.ReturnsTokens)
        Choice["token_ids"] = F.Generated->NewTokens;
      J["choices"].push_back(std::move(Choice));
    }
    J["usage"] = usageJson(T.usage());
    return J;
  }

private:
  static constexpr char Object[] = "text_completion";

  static Json choice(size_t Index, std::string Text) {
    return {{"index", Index}, {"text", std::move(Text)}};
  }

  /// `Before` is what is before the first token; then, before what follows.
  static Json logProbabilities(const GenerationTask &T,
                               const std::vector<sampling::ScoredToken> &Scores,
                               TextSoFar &Before, bool BeginsText) {
    if (Scores.empty())
      return nullptr;
    Json J = {{"tokens", Json::array()},
              {"token_logprobs", Json::array()},
              {"top_logprobs", Json::array()},
              {"text_offset", Json::array()}};
    for (size_t I = 0; I < Scores.size(); ++I) {
      tokenizer::TokenText Chosen =
          T.textOf(Scores[I].Chosen.Token, Before.IsEmpty);
      J["tokens"].push_back(Chosen.Shown);
      J["text_offset"].push_back(Before.Characters);
      // Nothing says how likely the first token of a text is.
      bool IsFirst = BeginsText && I == 0;
      J["token_logprobs"].push_back(
          IsFirst ? Json() : Json(finite(Scores[I].Chosen.LogProbability)));
      Json Top = Json::object();
      // Of tokens with the same text the likeliest, which comes first.
      for (const sampling::TokenScore &S : Scores[I].Likeliest)
        Top.emplace(T.textOf(S.Token, Before.IsEmpty).Shown,
                    finite(S.LogProbability));
      J["top_logprobs"].push_back(IsFirst ? Json() : std::move(Top));
      if (Chosen.Added) {
        Before.IsEmpty = false;
        Before.Characters += charactersOf(*Chosen.Added);
      }
    }
    return J;
  }

  std::vector<TextSoFar> Texts; ///< Of each choice.
};

} // namespace

/// "prompt": a text, token ids, or an array of them.
static std::vector<std::vector<int32_t>>
promptsOf(Fields &F, const Limits &Bounds, const ServedModel &M) {
  const Json *J = F.get("prompt");
  Json All = !J                               ? Json::array()
             : J->is_string() || isTokens(*J) ? Json::array({*J})
                                              : *J;
  if (!All.is_array() || All.empty() || All.size() > Bounds.Prompts) {
    F.expected("prompt", "a text, token ids, or an array of at most " +
                             std::to_string(Bounds.Prompts) + " of them");
    return {};
  }
  std::vector<std::vector<int32_t>> Prompts;
  for (const Json &Each : All) {
    if (isTokens(Each)) {
      Prompts.push_back(Each.get<std::vector<int32_t>>());
      continue;
    }
    if (!Each.is_string()) {
      F.expected("prompt", "texts, or arrays of token ids");
      return {};
    }
    Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
    Result<std::vector<int32_t>> Ids =
        T ? (*T)->encode(Each.get_ref<const std::string &>(), true, SIZE_MAX)
          : Result<std::vector<int32_t>>(T.error());
    if (!Ids) {
      F.refuse({400, "'prompt': " + Ids.error().message(), "prompt"});
      return {};
    }
    Prompts.push_back(std::move(*Ids));
  }
  return Prompts;
}

void http::completeText(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  Settings S = settingsOf(F, C.Bounds);
  constexpr int64_t DefaultLength = 16; // OpenAI's.
  S.MaxNewTokens =
      F.integer("max_tokens", 0, std::numeric_limits<int64_t>::max())
          .value_or(DefaultLength);
  S.Echo = F.boolean("echo").value_or(false);
  S.LogProbabilities = F.integer(
      "logprobs", 0, static_cast<int64_t>(C.Bounds.TopLogProbabilities));
  S.Grammar = readConstraint(F, C.Grammars);
  F.accept("best_of", S.Choices);
  F.accept("suffix", "");
  F.string("user"); // Says who asks, and nothing of what.
  if (!M)
    return C.reply(*F.finish());
  auto Format = std::make_unique<TextFormat>();
  TextFormat &How = *Format;
  auto Task = std::make_shared<GenerationTask>(C, *M, std::move(Format));
  How.Options = readStreamOptions(F, *Task);
  Task->IsChat = false;
  if (Task->Streams && S.Echo && S.LogProbabilities)
    F.refuse({400, "'echo' with 'logprobs' is not for 'stream'", "echo"});
  std::vector<std::vector<int32_t>> Prompts = promptsOf(F, C.Bounds, *M);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Task->start(S, std::move(Prompts));
}
