//===- ChatFiles.cpp - The chat templates of a model ----------------------===//

#include "compiler/Checkpoint/ChatFiles.h"

#include "compiler/Checkpoint/GgufTokenizer.h"
#include "runtime/Artifact/ManifestReader.h"
#include "runtime/Chat/Conversation.h"
#include "runtime/Chat/Limits.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Unicode.h"
#include "runtime/ToolCalls/ToolFormat.h"

#include <algorithm>
#include <filesystem>

using namespace tenon;
using namespace tenon::artifact;

namespace {

/// Collects templates and tokens, and leaves out what fails.
class ChatReader {
public:
  explicit ChatReader(std::vector<std::string> &Notes) : Notes(Notes) {}

  /// A template that stands at `Place`: a file, or a field of one.
  void add(const std::string &Name, std::string Source,
           const std::string &Place) {
    if (Name.size() > ManifestReader::MaxName ||
        tokenizer::findInvalidUtf8(Name))
      return leaveOut(
          Error("its name is " + printable(Name) + ": expected at most " +
                std::to_string(ManifestReader::MaxName) + " bytes of UTF-8"),
          Place);
    Places.emplace(Name, Place);
    Info.Templates.emplace(Name, std::move(Source));
  }

  void leaveOut(const Error &Why, const std::string &Place) {
    Notes.push_back(Place + ": " + Why.message() +
                    ": the chat template is left out");
  }

  /// The text of a token, a string or an object with the text as "content".
  void addToken(const std::string &Name, const Json &Value) {
    const Json *Text = &Value;
    if (Value.is_object() && Value.contains("content"))
      Text = &Value["content"];
    if (Text->is_string() &&
        Text->get_ref<const std::string &>().size() <= ManifestReader::MaxName)
      Info.Tokens.emplace(Name, Text->get<std::string>());
  }

  /// All that can be parsed, and by default rendered.
  std::optional<ChatInfo> finish() {
    std::erase_if(Info.Templates, [&](const auto &Named) {
      const auto &[Name, Source] = Named;
      Status Good = tryOut(Name, Source);
      if (!Good)
        leaveOut(Good.error(), Places[Name]);
      return !Good;
    });
    if (Info.Templates.empty())
      return std::nullopt;
    findToolFormat();
    return std::move(Info);
  }

private:
  /// From the templates: the default one may leave tools to another.
  void findToolFormat() {
    for (const auto &[Name, Source] : Info.Templates)
      if (const tools::ToolFormat *Format = tools::detectToolFormat(Source)) {
        Info.ToolFormat = Format->Name;
        return;
      }
  }

  Status tryOut(const std::string &Name, const std::string &Source) const {
    Result<chat::Template> T = chat::Template::parse(Source);
    if (!T)
      return T.error();
    // The others are for conversations of their own.
    if (Name != ChatInfo::DefaultTemplate)
      return {};
    chat::Conversation Talk;
    Talk.add("user", "Hello");
    auto Pieces = T->render(variablesOf(Talk, Info.Tokens));
    return Pieces ? Status()
                  : Pieces.error().withContext("for a message of a user");
  }

  std::vector<std::string> &Notes;
  ChatInfo Info;
  std::map<std::string, std::string> Places;
};

/// Reads a file with one template, if it is there.
bool addFile(ChatReader &Reader, const std::string &Name,
             const std::string &Path) {
  std::error_code Ignored;
  if (!std::filesystem::exists(Path, Ignored))
    return false;
  if (Result<std::string> Source = readFile(Path, chat::MaxTemplateBytes))
    Reader.add(Name, std::move(*Source), Path);
  else
    Reader.leaveOut(Source.error(), Path);
  return true;
}

/// The field "chat_template" of tokenizer_config.json.
void addField(ChatReader &Reader, const Json &Value, const std::string &File) {
  const std::string Place = File + ": field 'chat_template'";
  if (Value.is_null())
    return;
  if (Value.is_string())
    return Reader.add(ChatInfo::DefaultTemplate, Value.get<std::string>(),
                      Place);
  if (!Value.is_array())
    return Reader.leaveOut(Error("expected a text, or a list of objects with "
                                 "name and template"),
                           Place);
  for (const Json &Named : Value)
    if (Named.is_object() && Named.contains("name") &&
        Named["name"].is_string() && Named.contains("template") &&
        Named["template"].is_string())
      Reader.add(Named["name"].get<std::string>(),
                 Named["template"].get<std::string>(),
                 Place + ", " + printable(Named["name"].get<std::string>()));
    else
      Reader.leaveOut(Error("expected objects with name and template"), Place);
}

void addTokens(ChatReader &Reader, const Json &Object) {
  for (const auto &[Name, Value] : Object.items())
    if (Name.ends_with("_token"))
      Reader.addToken(Name, Value);
  auto Extra = Object.find("extra_special_tokens");
  if (Extra != Object.end() && Extra->is_object())
    for (const auto &[Name, Value] : Extra->items())
      Reader.addToken(Name, Value);
}

} // namespace

std::optional<ChatInfo> tenon::readChat(const std::string &Directory,
                                        std::vector<std::string> &Notes) {
  ChatReader Reader(Notes);
  std::error_code Ignored;
  bool HasFiles = addFile(Reader, ChatInfo::DefaultTemplate,
                          Directory + "/chat_template.jinja");
  std::vector<std::filesystem::path> Named;
  for (std::filesystem::directory_iterator
           At(Directory + "/additional_chat_templates", Ignored),
       End;
       !Ignored && At != End; At.increment(Ignored))
    if (At->path().extension() == ".jinja")
      Named.push_back(At->path());
  std::sort(Named.begin(), Named.end());
  for (const std::filesystem::path &Path : Named)
    HasFiles |= addFile(Reader, Path.stem().string(), Path.string());

  std::string Config = Directory + "/tokenizer_config.json";
  if (std::filesystem::exists(Config, Ignored)) {
    Result<Json> Object = readJsonFile(Config);
    if (Object && Object->is_object()) {
      addTokens(Reader, *Object);
      if (!HasFiles && Object->contains("chat_template"))
        addField(Reader, (*Object)["chat_template"], Config);
    } else if (!HasFiles) {
      // Whether it has a template cannot be known.
      Notes.push_back(
          (Object ? Config + ": is no object" : Object.error().message()) +
          ": a chat template in it is left out");
    }
  }
  std::string Map = Directory + "/special_tokens_map.json";
  if (std::filesystem::exists(Map, Ignored))
    if (Result<Json> Object = readJsonFile(Map); Object && Object->is_object())
      addTokens(Reader, *Object);
  return Reader.finish();
}

std::optional<ChatInfo> tenon::readGgufChat(const GgufFile &File,
                                            std::vector<std::string> &Notes) {
  static constexpr std::string_view Prefix = "tokenizer.chat_template";
  ChatReader Reader(Notes);
  for (const std::string &Key : File.keys()) {
    bool IsNamed = Key.size() > Prefix.size() + 1 && Key.starts_with(Prefix) &&
                   Key[Prefix.size()] == '.';
    if (Key != Prefix && !IsNamed)
      continue;
    Result<std::string> Source = File.string(Key);
    if (Source)
      Reader.add(IsNamed ? Key.substr(Prefix.size() + 1)
                         : ChatInfo::DefaultTemplate,
                 std::move(*Source), File.path() + ": field " + printable(Key));
    else
      Notes.push_back(Source.error().message() +
                      ": the chat template is left out");
  }
  auto Tokens = File.strings("tokenizer.ggml.tokens");
  if (!Tokens)
    return std::nullopt;
  for (auto [Key, Name] : {std::pair("bos", "bos_token"),
                           {"eos", "eos_token"},
                           {"unknown", "unk_token"},
                           {"padding", "pad_token"},
                           {"seperator", "sep_token"},
                           {"cls", "cls_token"},
                           {"mask", "mask_token"}})
    if (auto Id =
            ggufTokenId(File, std::string(Key) + "_token_id", Tokens->size());
        Id && *Id)
      Reader.addToken(Name, std::string((*Tokens)[static_cast<size_t>(**Id)]));
  return Reader.finish();
}

std::optional<std::string>
tenon::noteOnToolCalls(const artifact::ChatInfo &Info) {
  bool TakesTools = std::any_of(
      Info.Templates.begin(), Info.Templates.end(), [](const auto &Named) {
        return Named.second.find("tools") != std::string::npos;
      });
  if (!TakesTools || !Info.ToolFormat.empty())
    return std::nullopt;
  return "the chat template takes tools, and nothing in it says how the model "
         "writes calls: they stay text unless --tool-format names it";
}
