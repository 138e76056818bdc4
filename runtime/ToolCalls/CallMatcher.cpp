//===- CallMatcher.cpp - One pattern against a growing text ---------------===//

#include "runtime/ToolCalls/CallMatcher.h"
#include "runtime/ToolCalls/ArgumentValues.h"

#include <algorithm>

namespace tenon::tools {

using Answer = CallMatcher::Answer;

static constexpr size_t MaxNameBytes = 256;

static bool isNameByte(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '_' || C == '-' || C == '.';
}

std::string boundMark(std::string_view Mark,
                      const std::function<bool(std::string_view)> &Special) {
  std::string Bound;
  for (size_t At = 0; At < Mark.size();) {
    size_t Length = 0;
    if (Special && (Mark[At] == '<' || Mark[At] == '['))
      for (size_t End = At + 1; End < Mark.size() && !Length; ++End)
        if ((Mark[End] == '>' || Mark[End] == ']') &&
            Special(Mark.substr(At, End + 1 - At)))
          Length = End + 1 - At;
    if (Length)
      Bound += SpecialByte;
    Length = std::max<size_t>(Length, 1);
    Bound += Mark.substr(At, Length);
    At += Length;
  }
  return Bound;
}

/// Yes: `Want` stands at `At`; More: what there is of it does.
static Answer compare(std::string_view Text, size_t At, std::string_view Want) {
  std::string_view Have = Text.substr(At, Want.size());
  if (Have != Want.substr(0, Have.size()))
    return Answer::No;
  return Have.size() == Want.size() ? Answer::Yes : Answer::More;
}

Answer CallMatcher::advance(std::string_view Text, bool Final) {
  while (Index < Pattern->size()) {
    Answer Step = step(Text, Final);
    if (Step == Answer::More)
      return Final || Text.size() - At > ToolCallParser::MaxCallBytes
                 ? Answer::No
                 : Answer::More;
    if (Step == Answer::No || At > ToolCallParser::MaxCallBytes)
      return Answer::No;
  }
  if (Calls.empty()) {
    if (Name.empty())
      return Answer::No;
    Calls.push_back({Name, HasObject ? RawArguments : jsonText(Arguments)});
  }
  return Answer::Yes;
}

Answer CallMatcher::step(std::string_view Text, bool Final) {
  switch ((*Pattern)[Index].What) {
  case Element::Mark:
    return mark(Text, Final);
  case Element::Maybe:
    return maybe(Text, Final);
  case Element::Space:
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
    return At == Text.size() && !Final ? Answer::More : done();
  case Element::Name:
  case Element::Id:
    return word(Text, Final);
  case Element::SkipTo:
    return skipTo(Text);
  case Element::Object:
  case Element::Call:
  case Element::Calls:
  case Element::Pythonic:
  case Element::Gemma:
    return balanced(Text);
  case Element::Key:
  case Element::Value:
  case Element::Line:
  case Element::Type:
    return field(Text);
  case Element::Repeat:
    return repeat(Text, Final);
  case Element::End:
    while ((*Pattern)[Index].What != Element::Repeat)
      --Index;
    return Answer::Yes;
  }
  return Answer::No;
}

Answer CallMatcher::mark(std::string_view Text, bool Final) {
  const std::string &Want = (*Pattern)[Index].Text;
  Answer Found = compare(Text, At, Want);
  if (Found != Answer::Yes)
    return Final ? Answer::No : Found;
  At += Want.size();
  return done();
}

Answer CallMatcher::maybe(std::string_view Text, bool Final) {
  const std::string &Want = (*Pattern)[Index].Text;
  Answer Found = compare(Text, At, Want);
  if (Found == Answer::More && !Final)
    return Answer::More;
  if (Found == Answer::Yes)
    At += Want.size();
  return done();
}

Answer CallMatcher::word(std::string_view Text, bool Final) {
  size_t End = std::max(At, Scan);
  while (End < Text.size() && isNameByte(Text[End]))
    ++End;
  if (End - At > MaxNameBytes)
    return Answer::No;
  Scan = End;
  if (End == Text.size() && !Final)
    return Answer::More;
  if (End == At)
    return Answer::No;
  if ((*Pattern)[Index].What == Element::Name)
    Name = Text.substr(At, End - At);
  At = End;
  return done();
}

std::string_view CallMatcher::nextMark() const {
  for (size_t I = Index; I < Pattern->size(); ++I)
    if ((*Pattern)[I].What == Element::Mark)
      return (*Pattern)[I].Text;
  return {};
}

size_t CallMatcher::search(std::string_view Text, std::string_view Want) {
  size_t Found = Text.find(Want, std::max(At, Scan));
  if (Found == std::string_view::npos)
    Scan = std::max(At, Text.size() - std::min(Text.size(), Want.size()));
  return Found;
}

Answer CallMatcher::skipTo(std::string_view Text) {
  std::string_view Mark = nextMark();
  size_t Found = search(Text, Mark);
  bool IsFound = Found != std::string_view::npos;
  std::string_view Skipped =
      Text.substr(At, IsFound ? Found - At : std::string_view::npos);
  // The last bytes may be the mark's.
  if (Skipped.size() > MaxNameBytes + (IsFound ? 0 : Mark.size()) ||
      Skipped.find('\n') != std::string_view::npos)
    return Answer::No;
  if (!IsFound)
    return Answer::More;
  At = Found;
  return done();
}

Answer CallMatcher::field(std::string_view Text) {
  size_t Found = search(Text, nextMark());
  if (Found == std::string_view::npos)
    return Answer::More;
  std::string Value = withoutSpecialBytes(Text.substr(At, Found - At));
  switch ((*Pattern)[Index].What) {
  case Element::Key:
    Key = Value;
    ValueType = Typed::BySchema;
    if (Key.empty() || Arguments.size() == MaxArguments ||
        Arguments.contains(Key))
      return Answer::No;
    break;
  case Element::Type:
    ValueType =
        Value == "true" || Value == "string" ? Typed::Text : Typed::Json;
    break;
  case Element::Line:
    if (!Value.empty() && Value.front() == '\n')
      Value.erase(0, 1);
    if (!Value.empty() && Value.back() == '\n')
      Value.pop_back();
    [[fallthrough]];
  default:
    if (ValueType == Typed::Text) {
      Arguments[Key] = Value;
    } else if (ValueType == Typed::BySchema) {
      Arguments[Key] = typedArgument(*Tools, Name, Key, Value);
    } else if (Result<tenon::Json> Read = parseJson(Value, "argument")) {
      Arguments[Key] = std::move(*Read);
    } else {
      return Answer::No;
    }
  }
  At = Found;
  return done();
}

Answer CallMatcher::repeat(std::string_view Text, bool Final) {
  Answer Found = compare(Text, At, nextMark());
  if (Found == Answer::More && !Final)
    return Answer::More;
  if (Found == Answer::Yes)
    return done();
  while ((*Pattern)[Index].What != Element::End)
    ++Index;
  return done();
}

Answer CallMatcher::balanced(std::string_view Text) {
  const BoundElement &E = (*Pattern)[Index];
  bool IsList = E.What == Element::Calls || E.What == Element::Pythonic;
  if (At < Text.size() && Text[At] != (IsList ? '[' : '{'))
    return Answer::No;
  for (Scan = std::max(At, Scan); Scan < Text.size(); ++Scan) {
    char C = Text[Scan];
    if (E.What == Element::Gemma) {
      Answer Mark = compare(Text, Scan, E.Text);
      if (Mark == Answer::More)
        return Answer::More;
      if (Mark == Answer::Yes) {
        Quote = Quote ? 0 : SpecialByte;
        Scan += E.Text.size() - 1;
        continue;
      }
    } else if (Quote && C == '\\') {
      if (Scan + 1 == Text.size())
        return Answer::More;
      ++Scan;
      continue;
    } else if (Quote ? C == Quote
                     : C == '"' || (C == '\'' && E.What == Element::Pythonic)) {
      Quote = Quote ? 0 : C;
      continue;
    }
    if (Quote)
      continue;
    if (C == '{' || C == '[' || C == '(')
      ++Depth;
    else if ((C == '}' || C == ']' || C == ')') && --Depth == 0)
      return whole(Text.substr(At, Scan + 1 - At));
  }
  return Answer::More;
}

Answer CallMatcher::whole(std::string_view Value) {
  const BoundElement &E = (*Pattern)[Index];
  if (E.What == Element::Pythonic) {
    std::optional<std::vector<ToolCall>> Found = readPythonCalls(Value);
    if (!Found)
      return Answer::No;
    Calls = std::move(*Found);
  } else if (E.What == Element::Gemma) {
    std::optional<tenon::Json> Object = readGemmaObject(Value, E.Text);
    if (!Object)
      return Answer::No;
    Arguments = std::move(*Object);
  } else {
    Result<tenon::Json> Read = parseJson(Value, "call");
    if (!Read)
      return Answer::No;
    if (E.What == Element::Object) {
      HasObject = true;
      RawArguments = Value;
    } else if (E.What == Element::Call) {
      if (!addCall(*Read))
        return Answer::No;
    } else {
      for (const tenon::Json &Call : *Read)
        if (!addCall(Call))
          return Answer::No;
      if (Calls.empty())
        return Answer::No;
    }
  }
  At += Value.size();
  return done();
}

bool CallMatcher::addCall(const Json &Call) {
  if (!Call.is_object())
    return false;
  ToolCall New;
  bool HasArguments = false;
  for (const auto &[Member, Value] : Call.items()) {
    if ((Member == "name" || Member == "tool_name") && Value.is_string() &&
        New.Name.empty()) {
      New.Name = Value.get<std::string>();
    } else if ((Member == "arguments" || Member == "parameters") &&
               Value.is_object() && !HasArguments) {
      New.Arguments = Value.dump();
      HasArguments = true;
    } else if (Member != "id" && Member != "tool_call_id" && Member != "type") {
      return false; // some other object
    }
  }
  if (New.Name.empty() || !HasArguments)
    return false;
  Calls.push_back(std::move(New));
  return true;
}

} // namespace tenon::tools
