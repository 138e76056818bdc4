//===- TokenizerFile.cpp - Parsing tokenizer.json -------------------------===//

#include "runtime/Tokenizer/TokenizerFile.h"

#include <algorithm>
#include <charconv>

using namespace tenon;
using namespace tenon::tokenizer;

/// 10 to the power of `Exponent`, 0 to 308, rounded correctly.
static double powerOfTen(int Exponent) {
  std::string Text = "1e" + std::to_string(Exponent);
  double Value = 0;
  std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  return Value;
}

/// The number that JSON's `Text` is to `tokenizers`, which can be off in the
/// last bit: as many digits as fit 64 bits, times or by a power of ten. Sums of
/// scores that are nearly equal decide between tokens.
static double readScore(std::string_view Text) {
  bool Negative = Text.starts_with('-');
  Text.remove_prefix(Negative);
  uint64_t Digits = 0;
  int Exponent = 0;
  bool Full = false, Fraction = false;
  size_t At = 0;
  for (; At < Text.size() && (Text[At] | 32) != 'e'; ++At) {
    if (Text[At] == '.') {
      Fraction = true;
      continue;
    }
    auto Digit = static_cast<uint64_t>(Text[At] - '0');
    Full |= Digits > (UINT64_MAX - Digit) / 10;
    if (!Full)
      Digits = Digits * 10 + Digit;
    Exponent += int(Full) - int(Fraction);
  }
  // The parser has seen that the number is within a double's range, but not
  // that its exponent is short.
  if (At < Text.size()) {
    bool Down = Text[++At] == '-';
    At += Text[At] == '-' || Text[At] == '+';
    int Digits = 0;
    for (; At < Text.size(); ++At)
      Digits = std::min(Digits * 10 + (Text[At] - '0'), 100000);
    Exponent += Down ? -Digits : Digits;
  }
  auto Value = static_cast<double>(Digits);
  for (; Exponent < -308 && Value != 0; Exponent += 308)
    Value /= 1e308;
  if (Exponent >= -308 && Exponent <= 308)
    Value = Exponent >= 0 ? Value * powerOfTen(Exponent)
                          : Value / powerOfTen(-Exponent);
  return Negative ? -Value : Value;
}

namespace {

/// Receives the parser's events and builds the values.
class Builder : public nlohmann::json_sax<Json> {
public:
  explicit Builder(TokenizerFile &Into) : Into(Into) {}

  std::string Problem;

  bool null() override { return add(nullptr); }
  bool boolean(bool Value) override { return add(Value); }
  bool number_integer(number_integer_t Value) override {
    if (At == Place::Score)
      return addScore(static_cast<double>(Value));
    return At == Place::Tokens ? addToken(Value) : add(Value);
  }
  bool number_unsigned(number_unsigned_t Value) override {
    if (At == Place::Score)
      return addScore(static_cast<double>(Value));
    if (At != Place::Tokens)
      return add(Value);
    return Value > static_cast<uint64_t>(INT64_MAX)
               ? failToken(std::to_string(Value))
               : addToken(static_cast<int64_t>(Value));
  }
  bool number_float(number_float_t Value, const string_t &Text) override {
    return At == Place::Score ? addScore(readScore(Text)) : add(Value);
  }
  bool string(string_t &Value) override {
    if (At != Place::PairBegin)
      return add(std::move(Value));
    Into.ScoredVocabulary.emplace_back(std::move(Value), 0);
    At = Place::Score;
    return true;
  }
  bool binary(binary_t &) override { return fail("binary value"); }

  bool start_object(size_t) override { return open(Json::object()); }
  bool end_object() override {
    if (At == Place::Tokens)
      At = Place::Tree;
    else
      Open.pop_back();
    return true;
  }
  bool start_array(size_t) override {
    if (At != Place::Pairs)
      return open(Json::array());
    At = Place::PairBegin;
    return true;
  }
  bool end_array() override {
    switch (At) {
    case Place::PairBegin:
    case Place::Score:
      return failPair("too short");
    case Place::PairEnd:
      At = Place::Pairs;
      return true;
    case Place::Pairs:
      At = Place::Tree;
      return true;
    default:
      Open.pop_back();
      return true;
    }
  }

  bool key(string_t &Name) override {
    Key = std::move(Name);
    if (At == Place::Tokens)
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
  /// Tokens: in "model.vocab", an object. Pairs: in the same as an array, but
  /// in none of its pairs; the others are places in a pair.
  enum class Place { Tree, Tokens, Pairs, PairBegin, Score, PairEnd };

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

  bool failPair(const std::string &What) {
    // A pair that has its token is counted already.
    size_t Index = Into.ScoredVocabulary.size() -
                   (At == Place::Score || At == Place::PairEnd);
    Problem = "field 'model.vocab[" + std::to_string(Index) + "]' is " + What +
              ": expected [token, score]";
    return false;
  }

  bool addScore(double Score) {
    Into.ScoredVocabulary.back().second = Score;
    At = Place::PairEnd;
    return true;
  }

  bool addToken(int64_t Id) {
    Into.Vocabulary.emplace_back(std::move(Key), Id);
    return true;
  }

  Json *insert(Json Value) {
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
    if (At == Place::Tree) {
      insert(std::move(Value));
      return true;
    }
    std::string Text =
        printable(Value.dump(-1, ' ', false, Json::error_handler_t::replace));
    return At == Place::Tokens ? failToken(Text) : failPair(Text);
  }

  bool open(Json Value) {
    if (At == Place::Tokens)
      return failToken(Value.is_object() ? "of an object" : "of an array");
    if (At != Place::Tree)
      return failPair(Value.is_object() ? "of an object" : "of an array");
    if (Open.size() >= static_cast<size_t>(MaxJsonDepth))
      return fail("nested deeper than " + std::to_string(MaxJsonDepth) +
                  " levels");
    bool IsObject = Value.is_object();
    bool IsVocabulary = Open.size() == 2 && Key == "vocab" &&
                        Open.back()->is_object() && Into.Root.is_object() &&
                        Into.Root.contains("model") &&
                        Open.back() == &Into.Root["model"];
    Json *Placed = insert(std::move(Value));
    // Values stay where they are while they are open: only their own children
    // are added meanwhile.
    if (IsVocabulary)
      At = IsObject ? Place::Tokens : Place::Pairs;
    else
      Open.push_back(Placed);
    return true;
  }

  TokenizerFile &Into;
  std::vector<Json *> Open;
  std::string Key;
  Place At = Place::Tree;
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
