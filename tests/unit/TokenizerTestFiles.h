//===- TokenizerTestFiles.h - Small tokenizer.json texts --------*- C++ -*-===//
//
// What the tests of tokenizers share: files put together from parts, and short
// ways to ask what becomes of a text.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_TOKENIZERTESTFILES_H
#define TENON_TESTS_UNIT_TOKENIZERTESTFILES_H

#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include <gtest/gtest.h>

namespace tenon {

using namespace tokenizer;

using Ids = std::vector<int32_t>;

inline std::string dataPath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/tokenizers/" + Name;
}

/// FNV-1a with its high byte folded into the rest, as generate.py does.
class Hash {
public:
  void add(unsigned char Byte) { Value = (Value ^ Byte) * 0x01000193u; }
  std::string text() const {
    char Text[8];
    std::snprintf(Text, sizeof(Text), "%06x",
                  (Value >> 24) ^ (Value & 0xffffffu));
    return Text;
  }

private:
  uint32_t Value = 0x811c9dc5u;
};

inline std::string hashOf(const Ids &Numbers) {
  Hash H;
  for (int32_t Id : Numbers)
    for (int Shift = 0; Shift < 32; Shift += 8)
      H.add(static_cast<unsigned char>(static_cast<uint32_t>(Id) >> Shift));
  return H.text();
}

inline std::string hashOf(const std::string &Text) {
  Hash H;
  for (char C : Text)
    H.add(static_cast<unsigned char>(C));
  return H.text();
}

inline std::string joined(const Ids &Numbers) {
  std::string Text;
  for (int32_t Id : Numbers)
    Text += std::to_string(Id) + " ";
  return Text;
}

/// A whole tokenizer.json: byte tokens 0 to 255 that spell every text, with "|"
/// after each piece, and the given parts instead of the usual ones.
inline std::string
file(std::initializer_list<std::pair<std::string, std::string>> Parts = {}) {
  Json Root = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", Json::array()},
               {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
               {"post_processor", nullptr}, {"decoder", nullptr}};
  Json Tokens = Json::object();
  for (int Byte = 0; Byte < 256; ++Byte) {
    char Name[8];
    std::snprintf(Name, sizeof(Name), "<0x%02X>", Byte);
    Tokens[Name] = Byte;
  }
  Root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", "|"},
                   {"fuse_unk", false},
                   {"byte_fallback", true},
                   {"vocab", Tokens},
                   {"merges", Json::array()}};
  for (const auto &[Key, Text] : Parts)
    Root[Key] = Json::parse(Text);
  return Root.dump();
}

/// The pieces of `Text`, normalized, each with "|" behind it; added tokens as
/// "<ID>"; or the error.
inline std::string pieces(const std::string &File, std::string_view Text,
                          bool AddSpecialTokens = true) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  if (!T)
    return T.error().message();
  Result<Ids> Numbers = T->encode(Text, AddSpecialTokens);
  if (!Numbers)
    return Numbers.error().message();
  std::string Out;
  for (int32_t Id : *Numbers)
    if (Id < 256)
      Out += static_cast<char>(Id);
    else
      Out += "<" + std::to_string(Id) + ">";
  return Out;
}

inline std::string normalized(const std::string &Normalizer,
                              std::string_view Text) {
  std::string Out = pieces(file({{"normalizer", Normalizer}}), Text);
  return Out.ends_with('|') ? Out.substr(0, Out.size() - 1) : Out;
}

inline std::string splitBy(const std::string &PreTokenizer,
                           std::string_view Text) {
  return pieces(file({{"pre_tokenizer", PreTokenizer}}), Text);
}

/// A byte-pair model of a small vocabulary, other members as given.
inline std::string pairFile(const std::string &Vocabulary,
                            const std::string &Merges,
                            const std::string &Options = "") {
  return file({{"model", R"({"type":"BPE","vocab":)" + Vocabulary +
                             R"(,"merges":)" + Merges + Options + "}"}});
}

inline std::string encoded(const std::string &File, std::string_view Text) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  if (!T)
    return T.error().message();
  Result<Ids> Numbers = T->encode(Text);
  return Numbers ? joined(*Numbers) : Numbers.error().message();
}

inline std::string decoded(const std::string &Vocabulary,
                           const std::string &Decoder, const Ids &Numbers) {
  Result<Tokenizer> T = Tokenizer::fromJson(
      file({{"model",
             R"({"type":"BPE","merges":[],"vocab":)" + Vocabulary + "}"},
            {"decoder", Decoder}}),
      "t.json");
  return T ? T->decode(Numbers) : T.error().message();
}

/// An error that is one line and holds these texts.
inline void expectError(const std::string &File,
                        std::initializer_list<std::string_view> Parts) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  ASSERT_FALSE(T);
  const std::string &Message = T.error().message();
  EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;
  EXPECT_TRUE(Message.starts_with("t.json: ")) << Message;
  for (std::string_view Part : Parts)
    EXPECT_NE(Message.find(Part), std::string::npos) << Message;
}
} // namespace tenon

#endif // TENON_TESTS_UNIT_TOKENIZERTESTFILES_H
