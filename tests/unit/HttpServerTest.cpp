//===- HttpServerTest.cpp - Event streams over a socket -------------------===//

#include "runtime/Http/HttpServer.h"
#include "ArtifactTestSupport.h"
#include "tests/unit/NoRoomForThreads.h"

#include <array>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <malloc.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::http;
using tenon::test::TemporaryDirectory;

namespace {

/// A server whose requests are answered by the test.
class HttpServerTest : public testing::Test {
protected:
  void SetUp() override {
    Address Where;
    Where.UnixSocket = Folder / "socket";
    Limits Bounds;
    Bounds.UnreadBytes = 64 << 20;
    auto Listening = HttpServer::listen(
        Where, Bounds,
        [this](std::shared_ptr<Exchange> E) { Asked.set_value(std::move(E)); },
        [](std::string_view, int Status, std::string What) {
          return HttpResponse{Status, "text/plain", std::move(What)};
        },
        [this](const RequestTrace &T) {
          AnswerBytes.set_value(T.AnswerBytes);
        });
    ASSERT_TRUE(Listening) << Listening.error().message();
    Server = std::move(*Listening);
    Thread = std::thread([this] {
      (void)Server->run([](int) {});
      Ended.set_value();
    });
  }
  void TearDown() override {
    if (Client >= 0)
      ::close(Client);
    Server->stop(0);
    Thread.join();
    Server.reset();
  }

  /// Connects and asks; what is asked on the server's side.
  std::shared_ptr<Exchange> ask(const std::string &Version,
                                const std::string &Then = "close") {
    Client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un To{};
    To.sun_family = AF_UNIX;
    (Folder / "socket").copy(To.sun_path, sizeof To.sun_path - 1);
    EXPECT_EQ(
        ::connect(Client, reinterpret_cast<const sockaddr *>(&To), sizeof To),
        0);
    std::string Head = "GET / HTTP/" + Version + "\r\nHost: test\r\n" +
                       "Connection: " + Then + "\r\n\r\n";
    EXPECT_EQ(::send(Client, Head.data(), Head.size(), 0),
              static_cast<ssize_t>(Head.size()));
    return Asked.get_future().get();
  }

  /// The same, with an answer of events.
  std::shared_ptr<Exchange> askForEvents(const std::string &Version) {
    std::shared_ptr<Exchange> E = ask(Version);
    Server->post([E] { E->beginEvents(); });
    return E;
  }

  /// Reads until `End` has come, or all.
  std::string readUpTo(std::string_view End) {
    std::string All;
    std::array<char, 1 << 14> Part{};
    while (End.empty() || All.find(End) == std::string::npos) {
      ssize_t Got = ::recv(Client, Part.data(), Part.size(), 0);
      if (Got <= 0)
        break;
      All.append(Part.data(), static_cast<size_t>(Got));
    }
    return All;
  }

  /// The contents of chunks, of which the last may be missing.
  static std::vector<std::string> chunksOf(std::string_view Body) {
    std::vector<std::string> Chunks;
    while (!Body.empty()) {
      size_t Line = Body.find("\r\n");
      size_t Size = std::stoul(std::string(Body.substr(0, Line)), nullptr, 16);
      Chunks.emplace_back(Body.substr(Line + 2, Size));
      EXPECT_EQ(Body.substr(Line + 2 + Size, 2), "\r\n");
      Body.remove_prefix(std::min(Body.size(), Line + 4 + Size));
    }
    return Chunks;
  }

  TemporaryDirectory Folder;
  std::promise<std::shared_ptr<Exchange>> Asked;
  std::unique_ptr<HttpServer> Server;
  std::thread Thread;
  int Client = -1;
  std::promise<size_t> AnswerBytes; ///< Of the answer that was sent.
  std::promise<void> Ended;         ///< run() has.
};

TEST_F(HttpServerTest, EventsThatComeTogetherAreOneChunk) {
  std::shared_ptr<Exchange> E = askForEvents("1.1");
  readUpTo("\r\n\r\n");
  for (int I = 0; I < 3; ++I)
    Server->postLater(
        [E, I] { E->send("data: " + std::to_string(I) + "\n\n"); });
  Server->post([E] { E->send("data: 3\n\n"); });
  std::string First = readUpTo("data: 3\n\n\r\n");
  EXPECT_EQ(
      chunksOf(First),
      std::vector<std::string>{"data: 0\n\ndata: 1\n\ndata: 2\n\ndata: 3\n\n"});
  Server->post([E] {
    E->send("data: 4\n\n");
    E->end();
  });
  EXPECT_EQ(chunksOf(readUpTo("")),
            (std::vector<std::string>{"data: 4\n\n", ""}));
}

TEST_F(HttpServerTest, NothingIsLostBeforeASlowReader) {
  for (const char *Version : {"1.1", "1.0"}) {
    Asked = {};
    AnswerBytes = {};
    std::shared_ptr<Exchange> E = askForEvents(Version);
    std::string Head = readUpTo("\r\n\r\n");
    size_t Begin = Head.find("\r\n\r\n") + 4;
    // More than sockets hold.
    std::string Expected;
    std::promise<void> Sent;
    Server->post([&] {
      for (int I = 0; I < 4000; ++I) {
        std::string Event = "data: " + std::to_string(I) +
                            std::string(1000, static_cast<char>('a' + I % 26)) +
                            "\n\n";
        Expected += Event;
        E->send(Event);
      }
    });
    Server->post([&] {
      E->send("data: end\n\n");
      Expected += "data: end\n\n";
      E->end();
      Sent.set_value();
    });
    Sent.get_future().get();
    std::string Body = Head.substr(Begin) + readUpTo("");
    if (std::string_view(Version) == "1.1") {
      std::string Joined;
      for (const std::string &One : chunksOf(Body))
        Joined += One;
      Body = Joined;
    }
    EXPECT_EQ(Body.size(), Expected.size());
    EXPECT_TRUE(Body == Expected) << Version;
    EXPECT_EQ(AnswerBytes.get_future().get(), Expected.size());
    ::close(std::exchange(Client, -1));
  }
}

/// More than sockets hold.
constexpr size_t LargeAnswer = 4 << 20;

TEST_F(HttpServerTest, AnIdleConnectionKeepsNoAnswer) {
  auto Allocated = [] {
    struct mallinfo2 Now = mallinfo2();
    return Now.uordblks + Now.hblkhd;
  };
  for (bool IsStream : {false, true}) {
    Asked = {};
    AnswerBytes = {};
    std::shared_ptr<Exchange> E = ask("1.1", "keep-alive");
    size_t Before = Allocated();
    Server->post([E, IsStream] {
      std::string Text(LargeAnswer, 'a');
      Text += "end";
      if (!IsStream)
        return E->reply({200, "text/plain", std::move(Text)});
      E->beginEvents();
      E->send(Text);
      E->end();
    });
    E.reset();
    EXPECT_GT(readUpTo("end").size(), LargeAnswer);
    AnswerBytes.get_future().get();
    EXPECT_LT(Allocated(), Before + LargeAnswer / 2) << IsStream;
    ::close(std::exchange(Client, -1));
  }
}

TEST_F(HttpServerTest, AnAnswerIsForHalfAConnectionToo) {
  for (bool IsStream : {false, true}) {
    Asked = {};
    AnswerBytes = {};
    std::shared_ptr<Exchange> E = ask("1.1");
    std::promise<void> IsBegun;
    Server->post([&] {
      if (IsStream) {
        E->beginEvents();
        E->send(std::string(LargeAnswer, 'a'));
        E->end();
      } else {
        E->reply({200, "text/plain", std::string(LargeAnswer, 'a')});
      }
      IsBegun.set_value();
    });
    IsBegun.get_future().get();
    ::shutdown(Client, SHUT_WR);
    EXPECT_GT(readUpTo("").size(), LargeAnswer) << IsStream;
    AnswerBytes.get_future().get();
    ::close(std::exchange(Client, -1));
  }
}

TEST_F(HttpServerTest, AStopWithMoreTimeLeavesTheDeadline) {
  std::shared_ptr<Exchange> E = ask("1.1");
  std::promise<void> IsStopped;
  // Both before the server looks at its deadline.
  Server->post([&] {
    Server->stop(0);
    Server->stop(3600);
    IsStopped.set_value();
  });
  IsStopped.get_future().get();
  // Nobody answers, so nothing but the deadline ends run().
  EXPECT_EQ(Ended.get_future().wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
}

TEST(HttpServerThreadsTest, NoRoomForWorkers) {
  TemporaryDirectory Folder;
  Address Where;
  Where.UnixSocket = Folder / "socket";
  auto Server = HttpServer::listen(
      Where, {}, [](std::shared_ptr<Exchange>) {},
      [](std::string_view, int, std::string) { return HttpResponse(); });
  ASSERT_TRUE(Server) << Server.error().message();
  NoRoomForThreads Full;
  Status Served = (*Server)->run([](int) {});
  ASSERT_FALSE(Served);
  EXPECT_TRUE(Served.error().message().starts_with("cannot start a thread: "))
      << Served.error().message();
}

} // namespace
