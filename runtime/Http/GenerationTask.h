//===- GenerationTask.h - One call that generates texts ---------*- C++ -*-===//
//
// What the endpoints that generate have in common: requests of the engine,
// their news, cancelling, streams. An AnswerFormat says what the client reads.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_GENERATIONTASK_H
#define TENON_RUNTIME_HTTP_GENERATIONTASK_H

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Http/Api.h"
#include "runtime/Http/Constraints.h"

namespace tenon::http {

/// What a step has brought to a choice.
struct ChoiceDelta {
  size_t Index = 0;
  /// Without a parser of calls one Text.
  std::vector<tools::AnswerPart> Parts;
  std::vector<sampling::ScoredToken> Scores;
  std::vector<int32_t> Tokens;
};

/// How a choice has ended.
struct ChoiceEnd {
  generation::FinishReason Why = generation::FinishReason::None;
  std::optional<std::string> StopString;
  /// It has called tools, and was not cut.
  bool HasCalled = false;
};

/// A choice as a whole.
struct FinishedChoice {
  size_t Index = 0;
  tools::ParsedAnswer Said;
  ChoiceEnd End;
  const generation::Request *Asked = nullptr;
  const generation::Answer *Of = nullptr; ///< Of all choices of the request.
  const generation::Generation *Generated = nullptr;
};

/// Tokens of all requests of a task.
struct TokenUsage {
  size_t Prompt = 0;
  size_t Cached = 0; ///< Of the prompt, from the prefix cache.
  size_t New = 0;
  size_t Reasoning = 0; ///< Of the new ones, in reasoning that was read.
};

class GenerationTask;

/// Writes the answer to one call, for the server's thread. Events are bytes for
/// the wire, perhaps none.
class AnswerFormat {
public:
  virtual ~AnswerFormat() = default;

  /// The first events of a stream.
  virtual std::string begin(const GenerationTask &T) = 0;
  virtual std::string add(const GenerationTask &T, ChoiceDelta D) = 0;
  virtual std::string end(const GenerationTask &T, size_t Index,
                          const ChoiceEnd &E) = 0;
  /// The last events, when all choices have ended.
  virtual std::string finish(const GenerationTask &T) = 0;
  /// The last events of a stream that fails.
  virtual std::string fail(const GenerationTask &T, const ApiError &Why) = 0;

  /// The answer as one object.
  virtual Json whole(const GenerationTask &T,
                     const std::vector<FinishedChoice> &Choices) = 0;
};

/// One call: its prompts, each a request of the engine. On the server's thread
/// from submit() on, and alive until its last request has ended.
class GenerationTask : public std::enable_shared_from_this<GenerationTask> {
public:
  GenerationTask(Call C, ServedModel &M, std::unique_ptr<AnswerFormat> Format)
      : C(std::move(C)), M(M), Format(std::move(Format)) {}

  /// Makes a request of each prompt, and hands all to the engine; answers with
  /// an error where one is wrong. `Images` are those of a single prompt. On a
  /// worker.
  void start(generation::Settings S, std::vector<std::vector<int32_t>> Prompts,
             std::vector<generation::PromptImage::Ptr> Images = {});

  /// The prompts are conversations: answers may have reasoning in them.
  bool IsChat = true;
  /// The tools that answers may call; null: none.
  Json Tools;
  /// Which of them; where calls are forced, the grammar is of those.
  ToolChoice Calls;
  serving::Terms Rules;
  bool Streams = false;

  // For formats.
  const ServedModel &model() const { return M; }
  const std::string &id() const { return C.Asked->request().Id; }
  std::string answerId() const { return C.Asked->trace().answerId(); }
  /// Unix seconds of its arrival, and of its end.
  int64_t created() const { return C.Asked->request().Time; }
  int64_t completionTime() const { return Completed; }
  TokenUsage usage() const;
  size_t choices() const { return Asked.size() * choicesOf(0); }
  /// The request of a choice.
  const generation::Request &requestOf(size_t Index) const {
    return Asked[Index / choicesOf(0)];
  }
  /// The id of the call number `Call` of a choice.
  std::string callId(size_t Index, size_t Call) const {
    return generation::toolCallId(requestOf(Index).Prompt, Call);
  }
  /// A token of an answer; `IsFirst`: no other one of its text is before it.
  tokenizer::TokenText textOf(int32_t Token, bool IsFirst) const;

private:
  /// A choice that is streamed.
  struct Choice {
    std::optional<generation::ToolAnswer> Parser;
    /// Its text is known only when it has ended.
    bool IsLate = false;
    bool HasCalled = false;
  };

  void submit();
  void update(size_t I, const serving::Update &U);
  void stream(size_t I, const generation::Piece &P);
  void streamWhole(const FinishedChoice &F);
  void finish();
  void fail(const ApiError &Why);
  void cancel();
  void note(size_t I, const serving::Update &U);
  void noteSubmitted();
  bool parses(const generation::Request &R) const;
  FinishedChoice finished(size_t Index) const;
  size_t choicesOf(size_t I) const {
    return static_cast<size_t>(Asked[I].How.Choices);
  }

  Call C;
  ServedModel &M;
  std::unique_ptr<AnswerFormat> Format;
  int64_t Completed = 0;
  uint64_t Seed = 0;
  std::vector<generation::Request> Asked;
  std::vector<serving::RequestId> Ids;
  std::vector<std::optional<serving::Update>> Ends;
  std::vector<Choice> Choices;
  size_t Left = 0;
  size_t ReasoningTokens = 0; ///< Of choices that have ended.
  bool IsOver = false;
};

/// An event without a name, as OpenAI's streams have them.
std::string eventOf(const Json &Data);
/// The same of what is JSON already.
std::string eventOfText(const std::string &Data);
/// One with a name.
std::string eventOf(std::string_view Name, const Json &Data);

/// "stop", "length", "tool_calls" or "error", as OpenAI has them.
const char *finishReasonOf(const ChoiceEnd &E);

/// JSON has no infinity; clients expect -9999 in its place.
double finite(float LogProbability);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_GENERATIONTASK_H
