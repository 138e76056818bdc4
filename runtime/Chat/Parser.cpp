//===- Parser.cpp - Statements of templates -------------------------------===//

#include "runtime/Chat/Parser.h"

#include "runtime/Chat/Limits.h"
#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

Result<Block> chat::parseTemplate(std::string_view Source) {
  if (Source.size() > MaxTemplateBytes)
    return Error("a template of " + std::to_string(Source.size()) +
                 " bytes: expected at most " +
                 std::to_string(MaxTemplateBytes));
  if (std::optional<size_t> Bad = tokenizer::findInvalidUtf8(Source))
    return Error("the template is not UTF-8 at byte " + std::to_string(*Bad) +
                 ": expected UTF-8");
  Result<std::vector<Token>> Tokens = tokenize(Source);
  if (!Tokens)
    return Tokens.error();
  return Parser(std::move(*Tokens)).run();
}

Result<Block> Parser::run() { return parseBlock({}); }

bool Parser::takeOperator(std::string_view Sign) {
  bool Is = now().isOperator(Sign);
  if (Is)
    take();
  return Is;
}

bool Parser::takeName(std::string_view Name) {
  bool Is = now().isName(Name);
  if (Is)
    take();
  return Is;
}

Error Parser::unexpected(const std::string &Expected) const {
  return errorAt(now().At,
                 "found " + describe(now()) + ": expected " + Expected);
}

Status Parser::expectOperator(std::string_view Sign) {
  if (!takeOperator(Sign))
    return unexpected("'" + std::string(Sign) + "'");
  return {};
}

Status Parser::expectName(std::string_view Name) {
  if (!takeName(Name))
    return unexpected("'" + std::string(Name) + "'");
  return {};
}

Status Parser::expectKind(Token::Kind K, const char *Shown) {
  if (now().K != K)
    return unexpected(Shown);
  take();
  return {};
}

Result<std::string> Parser::anyName() {
  if (now().K != Token::Kind::Name)
    return unexpected("a name");
  return take().Text;
}

Status Parser::checkDepth() const {
  if (Depth > MaxSyntaxDepth)
    return errorAt(now().At, "nested deeper than " +
                                 std::to_string(MaxSyntaxDepth) + " levels");
  return {};
}

Result<Block> Parser::parseBlock(std::initializer_list<const char *> Ends) {
  Nested Inside(*this);
  if (Status Fits = checkDepth(); !Fits)
    return Fits.error();
  Block Body;
  while (now().K != Token::Kind::End) {
    Place At = now().At;
    if (now().K == Token::Kind::Data) {
      Body.emplace_back(Statement::Kind::Data, At).Name = take().Text;
      continue;
    }
    if (now().K == Token::Kind::PrintBegin) {
      take();
      Parsed E = parseTuple();
      if (!E)
        return E.error();
      if (Status Done = expectKind(Token::Kind::PrintEnd, "'}}'"); !Done)
        return Done.error();
      Body.emplace_back(Statement::Kind::Print, At).E = std::move(*E);
      continue;
    }
    if (Status Done = expectKind(Token::Kind::BlockBegin, "a tag"); !Done)
      return Done.error();
    if (std::any_of(Ends.begin(), Ends.end(),
                    [&](const char *End) { return now().isName(End); }))
      return Body;
    Result<Statement> S = parseStatement();
    if (!S)
      return S.error();
    if (Status Done = expectKind(Token::Kind::BlockEnd, "'%}'"); !Done)
      return Done.error();
    Body.push_back(std::move(*S));
  }
  if (Ends.size() > 0) {
    std::string Names;
    for (const char *End : Ends)
      Names += (Names.empty() ? "'" : "' or '") + std::string(End);
    return unexpected(Names + "'");
  }
  return Body;
}

Result<Block> Parser::parseBody(const char *End, bool Closed) {
  takeOperator(":");
  if (Status Done = expectKind(Token::Kind::BlockEnd, "'%}'"); !Done)
    return Done.error();
  unsigned Around = Loops;
  if (Closed)
    Loops = 0;
  Result<Block> Body = parseBlock({End});
  Loops = Around;
  if (Body)
    take();
  return Body;
}

Result<Statement> Parser::parseStatement() {
  Place At = now().At;
  Result<std::string> Tag = anyName();
  if (!Tag)
    return Tag.error();
  if (*Tag == "if")
    return parseIf(At);
  if (*Tag == "for")
    return parseFor(At);
  if (*Tag == "set")
    return parseSet(At);
  if (*Tag == "macro")
    return parseMacro(At);
  if (*Tag == "filter")
    return parseFilterBlock(At);
  if (*Tag == "with")
    return parseWith(At);
  if (*Tag == "generation") {
    Result<Block> Body = parseBody("endgeneration", true);
    if (!Body)
      return Body.error();
    Statement S(Statement::Kind::Generation, At);
    S.Body = std::move(*Body);
    return S;
  }
  if (*Tag == "break" || *Tag == "continue") {
    if (Loops == 0)
      return errorAt(At, "'" + *Tag + "' stands outside of a loop");
    return Statement(*Tag == "break" ? Statement::Kind::Break
                                     : Statement::Kind::Continue,
                     At);
  }
  return errorAt(At, "the tag " + printable(*Tag) +
                         ": expected if, for, set, macro, filter, with, raw, "
                         "generation, break, continue, or what ends one");
}

Result<Statement> Parser::parseIf(Place At) {
  Statement S(Statement::Kind::If, At);
  for (bool IsElse = false;;) {
    Branch One;
    if (!IsElse) {
      Parsed Condition = parseTuple(false);
      if (!Condition)
        return Condition.error();
      One.Condition = std::move(*Condition);
    }
    takeOperator(":");
    if (Status Done = expectKind(Token::Kind::BlockEnd, "'%}'"); !Done)
      return Done.error();
    Result<Block> Body =
        IsElse ? parseBlock({"endif"}) : parseBlock({"elif", "else", "endif"});
    if (!Body)
      return Body.error();
    One.Body = std::move(*Body);
    S.Branches.push_back(std::move(One));
    if (takeName("endif"))
      return S;
    IsElse = take().Text == "else";
  }
}

Result<Statement> Parser::parseFor(Place At) {
  Statement S(Statement::Kind::For, At);
  Result<Target> Into = parseTarget(false);
  if (!Into)
    return Into.error();
  S.Into = std::move(*Into);
  if (Status Done = expectName("in"); !Done)
    return Done.error();
  Parsed Items = parseTuple(false);
  if (!Items)
    return Items.error();
  S.E = std::move(*Items);
  if (takeName("if")) {
    Parsed Condition = parseExpression();
    if (!Condition)
      return Condition.error();
    S.Condition = std::move(*Condition);
  }
  if (now().isName("recursive"))
    return errorAt(now().At, "a recursive loop: expected a plain one");
  takeOperator(":");
  if (Status Done = expectKind(Token::Kind::BlockEnd, "'%}'"); !Done)
    return Done.error();
  ++Loops;
  Result<Block> Body = parseBlock({"endfor", "else"});
  --Loops;
  if (!Body)
    return Body.error();
  S.Body = std::move(*Body);
  if (takeName("endfor"))
    return S;
  take();
  Body = parseBody("endfor");
  if (!Body)
    return Body.error();
  S.Else = std::move(*Body);
  return S;
}

Result<Statement> Parser::parseSet(Place At) {
  Statement S(Statement::Kind::Set, At);
  Result<Target> Into = parseTarget(true);
  if (!Into)
    return Into.error();
  S.Into = std::move(*Into);
  if (takeOperator("=")) {
    Parsed E = parseTuple();
    if (!E)
      return E.error();
    S.E = std::move(*E);
    return S;
  }
  S.K = Statement::Kind::SetBlock;
  if (now().isOperator("|")) {
    auto Content =
        std::make_unique<Expression>(Expression::Kind::Content, now().At);
    Parsed E = parseFilters(std::move(Content));
    if (!E)
      return E.error();
    S.E = std::move(*E);
  }
  if (now().K != Token::Kind::BlockEnd && !now().isOperator(":"))
    return unexpected("'=' or '%}'");
  Result<Block> Body = parseBody("endset", true);
  if (!Body)
    return Body.error();
  S.Body = std::move(*Body);
  return S;
}

Result<Statement> Parser::parseMacro(Place At) {
  Statement S(Statement::Kind::Macro, At);
  Result<std::string> Name = anyName();
  if (!Name)
    return Name.error();
  S.Name = std::move(*Name);
  if (Status Done = expectOperator("("); !Done)
    return Done.error();
  while (!now().isOperator(")")) {
    if (!S.Parameters.empty())
      if (Status Done = expectOperator(","); !Done)
        return Done.error();
    Place ParameterAt = now().At;
    Result<std::string> Parameter = anyName();
    if (!Parameter)
      return Parameter.error();
    for (const auto &Other : S.Parameters)
      if (Other.first == *Parameter)
        return errorAt(ParameterAt, "the parameter " + printable(*Parameter) +
                                        " stands twice: expected each once");
    ExpressionPtr Default;
    if (takeOperator("=")) {
      Parsed E = parseExpression();
      if (!E)
        return E.error();
      Default = std::move(*E);
    } else if (!S.Parameters.empty() && S.Parameters.back().second) {
      return unexpected("a default, as the parameter before has one");
    }
    S.Parameters.emplace_back(std::move(*Parameter), std::move(Default));
  }
  take();
  Result<Block> Body = parseBody("endmacro", true);
  if (!Body)
    return Body.error();
  S.Body = std::move(*Body);
  return S;
}

Result<Statement> Parser::parseFilterBlock(Place At) {
  Statement S(Statement::Kind::Filter, At);
  Parsed E = parseFilter(
      std::make_unique<Expression>(Expression::Kind::Content, now().At));
  if (E)
    E = parseFilters(std::move(*E));
  if (!E)
    return E.error();
  S.E = std::move(*E);
  Result<Block> Body = parseBody("endfilter", true);
  if (!Body)
    return Body.error();
  S.Body = std::move(*Body);
  return S;
}

Result<Statement> Parser::parseWith(Place At) {
  Statement S(Statement::Kind::With, At);
  while (now().K != Token::Kind::BlockEnd && !now().isOperator(":")) {
    if (!S.Assignments.empty())
      if (Status Done = expectOperator(","); !Done)
        return Done.error();
    Result<Target> Into = parseTargetPart(false);
    if (!Into)
      return Into.error();
    if (Status Done = expectOperator("="); !Done)
      return Done.error();
    Parsed E = parseExpression();
    if (!E)
      return E.error();
    S.Assignments.emplace_back(std::move(*Into), std::move(*E));
  }
  Result<Block> Body = parseBody("endwith");
  if (!Body)
    return Body.error();
  S.Body = std::move(*Body);
  return S;
}

Result<Target> Parser::parseTarget(bool WithNamespace) {
  Target Whole;
  Whole.At = now().At;
  while (true) {
    if (!Whole.Parts.empty() &&
        (now().isName("in") || now().isOperator("=") || now().isOperator(")") ||
         now().K == Token::Kind::BlockEnd))
      break;
    Result<Target> Part = parseTargetPart(WithNamespace);
    if (!Part)
      return Part;
    Whole.Parts.push_back(std::move(*Part));
    if (!takeOperator(","))
      break;
    Whole.IsTuple = true;
  }
  if (Whole.IsTuple)
    return Whole;
  Target Only = std::move(Whole.Parts.front());
  return Only;
}

Result<Target> Parser::parseTargetPart(bool WithNamespace) {
  Nested Inside(*this);
  if (Status Fits = checkDepth(); !Fits)
    return Fits.error();
  Target One;
  One.At = now().At;
  if (takeOperator("(")) {
    Result<Target> Part = parseTarget(WithNamespace);
    if (!Part)
      return Part;
    if (Status Done = expectOperator(")"); !Done)
      return Done.error();
    return Part;
  }
  for (const char *Reserved :
       {"true", "false", "none", "True", "False", "None"})
    if (now().isName(Reserved))
      return unexpected("a name to assign to");
  Result<std::string> Name = anyName();
  if (!Name)
    return Name.error();
  One.Name = std::move(*Name);
  if (WithNamespace && takeOperator(".")) {
    Name = anyName();
    if (!Name)
      return Name.error();
    One.Attribute = std::move(*Name);
  }
  return One;
}
