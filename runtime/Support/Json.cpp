//===- Json.cpp - Checked reading of JSON files ---------------------------===//

#include "runtime/Support/Json.h"

#include "runtime/Support/MappedFile.h"

#include <cmath>
#include <cstdio>
#include <set>

using namespace tenon;

namespace {

/// Watches the parser's events for what nlohmann itself accepts and we do not.
class Guard {
public:
  bool operator()(int Depth, Json::parse_event_t Event, Json &Parsed) {
    using E = Json::parse_event_t;
    if (Event == E::object_start || Event == E::array_start) {
      if (Depth >= MaxJsonDepth && Problem.empty())
        Problem = "nested deeper than " + std::to_string(MaxJsonDepth);
      Keys.emplace_back();
    } else if (Event == E::object_end || Event == E::array_end) {
      Keys.pop_back();
    } else if (Event == E::key && Problem.empty()) {
      const std::string &Key = Parsed.get_ref<const std::string &>();
      if (!Keys.back().insert(Key).second)
        Problem = "duplicate key " + printable(Key);
    }
    // Discarding all after the first problem keeps memory bounded.
    return Problem.empty();
  }

  std::string Problem;

private:
  std::vector<std::set<std::string>> Keys;
};

/// Depth of brackets outside strings; nlohmann's parser builds values
/// iteratively, but destroying deeply nested ones recurses.
bool nestsDeeperThan(std::string_view Text, int Limit) {
  int Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > Limit)
        return true;
    } else if (C == ']' || C == '}') {
      --Depth;
    }
  }
  return false;
}

} // namespace

std::string tenon::printable(std::string_view Text) {
  constexpr size_t MaxShown = 80;
  std::string Shown = "'";
  for (char C : Text.substr(0, MaxShown)) {
    auto Byte = static_cast<unsigned char>(C);
    if (Byte < 0x20 || Byte == 0x7f) {
      char Escape[8];
      std::snprintf(Escape, sizeof(Escape), "\\x%02x", Byte);
      Shown += Escape;
    } else {
      Shown += C;
    }
  }
  if (Text.size() > MaxShown)
    Shown += "...";
  return Shown + "'";
}

Result<Json> tenon::parseJson(std::string_view Text, std::string_view File) {
  auto Fail = [&](const std::string &Why) {
    return Error(std::string(File) + ": invalid JSON: " + Why);
  };
  if (nestsDeeperThan(Text, MaxJsonDepth))
    return Fail("nested deeper than " + std::to_string(MaxJsonDepth) +
                " levels");
  Guard Watch;
  try {
    Json Parsed = Json::parse(Text.begin(), Text.end(), std::ref(Watch));
    if (!Watch.Problem.empty())
      return Fail(Watch.Problem);
    return Parsed;
  } catch (const Json::exception &Failure) {
    // Drop the library's "[json.exception...]" tag and keep one line.
    std::string Why = Failure.what();
    if (size_t Tag = Why.find("] "); Tag != std::string::npos)
      Why = Why.substr(Tag + 2);
    std::string Plain;
    for (char C : Why.substr(0, 200)) {
      auto Byte = static_cast<unsigned char>(C);
      Plain += Byte < 0x20 || Byte >= 0x7f ? '?' : C;
    }
    return Fail(Plain);
  }
}

Result<Json> tenon::readJsonFile(const std::string &Path, uint64_t MaxBytes) {
  Result<std::string> Text = readFile(Path, MaxBytes);
  if (!Text)
    return Text.error();
  return parseJson(*Text, Path);
}

bool JsonField::has(std::string_view Key) const {
  if (!Value->is_object())
    return false;
  auto Found = Value->find(std::string(Key));
  return Found != Value->end() && !Found->is_null();
}

Result<JsonField> JsonField::member(std::string_view Key) const {
  if (!Value->is_object())
    return expected("an object");
  auto Found = Value->find(std::string(Key));
  std::string Name = Path.empty() ? std::string(Key)
                                  : Path + "." + std::string(Key);
  if (Found == Value->end())
    return Error(File + ": missing field " + printable(Name));
  return JsonField(*Found, File, Name);
}

Result<JsonField> JsonField::element(size_t Index) const {
  if (!Value->is_array())
    return expected("an array");
  std::string Name = Path + "[" + std::to_string(Index) + "]";
  if (Index >= Value->size())
    return Error(File + ": missing element " + printable(Name));
  return JsonField((*Value)[Index], File, Name);
}

Result<std::string> JsonField::asString() const {
  if (!Value->is_string())
    return expected("a string");
  return Value->get<std::string>();
}

Result<bool> JsonField::asBool() const {
  if (!Value->is_boolean())
    return expected("true or false");
  return Value->get<bool>();
}

Result<double> JsonField::asNumber() const {
  if (!Value->is_number() || !std::isfinite(Value->get<double>()))
    return expected("a finite number");
  return Value->get<double>();
}

Result<int64_t> JsonField::asInteger(int64_t Min, int64_t Max) const {
  auto Fail = [&] {
    return expected("a whole number from " + std::to_string(Min) + " to " +
                    std::to_string(Max));
  };
  if (!Value->is_number_integer())
    return Fail();
  if (Value->is_number_unsigned() &&
      Value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return Fail();
  auto Number = Value->get<int64_t>();
  if (Number < Min || Number > Max)
    return Fail();
  return Number;
}

Result<size_t> JsonField::arraySize() const {
  if (!Value->is_array())
    return expected("an array");
  return Value->size();
}

Error JsonField::expected(std::string_view Expected) const {
  std::string Shown;
  if (Value->is_object())
    Shown = "an object";
  else if (Value->is_array())
    Shown = "an array";
  else if (Value->is_string())
    Shown = printable(Value->get_ref<const std::string &>());
  else
    Shown = Value->dump();
  return Error(File + ": field " + printable(Path) + " is " + Shown +
               ": expected " + std::string(Expected));
}
