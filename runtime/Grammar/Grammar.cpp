//===- Grammar.cpp - Texts that an answer may be --------------------------===//

#include "runtime/Grammar/Grammar.h"

#include "runtime/Grammar/Ebnf.h"
#include "runtime/Grammar/Mask.h"
#include "runtime/Grammar/RegexParser.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <map>
#include <mutex>

using namespace tenon;
using namespace tenon::grammar;

/// What matchers share. What is found while matching is kept up to a limit;
/// then all of it is forgotten, and matchers find it again.
struct Grammar::State {
  State(Source From, const Limits &Most)
      : Base(std::move(From)), Most(Most),
        Current(std::make_unique<Machine>(Base)) {}

  MaskMaker &masks(const std::shared_ptr<const TokenTable> &Tokens,
                   const TokenTable &Used) {
    auto Found = Masks.find(&Used);
    if (Found == Masks.end())
      Found = Masks
                  .emplace(&Used,
                           std::make_unique<MaskMaker>(*Current, Tokens, Used))
                  .first;
    return *Found->second;
  }

  bool fitsMemory() const {
    size_t Kept = Current->bytes();
    for (const auto &[Table, Maker] : Masks)
      Kept += Maker->bytes();
    return Kept <= Most.Memory;
  }

  void forget() {
    Masks.clear();
    Current = std::make_unique<Machine>(Base);
    ++Epoch;
  }

  const Source Base;
  const Limits Most;
  std::mutex Guard;
  std::unique_ptr<Machine> Current;
  std::map<const TokenTable *, std::unique_ptr<MaskMaker>> Masks;
  uint64_t Epoch = 1;
};

Grammar::Grammar(std::unique_ptr<State> Compiled)
    : Compiled(std::move(Compiled)) {}
Grammar::~Grammar() = default;

bool Grammar::hasSpecialTokens() const {
  return std::any_of(Compiled->Base.Literals.begin(),
                     Compiled->Base.Literals.end(),
                     [](const std::string &Text) {
                       return Text.find(SpecialMark) != Text.npos;
                     });
}

static Status checkSource(std::string_view Text, std::string_view What,
                          const Limits &Most) {
  if (Text.size() > Most.SourceBytes)
    return Error(std::string(What) + " of " + std::to_string(Text.size()) +
                 " bytes: expected at most " +
                 std::to_string(Most.SourceBytes));
  if (std::optional<size_t> Bad = tokenizer::findInvalidUtf8(Text))
    return Error(std::string(What) + " is not UTF-8 at byte " +
                 std::to_string(*Bad));
  return {};
}

static int depthOf(const Json &Value, int Most) {
  int Depth = 0;
  if (Most > 0 && Value.is_structured())
    for (const Json &Inner : Value)
      Depth = std::max(Depth, depthOf(Inner, Most - 1));
  return Depth + 1;
}

Result<Grammar::Ptr> Grammar::fromJsonSchemaText(std::string_view Text,
                                                 const SchemaOptions &Options,
                                                 const Limits &Most) {
  if (Status Fits = checkSource(Text, "JSON schema", Most); !Fits)
    return Fits.error();
  Result<Json> Schema = parseJson(Text, "JSON schema", Most.Depth);
  if (!Schema)
    return Schema.error();
  return fromJsonSchema(*Schema, Options, Most);
}

Result<Grammar::Ptr> Grammar::fromJsonSchema(const Json &Schema,
                                             const SchemaOptions &Options,
                                             const Limits &Most) {
  if (depthOf(Schema, Most.Depth) > Most.Depth)
    return Error("JSON schema: nested deeper than " +
                 std::to_string(Most.Depth) + " levels");
  Result<SchemaSource> Read = SchemaSource::read(Schema);
  if (!Read)
    return Read.error();
  Source From;
  From.Pool.setMaxNodes(Most.States);
  Result<JsonRules> Rules = buildRules(*Read, From.Pool, Options, Most);
  if (!Rules)
    return Rules.error();
  From.Json = std::make_shared<const JsonRules>(std::move(*Rules));
  return fromSource(std::move(From), Most);
}

Result<Grammar::Ptr> Grammar::anyJsonObject(const SchemaOptions &Options) {
  return fromJsonSchema(Json{{"type", "object"}}, Options);
}

/// A grammar of one regular expression.
static Result<Source> ofNode(Source From, NodeId Node, std::string_view What) {
  if (From.Pool.exhausted())
    return Error(std::string(What) + ": makes too many states");
  bool Lives = From.Pool.live(Node);
  if (From.Pool.exhausted())
    return Error(std::string(What) + ": makes too many states");
  if (!Lives)
    return Error(std::string(What) + ": no text matches");
  From.Rules = {{{{Source::Part::Text, Node}}}};
  return From;
}

Result<Grammar::Ptr> Grammar::fromRegex(std::string_view Text,
                                        const Limits &Most) {
  if (Status Fits = checkSource(Text, "regular expression", Most); !Fits)
    return Fits.error();
  Source From;
  From.Pool.setMaxNodes(Most.States);
  Result<NodeId> Node = parseRegex(From.Pool, Text, false);
  if (!Node)
    return Node.error();
  Result<Source> Made =
      ofNode(std::move(From), *Node, "regular expression " + printable(Text));
  if (!Made)
    return Made.error();
  return fromSource(std::move(*Made), Most);
}

Result<Grammar::Ptr> Grammar::fromChoices(std::span<const std::string> Texts,
                                          const Limits &Most) {
  std::vector<std::u32string> Words;
  size_t Bytes = 0;
  for (const std::string &Text : Texts) {
    Bytes += Text.size();
    if (Status Fits = checkSource(Text, "choice", Most); !Fits)
      return Fits.error();
    if (Text.empty())
      return Error("choice is '': expected at least one character");
    Words.push_back(codesOf(Text));
    if (Words.back().size() > 10'000)
      return Error("choice of more than 10000 characters");
  }
  if (Words.empty())
    return Error("no choice: expected at least one text");
  if (Bytes > Most.SourceBytes)
    return Error("choices of " + std::to_string(Bytes) +
                 " bytes: expected at most " +
                 std::to_string(Most.SourceBytes));
  Source From;
  NodeId Node = From.Pool.words(std::move(Words));
  Result<Source> Made = ofNode(std::move(From), Node, "choice");
  if (!Made)
    return Made.error();
  return fromSource(std::move(*Made), Most);
}

Result<Grammar::Ptr> Grammar::fromEbnf(std::string_view Text,
                                       const Limits &Most) {
  if (Status Fits = checkSource(Text, "grammar", Most); !Fits)
    return Fits.error();
  Result<Source> Made = readEbnf(Text, Most);
  if (!Made)
    return Made.error();
  return fromSource(std::move(*Made), Most);
}

Grammar::Ptr Grammar::fromSource(Source From, const Limits &Most) {
  return Ptr(new Grammar(std::make_unique<State>(std::move(From), Most)));
}

Matcher::Matcher(Grammar::Ptr Of, std::shared_ptr<const TokenTable> Tokens,
                 bool Begins)
    : G(std::move(Of)), Tokens(std::move(Tokens)), Begins(Begins),
      StepsLeft(G->Compiled->Most.Steps) {
  std::lock_guard Lock(G->Compiled->Guard);
  Epoch = G->Compiled->Epoch;
  Configs.push_back(G->Compiled->Current->start());
}

/// Behind the bytes of a token; the grammar is locked.
uint32_t Matcher::stepped(uint32_t From, int32_t Token) {
  if (Token < 0 || static_cast<size_t>(Token) >= Tokens->size())
    return Machine::NoConfig;
  const std::string &Bytes = table().bytesOf(Token);
  // The space that a tokenizer puts before a text is decoded to nothing.
  bool IsNothing = Bytes.empty() && !Tokens->bytesOf(Token).empty();
  if (Bytes.empty() && !IsNothing)
    return Machine::NoConfig;
  Machine &M = *G->Compiled->Current;
  for (char C : Bytes)
    if ((From = M.step(From, static_cast<unsigned char>(C))) ==
        Machine::NoConfig)
      break;
  return From;
}

/// Where numbers mean something else by now, the text is read again; false if
/// that takes too much.
bool Matcher::catchUp() {
  Grammar::State &S = *G->Compiled;
  if (!S.fitsMemory())
    S.forget();
  if (Epoch == S.Epoch)
    return true;
  Epoch = S.Epoch;
  Configs = {S.Current->start()};
  for (int32_t Token : Accepted) {
    S.Current->allowSteps(S.Most.Steps);
    Configs.push_back(stepped(Configs.back(), Token));
    if (S.Current->exhausted() || !S.fitsMemory())
      return false;
  }
  return true;
}

/// What `Do` finds, with the grammar locked, or {} if that takes too much.
template <typename Function> auto Matcher::ask(Function Do) {
  Grammar::State &S = *G->Compiled;
  std::lock_guard Lock(S.Guard);
  // What others have found may leave too little room: then from the beginning.
  for (int Try = 0; !GaveUp && (Try == 0 || (Try == 1 && StepsLeft > 0));
       ++Try) {
    if (catchUp()) {
      S.Current->allowSteps(StepsLeft);
      auto Found = Do(*S.Current);
      StepsLeft -= std::min(StepsLeft, S.Current->stepsTaken());
      if (!S.Current->exhausted())
        return Found;
    }
    S.forget();
  }
  GaveUp = true;
  return decltype(Do(*S.Current))();
}

void Matcher::mask(std::span<uint64_t> Words) {
  bool IsMade = ask([&](Machine &) {
    const TokenTable &Used = table();
    G->Compiled->masks(Tokens, Used).fill(Configs.back(), Words);
    // A first token that is nothing but the space before a text.
    if (&Used != Tokens.get())
      for (size_t Id = 0; Id < Used.size() && Id / 64 < Words.size(); ++Id)
        if (Used.bytesOf(int32_t(Id)).empty() &&
            !Tokens->bytesOf(int32_t(Id)).empty())
          Words[Id / 64] |= uint64_t{1} << (Id % 64);
    return true;
  });
  if (!IsMade)
    std::fill(Words.begin(), Words.end(), 0);
}

bool Matcher::allows(int32_t Token) {
  return ask([&](Machine &) {
    return stepped(Configs.back(), Token) != Machine::NoConfig;
  });
}

bool Matcher::accept(int32_t Token) {
  uint32_t Next =
      ask([&](Machine &) { return stepped(Configs.back(), Token); });
  if (Next == Machine::NoConfig)
    return false;
  Configs.push_back(Next);
  Accepted.push_back(Token);
  const Limits &Most = G->Compiled->Most;
  StepsLeft = std::min(Most.Steps, StepsLeft + Most.StepsPerToken);
  return true;
}

void Matcher::rollback(size_t Count) {
  Count = std::min(Count, Accepted.size());
  Configs.resize(Configs.size() - Count);
  Accepted.resize(Accepted.size() - Count);
  StepsLeft -= std::min(StepsLeft, Count * G->Compiled->Most.StepsPerToken);
}

bool Matcher::canEnd() {
  return ask([&](Machine &M) { return M.canEnd(Configs.back()); });
}

bool Matcher::isComplete() {
  return ask([&](Machine &M) { return M.isComplete(Configs.back()); });
}

std::string Matcher::forced(size_t Most) {
  return ask([&](Machine &M) {
    std::string Text;
    uint32_t At = Configs.back();
    while (Text.size() < Most && !M.canEnd(At)) {
      uint32_t Only = Machine::NoConfig;
      unsigned Ways = 0;
      for (unsigned Byte = 0; Byte < 256 && Ways < 2; ++Byte) {
        if (!M.nextBytes(At).test(Byte))
          continue;
        uint32_t Next = M.step(At, static_cast<unsigned char>(Byte));
        if (Next == Machine::NoConfig)
          continue;
        if (++Ways == 1) {
          Only = Next;
          Text += static_cast<char>(Byte);
        }
      }
      if (Ways != 1) {
        if (Ways > 1)
          Text.pop_back();
        break;
      }
      At = Only;
    }
    return Text;
  });
}
