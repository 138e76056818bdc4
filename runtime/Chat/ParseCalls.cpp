//===- ParseCalls.cpp - Calls, filters and tests of templates -------------===//

#include "runtime/Chat/Parser.h"
#include "runtime/Support/Json.h"

using namespace tenon;
using namespace tenon::chat;

static ExpressionPtr nodeOf(Expression::Kind K, Place At, ExpressionPtr First) {
  auto E = std::make_unique<Expression>(K, At);
  E->Parts.push_back(std::move(First));
  return E;
}

Status Parser::parseArguments(Expression &Call) {
  take();
  for (bool First = true; !takeOperator(")"); First = false) {
    if (!First) {
      if (Status Done = expectOperator(","); !Done)
        return Done;
      if (takeOperator(")"))
        break;
    }
    std::string Name;
    if (now().K == Token::Kind::Name && ahead().isOperator("=")) {
      Name = take().Text;
      take();
      for (const auto &Other : Call.Keywords)
        if (Other.first == Name)
          return unexpected("the argument " + printable(Name) + " only once");
    } else if (!Call.Keywords.empty()) {
      return unexpected("an argument with a name, as the one before has one");
    }
    Parsed E = parseExpression();
    if (!E)
      return E.error();
    if (Name.empty())
      Call.Parts.push_back(std::move(*E));
    else
      Call.Keywords.emplace_back(std::move(Name), std::move(*E));
  }
  return {};
}

Parser::Parsed Parser::parseCall(ExpressionPtr Callee) {
  ExpressionPtr E = nodeOf(Expression::Kind::Call, now().At, std::move(Callee));
  if (Status Done = parseArguments(*E); !Done)
    return Done.error();
  return E;
}

Parser::Parsed Parser::parseFilter(ExpressionPtr Subject) {
  ExpressionPtr E =
      nodeOf(Expression::Kind::Filter, now().At, std::move(Subject));
  Result<std::string> Name = anyName();
  if (!Name)
    return Name.error();
  E->Known = filterOf(*Name);
  if (!E->Known)
    return errorAt(E->At, "the filter " + printable(*Name) +
                              " is unknown: expected one of Jinja's that chat "
                              "templates use");
  if (now().isOperator("("))
    if (Status Done = parseArguments(*E); !Done)
      return Done.error();
  return E;
}

Parser::Parsed Parser::parseTest(ExpressionPtr Subject) {
  Place At = take().At;
  bool Negated = takeName("not");
  ExpressionPtr E =
      nodeOf(Expression::Kind::Test, now().At, std::move(Subject));
  Result<std::string> Name = anyName();
  if (!Name)
    return Name.error();
  E->Known = testOf(*Name);
  if (!E->Known)
    return errorAt(E->At, "the test " + printable(*Name) +
                              " is unknown: expected one of Jinja's that chat "
                              "templates use");
  const Token &T = now();
  if (T.isOperator("(")) {
    if (Status Done = parseArguments(*E); !Done)
      return Done.error();
  } else if (T.isName("is")) {
    return unexpected("one test only");
  } else if ((T.K == Token::Kind::Name && !T.isName("else") &&
              !T.isName("or") && !T.isName("and")) ||
             T.K == Token::Kind::String || T.K == Token::Kind::Integer ||
             T.K == Token::Kind::Float || T.isOperator("[") ||
             T.isOperator("{")) {
    Parsed Argument = parsePrimary();
    if (Argument)
      Argument = parsePostfix(std::move(*Argument));
    if (!Argument)
      return Argument;
    E->Parts.push_back(std::move(*Argument));
  }
  if (Negated)
    return nodeOf(Expression::Kind::Not, At, std::move(E));
  return E;
}
