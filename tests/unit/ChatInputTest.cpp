//===- ChatInputTest.cpp - Lines that become messages and commands --------===//

#include "runtime/Tool/ChatInput.h"

#include <gtest/gtest.h>
#include <vector>

using namespace tenon::tool;

namespace {

/// The texts of all inputs, blocks in brackets.
std::vector<std::string> inputsOf(std::vector<std::string> Lines) {
  ChatInputReader Reader;
  std::vector<std::string> All;
  auto Keep = [&](const std::optional<ChatInput> &Input) {
    if (Input)
      All.push_back(Input->IsBlock ? "[" + Input->Text + "]" : Input->Text);
  };
  for (const std::string &Line : Lines)
    Keep(Reader.take(Line));
  Keep(Reader.finish());
  EXPECT_FALSE(Reader.isInside());
  return All;
}

using Texts = std::vector<std::string>;

TEST(ChatInput, MakesInputsOfLines) {
  EXPECT_EQ(inputsOf({"a", "", "  ", " b c "}), (Texts{"a", " b c "}));
  EXPECT_EQ(inputsOf({"a\r", "\r"}), Texts{"a"});
  EXPECT_EQ(inputsOf({"a\\", "", "b"}), (Texts{"a", "b"}));
  EXPECT_EQ(inputsOf({"a\\", " b\\", "c", "d"}), (Texts{"a\n b\nc", "d"}));
  EXPECT_EQ(inputsOf({"a\\"}), Texts{"a"});
}

TEST(ChatInput, KeepsBlocksAsTheyAre) {
  const std::string Quotes = "\"\"\"";
  EXPECT_EQ(inputsOf({Quotes, "/set\\", "", " b ", Quotes, "c"}),
            (Texts{"[/set\\\n\n b ]", "c"}));
  EXPECT_EQ(inputsOf({" " + Quotes + "\r", "a\r", Quotes}), Texts{"[a]"});
  // An end of input ends the block, an empty one is none.
  EXPECT_EQ(inputsOf({Quotes, "a"}), Texts{"[a]"});
  EXPECT_EQ(inputsOf({Quotes, Quotes, "a"}), Texts{"a"});
  EXPECT_EQ(inputsOf({"a " + Quotes}), Texts{"a " + Quotes});
}

TEST(ChatInput, DropsWhatWasBegun) {
  ChatInputReader Reader;
  Reader.take("a\\");
  EXPECT_TRUE(Reader.isInside());
  Reader.drop();
  EXPECT_FALSE(Reader.isInside());
  EXPECT_EQ(Reader.take("b")->Text, "b");
}

TEST(ChatInput, TakesCommandsApart) {
  ChatInput Set{"/set  top-k   4 \t", false};
  EXPECT_TRUE(Set.isCommand());
  EXPECT_EQ(Set.command(), "/set");
  EXPECT_EQ(Set.argument(), "top-k   4");
  ChatInput Reset{"/reset", false};
  EXPECT_EQ(Reset.command(), "/reset");
  EXPECT_EQ(Reset.argument(), "");
  EXPECT_FALSE((ChatInput{"/reset", true}.isCommand()));
  EXPECT_FALSE((ChatInput{" /reset", false}.isCommand()));
}

} // namespace
