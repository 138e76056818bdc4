//===- RegexTranslation.cpp - From Ruby's syntax to PCRE2's ---------------===//

#include "runtime/Tokenizer/Regex.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <iterator>

using namespace tenon;
using namespace tenon::tokenizer;

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

  Result<TranslatedRegex> run() {
    if (Pattern.size() > MaxPatternBytes)
      return Error("is longer than " + std::to_string(MaxPatternBytes) +
                   " bytes");
    while (At < Pattern.size())
      if (Status Done = item(); !Done)
        return Done.error();
    endAtom();
    return TranslatedRegex{std::move(Out), std::move(Counting), LargestRepeat};
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

  /// Ends what began at AtomStart, if anything, without a repeat.
  void endAtom() {
    Counting += std::string_view(Out).substr(AtomStart);
    AtomStart = Out.size();
  }

  /// Repeats what came last without bound, after the interval `Least`.
  void repeatAtom(const std::string &Least, char Repeat) {
    std::string Atom = Out.substr(AtomStart);
    // Nothing behind a group, whose repetitions are counted as they are.
    if (Atom.empty()) {
      Counting += Repeat;
      return;
    }
    if (!Least.empty())
      Counting += Atom + Least;
    Counting += "(?:" + Atom + ")" + Repeat;
  }

  /// One character or class, one quantifier or one of the signs between.
  Status item() {
    char C = Pattern[At];
    if (C == '*' || C == '+') {
      repeatAtom("", C);
      Out += Pattern[At++];
      AtomStart = Out.size();
      return {};
    }
    if (C == '{')
      return interval();
    // The bytes of a character stay together.
    if ((C & 0xc0) != 0x80)
      endAtom();
    Status Done = single();
    if (std::string_view("()|^$?").find(C) != std::string_view::npos)
      endAtom();
    return Done;
  }

  Status single() {
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
      endAtom();
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
    std::string Least = "{" + std::to_string(Low.value_or(0));
    std::string Range = Least;
    if (Comma)
      Range += "," + (High ? std::to_string(*High) : "");
    Range += "}";
    LargestRepeat =
        std::max({LargestRepeat, Low.value_or(0), High.value_or(0)});
    if (Comma && !High && AtomStart != Out.size()) {
      repeatAtom(Least + "}", '*');
    } else {
      endAtom();
      Counting += Range;
    }
    Out += Range;
    AtomStart = Out.size();
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
    size_t MaxDigits = Braces ? 6 : Kind == 'x' ? 2 : 4;
    size_t Digits = 0;
    uint32_t Code = 0;
    for (; Digits < MaxDigits && At < Pattern.size(); ++Digits, ++At) {
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
    bool Nested = false;
    while (At < Pattern.size() && (Nested || Pattern[At] != ']')) {
      // Ruby's alone. A class in a class adds its members, unless it excludes
      // or has a name; a range must not go across its ends.
      bool OddNesting = Pattern[At] == '[' &&
                        (Nested || At + 1 == Pattern.size() ||
                         std::string_view("^:]-").find(Pattern[At + 1]) !=
                             std::string_view::npos ||
                         Pattern[At - 1] == '-');
      if (OddNesting || startsWith("&&"))
        return unsupported(At, 2);
      if (Pattern[At] == '[' || Pattern[At] == ']') {
        Nested = Pattern[At++] == '[';
        // The hyphen would end the class in one syntax, not in the other.
        if (!Nested && (startsWith("-") || Pattern[At - 2] == '-'))
          return unsupported(At - 1, 2);
        continue;
      }
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
  std::string Out;      ///< TranslatedRegex::Fast.
  std::string Counting; ///< Of the same, without what begins at AtomStart.
  size_t AtomStart = 0;
  unsigned LargestRepeat = 1;
};

} // namespace

Result<TranslatedRegex> tokenizer::translateRegex(std::string_view Pattern) {
  return Translator(Pattern).run();
}
