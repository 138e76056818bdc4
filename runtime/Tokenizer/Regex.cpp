//===- Regex.cpp - Regular expressions of tokenizers ----------------------===//

#define PCRE2_CODE_UNIT_WIDTH 8

#include "runtime/Tokenizer/Regex.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <array>
#include <pcre2.h>

using namespace tenon;

// Patterns longer than this, or nested or repeated more, are refused.
static constexpr size_t MaxPatternBytes = 1 << 14;
static constexpr unsigned MaxNesting = 64;
static constexpr unsigned MaxRepeat = 1000;

/// White_Space, which PCRE2's \s is not quite.
static constexpr CodeRange WhiteSpace[] = {
    {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},
    {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
    {0x205f, 0x205f}, {0x3000, 0x3000}};

/// General categories that \p may name. Not C and Cn: what they hold shrinks
/// with every Unicode version.
static constexpr std::string_view Categories[] = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N", "Nd",
    "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm",
    "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "Cc", "Cf", "Co"};

namespace {

/// Rewrites a pattern from left to right.
class Translator {
public:
  explicit Translator(std::string_view Pattern) : Pattern(Pattern) {}

  Result<std::string> run() {
    if (Pattern.size() > MaxPatternBytes)
      return Error("is longer than " + std::to_string(MaxPatternBytes) +
                   " bytes");
    while (At < Pattern.size())
      if (Status Done = item(); !Done)
        return Done.error();
    return std::move(Out);
  }

private:
  bool startsWith(std::string_view Text) const {
    return Pattern.substr(At, Text.size()) == Text;
  }

  Error unsupported(size_t From, size_t Length) const {
    return Error("uses " + printable(Pattern.substr(From, Length)) +
                 " at byte " + std::to_string(From) +
                 ", which is not supported");
  }

  Status item() {
    switch (Pattern[At]) {
    case '\\':
      return escape(false);
    case '[':
      return charClass();
    case '(':
      return group();
    case ')':
      Nesting -= Nesting > 0;
      break;
    case '{':
      return interval();
    default:
      break;
    }
    Out += Pattern[At++];
    return {};
  }

  Status group() {
    if (++Nesting > MaxNesting)
      return Error("nests deeper than " + std::to_string(MaxNesting));
    for (std::string_view Opening : {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>",
                                     "(?i:", "(?i)", "(?-i:", "(?-i)"})
      if (startsWith(Opening)) {
        Nesting -= Opening.back() == ')';
        Out += Opening;
        At += Opening.size();
        return {};
      }
    // (?m) and others mean something else in Ruby; (* starts a verb of PCRE2.
    if (startsWith("(?") || startsWith("(*"))
      return unsupported(At, 3);
    Out += Pattern[At++];
    return {};
  }

  Status interval() {
    size_t Start = At++;
    auto Number = [&]() -> std::optional<unsigned> {
      std::optional<unsigned> Value;
      while (At < Pattern.size() && Pattern[At] >= '0' && Pattern[At] <= '9') {
        auto Digit = static_cast<unsigned>(Pattern[At++] - '0');
        Value = std::min(Value.value_or(0) * 10 + Digit, MaxRepeat + 1);
      }
      return Value;
    };
    std::optional<unsigned> Low = Number();
    bool Comma = At < Pattern.size() && Pattern[At] == ',';
    At += Comma;
    std::optional<unsigned> High = Comma ? Number() : Low;
    if (At >= Pattern.size() || Pattern[At] != '}' || (!Low && !High)) {
      // Not an interval: an ordinary brace.
      Out += "\\{";
      At = Start + 1;
      return {};
    }
    ++At;
    if (Low.value_or(0) > MaxRepeat || High.value_or(0) > MaxRepeat)
      return Error("repeats more than " + std::to_string(MaxRepeat) +
                   " times at byte " + std::to_string(Start));
    // After an interval, Ruby reads + and (after {n}) ? as one more repeat.
    char After = At < Pattern.size() ? Pattern[At] : '\0';
    if (After == '+' || (After == '?' && !Comma))
      return unsupported(Start, At + 1 - Start);
    Out += "{" + std::to_string(Low.value_or(0));
    if (Comma)
      Out += "," + (High ? std::to_string(*High) : "");
    Out += "}";
    return {};
  }

  /// An escape, outside or inside a class.
  Status escape(bool InClass) {
    size_t Start = At++;
    if (At == Pattern.size())
      return Error("ends in a backslash");
    char C = Pattern[At++];
    switch (C) {
    case 's':
    case 'S':
      return set(classText(WhiteSpace, false), classText(WhiteSpace, true),
                 C == 'S', InClass, Start);
    case 'w':
    case 'W':
      // Outside a class, Oniguruma takes Latin-1's other numbers for words too.
      return set(classText(regexWordRanges(), false) +
                     (InClass ? "" : "\\xb2\\xb3\\xb9\\xbc-\\xbe"),
                 classText(regexWordRanges(), true), C == 'W', InClass, Start);
    case 'd':
    case 'D':
      return set("\\p{Nd}" + newerCategoryRanges("Nd"), "", C == 'D', InClass,
                 Start);
    case 'p':
    case 'P':
      return property(C == 'P', InClass, Start);
    case 'v':
      Out += "\\x0b"; // PCRE2's \v is a class.
      return {};
    case 'x':
    case 'u':
      return codeEscape(C, Start);
    case 'A':
    case 'z':
      if (InClass)
        return unsupported(Start, 2);
      [[fallthrough]];
    case 'r':
    case 'n':
    case 't':
    case 'f':
    case 'a':
    case 'e':
      Out.append("\\").append(1, C);
      return {};
    default:
      break;
    }
    auto Byte = static_cast<unsigned char>(C);
    bool Letter = (C >= '0' && C <= '9') || (C >= 'a' && C <= 'z') ||
                  (C >= 'A' && C <= 'Z');
    if (Letter || Byte < 0x20 || Byte >= 0x7f)
      return unsupported(Start, At - Start);
    Out.append("\\").append(1, C);
    return {};
  }

  /// \xHH below 80, \x{H...} or \uHHHH.
  Status codeEscape(char Kind, size_t Start) {
    bool Braces = Kind == 'x' && At < Pattern.size() && Pattern[At] == '{';
    At += Braces;
    size_t Most = Braces ? 6 : Kind == 'x' ? 2 : 4;
    size_t Digits = 0;
    uint32_t Code = 0;
    for (; Digits < Most && At < Pattern.size(); ++Digits, ++At) {
      char C = Pattern[At];
      uint32_t Value;
      if (C >= '0' && C <= '9')
        Value = static_cast<uint32_t>(C - '0');
      else if ((C | 32) >= 'a' && (C | 32) <= 'f')
        Value = static_cast<uint32_t>((C | 32) - 'a' + 10);
      else
        break;
      Code = Code * 16 + Value;
    }
    bool Closed = !Braces || (At < Pattern.size() && Pattern[At] == '}');
    At += Braces && Closed;
    bool Exact = Kind == 'u' ? Digits == 4 : Digits > 0;
    // \x80 and above is a byte, not a character, in Oniguruma.
    bool Byte = Kind == 'x' && !Braces && Code >= 0x80;
    if (!Closed || !Exact || Byte || Code > 0x10ffff ||
        (Code >= 0xd800 && Code < 0xe000))
      return unsupported(Start, At - Start);
    char Text[16];
    std::snprintf(Text, sizeof(Text), "\\x{%x}", Code);
    Out += Text;
    return {};
  }

  Status property(bool Negated, bool InClass, size_t Start) {
    if (At == Pattern.size() || Pattern[At] != '{')
      return unsupported(Start, 2);
    size_t End = Pattern.find('}', At);
    if (End == std::string_view::npos)
      return unsupported(Start, Pattern.size() - Start);
    std::string_view Name = Pattern.substr(At + 1, End - At - 1);
    if (Name.substr(0, 1) == "^") {
      Negated = !Negated;
      Name.remove_prefix(1);
    }
    At = End + 1;
    if (Name == "Han")
      return set(classText(regexHanRanges(), false),
                 classText(regexHanRanges(), true), Negated, InClass, Start);
    if (std::find(std::begin(Categories), std::end(Categories), Name) ==
        std::end(Categories))
      return unsupported(Start, At - Start);
    return set("\\p{" + std::string(Name) + "}" + newerCategoryRanges(Name), "",
               Negated, InClass, Start);
  }

  /// A set of characters, whose complement has no text when it is not known.
  Status set(const std::string &Members, const std::string &Others,
             bool Negated, bool InClass, size_t Start) {
    if (!InClass)
      Out += (Negated ? "[^" : "[") + Members + "]";
    else if (Negated && Others.empty())
      return unsupported(Start, At - Start);
    else
      Out += Negated ? Others : Members;
    return {};
  }

  Status charClass() {
    size_t Start = At;
    Out += Pattern[At++];
    if (At < Pattern.size() && Pattern[At] == '^')
      Out += Pattern[At++];
    if (At < Pattern.size() && Pattern[At] == ']')
      return unsupported(Start, At + 1 - Start);
    while (At < Pattern.size() && Pattern[At] != ']') {
      // Nested and intersected classes are Ruby's alone.
      if (Pattern[At] == '[' || startsWith("&&"))
        return unsupported(At, 2);
      if (Pattern[At] == '\\') {
        if (Status Done = escape(true); !Done)
          return Done;
        continue;
      }
      // A hyphen before a set of characters stands for itself.
      bool BeforeSet = Pattern[At] == '-' && At + 2 < Pattern.size() &&
                       Pattern[At + 1] == '\\' &&
                       std::string_view("sSwWdDpP").find(Pattern[At + 2]) !=
                           std::string_view::npos;
      if (BeforeSet)
        Out += '\\';
      Out += Pattern[At++];
    }
    if (At == Pattern.size())
      return Error("lacks the ']' of the class at byte " +
                   std::to_string(Start));
    Out += Pattern[At++];
    return {};
  }

  std::string_view Pattern;
  size_t At = 0;
  unsigned Nesting = 0;
  std::string Out;
};

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

Result<std::string> tenon::translateRegex(std::string_view Pattern) {
  return Translator(Pattern).run();
}

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
