//===- RuleBuilder.h - Texts, marks and JSON in one grammar -----*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_RULEBUILDER_H
#define TENON_RUNTIME_GRAMMAR_RULEBUILDER_H

#include "runtime/Grammar/Grammar.h"
#include "runtime/Grammar/Machine.h"

#include <initializer_list>

namespace tenon::grammar {

/// Puts together a grammar of rules whose parts are texts, special tokens and
/// JSON values of schemas.
class RuleBuilder {
public:
  using Part = Source::Part;
  using Row = std::vector<Part>;

  RuleBuilder(const SchemaOptions &Options, const Limits &Most)
      : Options(Options), Most(Most) {
    From.Pool.setMaxNodes(Most.States);
  }

  /// A new rule, which accepts nothing yet; the first is the start.
  Part rule();
  /// Another alternative of a rule. None may begin with the rule itself.
  void add(Part Rule, Row Parts);
  /// A new rule: one of these rows.
  Part anyOf(std::initializer_list<Row> Rows);
  Part optional(Row Parts) { return anyOf({std::move(Parts), {}}); }

  /// These bytes, in which special tokens are as SpecialMark says.
  Part bytes(std::string Text);
  /// A text in UTF-8 that has none of `Marks` in it; perhaps the empty one.
  /// With `First` it begins with what this regular expression matches.
  Part textWithout(const std::vector<std::string> &Marks,
                   std::string_view First = {});
  /// One of these texts, none of which is empty.
  Part words(const std::vector<std::string> &Texts);
  /// What a regular expression, which is right, matches.
  Part text(std::string_view Regex);
  /// A schema that others refer to as `Uri`.
  void define(std::string Uri, Json Schema);
  /// A JSON value, without white space around it.
  Part value(Json Schema);

  /// Errors: a schema that is refused, and limits.
  Result<Grammar::Ptr> build() &&;

private:
  SchemaOptions Options;
  Limits Most;
  Source From;
  Json Definitions = Json::object(), Values = Json::array();
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_RULEBUILDER_H
