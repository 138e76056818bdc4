//===- Parser.h - Tokens to trees -------------------------------*- C++ -*-===//
//
// A parser by recursive descent for the subset of Jinja that
// docs/chat-templates.md describes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CHAT_PARSER_H
#define TENON_RUNTIME_CHAT_PARSER_H

#include "runtime/Chat/Ast.h"

#include <initializer_list>

namespace tenon::chat {

/// The statements of a template; an error names line, column, what was found
/// and what was expected.
Result<Block> parseTemplate(std::string_view Source);

/// The parser at work; ParseExpressions.cpp has the second half.
class Parser {
public:
  explicit Parser(std::vector<Token> Tokens) : Tokens(std::move(Tokens)) {}

  Result<Block> run();

private:
  /// Counts nesting while it lives.
  class Nested {
  public:
    explicit Nested(Parser &P) : P(P) { ++P.Depth; }
    ~Nested() { --P.Depth; }
    Nested(const Nested &) = delete;
    Nested &operator=(const Nested &) = delete;

  private:
    Parser &P;
  };

  const Token &now() const { return Tokens[Next]; }
  const Token &ahead() const {
    return Tokens[Next + 1 < Tokens.size() ? Next + 1 : Next];
  }
  const Token &take() {
    const Token &T = Tokens[Next];
    if (Next + 1 < Tokens.size())
      ++Next;
    return T;
  }
  bool takeOperator(std::string_view Sign);
  bool takeName(std::string_view Name);
  Error unexpected(const std::string &Expected) const;
  Status expectOperator(std::string_view Sign);
  Status expectName(std::string_view Name);
  Status expectKind(Token::Kind K, const char *Shown);
  Result<std::string> anyName();
  Status checkDepth() const;

  /// Statements up to a tag that begins with one of the names `Ends`; stands
  /// at that name afterwards. None stands for the end of the template.
  Result<Block> parseBlock(std::initializer_list<const char *> Ends);
  /// The body of a statement, from behind its own tag's words up to the last
  /// word of the tag `End`, and no break out of it if `Closed`.
  Result<Block> parseBody(const char *End, bool Closed = false);
  Result<Statement> parseStatement();
  Result<Statement> parseIf(Place At);
  Result<Statement> parseFor(Place At);
  Result<Statement> parseSet(Place At);
  Result<Statement> parseMacro(Place At);
  Result<Statement> parseFilterBlock(Place At);
  Result<Statement> parseWith(Place At);
  Result<Target> parseTarget(bool WithNamespace);
  Result<Target> parseTargetPart(bool WithNamespace);

  using Parsed = Result<ExpressionPtr>;
  bool atTupleEnd() const;
  Parsed parseTuple(bool WithCondition = true, bool InParentheses = false);
  Parsed parseExpression(bool WithCondition = true);
  Parsed parseCondition();
  Parsed parseOr();
  Parsed parseAnd();
  Parsed parseNot();
  Parsed parseCompare();
  Parsed parseSum();
  Parsed parseConcat();
  Parsed parseProduct();
  Parsed parsePower();
  Parsed parseUnary(bool WithFilter = true);
  Parsed parsePrimary();
  Parsed parseList();
  Parsed parseMapping();
  Parsed parsePostfix(ExpressionPtr E);
  Parsed parseFilters(ExpressionPtr E);
  Parsed parseSubscript(ExpressionPtr E);
  Parsed parseSlice(ExpressionPtr Of, ExpressionPtr First, Place At);
  Parsed parseCall(ExpressionPtr Callee);
  Parsed parseFilter(ExpressionPtr E);
  Parsed parseTest(ExpressionPtr E);
  /// The arguments in parentheses, behind the other parts of `Call`.
  Status parseArguments(Expression &Call);

  std::vector<Token> Tokens;
  size_t Next = 0;
  unsigned Depth = 0;
  /// Loops that a break would leave.
  unsigned Loops = 0;
};

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_PARSER_H
