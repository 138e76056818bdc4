//===- HttpServer.cpp - Listens, and serves connections -------------------===//

#include "runtime/Http/HttpServer.h"

#include "runtime/Http/Connection.h"
#include "runtime/Support/Clock.h"
#include "runtime/Support/Thread.h"

#include <boost/asio.hpp>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unordered_set>
#include <vector>

using namespace tenon;
using namespace tenon::http;
namespace asio = boost::asio;
using boost::system::error_code;

namespace {

class Server final : public HttpServer, private ConnectionOwner {
public:
  Server(const Limits &Bounds, Handler Take, Refuser Refuse, Watcher Watch,
         bool KeepsContent)
      : Bounds(Bounds), Take(std::move(Take)), Refuse(std::move(Refuse)),
        Watch(std::move(Watch)), KeepsContent(KeepsContent) {}
  ~Server() override;

  Status open(const Address &Where);
  std::string address() const override { return Url; }
  Status run(std::function<void(int)> OnSignal) override;
  void post(std::function<void()> Work) override;
  void postLater(std::function<void()> Work) override {
    std::lock_guard Guard(LaterLock);
    Later.push_back(std::move(Work));
  }
  void work(std::function<void()> Work) override {
    asio::post(Jobs, std::move(Work));
  }
  void stop(double Seconds) override;
  size_t connections() const override { return Open.size(); }

private:
  // For connections.
  asio::io_context &io() override { return Io; }
  const Limits &limits() const override { return Bounds; }
  bool keepsContent() const override { return KeepsContent; }
  std::string newId() override;
  bool isStopping() const override { return IsStopping; }
  bool isOver() const override { return IsOver; }
  void holdBody(size_t Before, size_t Now) override {
    HeldBytes += Now - Before;
  }
  bool hasRoomForBodies() const override {
    return HeldBytes <= Bounds.AllBodyBytes;
  }
  void take(std::shared_ptr<Exchange> E) override { Take(std::move(E)); }
  HttpResponse refusal(std::string_view Path, int Status,
                       std::string Message) override {
    return Refuse(Path, Status, std::move(Message));
  }
  void answerBegins() override { ++Answering; }
  void answerEnds(const RequestTrace &T) override;
  void flushSoon(std::shared_ptr<Connection> C) override;
  void forget(Connection &C) override { Open.erase(&C); }

  template <typename Kind> Status bind(const typename Kind::endpoint &Where);
  template <typename Kind>
  void accept(std::shared_ptr<asio::basic_socket_acceptor<Kind>> From);
  void perform(const std::vector<std::function<void()>> &Work);
  void waitForSignal();
  void endIfAnswered();

  // Connections use these until they end, some of them with handlers of `Io`.
  const Limits Bounds;
  const Handler Take;
  const Refuser Refuse;
  const Watcher Watch;
  const bool KeepsContent;
  bool IsStopping = false, IsOver = false;
  size_t Answering = 0; ///< Requests whose answers have not been sent.
  size_t HeldBytes = 0; ///< Of bodies, read or being read.
  std::mt19937_64 Random{std::random_device{}()};
  std::unordered_set<Connection *> Open;
  asio::io_context Io{1}, Jobs;

  std::mutex LaterLock;
  std::vector<std::function<void()>> Later;
  bool IsPerforming = false;
  std::vector<std::shared_ptr<Connection>> Due; ///< To be flushed.

  std::string Url, SocketFile;
  std::function<void()> CloseAcceptor;
  asio::signal_set Signals{Io};
  asio::steady_timer Pause{Io}, Deadline{Io};
  int SignalCount = 0;
  std::function<void(int)> OnSignal;
};

} // namespace

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

template <typename Kind>
Status Server::bind(const typename Kind::endpoint &Where) {
  auto From = std::make_shared<asio::basic_socket_acceptor<Kind>>(Io);
  try {
    From->open(Where.protocol());
    if constexpr (std::is_same_v<Kind, asio::ip::tcp>)
      From->set_option(asio::socket_base::reuse_address(true));
    From->bind(Where);
    From->listen();
  } catch (const boost::system::system_error &Failure) {
    return Error(Failure.code().message());
  }
  if constexpr (std::is_same_v<Kind, asio::ip::tcp>) {
    auto At = From->local_endpoint();
    std::string Host = At.address().to_string();
    Url = "http://" + (At.address().is_v6() ? "[" + Host + "]" : Host) + ":" +
          std::to_string(At.port());
  }
  CloseAcceptor = [From] {
    error_code Ignored;
    From->close(Ignored);
  };
  accept<Kind>(From);
  return {};
}

template <typename Kind>
void Server::accept(std::shared_ptr<asio::basic_socket_acceptor<Kind>> From) {
  From->async_accept(
      [this, From](error_code Failure, typename Kind::socket Taken) {
        if (!From->is_open())
          return;
        if (Failure) {
          // No descriptors are left, most likely: others will be closed.
          constexpr double PauseSeconds = 0.1;
          Pause.expires_after(durationOf(PauseSeconds));
          Pause.async_wait([this, From](error_code) { accept<Kind>(From); });
          return;
        }
        if constexpr (std::is_same_v<Kind, asio::ip::tcp>) {
          error_code Ignored;
          Taken.set_option(asio::ip::tcp::no_delay(true), Ignored);
        }
        auto C = Connection::create(*this, std::move(Taken));
        Open.insert(C.get());
        if (Open.size() > Bounds.Connections)
          C->refuse(503, "there are " + std::to_string(Bounds.Connections) +
                             " connections already");
        else
          C->serve();
        accept<Kind>(From);
      });
}

Status Server::open(const Address &Where) {
  // As many connections as the system allows.
  rlimit Files{};
  if (getrlimit(RLIMIT_NOFILE, &Files) == 0) {
    Files.rlim_cur = Files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &Files);
  }
  if (!Where.UnixSocket.empty()) {
    const std::string &Path = Where.UnixSocket;
    struct stat Old{};
    if (lstat(Path.c_str(), &Old) == 0) {
      if (!S_ISSOCK(Old.st_mode))
        return Error(Path + ": is no socket: expected a path where a socket "
                            "can be made");
      // A server that was killed leaves its socket behind.
      asio::local::stream_protocol::socket Try(Io);
      error_code Failure;
      Try.connect(Path, Failure);
      if (!Failure)
        return Error(Path + ": another server listens there");
      std::filesystem::remove(Path);
    }
    try {
      if (Status Done = bind<asio::local::stream_protocol>(Path); !Done)
        return Done.error().withContext(Path);
    } catch (const boost::system::system_error &Failure) {
      return Error(Path + ": " + Failure.code().message());
    }
    SocketFile = Path;
    Url = "unix:" + Path;
    return {};
  }
  std::string Name = Where.Host + ":" + std::to_string(Where.Port);
  error_code Failure;
  asio::ip::tcp::resolver Names(Io);
  auto Found = Names.resolve(Where.Host, std::to_string(Where.Port), Failure);
  if (Failure)
    return Error(Name + ": " + Failure.message());
  if (Status Done = bind<asio::ip::tcp>(Found.begin()->endpoint()); !Done)
    return Done.error().withContext(Name);
  return {};
}

//===----------------------------------------------------------------------===//
// The server's thread
//===----------------------------------------------------------------------===//

void Server::post(std::function<void()> Work) {
  std::vector<std::function<void()>> All;
  {
    std::lock_guard Guard(LaterLock);
    All.swap(Later);
  }
  All.push_back(std::move(Work));
  asio::post(Io, [this, All = std::move(All)] { perform(All); });
}

void Server::perform(const std::vector<std::function<void()>> &Work) {
  IsPerforming = true;
  for (const std::function<void()> &One : Work)
    One();
  IsPerforming = false;
  for (const std::shared_ptr<Connection> &C : std::exchange(Due, {}))
    C->flush();
}

void Server::flushSoon(std::shared_ptr<Connection> C) {
  if (!IsPerforming)
    return C->flush();
  if (Due.empty() || Due.back() != C)
    Due.push_back(std::move(C));
}

std::string Server::newId() {
  static constexpr char Digits[] = "0123456789abcdef";
  std::string Id = "req-";
  for (uint64_t Bits = Random(), I = 0; I < 16; ++I, Bits >>= 4)
    Id += Digits[Bits & 15];
  return Id;
}

void Server::waitForSignal() {
  Signals.async_wait([this](error_code Failure, int) {
    if (Failure)
      return;
    OnSignal(++SignalCount);
    waitForSignal();
  });
}

Status Server::run(std::function<void(int)> Then) {
  OnSignal = std::move(Then);
  Signals.add(SIGINT);
  Signals.add(SIGTERM);
  waitForSignal();
  std::signal(SIGPIPE, SIG_IGN);
  auto Stay = asio::make_work_guard(Jobs);
  // So many slow grammars hold up the requests of others.
  constexpr int Workers = 4;
  std::vector<std::thread> Threads;
  Status Started;
  for (int I = 0; I < Workers && Started; ++I) {
    Result<std::thread> Worker = startThread([this] {
      // Steps of models come first. Of this thread alone, as Linux has it.
      constexpr int Nice = 5;
      setpriority(PRIO_PROCESS, 0, Nice);
      Jobs.run();
    });
    if (Worker)
      Threads.push_back(std::move(*Worker));
    else
      Started = Worker.error();
  }
  if (Started)
    Io.run();
  Jobs.stop();
  for (std::thread &T : Threads)
    T.join();
  return Started;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Server::stop(double Seconds) {
  post([this, Seconds] {
    if (auto Close = std::exchange(CloseAcceptor, nullptr))
      Close();
    auto End = std::chrono::steady_clock::now() + durationOf(Seconds);
    if (!std::exchange(IsStopping, true) || End < Deadline.expiry()) {
      Deadline.expires_at(End);
      Deadline.async_wait([this](error_code Failure) {
        if (!Failure)
          Io.stop();
      });
    }
    endIfAnswered();
  });
}

void Server::answerEnds(const RequestTrace &T) {
  if (Watch)
    Watch(T);
  --Answering;
  endIfAnswered();
}

void Server::endIfAnswered() {
  if (IsStopping && Answering == 0)
    asio::post(Io, [this] { Io.stop(); });
}

Server::~Server() {
  if (!SocketFile.empty()) {
    std::error_code Ignored;
    std::filesystem::remove(SocketFile, Ignored);
  }
  IsOver = true;
}

Result<std::unique_ptr<HttpServer>>
HttpServer::listen(const Address &Where, const Limits &Bounds, Handler Take,
                   Refuser Refuse, Watcher Watch, bool KeepsContent) {
  auto S = std::make_unique<Server>(Bounds, std::move(Take), std::move(Refuse),
                                    std::move(Watch), KeepsContent);
  if (Status Done = S->open(Where); !Done)
    return Done.error();
  return std::unique_ptr<HttpServer>(std::move(S));
}
