//===- GrammarTablesTest.cpp - What masks are looked up in ----------------===//

#include "runtime/Grammar/MaskBits.h"
#include "runtime/Grammar/TokenTable.h"
#include "runtime/Grammar/WordsTable.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace tenon::grammar;

namespace {

std::vector<std::string> someTokens(std::mt19937 &Random) {
  const std::string Pieces[] = {"a",        "b",        "c",    "1",
                                " ",        "\xc3\xa9", "\xc3", "\xe6\xbc\xa2",
                                "\xe6\xbc", "\x80",     "\xff", "\n"};
  std::vector<std::string> Made;
  for (int I = 0; I < 3000; ++I) {
    // Those in the front come often.
    std::string Token;
    for (unsigned K = 1 + Random() % 6; K > 0; --K)
      Token += Pieces[Random() % (1 + Random() % std::size(Pieces))];
    Made.push_back(Token);
  }
  return Made;
}

/// By the definition: of UTF-8 that may end early, all but the first character.
bool isOnly(const std::string &Token, const LeadSet &Leads) {
  for (size_t At = 0; At < Token.size();) {
    auto Byte = static_cast<uint8_t>(Token[At]);
    size_t Size = Byte < 0x80 ? 1 : Byte == 0xc3 ? 2 : Byte == 0xe6 ? 3 : 0;
    if (Size == 0 || (At > 0 && !Leads.test(Byte)))
      return false;
    for (size_t I = At + 1; I < std::min(At + Size, Token.size()); ++I)
      if ((static_cast<uint8_t>(Token[I]) & 0xc0) != 0x80)
        return false;
    At += Size;
  }
  return true;
}

TEST(GrammarTables, TokensOfCertainCharacters) {
  std::mt19937 Random(1);
  auto Table = TokenTable::build(someTokens(Random));
  for (int I = 0; I < 60; ++I) {
    LeadSet Leads;
    for (char Byte : std::string("abc1 \n\xc3\xe6"))
      if (Random() % 3)
        Leads.set(static_cast<uint8_t>(Byte));
    std::vector<uint64_t> Only = Table->index().only(Leads);
    for (size_t Id = 0; Id < Table->size(); ++Id)
      ASSERT_EQ(testBit(Only, int32_t(Id)),
                isOnly(Table->bytesOf(int32_t(Id)), Leads))
          << Table->bytesOf(int32_t(Id));
  }
}

TEST(GrammarTables, TokensBelowNodes) {
  std::mt19937 Random(2);
  auto Table = TokenTable::build(someTokens(Random));
  size_t Known = 0;
  for (uint32_t Node = 1; Node < Table->nodes().size(); ++Node) {
    std::span<const uint64_t> Below = Table->index().below(Node);
    uint32_t Begin = Table->nodes()[Node].Begin, End = Table->idsEnd(Node);
    EXPECT_EQ(!Below.empty(), End - Begin > Table->words() / 2);
    if (Below.empty())
      continue;
    ++Known;
    std::vector<uint64_t> Same(Table->words());
    for (uint32_t I = Begin; I < End; ++I)
      setBit(Same, Table->ids()[I]);
    ASSERT_TRUE(std::equal(Same.begin(), Same.end(), Below.begin()));
  }
  EXPECT_GT(Known, 8u);
}

TEST(GrammarTables, NodesOfBytes) {
  std::mt19937 Random(3);
  auto Table = TokenTable::build(someTokens(Random));
  size_t Count = 1; // The root has none.
  for (unsigned Byte = 0; Byte < 256; ++Byte)
    for (uint32_t Node : Table->nodesOf(static_cast<uint8_t>(Byte))) {
      EXPECT_EQ(Table->nodes()[Node].Byte, Byte);
      ++Count;
    }
  EXPECT_EQ(Count, Table->nodes().size());
}

TEST(GrammarTables, TokensByLength) {
  TokensByLength Lengths;
  std::vector<uint32_t> Chars;
  for (int32_t Id = 0; Id < 500; ++Id) {
    Chars.push_back(uint32_t(Id * 37 % 90));
    Lengths.add(Chars.back(), Id);
  }
  Lengths.seal(8);
  std::vector<uint64_t> Even(8, 0x5555555555555555);
  for (uint32_t Max : {0u, 1u, 31u, 32u, 33u, 60u, 89u, 90u, UINT32_MAX}) {
    std::vector<uint64_t> All(8), Some(8);
    Lengths.addUpTo(Max, All);
    Lengths.addUpTo(Max, Some, Even);
    for (int32_t Id = 0; Id < 500; ++Id) {
      bool Is = Chars[size_t(Id)] <= Max;
      ASSERT_EQ(testBit(All, Id), Is) << Max << " " << Id;
      ASSERT_EQ(testBit(Some, Id), Is && Id % 2 == 0) << Max << " " << Id;
    }
  }
}

TEST(GrammarTables, NumbersOfRows) {
  std::mt19937 Random(4);
  WordsTable Table;
  std::map<std::vector<uint32_t>, uint32_t> Known;
  for (int I = 0; I < 20000; ++I) {
    // Zeros in the end make another row.
    std::vector<uint32_t> Row(Random() % 5);
    for (uint32_t &Word : Row)
      Word = Random() % 12;
    auto Found = Known.find(Row);
    EXPECT_EQ(Table.find(Row), Found == Known.end()
                                   ? std::nullopt
                                   : std::optional(Found->second));
    auto Next = static_cast<uint32_t>(Known.size());
    auto [Number, IsNew] = Table.add(Row, Next);
    EXPECT_EQ(IsNew, Found == Known.end());
    EXPECT_EQ(Number, Known.emplace(Row, Next).first->second);
  }
  WordsTable Copy = Table;
  for (const auto &[Row, Number] : Known)
    ASSERT_EQ(Copy.find(Row), Number);
}

} // namespace
