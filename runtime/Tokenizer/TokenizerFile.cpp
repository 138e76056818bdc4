//===- TokenizerFile.cpp - Parsing tokenizer.json -------------------------===//

#include "runtime/Tokenizer/TokenizerFile.h"

using namespace tenon;

namespace {

/// Receives the parser's events and builds the values.
class Builder : public nlohmann::json_sax<Json> {
public:
  explicit Builder(TokenizerFile &Into) : Into(Into) {}

  std::string Problem;

  bool null() override { return add(nullptr); }
  bool boolean(bool Value) override { return add(Value); }
  bool number_integer(number_integer_t Value) override {
    return InVocabulary ? addToken(Value) : add(Value);
  }
  bool number_unsigned(number_unsigned_t Value) override {
    if (!InVocabulary)
      return add(Value);
    return Value > static_cast<uint64_t>(INT64_MAX)
               ? failToken(std::to_string(Value))
               : addToken(static_cast<int64_t>(Value));
  }
  bool number_float(number_float_t Value, const string_t &) override {
    return add(Value);
  }
  bool string(string_t &Value) override { return add(std::move(Value)); }
  bool binary(binary_t &) override { return fail("binary value"); }

  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override {
    if (InVocabulary) {
      InVocabulary = false;
      return true;
    }
    Open.pop_back();
    return true;
  }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_array() override {
    Open.pop_back();
    return true;
  }

  bool key(string_t &Name) override {
    Key = std::move(Name);
    if (InVocabulary)
      return true;
    const Json &Object = *Open.back();
    if (Object.contains(Key))
      return fail("duplicate key " + printable(Key));
    if (Object.size() >= MaxTokenizerMembers)
      return fail("an object has more than " +
                  std::to_string(MaxTokenizerMembers) + " members");
    return true;
  }

  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &Failure) override {
    // Drop the library's "[json.exception...]" tag and keep one line.
    std::string Why = Failure.what();
    if (size_t Tag = Why.find("] "); Tag != std::string::npos)
      Why = Why.substr(Tag + 2);
    for (char &C : Why)
      if (static_cast<unsigned char>(C) < 0x20 ||
          static_cast<unsigned char>(C) >= 0x7f)
        C = '?';
    return fail(Why.substr(0, 200));
  }

private:
  bool fail(std::string Why) {
    if (Problem.empty())
      Problem = "invalid JSON: " + std::move(Why);
    return false;
  }

  bool failToken(const std::string &Value) {
    Problem = "field 'model.vocab' gives " + printable(Key) + " the id " +
              Value + ": expected a whole number";
    return false;
  }

  bool addToken(int64_t Id) {
    Into.Vocabulary.emplace_back(std::move(Key), Id);
    return true;
  }

  Json *place(Json Value) {
    if (Open.empty()) {
      Into.Root = std::move(Value);
      return &Into.Root;
    }
    Json &Parent = *Open.back();
    if (Parent.is_array()) {
      Parent.push_back(std::move(Value));
      return &Parent.back();
    }
    Json &Slot = Parent[Key];
    Slot = std::move(Value);
    return &Slot;
  }

  bool add(Json Value) {
    if (InVocabulary)
      return failToken(printable(
          Value.dump(-1, ' ', false, Json::error_handler_t::replace)));
    place(std::move(Value));
    return true;
  }

  bool open(Json Value) {
    if (InVocabulary)
      return failToken(Value.is_object() ? "of an object" : "of an array");
    if (Open.size() >= static_cast<size_t>(MaxJsonDepth))
      return fail("nested deeper than " + std::to_string(MaxJsonDepth) +
                  " levels");
    bool IsVocabulary = Value.is_object() && Open.size() == 2 &&
                        Key == "vocab" && Into.Root.is_object() &&
                        Into.Root.contains("model") &&
                        Open.back() == &Into.Root["model"];
    Json *Placed = place(std::move(Value));
    // Values stay where they are while they are open: only their own children
    // are added meanwhile.
    if (IsVocabulary)
      InVocabulary = true;
    else
      Open.push_back(Placed);
    return true;
  }

  TokenizerFile &Into;
  std::vector<Json *> Open;
  std::string Key;
  bool InVocabulary = false;
};

} // namespace

Result<TokenizerFile> TokenizerFile::parse(std::string_view Text,
                                           std::string_view File) {
  TokenizerFile Into;
  Into.File = File;
  Builder Events(Into);
  if (!Json::sax_parse(Text.begin(), Text.end(), &Events))
    return Error(Into.File + ": " + Events.Problem);
  return Into;
}
