//===- GgufTokenizer.cpp - The tokenizer of a GGUF file -------------------===//

#include "compiler/Checkpoint/GgufTokenizer.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

using namespace tenon;

namespace {

/// "tokenizer.ggml.token_type".
enum TokenType : int64_t {
  Normal = 1,
  Unknown,
  Control,
  UserDefined,
  Unused,
  Byte
};

//===----------------------------------------------------------------------===//
// How byte-level vocabularies split text
//===----------------------------------------------------------------------===//

/// Splits as the published tokenizer.json files of the models have them.
struct Split {
  /// Of "tokenizer.ggml.pre", with blanks between.
  std::string_view Names;
  /// Elements of a sequence of pre-tokenizers.
  std::string_view Steps;
  bool Nfc = false;
  /// A piece that is a token is taken whole.
  bool IgnoreMerges = false;
  /// Unless the file says otherwise.
  bool AddBegin = false;
};

// Raw JSON: a regular expression's '\' is doubled.
#define ISOLATED(REGEX)                                                        \
  R"({"type":"Split","pattern":{"Regex":")" REGEX                              \
  R"("},"behavior":"Isolated","invert":false})"
#define BYTES_ALONE                                                            \
  R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,)"       \
  R"("use_regex":false})"
#define BYTES_AND_GPT2                                                         \
  R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,)"       \
  R"("use_regex":true})"
#define ONE_DIGIT R"({"type":"Digits","individual_digits":true})"

#define CONTRACTIONS R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define TAIL R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"
#define WORDS_BY_CASE(AFTER)                                                   \
  R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*)"             \
  R"([\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+)" AFTER                                    \
  R"(|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+)"            \
  R"([\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*)" AFTER
#define TAIL_WITH_SLASH                                                        \
  R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)"
/// Letters with case, as DeepSeek's first models list them.
#define CASED                                                                  \
  "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-" \
  "ᵷ"                                                                          \
  "ᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹ"    \
  "ℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲"         \
  "𐳀-𐳲𑢠-𑣟𞤀-𞥃"

constexpr Split Splits[] = {
    {.Names = " gpt-2 phi-2 gigachat a.x-4.0 mellum ", .Steps = BYTES_AND_GPT2},
    {.Names = " mpt olmo ", .Steps = BYTES_AND_GPT2, .Nfc = true},
    {.Names = " llama-bpe llama3 llama-v3 falcon3 pixtral midm-2.0 lfm2 ",
     .Steps = ISOLATED(
         CONTRACTIONS
         R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3})" TAIL) "," BYTES_ALONE,
     .IgnoreMerges = true,
     .AddBegin = true},
    {.Names = " dbrx smaug-bpe ",
     .Steps = ISOLATED(
         CONTRACTIONS
         R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3})" TAIL) "," BYTES_ALONE},
    {.Names = " qwen2 deepseek-r1-qwen kormo f2llmv2 megrez ",
     .Steps = ISOLATED(
         CONTRACTIONS
         R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N})" TAIL) "," BYTES_ALONE,
     .Nfc = true},
    {.Names = " stablelm2 ",
     .Steps = ISOLATED(
         CONTRACTIONS
         R"(|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N})" TAIL) "," BYTES_ALONE},
    {.Names = " starcoder refact smollm codeshell ",
     .Steps = ONE_DIGIT "," BYTES_AND_GPT2},
    {.Names = " command-r ",
     .Steps = ONE_DIGIT "," BYTES_AND_GPT2,
     .Nfc = true},
    {.Names = " tekken ",
     .Steps = ISOLATED(
         WORDS_BY_CASE("") R"(|\\p{N})" TAIL_WITH_SLASH) "," BYTES_ALONE,
     .IgnoreMerges = true,
     .AddBegin = true},
    {.Names = " gpt-4o llama4 kanana2 ",
     .Steps = ISOLATED(WORDS_BY_CASE(
         CONTRACTIONS "?") R"(|\\p{N}{1,3})" TAIL_WITH_SLASH) "," BYTES_ALONE},
    {.Names = " bloom ",
     .Steps = ISOLATED(R"( ?[^(\\s|[.,!?…。，、।۔،])]+)") "," BYTES_ALONE},
    {.Names = " falcon ",
     .Steps =
         R"({"type":"Punctuation","behavior":"Contiguous"},)" BYTES_AND_GPT2
         R"(,{"type":"Digits","individual_digits":false},)" ISOLATED(
             "[0-9][0-9][0-9]")},
    {.Names = " deepseek-llm ",
     .Steps =
         ISOLATED(R"([\r\n])") "," ISOLATED(R"(\\s?[)" CASED "]+") "," ISOLATED(R"(\\s?[!-/:-~！-／：-～‘-‟　-。]+)") "," ISOLATED(
             R"(\\s+$)") "," ISOLATED("[一-龥ࠀ-一가-퟿]+") "," ONE_DIGIT
                                                                  "," BYTES_ALONE},
    {.Names = " deepseek-coder ",
     .Steps = ISOLATED(R"([\r\n])") "," ISOLATED(R"(\\s?\\p{L}+)") "," ISOLATED(
         R"(\\s?\\p{P}+)") "," ISOLATED("[一-龥ࠀ-一가-퟿]+") "," ONE_DIGIT
                                                                    "," BYTES_ALONE},
    {.Names = " deepseek-v3 ",
     .Steps = ISOLATED(R"(\\p{N}{1,3})") "," ISOLATED(
         "[一-龥぀-ゟ゠-ヿ]"
         "+") "," ISOLATED(R"([!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+)"
                           R"(|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+)"
                           R"(| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+)") "," BYTES_ALONE}};

#undef ISOLATED
#undef BYTES_ALONE
#undef BYTES_AND_GPT2
#undef ONE_DIGIT
#undef CONTRACTIONS
#undef TAIL
#undef WORDS_BY_CASE
#undef TAIL_WITH_SLASH
#undef CASED

const Split *splitNamed(const std::string &Name) {
  for (const Split &S : Splits)
    if (Name.find(' ') == std::string::npos &&
        S.Names.find(" " + Name + " ") != std::string_view::npos)
      return &S;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Writing JSON
//===----------------------------------------------------------------------===//

/// The length of the UTF-8 character that begins `Text`, 0 if none does.
size_t characterSize(std::string_view Text) {
  auto At = [&](size_t I) {
    return I < Text.size() ? static_cast<unsigned char>(Text[I]) : 0u;
  };
  unsigned First = At(0);
  if (First < 0x80)
    return 1;
  size_t Size = First >= 0xf0 ? 4 : First >= 0xe0 ? 3 : 2;
  if (First < 0xc2 || First > 0xf4)
    return 0;
  for (size_t I = 1; I < Size; ++I)
    if ((At(I) & 0xc0) != 0x80)
      return 0;
  // Overlong forms, surrogates, beyond U+10FFFF.
  unsigned Second = At(1);
  if ((First == 0xe0 && Second < 0xa0) || (First == 0xed && Second > 0x9f) ||
      (First == 0xf0 && Second < 0x90) || (First == 0xf4 && Second > 0x8f))
    return 0;
  return Size;
}

bool isUtf8(std::string_view Text) {
  while (!Text.empty()) {
    size_t Size = characterSize(Text);
    if (Size == 0)
      return false;
    Text.remove_prefix(Size);
  }
  return true;
}

/// `Text`, which is UTF-8, in quotes.
void quote(std::string &Out, std::string_view Text) {
  static constexpr char Digits[] = "0123456789abcdef";
  Out += '"';
  for (char C : Text) {
    if (C == '"' || C == '\\') {
      Out += '\\';
      Out += C;
    } else if (static_cast<unsigned char>(C) < 0x20) {
      Out += "\\u00";
      Out += Digits[C >> 4];
      Out += Digits[C & 15];
    } else {
      Out += C;
    }
  }
  Out += '"';
}

//===----------------------------------------------------------------------===//
// Reading the metadata
//===----------------------------------------------------------------------===//

constexpr std::string_view Prefix = "tokenizer.ggml.";

/// Keys that say nothing about which ids a text has.
constexpr std::string_view InertKeys[] = {
    "tokenizer.ggml.token_type_count",
    "tokenizer.ggml.remove_extra_whitespaces",
    "tokenizer.ggml.prefix_token_id",
    "tokenizer.ggml.suffix_token_id",
    "tokenizer.ggml.middle_token_id",
    "tokenizer.ggml.fim_pre_token_id",
    "tokenizer.ggml.fim_suf_token_id",
    "tokenizer.ggml.fim_mid_token_id",
    "tokenizer.ggml.fim_pad_token_id",
    "tokenizer.ggml.fim_rep_token_id",
    "tokenizer.ggml.fim_sep_token_id",
    "tokenizer.ggml.fsep_token_id",
    "tokenizer.ggml.cls_token_id",
    "tokenizer.ggml.seperator_token_id",
    "tokenizer.ggml.mask_token_id",
    "tokenizer.huggingface.json",
    "tokenizer.rwkv.world"};
constexpr std::string_view ReadKeys[] = {
    "model",         "pre",           "tokens",           "token_type",
    "scores",        "merges",        "bos_token_id",     "eos_token_id",
    "eot_token_id",  "eom_token_id",  "unknown_token_id", "padding_token_id",
    "add_bos_token", "add_eos_token", "add_sep_token",    "add_space_prefix"};

/// Tokens that end a text, a turn or a message in the families that are read,
/// by the texts that llama.cpp knows them by: files give the id of one at most
/// of each kind, and most give that of the text's end alone.
constexpr std::string_view EndTexts[] = {"</s>",
                                         "<eos>",
                                         "<|endoftext|>",
                                         "<|end_of_text|>",
                                         "<｜end▁of▁sentence｜>",
                                         "<|eot_id|>",
                                         "<|eom_id|>",
                                         "<|im_end|>",
                                         "<|end|>",
                                         "<end_of_turn>",
                                         "<end_of_utterance>",
                                         "<EOT>",
                                         "_<EOT>",
                                         "[EOT]",
                                         "[EOS]",
                                         "<|return|>",
                                         "<|call|>"};

class GgufTokenizerReader {
public:
  explicit GgufTokenizerReader(const GgufFile &File) : File(File) {}

  Status readTokens() {
    auto Stored = File.strings(key("tokens"));
    if (!Stored)
      return Stored.error();
    Tokens = std::move(*Stored);
    if (Tokens.empty() || Tokens.size() > MaxTokens)
      return File.expected(key("tokens"),
                           "1 to " + std::to_string(MaxTokens) + " tokens");
    Types.assign(Tokens.size(), Normal);
    if (File.has(key("token_type"))) {
      auto Stored = File.integers(key("token_type"));
      if (!Stored)
        return Stored.error();
      if (Stored->size() != Tokens.size())
        return File.expected(key("token_type"), perToken());
      Types = std::move(*Stored);
    }
    Ids.reserve(Tokens.size());
    for (size_t I = 0; I < Tokens.size(); ++I) {
      if (Types[I] < 0 || Types[I] > Byte)
        return wrongToken("token_type", I, std::to_string(Types[I]),
                          "0 to " + std::to_string(int64_t(Byte)));
      if (!isUtf8(Tokens[I]))
        return wrongToken("tokens", I, printable(Tokens[I]), "UTF-8");
      // Padding of the vocabulary is no token of any text.
      if (Types[I] == Unused)
        continue;
      if (!Ids.emplace(Tokens[I], static_cast<int64_t>(I)).second)
        return wrongToken("tokens", I, printable(Tokens[I]),
                          "another text than token " +
                              std::to_string(Ids[Tokens[I]]) + " has");
    }
    return {};
  }

  /// The id under `Name`, or what it stands for without.
  Result<std::optional<int64_t>> id(std::string_view Name) const {
    return ggufTokenId(File, Name, Tokens.size());
  }

  /// The ids at which generating stops: what the file gives, then those of
  /// EndTexts, which become control tokens, for converters have given some
  /// another type.
  Result<std::vector<int64_t>> takeEnds() {
    std::vector<int64_t> Ends;
    auto Add = [&](int64_t Id) {
      if (std::find(Ends.begin(), Ends.end(), Id) == Ends.end())
        Ends.push_back(Id);
    };
    for (const char *Key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
      auto Id = id(Key);
      if (!Id)
        return Id.error();
      if (*Id)
        Add(**Id);
    }
    // Of gpt-oss: a message ends, and the turn goes on.
    bool EndIsOfMessage =
        Ids.contains("<|return|>") && Ids.contains("<|call|>");
    for (std::string_view Text : EndTexts) {
      auto Found = Ids.find(Text);
      if (Found == Ids.end() || (Text == "<|end|>" && EndIsOfMessage))
        continue;
      int64_t &Type = Types[static_cast<size_t>(Found->second)];
      // Gemma has it as a tag of HTML.
      if (Text == "</s>" && Type != Control)
        continue;
      Type = Control;
      Add(Found->second);
    }
    return Ends;
  }

  Result<bool> flag(std::string_view Name, bool Default) const {
    if (!File.has(key(Name)))
      return Default;
    return File.boolean(key(Name));
  }

  /// {"id": "token", ...} of all that are used.
  std::string vocabulary() const {
    std::string Text = "{";
    for (size_t I = 0; I < Tokens.size(); ++I) {
      if (Types[I] == Unused)
        continue;
      if (Text.size() > 1)
        Text += ',';
      quote(Text, Tokens[I]);
      Text += ':' + std::to_string(I);
    }
    return Text + "}";
  }

  /// Tokens that are found before all else. Most of Phi-3's take the blanks
  /// behind them.
  std::string addedTokens(bool IsPhi3 = false) const {
    std::string Text = "[";
    for (size_t I = 0; I < Tokens.size(); ++I) {
      bool Special = Types[I] == Control || Types[I] == Unknown;
      if ((!Special && Types[I] != UserDefined) || Tokens[I].empty())
        continue;
      if (Text.size() > 1)
        Text += ',';
      Text += "{\"id\":" + std::to_string(I) + ",\"content\":";
      quote(Text, Tokens[I]);
      // Files do not say it.
      bool Strips = IsPhi3 && Tokens[I] != "<unk>" && Tokens[I] != "<s>" &&
                    Tokens[I] != "<|endoftext|>";
      Text += ",\"single_word\":false,\"lstrip\":false,\"rstrip\":";
      Text += Strips ? "true" : "false";
      Text += ",\"normalized\":false,\"special\":";
      Text += Special ? "true}" : "false}";
    }
    return Text + "]";
  }

  /// Puts begin and end around a text as the file asks for it.
  Result<std::string> postProcessor(bool AddBegin) const {
    auto Begin = flag("add_bos_token", AddBegin);
    auto End = flag("add_eos_token", false);
    auto Separate = flag("add_sep_token", false);
    if (!Begin)
      return Begin.error();
    if (!End)
      return End.error();
    if (!Separate)
      return Separate.error();
    if (*Separate)
      return File.expected(key("add_sep_token"), "false");
    std::string Before, After, Specials;
    for (auto [Wanted, Name, Item] :
         {std::tuple(*Begin, "bos_token_id", &Before),
          {*End, "eos_token_id", &After}}) {
      if (!Wanted)
        continue;
      auto Id = id(Name);
      if (!Id)
        return Id.error();
      // Of byte-level vocabularies: llama.cpp takes token 11, Falcon's end.
      if (!*Id)
        continue;
      std::string Token;
      quote(Token, Tokens[size_t(**Id)]);
      *Item = R"({"SpecialToken":{"id":)" + Token + R"(,"type_id":0}})";
      if (Specials.find(Token + ":") == std::string::npos)
        Specials += (Specials.empty() ? "" : ",") + Token + R"(:{"id":)" +
                    Token + R"(,"ids":[)" + std::to_string(**Id) +
                    R"(],"tokens":[)" + Token + "]}";
    }
    if (Specials.empty())
      return std::string("null");
    if (!Before.empty())
      Before += ",";
    if (!After.empty())
      After = "," + After;
    return R"({"type":"TemplateProcessing","single":[)" + Before +
           R"({"Sequence":{"id":"A","type_id":0}})" + After + R"(],"pair":[)" +
           Before + R"({"Sequence":{"id":"A","type_id":0}})" + After + "," +
           Before + R"({"Sequence":{"id":"B","type_id":1}})" + After +
           R"(],"special_tokens":{)" + Specials + "}}";
  }

  /// Merges as the file lists them.
  Result<std::string> storedMerges() const {
    auto Merges = File.strings(key("merges"));
    if (!Merges)
      return Merges.error();
    std::string Text = "[";
    for (size_t I = 0; I < Merges->size(); ++I) {
      if (!isUtf8((*Merges)[I]))
        return wrongToken("merges", I, printable((*Merges)[I]), "UTF-8");
      if (I)
        Text += ',';
      quote(Text, (*Merges)[I]);
    }
    return Text + "]";
  }

  /// SentencePiece merges the pair whose token has the highest score: every way
  /// to make a token of two others, those of high scores first. As in Hugging
  /// Face's conversion, a character that is no token is a part of none, which
  /// SentencePiece itself would merge.
  Result<std::string> scoredMerges() const {
    auto Scores = File.numbers(key("scores"));
    if (!Scores)
      return Scores.error();
    if (Scores->size() != Tokens.size())
      return File.expected(key("scores"), perToken());
    std::vector<size_t> Order;
    for (size_t I = 0; I < Tokens.size(); ++I)
      if (Types[I] == Normal)
        Order.push_back(I);
    std::stable_sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
      return (*Scores)[A] > (*Scores)[B];
    });
    auto IsPart = [&](std::string_view Text) {
      auto Found = Ids.find(Text);
      return Found != Ids.end() && Types[size_t(Found->second)] == Normal;
    };
    std::string Text = "[";
    for (size_t I : Order) {
      std::string_view Whole = Tokens[I];
      if (Whole.size() > MaxPieceBytes)
        return wrongToken("tokens", I, printable(Whole),
                          "at most " + std::to_string(MaxPieceBytes) +
                              " bytes");
      for (size_t Cut = Whole.empty() ? 0 : characterSize(Whole);
           Cut < Whole.size(); Cut += characterSize(Whole.substr(Cut))) {
        std::string_view Left = Whole.substr(0, Cut), Right = Whole.substr(Cut);
        if (!IsPart(Left) || !IsPart(Right))
          continue;
        if (Text.size() > 1)
          Text += ',';
        if (Whole.find(' ') == std::string_view::npos) {
          quote(Text, std::string(Left) + " " + std::string(Right));
        } else {
          Text += '[';
          quote(Text, Left);
          Text += ',';
          quote(Text, Right);
          Text += ']';
        }
      }
    }
    return Text + "]";
  }

  /// Byte tokens are "<0x00>" to "<0xFF>".
  Status checkBytes() const {
    for (size_t I = 0; I < Tokens.size(); ++I) {
      if (Types[I] != Byte)
        continue;
      unsigned Value = 0;
      std::string_view Text = Tokens[I];
      if (Text.size() == 6 && Text.starts_with("<0x") && Text[5] == '>' &&
          std::from_chars(Text.data() + 3, Text.data() + 5, Value, 16).ptr ==
              Text.data() + 5)
        continue;
      return wrongToken("tokens", I, printable(Text),
                        "a byte token, '<0x00>' to '<0xFF>'");
    }
    return {};
  }

  static std::string key(std::string_view Name) {
    return std::string(Prefix) + std::string(Name);
  }

  const GgufFile &File;
  std::vector<std::string_view> Tokens;
  std::vector<int64_t> Types;

private:
  /// More than any vocabulary, and than tokenizers take.
  static constexpr size_t MaxTokens = size_t{4} << 20;
  /// Trying all ways to cut a token takes the square of its length.
  static constexpr size_t MaxPieceBytes = 512;

  std::string perToken() const {
    return std::to_string(Tokens.size()) + " numbers, one a token";
  }

  Error wrongToken(std::string_view Name, size_t Index,
                   const std::string &Found,
                   const std::string &Expected) const {
    return Error(File.path() + ": field '" + key(Name) + "[" +
                 std::to_string(Index) + "]' is " + Found + ": expected " +
                 Expected);
  }

  std::unordered_map<std::string_view, int64_t> Ids;
};

Status checkKeys(const GgufFile &File) {
  for (const std::string &Key : File.keys()) {
    if (!Key.starts_with("tokenizer.") ||
        Key.starts_with("tokenizer.chat_template"))
      continue;
    bool IsKnown = std::find(std::begin(InertKeys), std::end(InertKeys), Key) !=
                   std::end(InertKeys);
    if (Key.starts_with(Prefix))
      IsKnown |= std::find(std::begin(ReadKeys), std::end(ReadKeys),
                           std::string_view(Key).substr(Prefix.size())) !=
                 std::end(ReadKeys);
    if (!IsKnown)
      return File.expected(Key, "no such key, for tokenizers of GGUF files do "
                                "not handle it");
  }
  return {};
}

Result<std::string> byteLevel(const GgufTokenizerReader &R) {
  const GgufFile &File = R.File;
  auto Name = File.string(R.key("pre"));
  const Split *Kind = Name ? splitNamed(*Name) : nullptr;
  if (!Kind) {
    std::string Known;
    for (const Split &S : Splits)
      Known += S.Names.substr(0, S.Names.size() - 1);
    std::replace(Known.begin() + 1, Known.end(), ' ', ',');
    for (size_t At = 0; (At = Known.find(',', At)) != std::string::npos; ++At)
      Known.insert(At + 1, " ");
    return File.expected(R.key("pre"), "one of" + Known);
  }
  auto Around = R.postProcessor(Kind->AddBegin);
  if (!Around)
    return Around.error();
  auto Merges = R.storedMerges();
  if (!Merges)
    return Merges.error();
  return R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":)" +
         R.addedTokens() + R"(,"normalizer":)" +
         (Kind->Nfc ? R"({"type":"NFC"})" : "null") +
         R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[)" +
         std::string(Kind->Steps) + R"(]},"post_processor":)" + *Around +
         R"(,"decoder":{"type":"ByteLevel","add_prefix_space":true,)"
         R"("trim_offsets":true,"use_regex":true},"model":{"type":"BPE",)"
         R"("dropout":null,"unk_token":null,"continuing_subword_prefix":null,)"
         R"("end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,)"
         R"("ignore_merges":)" +
         (Kind->IgnoreMerges ? "true" : "false") + R"(,"vocab":)" +
         R.vocabulary() + R"(,"merges":)" + *Merges + "}}";
}

Result<std::string> sentencePiece(const GgufTokenizerReader &R) {
  if (Status S = R.checkBytes(); !S)
    return S.error();
  auto AddSpace = R.flag("add_space_prefix", true);
  if (!AddSpace)
    return AddSpace.error();
  auto Around = R.postProcessor(/*AddBegin=*/true);
  if (!Around)
    return Around.error();
  auto Unknown = R.id("unknown_token_id");
  if (!Unknown)
    return Unknown.error();
  auto Architecture = R.File.string("general.architecture");
  std::string UnknownToken = "null";
  if (*Unknown && R.Types[size_t(**Unknown)] != Unused) {
    UnknownToken.clear();
    quote(UnknownToken, R.Tokens[size_t(**Unknown)]);
  }
  auto Merges = R.scoredMerges();
  if (!Merges)
    return Merges.error();
  return R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":)" +
         R.addedTokens(Architecture && *Architecture == "phi3") +
         R"(,"normalizer":{"type":"Sequence","normalizers":[)" +
         (*AddSpace ? R"({"type":"Prepend","prepend":"▁"},)" : "") +
         R"({"type":"Replace","pattern":{"String":" "},"content":"▁"}]},)"
         R"("pre_tokenizer":null,"post_processor":)" +
         *Around +
         R"(,"decoder":{"type":"Sequence","decoders":[)"
         R"({"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
         R"({"type":"ByteFallback"},{"type":"Fuse"})" +
         (*AddSpace ? R"(,{"type":"Strip","content":" ","start":1,"stop":0})"
                    : "") +
         R"(]},"model":{"type":"BPE","dropout":null,"unk_token":)" +
         UnknownToken +
         R"(,"continuing_subword_prefix":null,"end_of_word_suffix":null,)"
         R"("fuse_unk":true,"byte_fallback":true,"ignore_merges":false,)"
         R"("vocab":)" +
         R.vocabulary() + R"(,"merges":)" + *Merges + "}}";
}

} // namespace

Result<std::optional<int64_t>>
tenon::ggufTokenId(const GgufFile &File, std::string_view Name, size_t Tokens) {
  std::string Key = GgufTokenizerReader::key(Name);
  int64_t Id = -1;
  if (File.has(Key)) {
    // All bits set is how older files say none.
    auto Stored = File.integer(Key, -1, UINT32_MAX);
    if (!Stored)
      return Stored.error();
    Id = *Stored == UINT32_MAX ? -1 : *Stored;
    if (Id >= static_cast<int64_t>(Tokens))
      return File.expected(Key, "an id below " + std::to_string(Tokens) +
                                    ", the number of tokens");
  }
  // LLaMA's, as in llama.cpp.
  auto Model = File.string(GgufTokenizerReader::key("model"));
  if (Id == -1 && Model && *Model == "llama")
    for (auto [Default, Of] : {std::pair(0, "unknown_token_id"),
                               {1, "bos_token_id"},
                               {2, "eos_token_id"}})
      if (Name == Of && static_cast<size_t>(Default) < Tokens)
        Id = Default;
  return Id == -1 ? std::nullopt : std::optional(Id);
}

Result<std::string> tenon::readGgufTokenizer(const GgufFile &File,
                                             Json &Settings) {
  if (Status S = checkKeys(File); !S)
    return S.error();
  if (!File.has(GgufTokenizerReader::key("model")))
    return std::string();
  auto Model = File.string(GgufTokenizerReader::key("model"));
  if (!Model)
    return Model.error();
  if (*Model == "none" || *Model == "no_vocab")
    return std::string();
  if (*Model != "gpt2" && *Model != "llama")
    return File.expected(GgufTokenizerReader::key("model"),
                         "gpt2, llama or none");
  GgufTokenizerReader R(File);
  if (Status S = R.readTokens(); !S)
    return S.error();
  for (auto [Key, Name] : {std::pair("bos_token_id", "bos_token_id"),
                           {"padding_token_id", "pad_token_id"}}) {
    auto Id = R.id(Key);
    if (!Id)
      return Id.error();
    if (*Id)
      Settings[Name] = **Id;
  }
  auto Ends = R.takeEnds();
  if (!Ends)
    return Ends.error();
  if (!Ends->empty())
    Settings["eos_token_id"] = std::move(*Ends);
  return *Model == "gpt2" ? byteLevel(R) : sentencePiece(R);
}
