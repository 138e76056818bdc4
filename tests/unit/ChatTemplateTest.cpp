//===- ChatTemplateTest.cpp - Templates against Jinja ---------------------===//

#include "tests/unit/ChatTestSupport.h"
#include "tests/unit/TokenizerTestFiles.h"

#include "runtime/Chat/TemplateCommand.h"
#include "runtime/Support/InputFile.h"

#include <cstdlib>
#include <fstream>
#include <thread>

using namespace tenon;
using namespace tenon::chat;

namespace {

std::string chatPath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/chat/" + Name;
}

class ChatCases : public testing::Test {
protected:
  void SetUp() override {
    Result<Json> Read = readJsonFile(chatPath("cases.json"));
    ASSERT_TRUE(Read) << Read.error().message();
    Cases = std::move(*Read);
  }

  Json Cases;
};

TEST_F(ChatCases, SnippetsGiveTheTextOfJinja) {
  ASSERT_GE(Cases["snippets"].size(), 150u);
  for (const Json &Row : Cases["snippets"]) {
    auto Source = Row[0].get<std::string>();
    EXPECT_EQ(rendered(Source, Cases["variables"]), Row[1].get<std::string>())
        << Source;
  }
}

/// A line that names the place and does not end in a broken character.
void expectGoodError(const Error &E, const std::string &Source) {
  EXPECT_TRUE(E.message().starts_with("line ")) << Source << E.message();
  EXPECT_NE(E.message().find(", column "), std::string::npos) << E.message();
  EXPECT_EQ(E.message().find('\n'), std::string::npos) << E.message();
  EXPECT_EQ(E.kind(), ErrorKind::InvalidArgument);
}

TEST_F(ChatCases, WhatFailsInJinjaFails) {
  ASSERT_GE(Cases["failing"].size(), 160u);
  for (const Json &Row : Cases["failing"]) {
    auto Source = Row.get<std::string>();
    Result<Template> T = Template::parse(Source);
    if (!T) {
      expectGoodError(T.error(), Source);
      continue;
    }
    Variables Given;
    Given.OfUser = Cases["variables"];
    Result<std::vector<Piece>> Pieces = T->render(Given);
    ASSERT_FALSE(Pieces) << Source << " gives " << joined(*Pieces);
    expectGoodError(Pieces.error(), Source);
  }
}

TEST_F(ChatCases, TemplatesGiveTheTextOfJinja) {
  size_t Count = 0;
  for (const auto &[Name, Expected] : Cases["templates"].items()) {
    Result<std::string> Source =
        readFile(chatPath("templates/" + Name), 1 << 20);
    ASSERT_TRUE(Source) << Source.error().message();
    Result<Template> T = Template::parse(*Source);
    ASSERT_TRUE(T) << Name << ": " << T.error().message();
    for (const auto &[Conversation, Variables] : Cases["conversations"].items())
      for (bool Prompt : {true, false}) {
        chat::Variables Given;
        Given.OfUser = Variables;
        Given.OfUser["add_generation_prompt"] = Prompt;
        Given.OfModel = Cases["model"];
        const Json &Hash = Expected[Conversation + (Prompt ? "+" : "-")];
        Result<std::vector<Piece>> Pieces = T->render(Given);
        ++Count;
        if (Hash.is_null()) {
          EXPECT_FALSE(Pieces) << Name << " " << Conversation;
          if (!Pieces)
            expectGoodError(Pieces.error(), Name);
          continue;
        }
        ASSERT_TRUE(Pieces)
            << Name << " " << Conversation << ": " << Pieces.error().message();
        EXPECT_EQ(hashOf(joined(*Pieces)), Hash.get<std::string>())
            << Name << " " << Conversation << "\n"
            << joined(*Pieces);
      }
  }
  EXPECT_GE(Count, 280u);
}

TEST(ChatTemplateTest, OneTemplateInSeveralThreads) {
  Result<Template> T = Template::parse(
      "{% macro m(x) %}<{{ x }}>{% endmacro %}{% for x in items %}{{ m(x) "
      "}}{% endfor %}");
  ASSERT_TRUE(T);
  std::vector<std::thread> Threads;
  std::vector<std::string> Texts(4);
  for (size_t I = 0; I < Texts.size(); ++I)
    Threads.emplace_back([&, I] {
      for (int Round = 0; Round < 50; ++Round) {
        Variables Given;
        Given.OfUser = {{"items", {I, I + 1}}};
        if (auto Pieces = T->render(Given))
          Texts[I] = joined(*Pieces);
      }
    });
  for (std::thread &One : Threads)
    One.join();
  for (size_t I = 0; I < Texts.size(); ++I)
    EXPECT_EQ(Texts[I],
              "<" + std::to_string(I) + "><" + std::to_string(I + 1) + ">");
}

TEST(ChatTemplateTest, TimeIsTheCallers) {
  Result<Template> T =
      Template::parse("{{ strftime_now('%d %b %Y %H:%M') }}{{ "
                      "strftime_now('') }}{{ strftime_now('%% %A') }}");
  ASSERT_TRUE(T);
  Variables Given;
  Given.Now.emplace();
  Given.Now->tm_year = 126;
  Given.Now->tm_mday = 3;
  Given.Now->tm_hour = 14;
  Given.Now->tm_wday = 6;
  Result<std::vector<Piece>> Pieces = T->render(Given);
  ASSERT_TRUE(Pieces);
  EXPECT_EQ(joined(*Pieces), "03 Jan 2026 14:00% Saturday");
  EXPECT_EQ(rendered("{{ strftime_now('%Q') }}"),
            "line 1, column 16: the format of the time '%Q': expected % before "
            "one of aAbBcdDeFgGhHIjmMnprRStTuUVwWxXyYZz%");
}

TEST(ChatTemplateTest, FromJsonIsKnown) {
  Json Given = {{"x", R"({"b": [1, null], "a": "t"})"}};
  EXPECT_EQ(rendered("{% for k, v in (x | from_json).items() %}{{ k }}={{ v "
                     "}};{% endfor %}",
                     Given),
            "b=[1, None];a=t;");
  EXPECT_EQ(marked(piecesOf("{{ ('[1]' | from_json)[0] }}{{ (x | "
                            "from_json).a }}",
                            Given)),
            "1[t]");
}

TEST(ChatTemplateTest, ErrorsSayWhereAndWhat) {
  const std::pair<const char *, const char *> Rows[] = {
      {"a\n {% if x %}\nb", "line 3, column 2: found the end of the template: "
                            "expected 'elif' or 'else' or 'endif'"},
      {"é{{ x | zz }}", "line 1, column 9: the filter 'zz' is unknown: "
                        "expected one of Jinja's that chat templates use"},
      {"{{ x is zz }}", "line 1, column 9: the test 'zz' is unknown: expected "
                        "one of Jinja's that chat templates use"},
      {"\n\n{% include 'x' %}",
       "line 3, column 4: the tag 'include': expected if, for, set, macro, "
       "filter, with, raw, generation, break, continue, or what ends one"},
      {"{{ 1 + }}", "line 1, column 8: found '}}': expected an expression"},
      {"{{ f(a=1, 2) }}", "line 1, column 11: found '2': expected an argument "
                          "with a name, as the one before has one"},
      {"{{ 'abc }}", "line 1, column 4: the string does not end: expected '"},
      {"{% for x in y recursive %}{% endfor %}",
       "line 1, column 15: a recursive loop: expected a plain one"},
      {"{% call m() %}{% endcall %}",
       "line 1, column 4: the tag 'call': expected if, for, set, macro, "
       "filter, with, raw, generation, break, continue, or what ends one"},
      {"{{ joiner() }}", "line 1, column 4: the function 'joiner' is not "
                         "supported: expected range, dict, namespace, "
                         "raise_exception or strftime_now"},
      {"\n{{ a.b.c }}", "line 2, column 7: a mapping has no attribute or "
                        "member 'b': expected a value to take 'c' of"},
      {"{{ nobody.x }}", "line 1, column 10: 'nobody' is undefined: expected a "
                         "value to take 'x' of"},
      {"{{ l.append(1) }}",
       "line 1, column 12: the method 'append' would change a list, which a "
       "template may not: expected a function to call"},
      {"{{ raise_exception('one\\ntwo \\u001b[0m') }}",
       "line 1, column 19: the template says: one\\x0atwo \\x1b[0m"},
      {"{{ 'a' + l }}", "line 1, column 10: the string 'a' + a list: expected "
                        "values that this sign is for"},
      {"{{ 9223372036854775807 + 1 }}",
       "line 1, column 26: 9223372036854775807 + 1 is beyond 64 bits"},
      {"{{ 9223372036854775808 }}",
       "line 1, column 4: the number '9223372036854775808' is too large: "
       "expected at most 9223372036854775807"},
      {"{% for x in l %}{% set y %}{% break %}{% endset %}{% endfor %}",
       "line 1, column 31: 'break' stands outside of a loop"},
      {"{% macro m(a) %}{{ a.b }}{% endmacro %}\n{{ m(1)\n~ m() }}",
       "line 1, column 21: the parameter 'a' was not provided: expected a "
       "value "
       "to take 'b' of"},
      {"\x80", "the template is not UTF-8 at byte 0: expected UTF-8"},
  };
  for (const auto &[Source, Message] : Rows)
    EXPECT_EQ(rendered(Source, {{"a", Json::object()}, {"l", {1}}}), Message)
        << Source;
}

TEST(ChatTemplateTest, InputsThatCannotBe) {
  Result<Template> T = Template::parse("x");
  ASSERT_TRUE(T);
  auto ErrorOf = [&](Json User) {
    Variables Given;
    Given.OfUser = std::move(User);
    auto Pieces = T->render(Given);
    return Pieces ? "no error" : Pieces.error().message();
  };
  EXPECT_EQ(ErrorOf(Json::array()), "the variables of a template are no "
                                    "object: expected names with values");
  EXPECT_EQ(ErrorOf({{"a", "\xff"}}),
            "a string of the input is not UTF-8 at byte 0: expected UTF-8");
  EXPECT_EQ(ErrorOf({{"a", UINT64_MAX}}),
            "the input has the number 18446744073709551615: expected at most "
            "9223372036854775807");
  Json Deep = 1;
  for (int I = 0; I < 70; ++I)
    Deep = Json::array({Deep});
  EXPECT_EQ(ErrorOf({{"a", Deep}}),
            "the input is nested deeper than 64 levels");
}

/// Programs that never end, or need all memory there is.
TEST(ChatTemplateTest, Limits) {
  const std::pair<const char *, const char *> Rows[] = {
      {"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor "
       "%}{% endfor %}",
       "rendering takes more than 20000000 steps"},
      {"{% set n = namespace(s='aaaaaaaa') %}{% for a in range(99) %}{% set "
       "n.s = n.s + n.s %}{% endfor %}",
       "expected at most 67108864"},
      {"{{ 'a' * 99999999999 }}", "expected at most 67108864"},
      {"{{ [1] * 99999999 }}", "expected at most 67108864"},
      {"{{ [1] * 60000000 }}", "rendering takes more than 20000000 steps"},
      {"{% for a in range(1000) %}{% set b = 'abcdefgh' * 1000000 %}{% endfor "
       "%}",
       "rendering takes more than 20000000 steps"},
      {"{% for a in range(100) %}{{ 'x' * 1000000 }}{% endfor %}",
       "the template prints more than 67108864 bytes"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
       "nested deeper than 1000 levels"},
      {"{% set n = namespace(l=[]) %}{% for a in range(9999) %}{% set n.l = "
       "[n.l] %}{% endfor %}",
       "a value is nested deeper than 100 levels"},
      {"{% set n = namespace(l=[]) %}{% for a in range(9999) %}{% set n.l = "
       "n.l | batch(1) | list + [1] %}{% endfor %}",
       "a value is nested deeper than 100 levels"},
      {"{% set n = namespace(l=[1]) %}{% for a in range(60) %}{% set n.l = "
       "[n.l, n.l] %}{% endfor %}{{ n.l }}",
       "rendering takes more than 20000000 steps"},
      {"{% set n = namespace(l=[1]) %}{% for a in range(60) %}{% set n.l = "
       "[n.l, n.l] %}{% endfor %}{{ n.l == n.l }}",
       "rendering takes more than 20000000 steps"},
      {"{% set n = namespace() %}{% set n.n = n %}{{ n }}",
       "a value to print is nested deeper than 100 levels"},
      {"{{ '%99999999s' % 1 }}", "a number in a format is above 65536"},
      {"{{ 'a'.ljust(99999999) }}", "expected a smaller number"},
      {"{{ range(100001) }}", "expected at most 100000"},
      {"{{ 2 ** 64 }}", "beyond 64 bits"},
  };
  for (const auto &[Source, Message] : Rows)
    EXPECT_NE(rendered(Source).find(Message), std::string::npos)
        << Source << ": " << rendered(Source).substr(0, 200);
}

TEST(ChatTemplateTest, LimitsOfSyntax) {
  auto Repeated = [](const std::string &One, size_t Times) {
    std::string All;
    for (size_t I = 0; I < Times; ++I)
      All += One;
    return All;
  };
  for (size_t Times : {200, 60000})
    for (const std::string &Source :
         {"{{ " + Repeated("(", Times) + "1" + Repeated(")", Times) + " }}",
          "{{ " + Repeated("[", Times) + Repeated("]", Times) + " }}",
          "{{ " + Repeated("{1:", Times) + "1" + Repeated("}", Times) + " }}",
          "{{ " + Repeated("not ", Times) + "1 }}",
          "{{ " + Repeated("-", Times) + "1 }}",
          "{{ a" + Repeated(".b", Times) + " }}",
          "{{ a" + Repeated("|list", Times) + " }}",
          "{{ 1" + Repeated(" if 1", Times) + " }}",
          "{{ " + Repeated("1 if 1 else ", Times) + "1 }}",
          Repeated("{% if 1 %}", Times), Repeated("{% for x in y %}", Times),
          "{% for " + Repeated("(", Times) + "a" + Repeated(")", Times) +
              " in b %}{% endfor %}"}) {
      std::string Message = rendered(Source);
      EXPECT_TRUE(Message.find("nested deeper than 120") != Message.npos ||
                  Message.find("expected fewer") != Message.npos)
          << Source.substr(0, 30) << ": " << Message;
    }
  // What is in a row is not nested.
  EXPECT_EQ(rendered("{{ 1" + Repeated(" + 1", 5000) + " }}"), "5001");
  EXPECT_EQ(rendered("{{ 1" + Repeated(" and 1", 5000) + " }}"), "1");
  EXPECT_EQ(rendered("{{ ''" + Repeated(" ~ 1", 3) + " }}"), "111");
  EXPECT_EQ(rendered(Repeated("{% if x %}{% elif 1 %}{% endif %}", 5000)), "");
  EXPECT_NE(rendered(std::string((1 << 20) + 1, 'a')).find("at most 1048576"),
            std::string::npos);
}

TEST(ChatTemplateTest, Command) {
  std::string Folder = testing::TempDir();
  std::ofstream(Folder + "/t.jinja") << "{{ bos }}{{ messages[0].content }}!";
  std::ofstream(Folder + "/user.json")
      << R"({"messages": [{"role": "user", "content": "<s>"}], "bos": "no"})";
  std::ofstream(Folder + "/model.json") << R"({"bos": "<s>"})";
  TemplateOptions O;
  O.File = Folder + "/t.jinja";
  O.UserFile = Folder + "/user.json";
  O.ModelFile = Folder + "/model.json";
  std::string Out;
  ASSERT_TRUE(runTemplate(O, Out));
  EXPECT_EQ(Out, "<s><s>!");
  O.Pieces = true;
  ASSERT_TRUE(runTemplate(O, Out));
  EXPECT_EQ(Out, R"([{"text":"<s>","origin":"template"},)"
                 R"({"text":"<s>","origin":"user"},)"
                 R"({"text":"!","origin":"template"}])"
                 "\n");
  std::ofstream(Folder + "/t.jinja") << "{{ x";
  Status Done = runTemplate(O, Out);
  ASSERT_FALSE(Done);
  EXPECT_EQ(Done.error().message(),
            O.File + ": line 1, column 1: the tag does not end: expected }}");
  EXPECT_EQ(Done.error().kind(), ErrorKind::DamagedFile);
}

} // namespace
