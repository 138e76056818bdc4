//===- ArgumentValues.cpp - Arguments that are not JSON -------------------===//

#include "runtime/ToolCalls/ArgumentValues.h"

#include <cmath>
#include <set>

namespace tenon::tools {

//===----------------------------------------------------------------------===//
// Types from schemas
//===----------------------------------------------------------------------===//

static const Json *memberOf(const Json *Object, std::string_view Key) {
  if (!Object || !Object->is_object())
    return nullptr;
  auto Found = Object->find(Key);
  return Found == Object->end() ? nullptr : &*Found;
}

/// The "function" of a tool; tools may also stand without that wrapper.
static const Json *functionOf(const Json &Tool) {
  const Json *Inner = memberOf(&Tool, "function");
  return Inner ? Inner : &Tool;
}

static const Json *findFunction(const Json &Tools, std::string_view Name) {
  if (!Tools.is_array())
    return nullptr;
  for (const Json &Tool : Tools) {
    const Json *Function = functionOf(Tool);
    const Json *Its = memberOf(Function, "name");
    if (Its && Its->is_string() && Its->get_ref<const std::string &>() == Name)
      return Function;
  }
  return nullptr;
}

bool isOffered(const Json &Tools, std::string_view Name) {
  return findFunction(Tools, Name) != nullptr;
}

/// JSON Schema's name of a value's type; a whole number is "integer".
static std::string typeName(const Json &Value) {
  switch (Value.type()) {
  case Json::value_t::null:
    return "null";
  case Json::value_t::boolean:
    return "boolean";
  case Json::value_t::number_integer:
  case Json::value_t::number_unsigned:
    return "integer";
  case Json::value_t::number_float:
    return "number";
  case Json::value_t::string:
    return "string";
  case Json::value_t::array:
    return "array";
  case Json::value_t::object:
    return "object";
  case Json::value_t::binary:
  case Json::value_t::discarded:
    break;
  }
  return "";
}

/// Adds the types that `Schema` names, also those of its alternatives.
static void addTypes(const Json &Schema, std::set<std::string> &Types,
                     int Depth = 0) {
  if (Depth > MaxJsonDepth)
    return;
  if (const Json *Type = memberOf(&Schema, "type")) {
    if (Type->is_string())
      Types.insert(Type->get<std::string>());
    else if (Type->is_array())
      for (const Json &One : *Type)
        if (One.is_string())
          Types.insert(One.get<std::string>());
  }
  if (const Json *Const = memberOf(&Schema, "const"))
    Types.insert(typeName(*Const));
  if (const Json *Enum = memberOf(&Schema, "enum"); Enum && Enum->is_array())
    for (const Json &Value : *Enum)
      Types.insert(typeName(Value));
  for (const char *Key : {"anyOf", "oneOf", "allOf"})
    if (const Json *Several = memberOf(&Schema, Key);
        Several && Several->is_array())
      for (const Json &One : *Several)
        addTypes(One, Types, Depth + 1);
}

static bool allows(const std::set<std::string> &Types, const Json &Value) {
  std::string Type = typeName(Value);
  return Types.count(Type) || (Type == "integer" && Types.count("number")) ||
         // 3.0 is an integer for JSON Schema.
         (Type == "number" && Types.count("integer") &&
          Value.get<double>() == std::trunc(Value.get<double>()));
}

/// The constant of Python that `Text` is, or nothing.
static std::optional<Json> pythonConstant(std::string_view Text) {
  if (Text == "True" || Text == "False")
    return Json(Text == "True");
  if (Text == "None")
    return Json(nullptr);
  return std::nullopt;
}

Json typedArgument(const Json &Tools, std::string_view Function,
                   std::string_view Key, std::string_view Text) {
  const Json *Parameters =
      memberOf(findFunction(Tools, Function), "parameters");
  const Json *Schema = memberOf(memberOf(Parameters, "properties"), Key);
  if (!Schema)
    Schema = memberOf(Parameters, "additionalProperties");
  std::set<std::string> Types;
  if (Schema)
    addTypes(*Schema, Types);
  if (Types.size() == 1 && Types.count("string"))
    return std::string(Text);
  Result<Json> Value = parseJson(Text, "argument");
  // JSON text that the schema takes only as a string stays one.
  if (Value && (Types.empty() || allows(Types, *Value)) && !Value->is_string())
    return std::move(*Value);
  // Models mix the spellings of Python and JSON.
  if (std::optional<Json> Constant = pythonConstant(Text);
      Constant && !Types.count("string") && allows(Types, *Constant))
    return std::move(*Constant);
  return std::string(Text);
}

//===----------------------------------------------------------------------===//
// Python and Gemma
//===----------------------------------------------------------------------===//

namespace {
bool isWordBegin(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || C == '_';
}

bool isDigit(char C) { return C >= '0' && C <= '9'; }

/// Whether `Object` may have a member `Key` more.
bool isNew(const Json &Object, const std::string &Key) {
  return Object.size() < MaxArguments && !Object.contains(Key);
}

/// Reads values from a text; each function is false when it is not there.
class ValueReader {
public:
  explicit ValueReader(std::string_view Text) : Text(Text) {}

  void skipSpace() {
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
  }

  bool take(std::string_view Want) {
    skipSpace();
    if (Text.substr(At, Want.size()) != Want)
      return false;
    At += Want.size();
    return true;
  }

  bool atEnd() {
    skipSpace();
    return At == Text.size();
  }

  /// A number as JSON has it.
  bool number(Json &Out) {
    size_t End = At;
    while (End < Text.size() &&
           (isDigit(Text[End]) ||
            std::string_view("+-.eE").find(Text[End]) != std::string::npos))
      ++End;
    Result<Json> Value = parseJson(Text.substr(At, End - At), "number");
    if (End == At || !Value || !Value->is_number())
      return false;
    At = End;
    Out = std::move(*Value);
    return true;
  }

  /// A word: a name or a constant.
  bool word(std::string &Out) {
    skipSpace();
    size_t Begin = At;
    if (At == Text.size() || !isWordBegin(Text[At]))
      return false;
    while (At < Text.size() && (isWordBegin(Text[At]) || isDigit(Text[At])))
      ++At;
    Out = Text.substr(Begin, At - Begin);
    return true;
  }

  /// Up to `End`, which is taken as well.
  bool upTo(std::string_view End, std::string &Out) {
    size_t Found = Text.find(End, At);
    if (Found == std::string_view::npos)
      return false;
    Out = Text.substr(At, Found - At);
    At = Found + End.size();
    return true;
  }

protected:
  std::string_view Text;
  size_t At = 0;
};

/// Literals and calls of Python.
class PythonReader : ValueReader {
public:
  using ValueReader::ValueReader;

  bool calls(std::vector<ToolCall> &Out) {
    if (!take("["))
      return false;
    do {
      ToolCall Call;
      if (!call(Call))
        return false;
      Out.push_back(std::move(Call));
    } while (take(","));
    return take("]") && atEnd();
  }

private:
  bool call(ToolCall &Out) {
    std::string Part;
    if (!word(Part))
      return false;
    Out.Name = Part;
    while (take(".")) {
      if (!word(Part))
        return false;
      Out.Name += "." + Part;
    }
    if (!take("("))
      return false;
    Json Arguments = Json::object();
    if (!take(")")) {
      do {
        std::string Key;
        Json Value;
        if (!word(Key) || !take("=") || !isNew(Arguments, Key) ||
            !value(Value, 0))
          return false;
        Arguments[Key] = std::move(Value);
      } while (take(","));
      if (!take(")"))
        return false;
    }
    Out.Arguments = jsonText(Arguments);
    return true;
  }

  bool value(Json &Out, int Depth) {
    skipSpace();
    if (Depth > MaxJsonDepth || At == Text.size())
      return false;
    char C = Text[At];
    if (C == '\'' || C == '"')
      return string(Out);
    if (C == '[' || C == '(')
      return list(Out, C == '[' ? "]" : ")", Depth);
    if (C == '{')
      return dict(Out, Depth);
    if (isWordBegin(C))
      return constant(Out);
    return number(Out);
  }

  bool constant(Json &Out) {
    std::string Word;
    word(Word);
    std::optional<Json> Constant = pythonConstant(Word);
    if (Constant)
      Out = std::move(*Constant);
    // Models mix the spellings of Python and JSON.
    else if (Word == "true" || Word == "false")
      Out = Word == "true";
    else if (Word == "null")
      Out = nullptr;
    else
      return false;
    return true;
  }

  bool list(Json &Out, std::string_view Close, int Depth) {
    ++At;
    Out = Json::array();
    while (!take(Close)) {
      Json Value;
      if (!value(Value, Depth + 1))
        return false;
      Out.push_back(std::move(Value));
      if (!take(",")) {
        return take(Close);
      }
    }
    return true;
  }

  bool dict(Json &Out, int Depth) {
    ++At;
    Out = Json::object();
    while (!take("}")) {
      Json Key, Value;
      skipSpace();
      if (!string(Key) || !isNew(Out, Key.get_ref<const std::string &>()) ||
          !take(":") || !value(Value, Depth + 1))
        return false;
      Out[Key.get<std::string>()] = std::move(Value);
      if (!take(","))
        return take("}");
    }
    return true;
  }

  bool string(Json &Out) {
    if (At == Text.size() || (Text[At] != '\'' && Text[At] != '"'))
      return false;
    char Quote = Text[At++];
    std::string Value;
    while (At < Text.size() && Text[At] != Quote)
      if (Text[At] != '\\')
        Value += Text[At++];
      else if (!escape(Value))
        return false;
    if (At == Text.size())
      return false;
    ++At;
    Out = std::move(Value);
    return true;
  }

  bool escape(std::string &Value) {
    ++At;
    if (At == Text.size())
      return false;
    static constexpr std::string_view From = "ntr\\'\"/", To = "\n\t\r\\'\"/";
    char C = Text[At];
    if (size_t I = From.find(C); I != std::string_view::npos) {
      Value += To[I];
      ++At;
      return true;
    }
    if (C == 'u' && At + 5 <= Text.size()) {
      // JSON's reader knows surrogates and what is no digit.
      size_t Length = 5;
      if (Text.substr(At + 5, 2) == "\\u" && At + 11 <= Text.size())
        Length = 11;
      for (size_t Try : {Length, size_t(5)}) {
        Result<Json> Read = parseJson(
            "\"\\" + std::string(Text.substr(At, Try)) + "\"", "escape");
        if (!Read)
          continue;
        Value += Read->get<std::string>();
        At += Try;
        return true;
      }
      return false;
    }
    Value += '\\'; // as Python: an unknown escape stays
    return true;
  }
};

class GemmaReader : ValueReader {
public:
  GemmaReader(std::string_view Text, std::string_view Quote)
      : ValueReader(Text), Quote(Quote) {}

  bool whole(Json &Out) { return object(Out, 0) && atEnd(); }

private:
  bool object(Json &Out, int Depth) {
    if (!take("{"))
      return false;
    Out = Json::object();
    while (!take("}")) {
      std::string Key;
      Json Value;
      skipSpace();
      if (take(Quote)) {
        if (!upTo(Quote, Key) || !take(":"))
          return false;
      } else if (!upTo(":", Key)) {
        return false;
      }
      if (Key.empty() || !isNew(Out, Key) || !value(Value, Depth + 1))
        return false;
      Out[Key] = std::move(Value);
      if (!take(","))
        return take("}");
    }
    return true;
  }

  bool value(Json &Out, int Depth) {
    skipSpace();
    if (Depth > MaxJsonDepth || At == Text.size())
      return false;
    if (take(Quote)) {
      std::string Value;
      if (!upTo(Quote, Value))
        return false;
      Out = std::move(Value);
      return true;
    }
    if (Text[At] == '{')
      return object(Out, Depth);
    if (Text[At] == '[')
      return list(Out, Depth);
    if (take("true"))
      Out = true;
    else if (take("false"))
      Out = false;
    else if (take("null"))
      Out = nullptr;
    else
      return number(Out);
    return true;
  }

  bool list(Json &Out, int Depth) {
    ++At;
    Out = Json::array();
    while (!take("]")) {
      Json Value;
      if (!value(Value, Depth + 1))
        return false;
      Out.push_back(std::move(Value));
      if (!take(","))
        return take("]");
    }
    return true;
  }

  std::string_view Quote;
};
} // namespace

std::optional<std::vector<ToolCall>> readPythonCalls(std::string_view Text) {
  std::vector<ToolCall> Calls;
  if (!PythonReader(Text).calls(Calls))
    return std::nullopt;
  return Calls;
}

std::optional<Json> readGemmaObject(std::string_view Text,
                                    std::string_view Quote) {
  Json Object;
  if (!GemmaReader(Text, Quote).whole(Object))
    return std::nullopt;
  return Object;
}

} // namespace tenon::tools
