//===- Regex.cpp - Regular expressions of tokenizers ----------------------===//

#define PCRE2_CODE_UNIT_WIDTH 8

#include "runtime/Tokenizer/Regex.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <array>
#include <pcre2.h>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

/// What one thread needs to match.
struct MatchState {
  MatchState()
      : Context(pcre2_match_context_create(nullptr)),
        Data(pcre2_match_data_create(1, nullptr)),
        Stack(pcre2_jit_stack_create(32 << 10, 1 << 20, nullptr)) {
    if (Stack)
      pcre2_jit_stack_assign(Context, nullptr, Stack);
    pcre2_set_heap_limit(Context, 64 << 10); // KiB.
  }
  ~MatchState() {
    pcre2_jit_stack_free(Stack);
    pcre2_match_data_free(Data);
    pcre2_match_context_free(Context);
  }
  MatchState(const MatchState &) = delete;
  MatchState &operator=(const MatchState &) = delete;

  pcre2_match_context *Context;
  pcre2_match_data *Data;
  pcre2_jit_stack *Stack;
};

} // namespace

struct Regex::Code {
  explicit Code(pcre2_code *Compiled) : Compiled(Compiled) {}
  ~Code() { pcre2_code_free(Compiled); }
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  pcre2_code *Compiled;
  /// "FILE: field 'NAME' is 'PATTERN'", for errors while matching.
  std::string Where;
};

Result<Regex> Regex::fromJson(const JsonField &Field) {
  Result<std::string> Pattern = Field.asString();
  if (!Pattern)
    return Pattern.error();
  auto Fail = [&](const std::string &Why) {
    return Field.expected("a supported regular expression: it " + Why);
  };
  Result<std::string> Translated = translateRegex(*Pattern);
  if (!Translated)
    return Fail(Translated.error().message());

  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)>
      Context(pcre2_compile_context_create(nullptr),
              &pcre2_compile_context_free);
  // As in Ruby: only \n ends a line, and ^ and $ match at every line.
  pcre2_set_newline(Context.get(), PCRE2_NEWLINE_LF);
  int Problem = 0;
  PCRE2_SIZE Offset = 0;
  pcre2_code *Compiled = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(Translated->data()), Translated->size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
      &Problem, &Offset, Context.get());
  if (!Compiled) {
    std::array<PCRE2_UCHAR, 256> Text{};
    pcre2_get_error_message(Problem, Text.data(), Text.size());
    return Fail("does not compile: " +
                std::string(reinterpret_cast<const char *>(Text.data())));
  }
  auto Owned = std::make_shared<Code>(Compiled);
  Owned->Where = Field.file() + ": field " + printable(Field.path()) + " is " +
                 printable(*Pattern);
  // Without JIT, as on some machines, matching is only slower.
  pcre2_jit_compile(Compiled, PCRE2_JIT_COMPLETE);
  return Regex(std::move(Owned));
}

Status Regex::forEachMatch(std::string_view Text, const OnMatch &Found) const {
  static thread_local MatchState State;
  // A sound pattern takes a few steps per byte; backtracking without end takes
  // any number.
  uint64_t Steps = (uint64_t{1} << 20) + 16 * uint64_t{Text.size()};
  pcre2_set_match_limit(State.Context, static_cast<uint32_t>(std::min<uint64_t>(
                                           Steps, UINT32_MAX)));

  auto *Subject = reinterpret_cast<PCRE2_SPTR>(Text.data());
  size_t From = 0;
  std::optional<size_t> LastEnd;
  while (From <= Text.size()) {
    uint32_t Options = PCRE2_NO_UTF_CHECK;
    int Answer = pcre2_match(Compiled->Compiled, Subject, Text.size(), From,
                             Options, State.Data, State.Context);
    // The interpreter keeps its state on the heap, which has more room.
    if (Answer == PCRE2_ERROR_JIT_STACKLIMIT)
      Answer = pcre2_match(Compiled->Compiled, Subject, Text.size(), From,
                           Options | PCRE2_NO_JIT, State.Data, State.Context);
    if (Answer == PCRE2_ERROR_NOMATCH)
      return {};
    if (Answer < 0)
      return Error(Compiled->Where + ": matching from byte " +
                   std::to_string(From) + " of the text failed (" +
                   std::to_string(Answer) +
                   "): expected a pattern that needs few steps");
    const PCRE2_SIZE *Bounds = pcre2_get_ovector_pointer(State.Data);
    size_t Begin = Bounds[0], End = Bounds[1];
    if (Begin == End && LastEnd == End) {
      if (From == Text.size())
        return {};
      nextCode(Text, From);
      continue;
    }
    From = End;
    LastEnd = End;
    if (Status Done = Found(Begin, End); !Done)
      return Done;
  }
  return {};
}
