//===- Constraints.cpp - What answers must be -----------------------------===//

#include "runtime/Http/Constraints.h"

#include "runtime/ToolCalls/CallGrammar.h"

using namespace tenon;
using namespace tenon::http;
using grammar::Grammar;
using grammar::SchemaOptions;

/// What a grammar of a client may take: as many are kept as GrammarStore says.
static constexpr grammar::Limits Bounds = {.Memory = 32u << 20};

/// Compiles, or has, a grammar; an error in `F` says that `Param` is wrong.
static Grammar::Ptr compiled(const std::string &Param, const std::string &Key,
                             Fields &F, GrammarCache &Known,
                             std::function<Result<Grammar::Ptr>()> Compile) {
  Result<Grammar::Ptr> G = Known.get(Key, Compile);
  if (G)
    return *G;
  F.refuse({400, "'" + Param + "': " + G.error().message(), Param});
  return nullptr;
}

static Grammar::Ptr schemaGrammar(const Json &Schema,
                                  const SchemaOptions &Options,
                                  const std::string &Param, Fields &F,
                                  GrammarCache &Known) {
  std::string Key = "schema " + std::to_string(Options.FixedOrder) + " " +
                    std::to_string(Options.MaxWhitespace) + " " + Schema.dump();
  return compiled(Param, Key, F, Known, [&] {
    return Grammar::fromJsonSchema(Schema, Options, Bounds);
  });
}

static Grammar::Ptr objectGrammar(const std::string &Param, Fields &F,
                                  GrammarCache &Known) {
  return compiled(Param, "object", F, Known,
                  [] { return Grammar::anyJsonObject(); });
}

Grammar::Ptr http::constraintOf(const Json &Format, const std::string &Param,
                                bool IsFlat, Fields &F, GrammarCache &Known) {
  Fields Outer(Format, Param + ".");
  std::string Type = Outer.string("type").value_or("");
  Grammar::Ptr G;
  if (Type == "json_object") {
    G = objectGrammar(Param, F, Known);
  } else if (Type == "json_schema") {
    std::string Path = IsFlat ? Param : Param + ".json_schema";
    const Json *Named =
        IsFlat ? &Format
               : Outer.need("json_schema", "an object with a \"schema\"");
    if (Named) {
      Fields Own(*Named, Path + ".");
      Fields &Inner = IsFlat ? Outer : Own;
      Inner.string("name");
      Inner.string("description");
      // OpenAI's strict answers have keys in the order of the schema.
      bool IsStrict = Inner.boolean("strict").value_or(false);
      const Json *Schema = Inner.need("schema", "a JSON schema");
      if (std::optional<ApiError> Wrong = Inner.finish())
        F.refuse(*Wrong);
      else
        G = schemaGrammar(*Schema, {.FixedOrder = IsStrict}, Path + ".schema",
                          F, Known);
    }
  } else if (Type != "text") {
    Outer.expected("type", "\"text\", \"json_object\" or \"json_schema\"");
  }
  if (std::optional<ApiError> Wrong = Outer.finish())
    F.refuse(*Wrong);
  return G;
}

/// vLLM's "structured_outputs": one of five members.
static Grammar::Ptr structuredOutputs(const Json &Given, Fields &F,
                                      GrammarCache &Known) {
  const std::string Path = "structured_outputs";
  Fields Inner(Given, Path + ".");
  Grammar::Ptr G;
  size_t Count = 0;
  if (const Json *Schema = Inner.get("json")) {
    ++Count;
    std::string Param = Path + ".json";
    Json Parsed = *Schema;
    if (Schema->is_string()) {
      Result<Json> Text =
          parseJson(Schema->get_ref<const std::string &>(), "'" + Param + "'");
      if (!Text) {
        F.refuse({400, Text.error().message(), Param});
        return nullptr;
      }
      Parsed = std::move(*Text);
    }
    G = schemaGrammar(Parsed, {}, Param, F, Known);
  }
  if (std::optional<std::string> Text = Inner.string("regex")) {
    ++Count;
    G = compiled(Path + ".regex", "regex " + *Text, F, Known,
                 [&] { return Grammar::fromRegex(*Text, Bounds); });
  }
  if (std::optional<std::string> Text = Inner.string("grammar")) {
    ++Count;
    G = compiled(Path + ".grammar", "ebnf " + *Text, F, Known,
                 [&] { return Grammar::fromEbnf(*Text, Bounds); });
  }
  if (const Json *Choices = Inner.get("choice")) {
    ++Count;
    std::vector<std::string> Texts;
    if (Choices->is_array())
      for (const Json &Each : *Choices)
        if (Each.is_string())
          Texts.push_back(Each);
    if (!Choices->is_array() || Texts.size() != Choices->size())
      Inner.expected("choice", "an array of texts");
    else
      G = compiled(Path + ".choice", "choice " + Choices->dump(), F, Known,
                   [&] { return Grammar::fromChoices(Texts, Bounds); });
  }
  if (std::optional<bool> Any = Inner.boolean("json_object"); Any && *Any) {
    ++Count;
    G = objectGrammar(Path + ".json_object", F, Known);
  }
  if (std::optional<ApiError> Wrong = Inner.finish())
    F.refuse(*Wrong);
  else if (Count != 1)
    F.expected(Path, "one of \"json\", \"regex\", \"grammar\", \"choice\" and "
                     "\"json_object\"");
  return G;
}

Grammar::Ptr http::readConstraint(Fields &F, GrammarCache &Known) {
  Grammar::Ptr G;
  if (const Json *Format = F.get("response_format"))
    G = constraintOf(*Format, "response_format", /*IsFlat=*/false, F, Known);
  if (const Json *Given = F.get("structured_outputs")) {
    if (G)
      F.refuse({400,
                "'structured_outputs' is given beside 'response_format': "
                "expected one of them",
                "structured_outputs"});
    G = structuredOutputs(*Given, F, Known);
  }
  return G;
}

static Grammar::Ptr grammarOfCalls(const ToolChoice &Call, const Json &Tools,
                                   Fields &F, GrammarCache &Known) {
  // Nobody reads white space of calls.
  const SchemaOptions Options = {.FixedOrder = true, .MaxWhitespace = 1};
  Json Branches = Json::array();
  for (size_t I = 0; I < Tools.size(); ++I) {
    const Json &Tool = Tools[I];
    const Json &Name = Tool.at("function").at("name");
    if (!Call.Name.empty()) {
      if (Name == Call.Name)
        return schemaGrammar(
            tools::argumentsSchema(Tool), Options,
            "tools[" + std::to_string(I) + "].function.parameters", F, Known);
      continue;
    }
    // References of a schema are to its own root: each is tried by itself, and
    // then stands as a resource of its own.
    Json Arguments = tools::argumentsSchema(Tool);
    if (!schemaGrammar(Arguments, Options,
                       "tools[" + std::to_string(I) + "].function.parameters",
                       F, Known))
      return nullptr;
    Arguments["$id"] = "urn:tool:" + std::to_string(I);
    Branches.push_back(
        {{"type", "object"},
         {"properties",
          {{"name", {{"const", Name}}}, {"arguments", std::move(Arguments)}}},
         {"required", {"name", "arguments"}},
         {"additionalProperties", false}});
  }
  if (Branches.empty()) {
    if (Call.Name.empty())
      F.refuse(
          {400, "'tool_choice' needs 'tools': expected at least one", "tools"});
    else
      F.refuse({400,
                "'tool_choice' names " + printable(Call.Name) +
                    ": expected one of 'tools'",
                "tool_choice"});
    return nullptr;
  }
  Json One = {{"anyOf", std::move(Branches)}};
  Json Schema =
      Call.IsSingle
          ? One
          : Json{{"type", "array"}, {"minItems", 1}, {"items", std::move(One)}};
  return schemaGrammar(Schema, Options, "tools", F, Known);
}

Grammar::Ptr http::constraintWith(const ToolChoice &Call, const Json &Tools,
                                  Grammar::Ptr Text, Fields &F,
                                  GrammarCache &Known) {
  if (Call.IsForced)
    return grammarOfCalls(Call, Tools, F, Known);
  if (Text && !Tools.is_null())
    F.refuse({400, "the format of the answer leaves no room for the calls of "
                   "'tools': expected a 'tool_choice' that forces a call, or "
                   "none"});
  return Text;
}
