//===- RuleBuilder.cpp - Texts, marks and JSON in one grammar -------------===//

#include "runtime/Grammar/RuleBuilder.h"

#include "runtime/Grammar/RegexParser.h"

using namespace tenon;
using namespace tenon::grammar;

RuleBuilder::Part RuleBuilder::rule() {
  From.Rules.emplace_back();
  return {Part::Rule, static_cast<uint32_t>(From.Rules.size() - 1)};
}

void RuleBuilder::add(Part Rule, Row Parts) {
  From.Rules[Rule.Index].push_back(std::move(Parts));
}

RuleBuilder::Part RuleBuilder::anyOf(std::initializer_list<Row> Rows) {
  Part Made = rule();
  for (const Row &R : Rows)
    add(Made, R);
  return Made;
}

RuleBuilder::Part RuleBuilder::bytes(std::string Text) {
  From.Literals.push_back(std::move(Text));
  return {Part::Bytes, static_cast<uint32_t>(From.Literals.size() - 1)};
}

RuleBuilder::Part
RuleBuilder::textWithout(const std::vector<std::string> &Marks,
                         std::string_view First) {
  RegexPool &Pool = From.Pool;
  NodeId Text = RegexPool::AnyText;
  if (!Marks.empty()) {
    std::vector<NodeId> Literals;
    for (const std::string &Mark : Marks)
      Literals.push_back(Pool.literal(codesOf(Mark)));
    Text = Pool.complement(
        Pool.concat(RegexPool::AnyText,
                    Pool.concat(Pool.unite(Literals), RegexPool::AnyText)));
  }
  if (!First.empty())
    Text = Pool.intersect(Text,
                          Pool.concat(text(First).Index, RegexPool::AnyText));
  return {Part::Text, Text};
}

RuleBuilder::Part RuleBuilder::words(const std::vector<std::string> &Texts) {
  std::vector<std::u32string> Words;
  for (const std::string &Text : Texts)
    Words.push_back(codesOf(Text));
  return {Part::Text, From.Pool.words(std::move(Words))};
}

RuleBuilder::Part RuleBuilder::text(std::string_view Regex) {
  return {Part::Text, *parseRegex(From.Pool, Regex, /*Searches=*/false)};
}

void RuleBuilder::define(std::string Uri, Json Schema) {
  Schema["$id"] = std::move(Uri);
  Definitions[std::to_string(Definitions.size())] = std::move(Schema);
}

RuleBuilder::Part RuleBuilder::value(Json Schema) {
  Values.push_back(std::move(Schema));
  return {Part::Value, static_cast<uint32_t>(Values.size() - 1)};
}

Result<Grammar::Ptr> RuleBuilder::build() && {
  if (!Values.empty()) {
    // One document, in which values share what is alike.
    size_t Count = Values.size();
    Json Document = {{"$defs", std::move(Definitions)},
                     {"type", "array"},
                     {"prefixItems", std::move(Values)},
                     {"minItems", Count},
                     {"maxItems", Count}};
    Result<SchemaSource> Read = SchemaSource::read(Document);
    if (!Read)
      return Read.error();
    Result<JsonRules> Rules = buildRules(*Read, From.Pool, Options, Most);
    if (!Rules)
      return Rules.error();
    const ArrayRules &Items = Rules->Arrays[Rules->Values[0].front().Index];
    for (auto &Alternatives : From.Rules)
      for (Row &R : Alternatives)
        for (Part &P : R)
          if (P.K == Part::Value)
            P.Index = Items.Items[P.Index];
    From.Json = std::make_shared<const JsonRules>(std::move(*Rules));
  }
  if (From.Pool.exhausted())
    return Error("grammar: makes too many states");
  return Grammar::fromSource(std::move(From), Most);
}
