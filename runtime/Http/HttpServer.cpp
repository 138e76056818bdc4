//===- HttpServer.cpp - Requests from connections -------------------------===//

#include "runtime/Http/HttpServer.h"

#include "runtime/Support/Clock.h"
#include "runtime/Support/Json.h"
#include "runtime/Support/Thread.h"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <optional>
#include <poll.h>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unordered_set>

using namespace tenon;
using namespace tenon::http;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
using Socket = Protocol::socket;
using Stream = beast::basic_stream<Protocol>;

namespace {

class Connection;

class Server final : public HttpServer {
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

  void answered();
  void forget(Connection *C);
  /// Flushes `C` behind the work that is performed: its events go together.
  void flushSoon(Connection &C);
  std::string nextId();

  /// Told by each of its end, so that it goes last.
  std::unordered_set<Connection *> Open;
  asio::io_context Io{1}, Jobs;
  const Limits Bounds;
  const Handler Take;
  const Refuser Refuse;
  const Watcher Watch;
  const bool KeepsContent;
  bool IsStopping = false, IsOver = false;
  size_t Answering = 0; ///< Requests whose answers have not been sent.
  size_t HeldBytes = 0; ///< Of bodies, read or being read.

private:
  void perform(const std::vector<std::function<void()>> &Work);

  std::mutex LaterLock;
  std::vector<std::function<void()>> Later;
  bool IsPerforming = false;
  std::vector<std::shared_ptr<Connection>> Due; ///< To be flushed.

  template <typename Kind> Status bind(const typename Kind::endpoint &Where);
  template <typename Kind>
  void accept(std::shared_ptr<asio::basic_socket_acceptor<Kind>> From);
  void waitForSignal();

  std::string Url, SocketFile;
  std::function<void()> CloseAcceptor;
  asio::signal_set Signals{Io};
  asio::steady_timer Pause{Io}, Deadline{Io};
  int SignalCount = 0;
  std::function<void(int)> OnSignal;
  std::mt19937_64 Random{std::random_device{}()};
};

asio::steady_timer::duration secondsOf(double Seconds) {
  return std::chrono::duration_cast<asio::steady_timer::duration>(
      std::chrono::duration<double>(Seconds));
}

class Turn;

/// A connection lives while an operation on it or an answer to it does.
class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(Server &Owner, Socket Taken)
      : Owner(Owner), Wire(std::move(Taken)), In(Owner.Bounds.BufferBytes) {
    error_code Ignored; // Then writing fails too.
    Wire.socket().non_blocking(true, Ignored);
  }
  ~Connection() {
    hold(0);
    Owner.forget(this);
  }

  void readHeader();
  void refuse(int Status, std::string Message);
  void giveUp(std::string_view Path) {
    reply(Owner.Refuse(Path, 500, "the request was given up"));
  }
  void close();

  // Of the answer that is being given.
  void reply(HttpResponse R);
  void beginEvents();
  void send(std::string_view Bytes);
  void flush();
  void end();
  void whenGone(std::function<void()> Then);
  /// The body of a request that nobody holds any more.
  void release(size_t Bytes) { Owner.HeldBytes -= Bytes; }

private:
  using Parser = wire::request_parser<wire::string_body>;
  void readBody();
  void readMore();
  void hold(size_t Bytes);
  void take();
  void watch();
  void look(error_code Failure);
  void gone();
  void write();
  void wrote(error_code Failure);
  void beginTrace(const HttpRequest &Of);
  void keep(std::string_view Bytes);
  void sent(bool GoesOn);
  void finish();
  void linger();
  void expireIn(double Seconds) { Wire.expires_after(secondsOf(Seconds)); }
  void setHeaders(wire::fields &To, const Headers &More) const;

  Server &Owner;
  Stream Wire;
  asio::steady_timer Again{Owner.Io}; ///< Looks for a client that has gone.
  beast::flat_buffer In;
  std::optional<Parser> Reader;
  /// An answer that is no stream, while it is being sent.
  std::optional<wire::response<wire::string_body>> Whole;
  std::optional<wire::response<wire::empty_body>> Head;
  std::optional<wire::response_serializer<wire::empty_body>> HeadWriter;
  std::string Id;
  /// Of events: those to be sent, those that are being sent, and what the
  /// socket has not taken of these, as a chunk.
  std::string Unsent, Sending, Frame;
  std::function<void()> WhenGone;
  std::shared_ptr<RequestTrace> Trace; ///< Of the request that is answered.
  size_t Held = 0;                     ///< Bytes of the body that is read.
  unsigned Version = 11;
  bool IsAnswering = false, IsGone = false, IsWatching = false;
  bool KeepAlive = false, IsHead = false;
  bool IsWriting = false, HasEnded = false;
  std::array<char, 4096> Rest{};
};

/// The exchange that others hold.
class Turn final : public Exchange {
public:
  Turn(std::shared_ptr<Connection> On, HttpRequest What,
       std::shared_ptr<RequestTrace> Its)
      : On(std::move(On)) {
    Asked = std::move(What);
    Trace = std::move(Its);
  }
  ~Turn() override;
  void reply(HttpResponse R) override {
    if (!std::exchange(IsAnswered, true))
      On->reply(std::move(R));
  }
  void beginEvents() override {
    if (!std::exchange(IsAnswered, true))
      On->beginEvents();
  }
  void send(std::string_view Bytes) override { On->send(Bytes); }
  void end() override {
    HasEnded = true;
    On->end();
  }
  void whenGone(std::function<void()> Then) override {
    On->whenGone(std::move(Then));
  }

private:
  std::shared_ptr<Connection> On;
  bool IsAnswered = false, HasEnded = false;
};

} // namespace

Turn::~Turn() {
  On->release(Asked.Body.size());
  if (!IsAnswered)
    On->giveUp(Asked.Path);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Whether what was read is no HTTP, and not just cut.
static bool isWrong(error_code Failure) {
  return Failure.category() ==
             wire::make_error_code(wire::error::bad_method).category() &&
         Failure != wire::error::partial_message &&
         Failure != wire::error::end_of_stream;
}

void Connection::readHeader() {
  if (Owner.IsStopping)
    return close();
  Reader.emplace();
  Reader->header_limit(static_cast<uint32_t>(Owner.Bounds.HeaderBytes));
  Reader->body_limit(Owner.Bounds.BodyBytes);
  IsGone = HasEnded = false;
  expireIn(Owner.Bounds.ReadSeconds);
  wire::async_read_header(
      Wire, In, *Reader,
      [Own = shared_from_this()](error_code Failure, size_t) {
        if (Failure == wire::error::header_limit)
          return Own->refuse(431,
                             "the headers are larger than " +
                                 std::to_string(Own->Owner.Bounds.HeaderBytes) +
                                 " bytes");
        if (Failure == wire::error::body_limit)
          return Own->refuse(
              413, "the body is larger than " +
                       std::to_string(Own->Owner.Bounds.BodyBytes) + " bytes");
        if (Failure == wire::error::end_of_stream ||
            !Own->Wire.socket().is_open())
          return Own->close();
        if (isWrong(Failure))
          return Own->refuse(400,
                             "is no request of HTTP/1.1: " + Failure.message());
        if (Failure)
          return Own->close();
        Own->readBody();
      });
}

void Connection::readBody() {
  auto Own = shared_from_this();
  if (!beast::iequals(Reader->get()[wire::field::expect], "100-continue"))
    return readMore();
  static const auto Continue =
      std::make_shared<const std::string>("HTTP/1.1 100 Continue\r\n\r\n");
  asio::async_write(Wire, asio::buffer(*Continue),
                    [Own](error_code Failure, size_t) {
                      Failure ? Own->close() : Own->readMore();
                    });
}

/// Reads what has come of the body.
void Connection::readMore() {
  if (Reader->is_done())
    return take();
  expireIn(Owner.Bounds.ReadSeconds);
  wire::async_read_some(
      Wire, In, *Reader,
      [Own = shared_from_this()](error_code Failure, size_t) {
        if (Failure == wire::error::body_limit)
          return Own->refuse(
              413, "the body is larger than " +
                       std::to_string(Own->Owner.Bounds.BodyBytes) + " bytes");
        if (isWrong(Failure))
          return Own->refuse(400, "the body is wrong: " + Failure.message());
        if (Failure)
          return Own->close();
        Own->hold(Own->Reader->get().body().size());
        if (Own->Owner.HeldBytes > Own->Owner.Bounds.AllBodyBytes)
          return Own->refuse(
              503, "requests of " +
                       std::to_string(Own->Owner.Bounds.AllBodyBytes) +
                       " bytes are being answered already");
        Own->readMore();
      });
}

/// Counts the bytes of a body.
void Connection::hold(size_t Bytes) {
  Owner.HeldBytes += Bytes - std::exchange(Held, Bytes);
}

void Connection::take() {
  wire::request<wire::string_body> Got = Reader->release();
  HttpRequest What;
  What.Method = std::string(Got.method_string());
  std::string_view Target(Got.target().data(), Got.target().size());
  What.Path = std::string(Target.substr(0, Target.find('?')));
  What.Body = std::move(Got.body());
  Held = 0; // It is the exchange's.
  What.Authorization = std::string(Got[wire::field::authorization]);
  if (What.Authorization.empty() && Got.count("X-Api-Key"))
    What.Authorization = "Bearer " + std::string(Got["X-Api-Key"]);
  What.Id = std::string(Got["X-Request-Id"]);
  bool IsPlain = std::all_of(What.Id.begin(), What.Id.end(),
                             [](char C) { return C > ' ' && C < 127; });
  if (What.Id.empty() || What.Id.size() > Owner.Bounds.RequestIdBytes ||
      !IsPlain)
    What.Id = Owner.nextId();
  Id = What.Id;
  Version = Got.version();
  KeepAlive = Got.keep_alive();
  IsHead = Got.method() == wire::verb::head;
  if (IsHead)
    What.Method = "GET";
  beginTrace(What);
  What.Time = static_cast<int64_t>(Trace->Time);
  if (Owner.KeepsContent)
    Trace->Said->Body = What.Body;
  IsAnswering = true;
  ++Owner.Answering;
  Wire.expires_never();
  watch();
  // Whoever holds it last may be another thread.
  Owner.Take(std::shared_ptr<Exchange>(
      new Turn(shared_from_this(), std::move(What), Trace),
      [&Io = Owner.Io](Exchange *E) {
        asio::post(Io, [Own = std::unique_ptr<Exchange>(E)] {});
      }));
}

void Connection::beginTrace(const HttpRequest &Of) {
  using namespace std::chrono;
  Trace = std::make_shared<RequestTrace>();
  Trace->Id = Of.Id;
  Trace->Method = Of.Method;
  Trace->Path = Of.Path;
  Trace->Begin = secondsNow();
  Trace->Time =
      duration<double>(system_clock::now().time_since_epoch()).count();
  if (Owner.KeepsContent)
    Trace->Said = std::make_shared<Content>();
}

/// Sees the client go while it waits for its answer.
void Connection::watch() {
  if (std::exchange(IsWatching, true))
    return;
  std::weak_ptr<Connection> Weak = weak_from_this();
  Wire.socket().async_wait(Socket::wait_read, [Weak](error_code Failure) {
    if (auto Own = Weak.lock())
      Own->look(Failure);
  });
}

void Connection::look(error_code Failure) {
  IsWatching = false;
  // Of an answer that is there, sending it says whether somebody reads it, who
  // may send nothing more.
  bool IsThere = Whole || HasEnded;
  if (!IsAnswering || IsThere || Failure == asio::error::operation_aborted)
    return;
  pollfd Seen{Wire.socket().native_handle(), POLLIN | POLLRDHUP, 0};
  if (poll(&Seen, 1, 0) > 0 && Seen.revents & (POLLRDHUP | POLLHUP | POLLERR))
    return gone();
  if (!(Seen.revents & POLLIN))
    return watch();
  // The next request is there already, and is read in its time: waiting for
  // bytes would end at once.
  constexpr double AgainSeconds = 0.25;
  IsWatching = true;
  Again.expires_after(secondsOf(AgainSeconds));
  Again.async_wait([Weak = weak_from_this()](error_code Cancelled) {
    if (auto Own = Weak.lock())
      Own->look(Cancelled);
  });
}

//===----------------------------------------------------------------------===//
// Answering
//===----------------------------------------------------------------------===//

void Connection::gone() {
  if (std::exchange(IsGone, true))
    return;
  Trace->IsGone = true;
  if (Trace->Status == 0)
    Trace->Status = 499;
  if (auto Then = std::exchange(WhenGone, nullptr))
    Then();
  finish();
  close();
}

void Connection::whenGone(std::function<void()> Then) {
  if (IsGone)
    return Then();
  if (IsAnswering)
    WhenGone = std::move(Then);
}

void Connection::setHeaders(wire::fields &To, const Headers &More) const {
  To.set(wire::field::server, "tenon");
  To.set("X-Request-Id", Id);
  To.set(wire::field::cache_control, "no-store");
  To.set("X-Content-Type-Options", "nosniff");
  for (const auto &[Name, Value] : More)
    To.set(Name, Value);
}

void Connection::reply(HttpResponse R) {
  if (IsGone || Owner.IsOver)
    return;
  Trace->Status = R.Status;
  keep(R.Body);
  Whole.emplace(static_cast<wire::status>(R.Status), Version);
  setHeaders(*Whole, R.More);
  Whole->set(wire::field::content_type, R.Type);
  Whole->keep_alive(KeepAlive && !Owner.IsStopping);
  Whole->content_length(R.Body.size());
  if (!IsHead)
    Whole->body() = std::move(R.Body);
  expireIn(Owner.Bounds.WriteSeconds);
  // A response to HEAD has the length of a body that does not follow.
  auto Then = [Own = shared_from_this()](error_code Failure, size_t) {
    if (Failure)
      return Own->gone();
    Own->sent(Own->Whole->keep_alive());
  };
  if (!IsHead)
    return wire::async_write(Wire, *Whole, std::move(Then));
  Head.emplace(Whole->base());
  HeadWriter.emplace(*Head);
  wire::async_write_header(Wire, *HeadWriter, std::move(Then));
}

void Connection::beginEvents() {
  if (IsGone)
    return;
  Trace->Status = 200;
  Trace->IsStream = true;
  Head.emplace(wire::status::ok, Version);
  setHeaders(*Head, {});
  Head->set(wire::field::content_type, "text/event-stream; charset=utf-8");
  // Proxies are asked not to hold events back.
  Head->set("X-Accel-Buffering", "no");
  if (Version < 11)
    KeepAlive = false;
  else
    Head->chunked(true);
  Head->keep_alive(KeepAlive);
  HeadWriter.emplace(*Head);
  IsWriting = true;
  expireIn(Owner.Bounds.WriteSeconds);
  wire::async_write_header(
      Wire, *HeadWriter,
      [Own = shared_from_this()](error_code Failure, size_t) {
        Own->wrote(Failure);
      });
}

void Connection::send(std::string_view Bytes) {
  if (IsGone || HasEnded)
    return;
  Unsent += Bytes;
  if (Unsent.size() > Owner.Bounds.UnreadBytes)
    return gone();
  Owner.flushSoon(*this);
}

void Connection::end() {
  if (IsGone || std::exchange(HasEnded, true))
    return;
  flush();
}

void Connection::flush() {
  if (!IsGone && !IsWriting && !Unsent.empty())
    write();
  if (IsWriting || IsGone || !HasEnded)
    return;
  IsWriting = true;
  auto Ended = [Own = shared_from_this()](error_code Failure, size_t) {
    if (Failure)
      return Own->gone();
    Own->IsWriting = false;
    Own->sent(Own->KeepAlive);
  };
  if (Version < 11)
    return asio::post(Owner.Io, [Ended] { Ended({}, 0); });
  expireIn(Owner.Bounds.WriteSeconds);
  asio::async_write(Wire, wire::make_chunk_last(), std::move(Ended));
}

/// Sends what is unsent. The socket nearly always takes it at once, without the
/// timer and the handler of an operation that may wait.
void Connection::write() {
  Sending = std::exchange(Unsent, {});
  Frame.clear();
  if (Version < 11) {
    Frame = Sending;
  } else {
    std::array<char, 16> Size;
    auto *End = std::to_chars(Size.begin(), Size.end(), Sending.size(), 16).ptr;
    Frame.append(Size.begin(), End).append("\r\n");
    Frame.append(Sending).append("\r\n");
  }
  error_code Failure;
  size_t Sent = Wire.socket().send(asio::buffer(Frame), 0, Failure);
  if (Failure && Failure != asio::error::would_block)
    return gone();
  if (Sent == Frame.size())
    return keep(std::exchange(Sending, {}));
  Frame.erase(0, Sent);
  IsWriting = true;
  expireIn(Owner.Bounds.WriteSeconds);
  asio::async_write(Wire, asio::buffer(Frame),
                    [Own = shared_from_this()](error_code Failure, size_t) {
                      Own->wrote(Failure);
                    });
}

void Connection::wrote(error_code Failure) {
  IsWriting = false;
  if (Failure)
    return gone();
  keep(std::exchange(Sending, {}));
  Wire.expires_never();
  flush();
}

/// Takes down bytes of the answer.
void Connection::keep(std::string_view Bytes) {
  Trace->AnswerBytes += Bytes.size();
  if (!Trace->Said || !Trace->Said->Answer)
    return;
  if (Trace->AnswerBytes > Owner.Bounds.KeptAnswerBytes)
    Trace->Said->Answer.reset();
  else
    *Trace->Said->Answer += Bytes;
}

/// The answer has been sent; `GoesOn`: the connection takes another request.
void Connection::sent(bool GoesOn) {
  // The client may be idle for long.
  Whole.reset();
  Frame.clear();
  Frame.shrink_to_fit();
  finish();
  GoesOn ? readHeader() : linger();
}

/// The answer has been sent, or nobody takes it.
void Connection::finish() {
  if (!std::exchange(IsAnswering, false))
    return;
  WhenGone = nullptr;
  Trace->End = secondsNow();
  if (Owner.Watch)
    Owner.Watch(*Trace);
  // The trace may live longer.
  Trace->Said.reset();
  --Owner.Answering;
  Owner.answered();
}

/// A request that cannot be read; the connection ends behind the answer.
void Connection::refuse(int Status, std::string Message) {
  Id = Owner.nextId();
  KeepAlive = false;
  IsAnswering = true;
  ++Owner.Answering;
  HttpRequest Unread;
  Unread.Id = Id;
  if (Reader) {
    auto Target = Reader->get().target();
    Unread.Path = std::string(Target.substr(0, Target.find('?')));
  }
  beginTrace(Unread);
  reply(Owner.Refuse(Unread.Path, Status, std::move(Message)));
}

/// Reads what the client still sends, so that it reads the answer before it
/// hears that nobody listens.
void Connection::linger() {
  error_code Ignored;
  Wire.socket().shutdown(Socket::shutdown_send, Ignored);
  constexpr double LingerSeconds = 2;
  expireIn(LingerSeconds);
  struct Drain {
    std::shared_ptr<Connection> Own;
    size_t Left;
    void operator()(error_code Failure, size_t Got) {
      if (Failure || Got > Left)
        return Own->close();
      Left -= Got;
      Connection &C = *Own;
      C.Wire.async_read_some(asio::buffer(C.Rest), std::move(*this));
    }
  };
  Drain{shared_from_this(), 4 * Owner.Bounds.BodyBytes}({}, 0);
}

void Connection::close() { Wire.close(); }

//===----------------------------------------------------------------------===//
// Server
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
          Pause.expires_after(secondsOf(PauseSeconds));
          Pause.async_wait([this, From](error_code) { accept<Kind>(From); });
          return;
        }
        if constexpr (std::is_same_v<Kind, asio::ip::tcp>) {
          error_code Ignored;
          Taken.set_option(asio::ip::tcp::no_delay(true), Ignored);
        }
        auto C = std::make_shared<Connection>(*this, Socket(std::move(Taken)));
        Open.insert(C.get());
        if (Open.size() > Bounds.Connections)
          C->refuse(503, "there are " + std::to_string(Bounds.Connections) +
                             " connections already");
        else
          C->readHeader();
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

void Server::flushSoon(Connection &C) {
  if (!IsPerforming)
    return C.flush();
  if (Due.empty() || Due.back().get() != &C)
    Due.push_back(C.shared_from_this());
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

void Server::stop(double Seconds) {
  post([this, Seconds] {
    IsStopping = true;
    if (auto Close = std::exchange(CloseAcceptor, nullptr))
      Close();
    Deadline.expires_after(secondsOf(Seconds));
    Deadline.async_wait([this](error_code Failure) {
      if (!Failure)
        Io.stop();
    });
    answered();
  });
}

void Server::answered() {
  if (IsStopping && Answering == 0)
    asio::post(Io, [this] { Io.stop(); });
}

void Server::forget(Connection *C) { Open.erase(C); }

std::string Server::nextId() {
  static constexpr char Digits[] = "0123456789abcdef";
  std::string Id = "req-";
  for (uint64_t Bits = Random(), I = 0; I < 16; ++I, Bits >>= 4)
    Id += Digits[Bits & 15];
  return Id;
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
