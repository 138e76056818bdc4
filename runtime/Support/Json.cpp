//===- Json.cpp - Checked reading of JSON files ---------------------------===//

#include "runtime/Support/Json.h"

#include "runtime/Support/InputFile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tenon;

namespace {

/// Builds the tree from the parser's events. The order-keeping object looks for
/// each key before it inserts it, which takes quadratic time: members are
/// appended here, and duplicates found when the object ends.
class TreeBuilder final : public nlohmann::json_sax<Json> {
public:
  explicit TreeBuilder(int MaxDepth) : MaxDepth(MaxDepth) {}

  bool null() override { return add(Json()); }
  bool boolean(bool Value) override { return add(Value); }
  bool number_integer(number_integer_t Value) override { return add(Value); }
  bool number_unsigned(number_unsigned_t Value) override { return add(Value); }
  bool number_float(number_float_t Value, const string_t &) override {
    return add(Value);
  }
  bool string(string_t &Value) override { return add(std::move(Value)); }
  bool binary(binary_t &) override { return false; } // Never in JSON text.

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override {
    Open.pop_back();
    return true;
  }
  bool key(string_t &Key) override {
    // Appending is safe: the object's last member is complete by now.
    members(*Open.back()).emplace_back(std::move(Key), Json());
    return true;
  }
  bool end_object() override {
    std::vector<std::string_view> Keys;
    for (const auto &Member : members(*Open.back()))
      Keys.push_back(Member.first);
    Open.pop_back();
    std::sort(Keys.begin(), Keys.end());
    auto Twin = std::adjacent_find(Keys.begin(), Keys.end());
    return Twin == Keys.end() || fail("duplicate key " + printable(*Twin));
  }

  bool parse_error(std::size_t, const std::string &,
                   const nlohmann::detail::exception &Failure) override {
    // Drop the library's "[json.exception...]" tag and keep one line.
    std::string Why = Failure.what();
    if (size_t Tag = Why.find("] "); Tag != std::string::npos)
      Why = Why.substr(Tag + 2);
    std::string Plain;
    for (char C : Why.substr(0, 200)) {
      auto Byte = static_cast<unsigned char>(C);
      Plain += Byte < 0x20 || Byte >= 0x7f ? '?' : C;
    }
    return fail(std::move(Plain));
  }

  Json Root;
  std::string Problem;

private:
  using Members = std::vector<std::pair<const std::string, Json>,
                              Json::object_t::allocator_type>;

  static Members &members(Json &Object) {
    return Object.get_ref<Json::object_t &>();
  }

  bool fail(std::string Why) {
    Problem = std::move(Why);
    return false;
  }

  /// Puts `Value` where the next value belongs.
  Json &place(Json Value) {
    if (Open.empty())
      return Root = std::move(Value);
    Json &Parent = *Open.back();
    if (Parent.is_array())
      return Parent.get_ref<Json::array_t &>().emplace_back(std::move(Value));
    return members(Parent).back().second = std::move(Value);
  }
  bool add(Json Value) {
    place(std::move(Value));
    return true;
  }
  bool open(Json Container) {
    if (Open.size() >= static_cast<size_t>(MaxDepth))
      return fail("nested deeper than " + std::to_string(MaxDepth) + " levels");
    Open.push_back(&place(std::move(Container)));
    return true;
  }

  /// The containers not yet ended, outermost first. None moves while it is
  /// here: a parent grows only when its last child has ended.
  std::vector<Json *> Open;
  int MaxDepth;
};

/// Bytes of the UTF-8 character that `Text` begins with, 0 when it begins with
/// none.
size_t characterBytes(std::string_view Text) {
  auto At = [&](size_t I) { return static_cast<unsigned char>(Text[I]); };
  unsigned char Lead = At(0);
  if (Lead < 0x80)
    return 1;
  size_t Bytes = Lead >= 0xf0 ? 4 : Lead >= 0xe0 ? 3 : 2;
  if (Lead < 0xc2 || Lead > 0xf4 || Text.size() < Bytes)
    return 0;
  for (size_t I = 1; I < Bytes; ++I)
    if ((At(I) & 0xc0) != 0x80)
      return 0;
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((Lead == 0xe0 && At(1) < 0xa0) || (Lead == 0xed && At(1) >= 0xa0) ||
      (Lead == 0xf0 && At(1) < 0x90) || (Lead == 0xf4 && At(1) >= 0x90))
    return 0;
  return Bytes;
}

} // namespace

/// Appends the first characters of `Text`, of at most `Limit` bytes in all,
/// with escapes for what could drive a terminal; returns how many bytes they
/// are.
static size_t appendEscaped(std::string &Out, std::string_view Text,
                            size_t Limit) {
  size_t I = 0;
  while (I < Text.size()) {
    size_t Bytes = characterBytes(Text.substr(I));
    bool Valid = Bytes != 0;
    Bytes = std::max<size_t>(Bytes, 1);
    if (I + Bytes > Limit)
      break;
    std::string_view Character = Text.substr(I, Bytes);
    auto First = static_cast<unsigned char>(Character[0]);
    // C1 controls, U+0080 to U+009F, drive terminals like escapes do.
    bool IsC1 = Bytes == 2 && First == 0xc2 &&
                static_cast<unsigned char>(Character[1]) < 0xa0;
    if (!Valid || First < 0x20 || First == 0x7f || IsC1) {
      for (char C : Character) {
        char Escape[8];
        std::snprintf(Escape, sizeof(Escape), "\\x%02x",
                      static_cast<unsigned char>(C));
        Out += Escape;
      }
    } else {
      Out += Character;
    }
    I += Bytes;
  }
  return I;
}

std::string tenon::printable(std::string_view Text) {
  constexpr size_t MaxShown = 80;
  std::string Shown = "'";
  if (appendEscaped(Shown, Text, MaxShown) < Text.size())
    Shown += "...";
  return Shown + "'";
}

std::string tenon::escaped(std::string_view Text) {
  std::string Out;
  appendEscaped(Out, Text, Text.size());
  return Out;
}

Result<Json> tenon::parseJson(std::string_view Text, std::string_view File,
                              int MaxDepth) {
  TreeBuilder Builder(MaxDepth);
  if (!Json::sax_parse(Text.begin(), Text.end(), &Builder))
    return Error(std::string(File) + ": invalid JSON: " + Builder.Problem);
  return std::move(Builder.Root);
}

Result<Json> tenon::readJsonFile(const std::string &Path, uint64_t MaxBytes) {
  Result<std::string> Text = readFile(Path, MaxBytes);
  if (!Text)
    return Text.error();
  return parseJson(*Text, Path);
}

std::string tenon::jsonKind(const Json &Value) {
  if (Value.is_null())
    return "null";
  bool IsVowel = Value.is_structured(); // An array, an object.
  return std::string(IsVowel ? "an " : "a ") + Value.type_name();
}

std::string tenon::wholeNumber(int64_t Min, int64_t Max) {
  if (Min == Max)
    return std::to_string(Min);
  return "a whole number from " + std::to_string(Min) + " to " +
         std::to_string(Max);
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
  std::string Name =
      Path.empty() ? std::string(Key) : Path + "." + std::string(Key);
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
  auto Fail = [&] { return expected(wholeNumber(Min, Max)); };
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

std::string JsonField::described() const {
  std::string Shown;
  if (Value->is_structured())
    Shown = jsonKind(*Value);
  else if (Value->is_string())
    Shown = printable(Value->get_ref<const std::string &>());
  else
    Shown = Value->dump();
  return printable(Path) + " is " + Shown;
}

Error JsonField::expected(std::string_view Expected) const {
  return Error(File + ": field " + described() + ": expected " +
               std::string(Expected));
}
