//===- CommandTreeTest.cpp - Completion and manual pages ------------------===//

#include "runtime/Tool/CommandTree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::tool;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

/// tool [--loud] make [--form a|b] [--count N] FILE, tool show (list|one)
class CommandTreeTest : public testing::Test {
protected:
  CommandTreeTest() : App("Does things.", "tenon") {
    App.add_flag("--loud", Loud, "More words");
    CLI::App *Make = App.add_subcommand("make", "Make a thing");
    Make->add_option("--form,-f", Form, "Its form")
        ->check(CLI::IsMember({"round", "flat", "red"}));
    Make->add_option("--count", Count, "How many");
    Make->add_option("file", File, ".dots and back\\slashes -- dashes")
        ->required();
    Make->add_flag("--now", Loud, "At once")->group("Time");
    CLI::App *Size = Make->add_option_group("size");
    Size->add_option("--width", Count, "How wide");
    Size->require_option(0, 1);
    CLI::App *Show = App.add_subcommand("show", "Show things");
    Show->add_subcommand("list", "All")->add_flag("--json", Loud, "As JSON");
    Show->add_subcommand("one", "One")
        ->add_option("which", File, "Which")
        ->check(CLI::IsMember({"first", "last"}));
    Show->footer("There are few.");
  }

  std::vector<std::string> complete(const std::vector<std::string> &Words) {
    std::vector<std::string> Found;
    for (const Candidate &C : completionsOf(App, Words))
      Found.push_back(C.Word);
    return Found;
  }

  CLI::App App;
  bool Loud = false;
  int Count = 0;
  std::string Form, File;
};

} // namespace

TEST_F(CommandTreeTest, CompletesCommandsAndOptions) {
  EXPECT_THAT(complete({""}), ElementsAre("make", "show"));
  EXPECT_THAT(complete({"m"}), ElementsAre("make"));
  EXPECT_THAT(complete({"x"}), IsEmpty());
  EXPECT_THAT(complete({}), IsEmpty());
  EXPECT_THAT(complete({"--loud", "s"}), ElementsAre("show"));
  EXPECT_THAT(complete({"make", "--"}),
              ElementsAre("--help", "--form", "--count", "--now", "--width"));
  EXPECT_THAT(complete({"make", ""}), IsEmpty());
  EXPECT_THAT(complete({"show", ""}), ElementsAre("list", "one"));
  EXPECT_THAT(complete({"show", "list", "--j"}), ElementsAre("--json"));
  // Not a command, but the value of an option.
  EXPECT_THAT(complete({"make", "--count", "show", "--f"}),
              ElementsAre("--form"));
  EXPECT_EQ(completionsOf(App, std::vector<std::string>{"sh"})[0].Help,
            "Show things");
}

TEST_F(CommandTreeTest, CompletesChoices) {
  EXPECT_THAT(complete({"make", "--form", ""}),
              ElementsAre("round", "flat", "red"));
  EXPECT_THAT(complete({"make", "-f", "r"}), ElementsAre("round", "red"));
  EXPECT_THAT(complete({"make", "--form=r"}),
              ElementsAre("--form=round", "--form=red"));
  // As bash cuts the same.
  EXPECT_THAT(complete({"make", "--form", "=", "fl"}), ElementsAre("flat"));
  EXPECT_THAT(complete({"make", "--form", "="}),
              ElementsAre("round", "flat", "red"));
  EXPECT_THAT(complete({"show", "one", "l"}), ElementsAre("last"));
  // Files and numbers are the shell's.
  EXPECT_THAT(complete({"make", "--count", ""}), IsEmpty());
  EXPECT_THAT(complete({"make", "a"}), IsEmpty());
  EXPECT_THAT(complete({"make", "--none=a"}), IsEmpty());
}

TEST_F(CommandTreeTest, ManualPages) {
  std::string Whole = manualPage(App);
  EXPECT_THAT(Whole, HasSubstr(".TH \"TENON\" 1"));
  EXPECT_THAT(Whole, HasSubstr("\ntenon \\- Does things.\n"));
  EXPECT_THAT(Whole, HasSubstr(".TP\n\\fB\\-\\-loud\\fR\nMore words\n"));
  EXPECT_THAT(Whole, HasSubstr("\\fBtenon\\-make\\fR(1)"));

  std::string Make = manualPage(App, App.get_subcommand("make"));
  EXPECT_THAT(Make, HasSubstr("\\fBtenon make\\fR [\\fIoptions\\fR] "
                              "\\fIfile\\fR\n"));
  EXPECT_THAT(Make, HasSubstr("\\fB\\-f, \\-\\-form\\fR "
                              "\\fIround|flat|red\\fR\nIts form\n"));
  EXPECT_THAT(Make, HasSubstr(".SH TIME\n.TP\n\\fB\\-\\-now\\fR\n"));
  EXPECT_THAT(Make,
              HasSubstr(".TP\n\\fB\\-\\-width\\fR \\fIINT\\fR\nHow wide\n"));
  EXPECT_THAT(Make, Not(HasSubstr("COMMANDS")));
  EXPECT_THAT(Make, HasSubstr(".SH EXIT STATUS\n.TP\n\\fB0\\fR\n"));
  EXPECT_THAT(Make, HasSubstr("\n\\&.dots and back\\eslashes \\-\\- dashes\n"));

  std::string Show = manualPage(App, App.get_subcommand("show"));
  EXPECT_THAT(Show, HasSubstr(".SH SHOW LIST\n"));
  EXPECT_THAT(Show, HasSubstr(".SH NOTES\nThere are few.\n"));
  EXPECT_THAT(Show, Not(HasSubstr("Make a thing")));
}
