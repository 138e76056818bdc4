//===- Regex.cpp - Regular expressions of tokenizers ----------------------===//

#define PCRE2_CODE_UNIT_WIDTH 8

#include "runtime/Tokenizer/Regex.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <array>
#include <optional>
#include <pcre2.h>
#include <utility>

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
    pcre2_set_heap_limit(Context, 256 << 10); // KiB.
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

static MatchState &stateOfThread() {
  static thread_local MatchState State;
  return State;
}

/// Frees a compiled pattern.
struct FreeCode {
  void operator()(pcre2_code *Compiled) const { pcre2_code_free(Compiled); }
};

struct Regex::Code {
  /// Translated to machine code, where PCRE2 can; counts few of its steps.
  std::unique_ptr<pcre2_code, FreeCode> Fast;
  /// Interpreted; counts every step that takes longer than `StepCost` units.
  std::unique_ptr<pcre2_code, FreeCode> Counting;
  uint64_t StepCost = 1;
  /// "FILE: field 'NAME' is 'PATTERN'", for errors while matching.
  std::string Where;
};

static thread_local RegexBudget *CurrentBudget = nullptr;

// A sound pattern takes a few steps per byte. The fixed part is for short texts
// and lasts a second or two; lookaheads over thousands of digits need it.
RegexBudget::RegexBudget(size_t TextBytes)
    : Left((uint64_t{1} << 26) + 256 * uint64_t{TextBytes}),
      Outer(std::exchange(CurrentBudget, this)) {}
RegexBudget::~RegexBudget() { CurrentBudget = Outer; }
RegexBudget *RegexBudget::current() { return CurrentBudget; }

bool RegexBudget::take(uint64_t Steps) {
  if (Steps > Left)
    return false;
  Left -= Steps;
  return true;
}

/// `Pattern` compiled, or why it cannot be.
static Result<pcre2_code *> compile(const std::string &Pattern) {
  std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)>
      Context(pcre2_compile_context_create(nullptr),
              &pcre2_compile_context_free);
  // As in Ruby: only \n ends a line, and ^ and $ match at every line.
  pcre2_set_newline(Context.get(), PCRE2_NEWLINE_LF);
  int Problem = 0;
  PCRE2_SIZE Offset = 0;
  pcre2_code *Compiled = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(Pattern.data()), Pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C |
          PCRE2_USE_OFFSET_LIMIT,
      &Problem, &Offset, Context.get());
  if (Compiled)
    return Compiled;
  std::array<PCRE2_UCHAR, 256> Text{};
  pcre2_get_error_message(Problem, Text.data(), Text.size());
  return Error("does not compile: " +
               std::string(reinterpret_cast<const char *>(Text.data())));
}

Result<Regex> Regex::fromJson(const JsonField &Field) {
  Result<std::string> Pattern = Field.asString();
  if (!Pattern)
    return Pattern.error();
  auto Fail = [&](const Error &Why) {
    return Field.expected("a supported regular expression: it " +
                          Why.message());
  };
  Result<TranslatedRegex> Translated = translateRegex(*Pattern);
  if (!Translated)
    return Fail(Translated.error());
  auto Owned = std::make_shared<Code>();
  for (auto [Text, Target] : {std::pair(&Translated->Fast, &Owned->Fast),
                              {&Translated->Counting, &Owned->Counting}}) {
    Result<pcre2_code *> Compiled = compile(*Text);
    if (!Compiled)
      return Fail(Compiled.error());
    Target->reset(*Compiled);
  }
  constexpr unsigned CheapRepeats = 16;
  Owned->StepCost = 1 + Translated->LargestRepeat / CheapRepeats;
  Owned->Where = Field.file() + ": field " + printable(Field.path()) + " is " +
                 printable(*Pattern);
  // Without JIT, as on some machines, matching is only slower.
  pcre2_jit_compile(Owned->Fast.get(),
                    PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  return Regex(std::move(Owned));
}

/// Finds one match after another in one text.
///
/// The fast program sees a short window of the text behind the place where it
/// begins, and may take few steps at each place: linear in the text whatever
/// the pattern does. PCRE2 says when an attempt would have looked beyond the
/// window; then that grows, and is paid for. What needs more steps goes to the
/// counting program, place by place.
class Regex::Search {
public:
  using Bounds = std::pair<size_t, size_t>;

  Search(const Code &Compiled, std::string_view Text, RegexBudget &Budget)
      : Compiled(Compiled), Text(Text), Budget(Budget) {}

  /// The first match that begins at `From` or behind it.
  Result<std::optional<Bounds>> next(size_t From) {
    for (size_t Window = FirstWindow;;) {
      if (From < CountUntil) {
        Result<std::optional<Bounds>> Here = at(From);
        if (!Here || *Here || From == Text.size())
          return Here;
        nextCode(Text, From);
        continue;
      }
      size_t End = endOf(From, Window);
      bool IsWhole = End == Text.size(), IsGrown = Window > FirstWindow;
      // A larger window is paid for at one place alone.
      pcre2_set_offset_limit(State.Context, IsGrown ? From : PCRE2_UNSET);
      int Answer = match(*Compiled.Fast, From, End,
                         IsWhole ? 0 : PCRE2_PARTIAL_HARD, FastSteps);
      if (Answer >= 0)
        return bounds();
      if (Answer == PCRE2_ERROR_NOMATCH) {
        if (IsGrown ? From == Text.size() : IsWhole)
          return std::optional<Bounds>();
        if (IsGrown)
          nextCode(Text, From);
        else
          From = End;
        Window = FirstWindow;
      } else if (Answer == PCRE2_ERROR_PARTIAL && bounds()->first > From) {
        From = bounds()->first;
        Window = FirstWindow;
      } else if (Answer == PCRE2_ERROR_PARTIAL) {
        // What steps in the window may cost, in steps of the other program.
        Window *= 4;
        if (!Budget.take(uint64_t{endOf(From, Window) - From} * FastSteps / 16))
          return tooMany(From);
      } else if (isLimit(Answer)) {
        // Somewhere in the window; nobody says where.
        CountUntil = std::max(IsGrown ? From : End, From + 1);
        Window = FirstWindow;
      } else {
        return failed(From, Answer);
      }
    }
  }

private:
  static constexpr size_t FirstWindow = 256;
  static constexpr uint32_t FastSteps = 128;
  static constexpr uint32_t FirstSteps = 64;

  static bool isLimit(int Answer) {
    return Answer == PCRE2_ERROR_MATCHLIMIT ||
           Answer == PCRE2_ERROR_JIT_STACKLIMIT;
  }

  /// The end of a window, between two characters.
  size_t endOf(size_t From, size_t Window) const {
    if (Window >= Text.size() - From)
      return Text.size();
    size_t End = From + Window;
    while (End < Text.size() && (Text[End] & 0xc0) == 0x80)
      ++End;
    return End;
  }

  std::optional<Bounds> bounds() const {
    const PCRE2_SIZE *Found = pcre2_get_ovector_pointer(State.Data);
    return Bounds(Found[0], Found[1]);
  }

  int match(const pcre2_code &Program, size_t From, size_t End,
            uint32_t Options, uint32_t Steps) const {
    pcre2_set_match_limit(State.Context, Steps);
    return pcre2_match(&Program, reinterpret_cast<PCRE2_SPTR>(Text.data()), End,
                       From, Options | PCRE2_NO_UTF_CHECK, State.Data,
                       State.Context);
  }

  /// The match that begins at `From`, if there is one.
  Result<std::optional<Bounds>> at(size_t From) {
    pcre2_set_offset_limit(State.Context, PCRE2_UNSET);
    for (uint32_t Steps = std::max(FirstSteps, LastSteps / 2);; Steps *= 2) {
      if (!Budget.take(Steps * Compiled.StepCost))
        return tooMany(From);
      int Answer = match(*Compiled.Counting, From, Text.size(),
                         PCRE2_ANCHORED | PCRE2_NO_JIT, Steps);
      LastSteps = Steps;
      if (Answer >= 0)
        return bounds();
      if (Answer == PCRE2_ERROR_NOMATCH)
        return std::optional<Bounds>();
      if (Answer != PCRE2_ERROR_MATCHLIMIT)
        return failed(From, Answer);
    }
  }

  Error tooMany(size_t From) const {
    return Error(Compiled.Where + ": matching to byte " + std::to_string(From) +
                 " of " + std::to_string(Text.size()) +
                 " takes too many steps: expected a pattern that needs few "
                 "steps");
  }
  Error failed(size_t From, int Answer) const {
    return Error(Compiled.Where + ": matching from byte " +
                 std::to_string(From) + " of the text failed (" +
                 std::to_string(Answer) +
                 "): expected a pattern that needs few steps");
  }

  MatchState &State = stateOfThread();
  const Code &Compiled;
  std::string_view Text;
  RegexBudget &Budget;
  size_t CountUntil = 0; ///< Places before this go to the counting program.
  uint32_t LastSteps = 0;
};

Status Regex::forEachMatch(std::string_view Text, const OnMatch &Found) const {
  std::optional<RegexBudget> Own;
  if (!RegexBudget::current())
    Own.emplace(Text.size());
  Search In(*Compiled, Text, *RegexBudget::current());
  std::optional<size_t> LastEnd;
  for (size_t From = 0; From <= Text.size();) {
    Result<std::optional<Search::Bounds>> Next = In.next(From);
    if (!Next)
      return Next.error();
    if (!*Next)
      return {};
    auto [Begin, End] = **Next;
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
