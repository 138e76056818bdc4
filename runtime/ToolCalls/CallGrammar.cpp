//===- CallGrammar.cpp - Answers whose calls fit their tools --------------===//

#include "runtime/ToolCalls/CallGrammar.h"

#include "runtime/Grammar/RuleBuilder.h"
#include "runtime/ToolCalls/CallMatcher.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tools;
using grammar::Grammar;
using grammar::RuleBuilder;
using Part = RuleBuilder::Part;
using Row = RuleBuilder::Row;

static_assert(SpecialByte == grammar::SpecialMark);

bool tools::isStrict(const Json &Tool) {
  return Tool.is_object() && Tool.contains("function") &&
         Tool.at("function").is_object() &&
         Tool.at("function").value("strict", Json()) == true;
}

Json tools::argumentsSchema(const Json &Tool) {
  Json Schema = Tool.at("function").value("parameters", Json());
  if (Schema.is_null())
    Schema = Json::object();
  if (Schema.is_object() && !Schema.contains("type"))
    Schema["type"] = "object";
  return Schema;
}

namespace {

/// Marks as the vocabulary has them: texts, and special tokens.
struct Marks {
  std::vector<std::string> Texts, Specials;

  bool has(const std::string &Special) const {
    return std::find(Specials.begin(), Specials.end(), Special) !=
           Specials.end();
  }
};

class Builder {
public:
  Builder(const ToolFormat &Format, const CallGrammarOptions &Options,
          const grammar::Limits &Most)
      : Format(Format), Options(Options), Most(Most), Rules(Compact, Most) {}

  Result<Grammar::Ptr> build();

private:
  using Elements = std::span<const Element>;

  Status checkSchemas();
  Status addPatterns(Part Call, Part Bare);
  Status addElements(Elements All, Row &To, const Json *Tool);
  Status addArguments(Elements Inner, Row &To, const Json &Tool);
  Part anyArguments(Elements Inner);
  bool mayBeEmpty(const Json &Schema) const;
  Status addTools(Elements Rest, Row &To);
  Result<bool> isText(const Json &Tool, const std::string &Key,
                      const Json &Schema) const;
  Result<Part> text(const Json &Tool, const std::string &Key,
                    const Json &Schema, std::string_view Close);
  Error argumentError(const Json &Tool, const std::string &Key,
                      const std::string &Why) const;
  Part calls(bool IsList);
  Json argumentsOf(const Json &Tool) const;
  std::string uriOf(const Json &Tool) const;
  Error unsupported(std::string_view Why) const {
    return Error("calls of the format '" + std::string(Format.Name) + "' " +
                 std::string(Why));
  }
  std::string bound(std::string_view Mark) const {
    return boundMark(Mark, Options.Parser.IsSpecial);
  }
  void addBegin(const std::string &Mark, Marks &To) const;
  bool isElsewhere(const std::string &Special) const;
  Part specialsBut(const Marks &Excluded);
  Part anything(const Marks &Excluded, Part Rest);

  /// Nobody reads the white space of calls.
  static constexpr grammar::SchemaOptions Compact = {.FixedOrder = true,
                                                     .MaxWhitespace = 1};
  const ToolFormat &Format;
  const CallGrammarOptions &Options;
  const grammar::Limits &Most;
  RuleBuilder Rules;
  Marks Begins; ///< Of calls and of reasoning.
  /// With which an answer begins that is a call without a mark.
  std::string Brackets;
};

} // namespace

/// Of the schema of its arguments.
std::string Builder::uriOf(const Json &Tool) const {
  size_t Number = 0;
  while (&Options.Parser.Tools[Number] != &Tool)
    ++Number;
  return "urn:tool:" + std::to_string(Number);
}

Json Builder::argumentsOf(const Json &Tool) const {
  return isStrict(Tool) ? argumentsSchema(Tool) : Json{{"type", "object"}};
}

/// Each schema by itself, so that an error names it.
Status Builder::checkSchemas() {
  const Json &Tools = Options.Parser.Tools;
  for (size_t I = 0; I < Tools.size(); ++I) {
    Json Name;
    if (Tools[I].is_object() && Tools[I].value("function", Name).is_object())
      Name = Tools[I].at("function").value("name", Name);
    if (!Name.is_string() || Name == "")
      return Error("tools[" + std::to_string(I) +
                   "] is no function: expected {\"type\": \"function\", "
                   "\"function\": {\"name\": ..., \"parameters\": ...}}");
    Json Schema = argumentsOf(Tools[I]);
    if (!Schema.is_object())
      return Error("tools[" + std::to_string(I) + "].function.parameters is " +
                   jsonKind(Schema) + ": expected an object");
    if (Result<Grammar::Ptr> Made =
            Grammar::fromJsonSchema(Schema, Compact, Most);
        !Made)
      return Made.error().withContext("tools[" + std::to_string(I) +
                                      "].function.parameters");
    Rules.define(uriOf(Tools[I]), std::move(Schema));
  }
  return {};
}

/// What JSON says of a call: the tool's name and its arguments, in one of the
/// ways that models have learnt.
Part Builder::calls(bool IsList) {
  Json Branches = Json::array();
  const Json &Tools = Options.Parser.Tools;
  const Json Id = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.-]{1,64}$"}};
  for (size_t I = 0; I < Tools.size(); ++I) {
    Json Name = {{"const", Tools[I].at("function").at("name")}};
    Json Arguments = {{"$ref", uriOf(Tools[I])}};
    auto Add = [&](Json Properties, Json Required) {
      Branches.push_back({{"type", "object"},
                          {"properties", std::move(Properties)},
                          {"required", std::move(Required)},
                          {"additionalProperties", false}});
    };
    Add({{"name", Name}, {"arguments", Arguments}, {"id", Id}},
        {"name", "arguments"});
    Add({{"name", Name}, {"parameters", Arguments}}, {"name", "parameters"});
    Add({{"tool_call_id", Id}, {"tool_name", Name}, {"parameters", Arguments}},
        {"tool_name", "parameters"});
  }
  Json One = {{"anyOf", std::move(Branches)}};
  if (!IsList)
    return Rules.value(std::move(One));
  Json List = {{"type", "array"}, {"minItems", 1}, {"items", std::move(One)}};
  if (Options.IsSingle)
    List["maxItems"] = 1;
  return Rules.value(std::move(List));
}

static const std::string &nameOf(const Json &Tool) {
  return Tool.at("function").at("name").get_ref<const std::string &>();
}

Error Builder::argumentError(const Json &Tool, const std::string &Key,
                             const std::string &Why) const {
  return unsupported("write texts without quotes: the argument " +
                     printable(Key) + " of " + printable(nameOf(Tool)) + " " +
                     Why);
}

/// Whether the argument `Key` of a tool is written as a text, without quotes,
/// rather than in JSON. An error where its schema does not say.
Result<bool> Builder::isText(const Json &Tool, const std::string &Key,
                             const Json &Schema) const {
  Json Types = Schema.is_object() ? Schema.value("type", Json()) : Json();
  if (Types.is_string())
    Types = Json::array({Types});
  if (!Types.is_array())
    return argumentError(Tool, Key, "may be one or not: expected a \"type\"");
  bool IsText = std::find(Types.begin(), Types.end(), "string") != Types.end();
  for (const Json &Type : Types)
    if (IsText && Type != "string" && Type != "null")
      return argumentError(
          Tool, Key, "may be one or not: expected the type \"string\" alone");
  return IsText;
}

/// A text that `Close` ends.
Result<Part> Builder::text(const Json &Tool, const std::string &Key,
                           const Json &Schema, std::string_view Close) {
  for (const auto &[Keyword, Value] : Schema.items()) {
    static constexpr std::string_view Harmless[] = {
        "type", "title", "description", "default", "examples", "$comment"};
    if (std::find(std::begin(Harmless), std::end(Harmless), Keyword) !=
        std::end(Harmless))
      continue;
    if (Keyword != "enum")
      return argumentError(Tool, Key,
                           "has " + printable(Keyword) + ": expected none");
    std::vector<std::string> Words;
    for (const Json &Each : Value)
      if (Each.is_string() && Each != "" &&
          Each.get_ref<const std::string &>().find(Close) == std::string::npos)
        Words.push_back(Each);
    if (Words.size() != Value.size())
      return argumentError(
          Tool, Key,
          "has an \"enum\" of others: expected texts, without " +
              printable(Close));
    return Rules.words(Words);
  }
  return Rules.textWithout({std::string(Close)});
}

/// Any arguments, of a tool that is not strict.
Part Builder::anyArguments(Elements Inner) {
  Row One;
  for (size_t I = 0; I < Inner.size(); ++I) {
    const Element &E = Inner[I];
    if (E.What == Element::Key)
      One.push_back(Rules.text("[A-Za-z0-9_.-]{1,64}"));
    else if (E.What == Element::Type)
      One.push_back(Rules.text("[a-z]{1,16}"));
    else if (E.What == Element::Value || E.What == Element::Line)
      One.push_back(Rules.textWithout({std::string(Inner[I + 1].Text)}));
    else
      (void)addElements(Inner.subspan(I, 1), One, nullptr); // marks, spaces
  }
  Part Again = Rules.anyOf({{}});
  One.push_back(Again);
  Rules.add(Again, std::move(One));
  return Again;
}

/// Each argument of the tool, in the order of its schema.
Status Builder::addArguments(Elements Inner, Row &To, const Json &Tool) {
  if (!isStrict(Tool)) {
    To.push_back(anyArguments(Inner));
    return {};
  }
  Json Schema = argumentsOf(Tool);
  for (const auto &[Keyword, Value] : Schema.items()) {
    static constexpr std::string_view Known[] = {
        "type",  "properties",  "required", "additionalProperties", "title",
        "$defs", "description", "$schema",  "definitions"};
    if (std::find(std::begin(Known), std::end(Known), Keyword) ==
        std::end(Known))
      return unsupported("have arguments one by one: the schema of " +
                         printable(nameOf(Tool)) + " has " +
                         printable(Keyword) + " beside them");
  }
  const Json Required = Schema.value("required", Json::array());
  const Json Properties = Schema.value("properties", Json::object());
  for (const Json &Key : Required)
    if (!Properties.contains(Key))
      return argumentError(Tool, Key, "is required: expected its schema");
  for (const auto &[Key, Value] : Properties.items()) {
    if (Value == false)
      continue;
    Result<bool> IsText = isText(Tool, Key, Value);
    if (!IsText)
      return IsText.error();
    Row One;
    for (size_t I = 0; I < Inner.size(); ++I) {
      const Element &E = Inner[I];
      if (E.What == Element::Key) {
        if (Key.empty() || Key.find(Inner[I + 1].Text) != Key.npos)
          return argumentError(Tool, Key,
                               "cannot be written: expected a name without " +
                                   printable(Inner[I + 1].Text));
        One.push_back(Rules.bytes(Key));
      } else if (E.What == Element::Type) {
        One.push_back(
            *IsText ? Rules.words({"true", "string"})
                    : Rules.words({"false", "number", "integer", "boolean",
                                   "object", "array", "null"}));
      } else if (E.What == Element::Value || E.What == Element::Line) {
        Result<Part> Made =
            *IsText ? text(Tool, Key, Value, Inner[I + 1].Text)
                    : Rules.value({{"$ref", uriOf(Tool) + "#/properties" +
                                                grammar::pointerPart(Key)}});
        if (!Made)
          return Made.error();
        // Which belongs to the format, on either side.
        Part Break = Rules.optional({Rules.bytes("\n")});
        if (E.What == Element::Line)
          One.insert(One.end(), {Break, *Made, Break});
        else
          One.push_back(*Made);
      } else if (Status Added = addElements(Inner.subspan(I, 1), One, &Tool);
                 !Added) {
        return Added;
      }
    }
    bool IsRequired =
        std::find(Required.begin(), Required.end(), Key) != Required.end();
    To.push_back(IsRequired ? Rules.anyOf({One}) : Rules.optional(One));
  }
  return {};
}

/// Whether a call may have no arguments.
bool Builder::mayBeEmpty(const Json &Schema) const {
  Json Own = Schema;
  Own["$id"] = "urn:arguments";
  Json Empty = {{"$defs", {{"arguments", std::move(Own)}}},
                {"$ref", "urn:arguments"},
                {"maxProperties", 0}};
  return bool(Grammar::fromJsonSchema(Empty, Compact, Most));
}

/// From the name of the tool on: an alternative for each.
Status Builder::addTools(Elements Rest, Row &To) {
  bool HasArguments =
      std::any_of(Rest.begin(), Rest.end(), [](const Element &E) {
        return E.What == Element::Object || E.What == Element::Key ||
               E.What == Element::Gemma;
      });
  Part Each = Rules.rule();
  for (const Json &Tool : Options.Parser.Tools) {
    if (!HasArguments && !mayBeEmpty(argumentsOf(Tool)))
      continue;
    Row One = {Rules.bytes(Tool.at("function").at("name"))};
    if (Status Added = addElements(Rest, One, &Tool); !Added)
      return Added;
    Rules.add(Each, std::move(One));
  }
  To.push_back(Each);
  return {};
}

Status Builder::addElements(Elements All, Row &To, const Json *Tool) {
  for (size_t I = 0; I < All.size(); ++I) {
    const Element &E = All[I];
    switch (E.What) {
    case Element::Mark:
      To.push_back(Rules.bytes(bound(E.Text)));
      break;
    case Element::Maybe:
      To.push_back(Rules.optional({Rules.bytes(bound(E.Text))}));
      break;
    case Element::Space:
      To.push_back(Rules.text("[ \\t\\r\\n]{0,8}"));
      break;
    case Element::Name:
      return addTools(All.subspan(I + 1), To);
    case Element::Id:
      To.push_back(Rules.text("[A-Za-z0-9_.-]{1,64}"));
      break;
    case Element::Call:
    case Element::Calls:
      To.push_back(calls(E.What == Element::Calls));
      break;
    case Element::Object:
      To.push_back(Rules.value({{"$ref", uriOf(*Tool)}}));
      break;
    case Element::Repeat: {
      size_t End = I + 1;
      while (All[End].What != Element::End)
        ++End;
      Elements Inner = All.subspan(I + 1, End - I - 1);
      bool HasKeys =
          std::any_of(Inner.begin(), Inner.end(), [](const Element &Each) {
            return Each.What == Element::Key;
          });
      if (HasKeys) {
        if (Status Added = addArguments(Inner, To, *Tool); !Added)
          return Added;
      } else if (!Options.IsSingle) {
        Part Again = Rules.rule();
        Row More;
        if (Status Added = addElements(Inner, More, Tool); !Added)
          return Added;
        More.push_back(Again);
        Rules.add(Again, std::move(More));
        Rules.add(Again, {});
        To.push_back(Again);
      }
      I = End;
      break;
    }
    case Element::SkipTo:
    case Element::Pythonic:
    case Element::Gemma:
    case Element::Key:
    case Element::Value:
    case Element::Line:
    case Element::Type:
    case Element::End:
      return unsupported("cannot be held to schemas while they are written");
    }
  }
  return {};
}

/// What text must not have in it so that the mark is not in it.
void Builder::addBegin(const std::string &Mark, Marks &To) const {
  if (Mark.front() != SpecialByte)
    return To.Texts.push_back(Mark);
  std::string_view Rest = std::string_view(Mark).substr(1);
  const std::string *Found = nullptr;
  for (const std::string &Token : Options.AddedTokens)
    if (Rest.starts_with(Token) &&
        (Token.ends_with('>') || Token.ends_with(']')) &&
        (!Found || Token.size() < Found->size()))
      Found = &Token;
  if (Found && !To.has(*Found))
    To.Specials.push_back(*Found);
}

/// Whether a special token is in a mark that has nothing to do with calls.
bool Builder::isElsewhere(const std::string &Special) const {
  for (const auto *All :
       {&Format.Dropped, &Format.ThinkBegin, &Format.ThinkEnd})
    for (std::string_view Mark : *All)
      if (bound(Mark).find(SpecialByte + Special) != std::string::npos)
        return true;
  return false;
}

/// Any special token but those.
Part Builder::specialsBut(const Marks &Excluded) {
  std::vector<std::string> Others;
  for (const std::string &Token : Options.AddedTokens)
    if (!Excluded.has(Token))
      Others.push_back(Token);
  Part Made = Rules.rule();
  if (!Others.empty())
    Rules.add(Made,
              {Rules.bytes(std::string(1, SpecialByte)), Rules.words(Others)});
  return Made;
}

/// Text and special tokens that have none of the marks, then `Rest`.
Part Builder::anything(const Marks &Excluded, Part Rest) {
  Part Whole = Rules.anyOf({{Rules.textWithout(Excluded.Texts), Rest}});
  Rules.add(Rest, {specialsBut(Excluded), Whole});
  return Whole;
}

/// The alternatives of calls behind a mark and of those without one.
Status Builder::addPatterns(Part Call, Part Bare) {
  std::optional<Error> Unsupported;
  bool HasAny = false;
  for (const CallPattern &P : Format.Patterns) {
    const Element &First = P.Elements.front();
    bool IsBare = First.What != Element::Mark;
    if (IsBare) {
      bool IsList =
          First.What == Element::Calls || First.What == Element::Pythonic;
      Brackets += IsList ? '[' : '{';
    } else {
      std::string Mark = bound(First.Text);
      bool IsMixed = Mark.front() != SpecialByte &&
                     Mark.find(SpecialByte) != std::string::npos;
      if (P.AtStart || IsMixed)
        return unsupported("cannot be told from text by how they begin");
      // What cannot be held to a schema cannot be written either.
      addBegin(Mark, Begins);
    }
    Row One;
    if (Status Added = addElements(P.Elements, One, nullptr); !Added) {
      Unsupported = Added.error();
      continue;
    }
    HasAny = true;
    Rules.add(IsBare ? Bare : Call, std::move(One));
  }
  if (std::any_of(Begins.Specials.begin(), Begins.Specials.end(),
                  [&](const std::string &Token) { return isElsewhere(Token); }))
    return unsupported("cannot be told from other parts by how they begin");
  if (!HasAny)
    return *Unsupported;
  return {};
}

Result<Grammar::Ptr> Builder::build() {
  if (Status Good = checkSchemas(); !Good)
    return Good.error();
  Part Root = Rules.rule(), Start = Rules.rule();
  Part Call = Rules.rule(), Bare = Rules.rule(), Think = Rules.rule();
  if (Status Added = addPatterns(Call, Bare); !Added)
    return Added.error();

  // Reasoning may have anything in it, and need not end.
  Marks Ends;
  Part Thought = Rules.rule();
  Rules.add(Thought, {});
  for (std::string_view Mark : Format.ThinkEnd) {
    addBegin(bound(Mark), Ends);
    Rules.add(Thought, {Rules.bytes(bound(Mark)), Start});
  }
  Part Thinking = anything(Ends, Thought);
  for (std::string_view Mark : Format.ThinkBegin) {
    addBegin(bound(Mark), Begins);
    Rules.add(Think, {Rules.bytes(bound(Mark)), Thinking});
  }

  Part Rest = Rules.rule();
  Part Body = anything(Begins, Rest);
  Rules.add(Rest, {});
  Rules.add(Rest, {Think});
  Part After = Body;
  if (Options.IsSingle) {
    Part End = Rules.anyOf({{}});
    After = anything(Begins, End);
  }
  Rules.add(Rest, {Call, After});

  if (Brackets.empty()) {
    Rules.add(Start, {Body});
  } else {
    Part Space = Rules.text("[ \\t\\r\\n]*");
    Rules.add(Start, {Space, Bare, Space});
    Rules.add(Start, {Space, specialsBut(Begins), Start});
    Rules.add(Start, {Space, Think});
    Rules.add(Start, {Space, Call, After});
    Rules.add(Start, {Space});
    Rules.add(
        Start,
        {Space, Rules.textWithout(Begins.Texts, "[^ \\t\\r\\n{\\[]"), Rest});
  }
  Rules.add(Root, {Options.Parser.InReasoning ? Thinking : Start});
  return std::move(Rules).build();
}

Result<Grammar::Ptr> tools::callGrammar(const ToolFormat &Format,
                                        const CallGrammarOptions &Options,
                                        const grammar::Limits &Most) {
  return Builder(Format, Options, Most).build();
}
