//===- ToolAnswer.h - Tool calls in generated tokens ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GENERATION_TOOLANSWER_H
#define TENON_RUNTIME_GENERATION_TOOLANSWER_H

#include "runtime/Generation/Generator.h"
#include "runtime/ToolCalls/ToolCallParser.h"

namespace tenon::generation {

/// Reads the tool calls out of the tokens of one answer, as they come.
class ToolAnswer {
public:
  /// For an answer to `Prompt` by `M`, which knows `Tools`, as OpenAI defines
  /// them. An error when the artifact has no tokenizer or says no format. `M`
  /// must outlive this.
  static Result<ToolAnswer> create(const engine::Model &M,
                                   std::span<const int32_t> Prompt, Json Tools);

  /// What is certain now that `Tokens` follow.
  std::vector<tools::AnswerPart> add(std::span<const int32_t> Tokens);
  /// The same with text that is no whole token.
  std::vector<tools::AnswerPart> addText(std::string_view Text) {
    return Parser.feed(Text);
  }
  /// The rest.
  std::vector<tools::AnswerPart> finish();
  /// As of ToolCallParser.
  size_t reasoningTokens() const { return Parser.reasoningTokens(); }

private:
  ToolAnswer(const tokenizer::Tokenizer &T, const tools::ToolFormat &Format,
             tools::ToolParserOptions Options)
      : T(&T), Decoder(T, /*SkipSpecialTokens=*/false),
        Parser(Format, std::move(Options)) {}

  const tokenizer::Tokenizer *T;
  tokenizer::StreamingDecoder Decoder;
  tools::ToolCallParser Parser;
  size_t Unsaid = 0; ///< Tokens whose text is not certain yet.
};

/// Whether calls of a tool have to fulfil its schema.
bool hasStrictTool(const Json &Tools);

/// The grammar of answers to `Prompt` in which calls of the tools of `S` are as
/// its schemas say. Errors: those of tools::callGrammar(), and as of
/// ToolAnswer::create().
Result<grammar::Grammar::Ptr> callGrammar(const engine::Model &M,
                                          const Settings &S,
                                          std::span<const int32_t> Prompt);

/// The answer of the `Tokens` that came after `Prompt`, as a whole. With
/// `UpToStop`, the text up to a stop string, what follows it is left out.
Result<tools::ParsedAnswer>
parseToolAnswer(const engine::Model &M, std::span<const int32_t> Prompt,
                std::span<const int32_t> Tokens,
                std::optional<std::string_view> UpToStop, Json Tools);

/// The id of the call number `Index` of an answer: nine letters and digits, as
/// Mistral's templates demand. It depends on what comes before the call alone,
/// so that equal requests have equal answers, and turns of a conversation
/// different ids.
std::string toolCallId(std::span<const int32_t> Prompt, size_t Index);

/// An answer to `Prompt` as an object: "text", "reasoning" if there is some,
/// and "tool_calls" as OpenAI's API has them.
Json answerJson(const tools::ParsedAnswer &A, std::span<const int32_t> Prompt);

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_TOOLANSWER_H
