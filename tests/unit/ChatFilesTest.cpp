//===- ChatFilesTest.cpp - Chat templates of a model's files --------------===//

#include "compiler/Checkpoint/ChatFiles.h"
#include "GgufFixture.h"

using namespace tenon;
using namespace tenon::artifact;

namespace {

class ChatFiles : public TemporaryFiles {
protected:
  std::optional<ChatInfo> read() {
    Notes.clear();
    return readChat(Directory, Notes);
  }
  std::optional<ChatInfo> readGguf(const GgufBytes &B) {
    Notes.clear();
    auto File = GgufFile::open(write("m.gguf", B.file()));
    EXPECT_TRUE(File) << File.error().message();
    return File ? readGgufChat(*File, Notes) : std::nullopt;
  }
  void expectNote(const std::string &Text) const {
    ASSERT_EQ(Notes.size(), 1u);
    EXPECT_NE(Notes.front().find(Text), std::string::npos) << Notes.front();
    EXPECT_TRUE(Notes.front().ends_with("left out")) << Notes.front();
  }

  using Map = std::map<std::string, std::string>;
  std::vector<std::string> Notes;
};

TEST_F(ChatFiles, OfADirectory) {
  EXPECT_FALSE(read());
  write("tokenizer_config.json",
        R"({"chat_template": "old", "bos_token": "<s>", "add_bos_token": true,
            "eos_token": {"content": "</s>"}, "pad_token": null,
            "extra_special_tokens": {"image_token": "<i>"}})");
  write("special_tokens_map.json", R"({"bos_token": "x", "unk_token": "<u>"})");
  auto Found = read();
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Templates, (Map{{"default", "old"}}));
  EXPECT_EQ(Found->Tokens, (Map{{"bos_token", "<s>"},
                                {"eos_token", "</s>"},
                                {"image_token", "<i>"},
                                {"unk_token", "<u>"}}));
  // A file of its own wins.
  write("chat_template.jinja", "{{ bos_token }}new");
  std::filesystem::create_directory(pathOf("additional_chat_templates"));
  write("additional_chat_templates/tool_use.jinja", "{{ tools }}");
  Found = read();
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Templates, (Map{{"default", "{{ bos_token }}new"},
                                   {"tool_use", "{{ tools }}"}}));
  // Nothing says how the model writes calls.
  EXPECT_EQ(Found->ToolFormat, "");
  EXPECT_TRUE(Notes.empty());
  auto Note = noteOnToolCalls(*Found);
  ASSERT_TRUE(Note);
  EXPECT_NE(Note->find("--tool-format"), std::string::npos);
  write("additional_chat_templates/tool_use.jinja",
        "{{ tools }}<tool_call>{\"name\", \"arguments\"}");
  Found = read();
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->ToolFormat, "hermes");
  EXPECT_FALSE(noteOnToolCalls(*Found));
  EXPECT_FALSE(noteOnToolCalls({{{"default", "{{ messages }}"}}, {}, ""}));
}

TEST_F(ChatFiles, OfAList) {
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "a"},
                              {"name": "rag", "template": "{% if %}"}]})");
  auto Found = read();
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Templates, (Map{{"default", "a"}}));
  expectNote(pathOf("tokenizer_config.json") +
             ": field 'chat_template', 'rag': line 1, column ");
}

TEST_F(ChatFiles, LeavesOutWhatFails) {
  write("chat_template.jinja", "a\n{{ b(");
  EXPECT_FALSE(read());
  expectNote(pathOf("chat_template.jinja") + ": line 2, column ");
  write("chat_template.jinja", "\n{{ messages[0].content.sub.sub }}");
  EXPECT_FALSE(read());
  expectNote(pathOf("chat_template.jinja") +
             ": for a message of a user: line 2, column ");
  std::filesystem::remove(pathOf("chat_template.jinja"));
  for (const char *Wrong : {R"({"chat_template": 3})",
                            R"({"chat_template": [{"name": "default"}]})",
                            R"({"chat_template": )", "[]"}) {
    write("tokenizer_config.json", Wrong);
    EXPECT_FALSE(read());
    expectNote("tokenizer_config.json");
  }
}

TEST_F(ChatFiles, OfAGguf) {
  GgufBytes B;
  B.text("tokenizer.chat_template", "{{ bos_token }}a")
      .text("tokenizer.chat_template.tool_use", "b")
      .key("tokenizer.ggml.tokens", GgufType::Array,
           GgufBytes::array<std::string>(GgufType::String, {"<u>", "<s>"}))
      .size("tokenizer.ggml.bos_token_id", 1)
      .size("tokenizer.ggml.unknown_token_id", 0)
      .size("tokenizer.ggml.eos_token_id", 2);
  auto Found = readGguf(B);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Templates,
            (Map{{"default", "{{ bos_token }}a"}, {"tool_use", "b"}}));
  EXPECT_EQ(Found->Tokens, (Map{{"bos_token", "<s>"}, {"unk_token", "<u>"}}));
  GgufBytes Bad;
  Bad.text("tokenizer.chat_template", "{% x %}")
      .key("tokenizer.ggml.tokens", GgufType::Array,
           GgufBytes::array<std::string>(GgufType::String, {"a"}));
  EXPECT_FALSE(readGguf(Bad));
  expectNote("m.gguf: field 'tokenizer.chat_template': line 1, column ");
}

} // namespace
