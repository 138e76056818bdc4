//===- ParseExpressions.cpp - Expressions of templates --------------------===//

#include "runtime/Chat/Limits.h"
#include "runtime/Chat/Parser.h"
#include "runtime/Support/Json.h"

using namespace tenon;
using namespace tenon::chat;

using NodeKind = Expression::Kind;

/// A node of one or two parts.
static ExpressionPtr node(NodeKind K, Place At, ExpressionPtr First = nullptr,
                          ExpressionPtr Second = nullptr) {
  auto E = std::make_unique<Expression>(K, At);
  if (First)
    E->Parts.push_back(std::move(First));
  if (Second)
    E->Parts.push_back(std::move(Second));
  return E;
}

static ExpressionPtr constant(Place At, Value V) {
  ExpressionPtr E = node(NodeKind::Constant, At);
  E->Constant = std::move(V);
  return E;
}

bool Parser::atTupleEnd() const {
  return now().K == Token::Kind::PrintEnd || now().K == Token::Kind::BlockEnd ||
         now().isOperator(")") || now().isName("recursive");
}

Parser::Parsed Parser::parseTuple(bool WithCondition, bool InParentheses) {
  ExpressionPtr All = node(NodeKind::Tuple, now().At);
  bool IsTuple = false;
  while (!atTupleEnd()) {
    Parsed One = parseExpression(WithCondition);
    if (!One)
      return One;
    All->Parts.push_back(std::move(*One));
    if (!takeOperator(","))
      break;
    IsTuple = true;
  }
  if (IsTuple || (All->Parts.empty() && InParentheses))
    return All;
  if (All->Parts.empty())
    return unexpected("an expression");
  ExpressionPtr Only = std::move(All->Parts.front());
  return Only;
}

Parser::Parsed Parser::parseExpression(bool WithCondition) {
  return WithCondition ? parseCondition() : parseOr();
}

Parser::Parsed Parser::parseCondition() {
  Nested Inside(*this);
  if (Status Fits = checkDepth(); !Fits)
    return Fits.error();
  Place At = now().At;
  Parsed E = parseOr();
  for (unsigned Length = 0; E && takeName("if"); ++Length) {
    if (Length > MaxSyntaxDepth)
      return unexpected("fewer conditions");
    Parsed If = parseOr();
    if (!If)
      return If;
    ExpressionPtr Choice =
        node(NodeKind::Conditional, At, std::move(*E), std::move(*If));
    Choice->Parts.emplace_back();
    if (takeName("else")) {
      Parsed Else = parseCondition();
      if (!Else)
        return Else;
      Choice->Parts.back() = std::move(*Else);
    }
    E = std::move(Choice);
  }
  return E;
}

Parser::Parsed Parser::parseOr() {
  Place At = now().At;
  Parsed E = parseAnd();
  if (!E || !now().isName("or"))
    return E;
  ExpressionPtr All = node(NodeKind::Or, At, std::move(*E));
  while (takeName("or")) {
    E = parseAnd();
    if (!E)
      return E;
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

Parser::Parsed Parser::parseAnd() {
  Place At = now().At;
  Parsed E = parseNot();
  if (!E || !now().isName("and"))
    return E;
  ExpressionPtr All = node(NodeKind::And, At, std::move(*E));
  while (takeName("and")) {
    E = parseNot();
    if (!E)
      return E;
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

Parser::Parsed Parser::parseNot() {
  if (!now().isName("not"))
    return parseCompare();
  Nested Inside(*this);
  if (Status Fits = checkDepth(); !Fits)
    return Fits.error();
  Place At = take().At;
  Parsed E = parseNot();
  if (!E)
    return E;
  return node(NodeKind::Not, At, std::move(*E));
}

static std::optional<Operator> comparisonOf(const Token &T) {
  constexpr std::pair<const char *, Operator> Signs[] = {
      {"==", Operator::Equal},  {"!=", Operator::NotEqual},
      {"<", Operator::Less},    {"<=", Operator::LessEqual},
      {">", Operator::Greater}, {">=", Operator::GreaterEqual}};
  for (const auto &[Sign, Meaning] : Signs)
    if (T.isOperator(Sign))
      return Meaning;
  if (T.isName("in"))
    return Operator::In;
  return std::nullopt;
}

Parser::Parsed Parser::parseCompare() {
  Place At = now().At;
  Parsed E = parseSum();
  if (!E)
    return E;
  ExpressionPtr All = node(NodeKind::Compare, At, std::move(*E));
  while (true) {
    std::optional<Operator> Sign = comparisonOf(now());
    if (now().isName("not") && ahead().isName("in")) {
      take();
      Sign = Operator::NotIn;
    }
    if (!Sign)
      break;
    take();
    E = parseSum();
    if (!E)
      return E;
    All->Operators.push_back(*Sign);
    All->Parts.push_back(std::move(*E));
  }
  if (!All->Operators.empty())
    return All;
  ExpressionPtr Only = std::move(All->Parts.front());
  return Only;
}

Parser::Parsed Parser::parseSum() {
  Place At = now().At;
  Parsed E = parseConcat();
  if (!E || (!now().isOperator("+") && !now().isOperator("-")))
    return E;
  ExpressionPtr All = node(NodeKind::Binary, At, std::move(*E));
  while (now().isOperator("+") || now().isOperator("-")) {
    All->Operators.push_back(take().Text == "+" ? Operator::Add
                                                : Operator::Subtract);
    E = parseConcat();
    if (!E)
      return E;
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

Parser::Parsed Parser::parseConcat() {
  Place At = now().At;
  Parsed E = parseProduct();
  if (!E || !now().isOperator("~"))
    return E;
  ExpressionPtr All = node(NodeKind::Concat, At, std::move(*E));
  while (takeOperator("~")) {
    E = parseProduct();
    if (!E)
      return E;
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

static std::optional<Operator> factorOf(const Token &T) {
  constexpr std::pair<const char *, Operator> Signs[] = {
      {"*", Operator::Multiply},
      {"/", Operator::Divide},
      {"//", Operator::FloorDivide},
      {"%", Operator::Modulo}};
  for (const auto &[Sign, Meaning] : Signs)
    if (T.isOperator(Sign))
      return Meaning;
  return std::nullopt;
}

Parser::Parsed Parser::parseProduct() {
  Place At = now().At;
  Parsed E = parsePower();
  if (!E || !factorOf(now()))
    return E;
  ExpressionPtr All = node(NodeKind::Binary, At, std::move(*E));
  while (std::optional<Operator> Sign = factorOf(now())) {
    take();
    E = parsePower();
    if (!E)
      return E;
    All->Operators.push_back(*Sign);
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

Parser::Parsed Parser::parsePower() {
  Place At = now().At;
  Parsed E = parseUnary();
  if (!E || !now().isOperator("**"))
    return E;
  // From left to right, unlike Python's.
  ExpressionPtr All = node(NodeKind::Binary, At, std::move(*E));
  while (takeOperator("**")) {
    E = parseUnary();
    if (!E)
      return E;
    All->Operators.push_back(Operator::Power);
    All->Parts.push_back(std::move(*E));
  }
  return All;
}

Parser::Parsed Parser::parseUnary(bool WithFilter) {
  Nested Inside(*this);
  if (Status Fits = checkDepth(); !Fits)
    return Fits.error();
  Place At = now().At;
  auto SignedBy = [&](NodeKind K) -> Parsed {
    take();
    Parsed E = parseUnary(false);
    if (!E)
      return E;
    return node(K, At, std::move(*E));
  };
  Parsed E = now().isOperator("-")   ? SignedBy(NodeKind::Negate)
             : now().isOperator("+") ? SignedBy(NodeKind::Plus)
                                     : parsePrimary();
  if (E)
    E = parsePostfix(std::move(*E));
  if (E && WithFilter)
    E = parseFilters(std::move(*E));
  return E;
}

Parser::Parsed Parser::parsePrimary() {
  const Token &T = now();
  switch (T.K) {
  case Token::Kind::Name: {
    take();
    if (T.Text == "true" || T.Text == "True")
      return constant(T.At, Value::boolean(true));
    if (T.Text == "false" || T.Text == "False")
      return constant(T.At, Value::boolean(false));
    if (T.Text == "none" || T.Text == "None")
      return constant(T.At, Value::none());
    ExpressionPtr E = node(NodeKind::Name, T.At);
    E->Name = T.Text;
    return E;
  }
  case Token::Kind::String: {
    std::string Content;
    while (now().K == Token::Kind::String)
      Content += take().Text;
    return constant(T.At, Value::string(std::move(Content)));
  }
  case Token::Kind::Integer:
    return constant(T.At, Value::integer(take().Integer));
  case Token::Kind::Float:
    return constant(T.At, Value::real(take().Real));
  default:
    break;
  }
  if (takeOperator("(")) {
    Parsed E = parseTuple(true, true);
    if (!E)
      return E;
    if (Status Done = expectOperator(")"); !Done)
      return Done.error();
    return E;
  }
  if (T.isOperator("["))
    return parseList();
  if (T.isOperator("{"))
    return parseMapping();
  return unexpected("an expression");
}

Parser::Parsed Parser::parseList() {
  ExpressionPtr All = node(NodeKind::List, take().At);
  while (!takeOperator("]")) {
    if (!All->Parts.empty()) {
      if (Status Done = expectOperator(","); !Done)
        return Done.error();
      if (takeOperator("]"))
        break;
    }
    Parsed One = parseExpression();
    if (!One)
      return One;
    All->Parts.push_back(std::move(*One));
  }
  return All;
}

Parser::Parsed Parser::parseMapping() {
  ExpressionPtr All = node(NodeKind::Mapping, take().At);
  while (!takeOperator("}")) {
    if (!All->Parts.empty()) {
      if (Status Done = expectOperator(","); !Done)
        return Done.error();
      if (takeOperator("}"))
        break;
    }
    for (bool IsKey : {true, false}) {
      Parsed One = parseExpression();
      if (!One)
        return One;
      All->Parts.push_back(std::move(*One));
      if (IsKey)
        if (Status Done = expectOperator(":"); !Done)
          return Done.error();
    }
  }
  return All;
}

Parser::Parsed Parser::parsePostfix(ExpressionPtr E) {
  Parsed Made = std::move(E);
  for (unsigned Length = 0; Made; ++Length) {
    if (Length > MaxSyntaxDepth)
      return unexpected("fewer subscripts and calls");
    if (now().isOperator(".") || now().isOperator("["))
      Made = parseSubscript(std::move(*Made));
    else if (now().isOperator("("))
      Made = parseCall(std::move(*Made));
    else
      break;
  }
  return Made;
}

Parser::Parsed Parser::parseFilters(ExpressionPtr E) {
  Parsed Made = std::move(E);
  for (unsigned Length = 0; Made; ++Length) {
    if (Length > MaxSyntaxDepth)
      return unexpected("fewer filters");
    if (takeOperator("|"))
      Made = parseFilter(std::move(*Made));
    else if (now().isName("is"))
      Made = parseTest(std::move(*Made));
    else if (now().isOperator("("))
      Made = parseCall(std::move(*Made));
    else
      break;
  }
  return Made;
}

Parser::Parsed Parser::parseSubscript(ExpressionPtr Of) {
  Place At = now().At;
  if (takeOperator(".")) {
    if (now().K == Token::Kind::Integer) {
      const Token &Index = take();
      return node(NodeKind::Subscript, At, std::move(Of),
                  constant(Index.At, Value::integer(Index.Integer)));
    }
    Result<std::string> Name = anyName();
    if (!Name)
      return Name.error();
    ExpressionPtr E = node(NodeKind::Attribute, At, std::move(Of));
    E->Name = std::move(*Name);
    return E;
  }
  take();
  if (now().isOperator(":"))
    return parseSlice(std::move(Of), nullptr, At);
  Parsed Index = parseExpression();
  if (!Index)
    return Index;
  if (now().isOperator(":"))
    return parseSlice(std::move(Of), std::move(*Index), At);
  if (Status Done = expectOperator("]"); !Done)
    return Done.error();
  return node(NodeKind::Subscript, At, std::move(Of), std::move(*Index));
}

Parser::Parsed Parser::parseSlice(ExpressionPtr Of, ExpressionPtr First,
                                  Place At) {
  ExpressionPtr E = node(NodeKind::Slice, At, std::move(Of));
  E->Parts.push_back(std::move(First));
  for (int I = 0; I < 2; ++I) {
    E->Parts.emplace_back();
    if (!takeOperator(":") || now().isOperator("]") || now().isOperator(":"))
      continue;
    Parsed Bound = parseExpression();
    if (!Bound)
      return Bound;
    E->Parts.back() = std::move(*Bound);
  }
  if (Status Done = expectOperator("]"); !Done)
    return Done.error();
  return E;
}
