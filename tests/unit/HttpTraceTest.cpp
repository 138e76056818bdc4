//===- HttpTraceTest.cpp - Log, record and history of requests ------------===//

#include "runtime/Http/AnswerCompare.h"
#include "runtime/Http/Record.h"
#include "runtime/Http/RecordFile.h"
#include "runtime/Http/RequestHistory.h"
#include "runtime/Http/TraceWriter.h"
#include "tests/unit/NoRoomForThreads.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::http;
using testing::HasSubstr;

namespace {

std::string eventText(const std::string &Json) {
  return "data: " + Json + "\n\n";
}

std::string chunk(int Index, const std::string &Text) {
  return eventText(R"({"id":"a","choices":[{"index":)" + std::to_string(Index) +
                   R"(,"text":")" + Text + R"("}]})");
}

TEST(AnswerCompareTest, StreamsAreJoined) {
  std::string Done = "data: [DONE]\n\n";
  std::string Whole = chunk(0, "ab") + chunk(1, "xy") + Done;
  std::string Parts =
      chunk(1, "x") + chunk(0, "a") + chunk(1, "y") + chunk(0, "b") + Done;
  EXPECT_EQ(differenceOf(Whole, Parts, true, false), std::nullopt);
  EXPECT_NE(differenceOf(Whole, Parts, false, false), std::nullopt);
  EXPECT_THAT(
      *differenceOf(Whole, chunk(0, "ab") + chunk(1, "xz") + Done, true, false),
      HasSubstr("joined, byte"));
  EXPECT_NE(differenceOf(Whole, chunk(0, "ab") + Done, true, false),
            std::nullopt);
  EXPECT_NE(differenceOf(Whole, chunk(0, "ab") + chunk(1, "xy"), true, false),
            std::nullopt)
      << "without its end";

  // A beginning.
  EXPECT_EQ(differenceOf(chunk(0, "a") + chunk(1, "x"), Whole, true, true),
            std::nullopt);
  EXPECT_NE(differenceOf(chunk(0, "b"), Whole, true, true), std::nullopt);
  EXPECT_NE(differenceOf(chunk(0, "abc"), Whole, true, true), std::nullopt);
}

TEST(AnswerCompareTest, PartsOfNamedEventsAreJoined) {
  auto Delta = [](int Number, const std::string &Item, const std::string &T) {
    return "event: d\n" + eventText(R"({"type":"d","sequence_number":)" +
                                    std::to_string(Number) + R"(,"item_id":")" +
                                    Item + R"(","delta":")" + T + R"("})");
  };
  EXPECT_EQ(differenceOf(Delta(0, "i", "ab"),
                         Delta(0, "i", "a") + Delta(1, "i", "b"), true, false),
            std::nullopt);
  EXPECT_NE(differenceOf(Delta(0, "i", "ab"),
                         Delta(0, "i", "a") + Delta(1, "j", "b"), true, false),
            std::nullopt);
  auto Block = [](const std::string &Kind, const std::string &T) {
    return eventText(R"({"type":"content_block_delta","index":0,"delta":{)"
                     R"("type":")" +
                     Kind + R"(_delta",")" + Kind + R"(":")" + T + R"("}})");
  };
  EXPECT_EQ(differenceOf(Block("text", "ab"),
                         Block("text", "a") + Block("text", "b"), true, false),
            std::nullopt);
  EXPECT_NE(differenceOf(Block("text", "ab"),
                         Block("text", "a") + Block("thinking", "b"), true,
                         false),
            std::nullopt);
}

TEST(AnswerCompareTest, SaysWhere) {
  EXPECT_EQ(*differenceOf("{\"a\":1}", "{\"a\":2}", false, false),
            "byte 5 on: recorded '{\"a\":1}', now '{\"a\":2}'");
}

std::shared_ptr<RequestTrace> traceOf(const std::string &Id, size_t Key = 0) {
  auto T = std::make_shared<RequestTrace>();
  T->Id = Id;
  T->Key = Key;
  T->Method = "POST";
  T->Path = "/v1/completions";
  T->Status = 200;
  T->Said = std::make_shared<Content>();
  return T;
}

TEST(RequestHistoryTest, KeepsTheLastOnesOfEachKey) {
  RequestHistory History(3);
  for (int I = 0; I < 5; ++I) {
    auto T = traceOf("r" + std::to_string(I), 1);
    if (I > 0)
      T->End = 1;
    History.add(T);
  }
  EXPECT_NE(History.find("r0", 1), nullptr) << "it runs";
  EXPECT_EQ(History.find("r2", 1), nullptr) << "the oldest that has ended";
  EXPECT_NE(History.find("r4", 1), nullptr);
  EXPECT_EQ(History.find("r4", 0), nullptr) << "another's";
  auto Again = traceOf("r4", 1);
  Again->End = 2;
  History.add(Again);
  EXPECT_EQ(History.find("r4", 1)->End, 2) << "the last of the name";
  // Of many prompts fewer are kept.
  auto Large = traceOf("large", 1);
  Large->Prompts.resize(20);
  Large->End = 3;
  History.add(Large);
  EXPECT_EQ(History.find("r4", 1), nullptr);
  EXPECT_EQ(History.find("large", 1), nullptr);
  EXPECT_NE(History.find("r0", 1), nullptr) << "it runs";
}

TEST(RequestHistoryTest, NamesInUrls) {
  std::string Name = "a/b %?\xc3\xa4~";
  EXPECT_EQ(percentEncoded(Name), "a%2Fb%20%25%3F%C3%A4~");
  EXPECT_EQ(percentDecoded(percentEncoded(Name)), Name);
  EXPECT_EQ(percentDecoded("%4%zz%"), "%4%zz%");
}

TEST(TraceWriterTest, NeverWaitsAndCountsWhatIsDropped) {
  std::promise<void> Go;
  std::shared_future<void> Gone = Go.get_future().share();
  std::vector<std::pair<std::string, size_t>> Written;
  std::atomic<size_t> Count = 0;
  {
    auto Writer = TraceWriter::create(
        [&](const RequestTrace &T, size_t Dropped) {
          Gone.wait(); // A disk that does not answer.
          Written.emplace_back(T.Id, Dropped);
          ++Count;
        },
        100 << 10);
    ASSERT_TRUE(Writer) << Writer.error().message();
    for (int I = 0; I < 100; ++I) {
      auto T = traceOf("r" + std::to_string(I));
      T->Said->Body.assign(20 << 10, 'a');
      (*Writer)->add(*T);
    }
    Go.set_value();
    // It takes requests again when there is room.
    for (int I = 0; I < 1000 && Count < 4; ++I)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    (*Writer)->add(*traceOf("last"));
  }
  ASSERT_EQ(Written.size(), 5u);
  EXPECT_EQ(Written[3], std::pair("r3" + std::string(), size_t(0)));
  EXPECT_EQ(Written[4], std::pair(std::string("last"), size_t(96)));
}

TEST(TraceWriterTest, NoRoomForItsThread) {
  NoRoomForThreads Full;
  auto Writer = TraceWriter::create([](const RequestTrace &, size_t) {}, 1);
  ASSERT_FALSE(Writer);
  EXPECT_TRUE(Writer.error().message().starts_with("cannot start a thread: "))
      << Writer.error().message();
}

class RecordTest : public testing::Test {
protected:
  void SetUp() override {
    std::filesystem::remove(File);
    std::filesystem::remove(File + ".1");
    Served.MaxNumSeqs = 5;
    Served.Models = {{"tiny", "abc", "1.0", "amx", "fp_1"}};
  }

  /// Adds requests with answers of so many bytes to a file of `Most`.
  void record(size_t Count, size_t AnswerBytes = 10, uint64_t Most = 1 << 20) {
    auto To = RecordFile::open(File, Served, Most);
    ASSERT_TRUE(To) << To.error().message();
    for (size_t I = 0; I < Count; ++I) {
      auto T = traceOf("r" + std::to_string(I));
      T->IsCall = true;
      T->Model = "tiny";
      T->Seed = UINT64_MAX - I;
      T->Said->Body = "{\"prompt\":\"\xc3\xa4\"}";
      T->Said->Answer = std::string(AnswerBytes, 'x');
      (*To)->add(*T, I == 1 ? 7 : 0);
    }
  }
  std::string content() {
    std::ifstream In(File, std::ios::binary);
    return {std::istreambuf_iterator<char>(In), {}};
  }
  void put(const std::string &Text) {
    std::ofstream(File, std::ios::binary) << Text;
  }
  std::string errorOf(const std::string &From, const std::string &To) {
    std::string Text = content(), Old = Text;
    size_t At = Text.find(From);
    EXPECT_NE(At, std::string::npos) << From;
    Text.replace(At, From.size(), To);
    put(Text);
    Result<Record> Read = readRecord(File);
    put(Old);
    return Read ? "" : Read.error().message();
  }

  const std::string File = testing::TempDir() + "tenon-record-" +
                           std::to_string(::getpid()) + ".jsonl";
  RecordHeader Served;
};

TEST_F(RecordTest, ReadsWhatWasWritten) {
  record(3);
  struct stat Info{};
  ASSERT_EQ(::stat(File.c_str(), &Info), 0);
  EXPECT_EQ(Info.st_mode & 0777, 0600u);
  record(1); // By another server, later.
  Result<Record> All = readRecord(File);
  ASSERT_TRUE(All) << All.error().message();
  ASSERT_EQ(All->Servers.size(), 2u);
  EXPECT_EQ(All->Servers[0].MaxNumSeqs, 5);
  EXPECT_EQ(All->Servers[0].Models[0].Level, "amx");
  ASSERT_EQ(All->Requests.size(), 4u);
  EXPECT_EQ(All->Dropped, 7u);
  EXPECT_FALSE(All->IsCut);
  const RecordedRequest &R = All->Requests[1];
  EXPECT_EQ(R.Id, "r1");
  EXPECT_EQ(R.Line, 4u);
  EXPECT_EQ(R.Model, "tiny");
  EXPECT_EQ(*R.Seed, UINT64_MAX - 1);
  EXPECT_EQ(*R.Body, "{\"prompt\":\"\xc3\xa4\"}");
  EXPECT_EQ(*R.Answer, std::string(10, 'x'));
  EXPECT_EQ(All->Requests[3].Server, 1u);
}

TEST_F(RecordTest, ALineThatIsCutIsLeftOut) {
  record(2);
  std::string Whole = content();
  put(Whole.substr(0, Whole.size() - 5));
  Result<Record> All = readRecord(File);
  ASSERT_TRUE(All) << All.error().message();
  EXPECT_TRUE(All->IsCut);
  EXPECT_EQ(All->Requests.size(), 1u);
  record(1);
  All = readRecord(File);
  ASSERT_TRUE(All) << All.error().message();
  EXPECT_FALSE(All->IsCut);
  EXPECT_EQ(All->Requests.size(), 2u);
}

TEST_F(RecordTest, AFullFileBeginsAnew) {
  record(20, 4000, 40000);
  EXPECT_LE(content().size(), 40000u);
  Result<Record> Last = readRecord(File), Old = readRecord(File + ".1");
  ASSERT_TRUE(Last) << Last.error().message();
  ASSERT_TRUE(Old) << Old.error().message();
  EXPECT_EQ(Last->Requests.back().Id, "r19");
  EXPECT_EQ(Last->Servers.size(), 1u);
  EXPECT_EQ(Old->Requests.back().Id + " " + Last->Requests.front().Id,
            "r" + std::to_string(20 - Last->Requests.size() - 1) + " r" +
                std::to_string(20 - Last->Requests.size()));
}

TEST_F(RecordTest, OtherFilesAreLeftAlone) {
  put("{\"mine\":1}\n");
  auto To = RecordFile::open(File, Served, 1 << 20);
  ASSERT_FALSE(To);
  EXPECT_THAT(To.error().message(),
              testing::AllOf(HasSubstr(File), HasSubstr("is no record")));
  EXPECT_EQ(content(), "{\"mine\":1}\n");
  Result<Record> Read = readRecord(File);
  ASSERT_FALSE(Read);
  EXPECT_THAT(Read.error().message(), HasSubstr("is no record"));
  To = RecordFile::open("/dev/null", Served, 1 << 20);
  ASSERT_FALSE(To);
  EXPECT_THAT(To.error().message(), HasSubstr("is no file"));
  std::filesystem::remove(File);
  auto First = RecordFile::open(File, Served, 1 << 20);
  ASSERT_TRUE(First);
  To = RecordFile::open(File, Served, 1 << 20);
  ASSERT_FALSE(To);
  EXPECT_THAT(To.error().message(), HasSubstr("another server"));
}

TEST_F(RecordTest, MistakesNameLineAndMember) {
  record(1);
  for (auto [From, To, Expected] :
       {std::tuple(R"("max_num_seqs":5)", R"("max_num_seqs":0.5)",
                   ":1: field 'max_num_seqs' is 0.5"),
        std::tuple(R"("level":"amx")", R"("level":3)", ":1: field"),
        std::tuple(R"("id":"r0")", R"("id":5)", ":2: field 'id' is 5"),
        std::tuple(R"("status":200)", R"("status":2000)", "'status' is 2000"),
        std::tuple(R"("seed":1)", R"("seed":1.5e3,"x":1)", "'seed' is"),
        std::tuple("xxxx", "xxxy", "'checksum' is"),
        std::tuple(R"("gone":false)", R"("gone":null)", "'gone'"),
        std::tuple(R"({"id")", R"([{"id")", ":2: ")})
    EXPECT_THAT(errorOf(From, To),
                testing::AllOf(testing::StartsWith(File), HasSubstr(Expected)))
        << From;
}

} // namespace
