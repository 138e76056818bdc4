//===- GrammarTexts.cpp - Grammars as callers write them ------------------===//

#include "runtime/Grammar/GrammarTexts.h"

using namespace tenon;
using namespace tenon::grammar;

SchemaOptions GrammarTexts::schemaOptions() const {
  SchemaOptions Options;
  Options.FixedOrder = FixedOrder;
  if (Format == "asserted")
    Options.Format = Formats::Asserted;
  if (Format == "annotation")
    Options.Format = Formats::Annotation;
  return Options;
}

std::vector<std::string> GrammarTexts::given() const {
  std::vector<std::string> Names;
  for (auto [Name, Is] : {std::pair("json_schema", JsonSchema.has_value()),
                          std::pair("regex", Regex.has_value()),
                          std::pair("ebnf", Ebnf.has_value()),
                          std::pair("json_object", JsonObject),
                          std::pair("choice", !Choices.empty())})
    if (Is)
      Names.push_back(Name);
  return Names;
}

static Result<Grammar::Ptr> compileGiven(const GrammarTexts &Texts) {
  if (Texts.JsonSchema)
    return Grammar::fromJsonSchemaText(*Texts.JsonSchema,
                                       Texts.schemaOptions());
  if (Texts.Regex)
    return Grammar::fromRegex(*Texts.Regex);
  if (Texts.Ebnf)
    return Grammar::fromEbnf(*Texts.Ebnf);
  if (Texts.JsonObject)
    return Grammar::anyJsonObject(Texts.schemaOptions());
  return Grammar::fromChoices(Texts.Choices);
}

Result<Grammar::Ptr> grammar::compile(const GrammarTexts &Texts) {
  std::vector<std::string> Names = Texts.given();
  if (Names.size() > 1)
    return Error(Names[0] + " is given beside " + Names[1] +
                 ": expected one of them");
  if (!Texts.Format.empty() && Texts.Format != "asserted" &&
      Texts.Format != "annotation")
    return Error("format is " + printable(Texts.Format) +
                 ": expected asserted or annotation");
  if (Names.empty())
    return Grammar::Ptr();
  return compileGiven(Texts);
}

Result<Grammar::Ptr> grammar::compile(const GrammarTexts &Texts,
                                      GrammarCache &Known) {
  if (Texts.given().empty())
    return compile(Texts);
  auto OrNull = [](const std::optional<std::string> &Text) {
    return Text ? Json(*Text) : Json();
  };
  Json Key = {OrNull(Texts.JsonSchema),
              OrNull(Texts.Regex),
              OrNull(Texts.Ebnf),
              Texts.JsonObject,
              Texts.Choices,
              Texts.FixedOrder,
              Texts.Format};
  return Known.get(Key.dump(-1, ' ', false, Json::error_handler_t::replace),
                   [&] { return compile(Texts); });
}
