//===- Template.cpp - Chat templates --------------------------------------===//

#include "runtime/Chat/Template.h"

#include "runtime/Chat/Interpreter.h"
#include "runtime/Chat/Parser.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::chat;

struct Template::Program {
  Block Statements;
};

Template::Template(std::unique_ptr<const Program> Parsed)
    : Parsed(std::move(Parsed)) {}
Template::Template(Template &&) noexcept = default;
Template &Template::operator=(Template &&) noexcept = default;
Template::~Template() = default;

std::string chat::joined(const std::vector<Piece> &Pieces) {
  std::string All;
  for (const Piece &P : Pieces)
    All += P.Text;
  return All;
}

Result<Template> Template::parse(std::string_view Source) {
  Result<Block> Statements = parseTemplate(Source);
  if (!Statements)
    return Statements.error();
  return Template(
      std::make_unique<const Program>(Program{std::move(*Statements)}));
}

/// A message with its role as a word of the template's, if it is known.
static Value withKnownRole(const Value &Message) {
  if (!Message.is(Kind::Mapping))
    return Message;
  const Value *Role = Message.members().find("role");
  if (!Role || !Role->is(Kind::String) ||
      std::find(std::begin(KnownRoles), std::end(KnownRoles), Role->str()) ==
          std::end(KnownRoles))
    return Message;
  std::vector<std::pair<Value, Value>> Members = Message.members().Members;
  for (auto &[Key, V] : Members)
    if (Key.str() == "role")
      V = Value::string(V.str(), Origin::Template);
  return Value::mapping(std::move(Members), Message.origin());
}

/// Adds the members of the object `From` to `Into`.
static Status addVariables(std::vector<std::pair<std::string, Value>> &Into,
                           const Json &From, Origin Of) {
  if (!From.is_object())
    return Error("the variables of a template are no object: expected names "
                 "with values");
  Result<Value> All = valueOf(From, Of);
  if (!All)
    return All.error();
  for (const auto &[Key, V] : All->members().Members) {
    Value Member = V;
    if (Of == Origin::User && Key.str() == "messages" && V.is(Kind::List)) {
      std::vector<Value> Messages;
      for (const Value &Message : V.items())
        Messages.push_back(withKnownRole(Message));
      Member = Value::list(std::move(Messages), Of);
    }
    Into.emplace_back(Key.str(), std::move(Member));
  }
  return {};
}

Result<std::vector<Piece>> Template::render(const Variables &Given) const {
  std::vector<std::pair<std::string, Value>> All;
  // The first of a name is found.
  if (Status Done = addVariables(All, Given.OfModel, Origin::Template); !Done)
    return Done.error();
  if (Status Done = addVariables(All, Given.OfUser, Origin::User); !Done)
    return Done.error();
  std::tm Now{};
  if (Given.Now) {
    Now = *Given.Now;
  } else {
    std::time_t Seconds = std::time(nullptr);
    localtime_r(&Seconds, &Now);
  }
  Interpreter Run(std::move(All), Now);
  Result<Text> Printed = Run.run(Parsed->Statements);
  if (!Printed)
    return Printed.error();
  std::vector<Piece> Pieces;
  size_t Begin = 0;
  for (const Text::Run &R : Printed->runs()) {
    Pieces.push_back({Printed->str().substr(Begin, R.End - Begin), R.From});
    Begin = R.End;
  }
  return Pieces;
}
