//===- Connection.cpp - One client's requests and answers -----------------===//

#include "runtime/Http/Connection.h"

#include "runtime/Support/Clock.h"

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <functional>
#include <optional>
#include <poll.h>
#include <utility>

using namespace tenon;
using namespace tenon::http;
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;

namespace {

/// Reads a request, hands it on as a Turn, sends the answer that the Turn is
/// given, and reads the next request.
class HttpConnection final
    : public Connection,
      public std::enable_shared_from_this<HttpConnection> {
public:
  HttpConnection(ConnectionOwner &Owner, Socket Taken)
      : Owner(Owner), Wire(std::move(Taken)), In(Owner.limits().BufferBytes) {
    error_code Ignored; // Then writing fails too.
    Wire.socket().non_blocking(true, Ignored);
  }
  ~HttpConnection() override {
    hold(0);
    Owner.forget(*this);
  }

  void serve() override { readHeader(); }
  void refuse(int Status, std::string Message) override;
  void flush() override;

  // Of the answer that is being given.
  void reply(HttpResponse R);
  void beginEvents();
  void send(std::string_view Bytes);
  void end();
  void whenGone(std::function<void()> Then);
  void giveUp(std::string_view Path) {
    reply(Owner.refusal(Path, 500, "the request was given up"));
  }
  /// The body of a request that nobody holds any more.
  void release(size_t Bytes) { Owner.holdBody(Bytes, 0); }

private:
  using Parser = wire::request_parser<wire::string_body>;
  // A request is read in this order.
  void readHeader();
  void readBody();
  void readMore();
  void take();
  void hold(size_t Bytes);
  void beginTrace(const HttpRequest &Of);
  // While its answer is waited for, and sent.
  void watch();
  void look(error_code Failure);
  void gone();
  void setHeaders(wire::fields &To, const Headers &More) const;
  void write();
  void wrote(error_code Failure);
  void keep(std::string_view Bytes);
  // Behind the answer.
  void sent(bool GoesOn);
  void finish();
  void linger();
  void close();
  void expireIn(double Seconds) { Wire.expires_after(durationOf(Seconds)); }

  ConnectionOwner &Owner;
  beast::basic_stream<asio::generic::stream_protocol> Wire;
  asio::steady_timer Again{Owner.io()}; ///< Looks for a client that has gone.
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

/// The exchange of one request, which others hold.
class Turn final : public Exchange {
public:
  Turn(std::shared_ptr<HttpConnection> On, HttpRequest What,
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
  void end() override { On->end(); }
  void whenGone(std::function<void()> Then) override {
    On->whenGone(std::move(Then));
  }

private:
  std::shared_ptr<HttpConnection> On;
  bool IsAnswered = false;
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

void HttpConnection::readHeader() {
  if (Owner.isStopping())
    return close();
  Reader.emplace();
  Reader->header_limit(static_cast<uint32_t>(Owner.limits().HeaderBytes));
  Reader->body_limit(Owner.limits().BodyBytes);
  IsGone = HasEnded = false;
  expireIn(Owner.limits().ReadSeconds);
  wire::async_read_header(
      Wire, In, *Reader,
      [Own = shared_from_this()](error_code Failure, size_t) {
        if (Failure == wire::error::header_limit)
          return Own->refuse(
              431, "the headers are larger than " +
                       std::to_string(Own->Owner.limits().HeaderBytes) +
                       " bytes");
        if (Failure == wire::error::body_limit)
          return Own->refuse(413,
                             "the body is larger than " +
                                 std::to_string(Own->Owner.limits().BodyBytes) +
                                 " bytes");
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

void HttpConnection::readBody() {
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
void HttpConnection::readMore() {
  if (Reader->is_done())
    return take();
  expireIn(Owner.limits().ReadSeconds);
  wire::async_read_some(
      Wire, In, *Reader,
      [Own = shared_from_this()](error_code Failure, size_t) {
        if (Failure == wire::error::body_limit)
          return Own->refuse(413,
                             "the body is larger than " +
                                 std::to_string(Own->Owner.limits().BodyBytes) +
                                 " bytes");
        if (isWrong(Failure))
          return Own->refuse(400, "the body is wrong: " + Failure.message());
        if (Failure)
          return Own->close();
        Own->hold(Own->Reader->get().body().size());
        if (!Own->Owner.hasRoomForBodies())
          return Own->refuse(
              503, "requests of " +
                       std::to_string(Own->Owner.limits().AllBodyBytes) +
                       " bytes are being answered already");
        Own->readMore();
      });
}

/// Counts the bytes of a body.
void HttpConnection::hold(size_t Bytes) {
  Owner.holdBody(std::exchange(Held, Bytes), Bytes);
}

void HttpConnection::take() {
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
  if (What.Id.empty() || What.Id.size() > Owner.limits().RequestIdBytes ||
      !IsPlain)
    What.Id = Owner.newId();
  Id = What.Id;
  Version = Got.version();
  KeepAlive = Got.keep_alive();
  IsHead = Got.method() == wire::verb::head;
  if (IsHead)
    What.Method = "GET";
  beginTrace(What);
  What.Time = static_cast<int64_t>(Trace->Time);
  if (Owner.keepsContent())
    Trace->Said->Body = What.Body;
  IsAnswering = true;
  Owner.answerBegins();
  Wire.expires_never();
  watch();
  // Whoever holds it last may be another thread.
  Owner.take(std::shared_ptr<Exchange>(
      new Turn(shared_from_this(), std::move(What), Trace),
      [&Io = Owner.io()](Exchange *E) {
        asio::post(Io, [Own = std::unique_ptr<Exchange>(E)] {});
      }));
}

void HttpConnection::beginTrace(const HttpRequest &Of) {
  using namespace std::chrono;
  Trace = std::make_shared<RequestTrace>();
  Trace->Id = Of.Id;
  Trace->Method = Of.Method;
  Trace->Path = Of.Path;
  Trace->Begin = secondsNow();
  Trace->Time =
      duration<double>(system_clock::now().time_since_epoch()).count();
  if (Owner.keepsContent())
    Trace->Said = std::make_shared<Content>();
}

/// Sees the client go while it waits for its answer.
void HttpConnection::watch() {
  if (std::exchange(IsWatching, true))
    return;
  std::weak_ptr<HttpConnection> Weak = weak_from_this();
  Wire.socket().async_wait(Socket::wait_read, [Weak](error_code Failure) {
    if (auto Own = Weak.lock())
      Own->look(Failure);
  });
}

void HttpConnection::look(error_code Failure) {
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
  Again.expires_after(durationOf(AgainSeconds));
  Again.async_wait([Weak = weak_from_this()](error_code Cancelled) {
    if (auto Own = Weak.lock())
      Own->look(Cancelled);
  });
}

//===----------------------------------------------------------------------===//
// Answering
//===----------------------------------------------------------------------===//

void HttpConnection::gone() {
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

void HttpConnection::whenGone(std::function<void()> Then) {
  if (IsGone)
    return Then();
  if (IsAnswering)
    WhenGone = std::move(Then);
}

void HttpConnection::setHeaders(wire::fields &To, const Headers &More) const {
  To.set(wire::field::server, "tenon");
  To.set("X-Request-Id", Id);
  To.set(wire::field::cache_control, "no-store");
  To.set("X-Content-Type-Options", "nosniff");
  for (const auto &[Name, Value] : More)
    To.set(Name, Value);
}

void HttpConnection::reply(HttpResponse R) {
  if (IsGone || Owner.isOver())
    return;
  Trace->Status = R.Status;
  keep(R.Body);
  Whole.emplace(static_cast<wire::status>(R.Status), Version);
  setHeaders(*Whole, R.More);
  Whole->set(wire::field::content_type, R.Type);
  Whole->keep_alive(KeepAlive && !Owner.isStopping());
  Whole->content_length(R.Body.size());
  if (!IsHead)
    Whole->body() = std::move(R.Body);
  expireIn(Owner.limits().WriteSeconds);
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

void HttpConnection::beginEvents() {
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
  expireIn(Owner.limits().WriteSeconds);
  wire::async_write_header(
      Wire, *HeadWriter,
      [Own = shared_from_this()](error_code Failure, size_t) {
        Own->wrote(Failure);
      });
}

void HttpConnection::send(std::string_view Bytes) {
  if (IsGone || HasEnded)
    return;
  Unsent += Bytes;
  if (Unsent.size() > Owner.limits().UnreadBytes)
    return gone();
  Owner.flushSoon(shared_from_this());
}

void HttpConnection::end() {
  if (IsGone || std::exchange(HasEnded, true))
    return;
  flush();
}

void HttpConnection::flush() {
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
    return asio::post(Owner.io(), [Ended] { Ended({}, 0); });
  expireIn(Owner.limits().WriteSeconds);
  asio::async_write(Wire, wire::make_chunk_last(), std::move(Ended));
}

/// Sends what is unsent. The socket nearly always takes it at once, without the
/// timer and the handler of an operation that may wait.
void HttpConnection::write() {
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
  expireIn(Owner.limits().WriteSeconds);
  asio::async_write(Wire, asio::buffer(Frame),
                    [Own = shared_from_this()](error_code Failure, size_t) {
                      Own->wrote(Failure);
                    });
}

void HttpConnection::wrote(error_code Failure) {
  IsWriting = false;
  if (Failure)
    return gone();
  keep(std::exchange(Sending, {}));
  Wire.expires_never();
  flush();
}

/// Takes down bytes of the answer.
void HttpConnection::keep(std::string_view Bytes) {
  Trace->AnswerBytes += Bytes.size();
  if (!Trace->Said || !Trace->Said->Answer)
    return;
  if (Trace->AnswerBytes > Owner.limits().KeptAnswerBytes)
    Trace->Said->Answer.reset();
  else
    *Trace->Said->Answer += Bytes;
}

/// The answer has been sent; `GoesOn`: the connection takes another request.
void HttpConnection::sent(bool GoesOn) {
  // The client may be idle for long.
  Whole.reset();
  Frame.clear();
  Frame.shrink_to_fit();
  finish();
  GoesOn ? readHeader() : linger();
}

/// The answer has been sent, or nobody takes it.
void HttpConnection::finish() {
  if (!std::exchange(IsAnswering, false))
    return;
  WhenGone = nullptr;
  Trace->End = secondsNow();
  Owner.answerEnds(*Trace);
  // The trace may live longer.
  Trace->Said.reset();
}

/// A request that cannot be read; the connection ends behind the answer.
void HttpConnection::refuse(int Status, std::string Message) {
  Id = Owner.newId();
  KeepAlive = false;
  IsAnswering = true;
  Owner.answerBegins();
  HttpRequest Unread;
  Unread.Id = Id;
  if (Reader) {
    auto Target = Reader->get().target();
    Unread.Path = std::string(Target.substr(0, Target.find('?')));
  }
  beginTrace(Unread);
  reply(Owner.refusal(Unread.Path, Status, std::move(Message)));
}

/// Reads what the client still sends, so that it reads the answer before it
/// hears that nobody listens.
void HttpConnection::linger() {
  error_code Ignored;
  Wire.socket().shutdown(Socket::shutdown_send, Ignored);
  constexpr double LingerSeconds = 2;
  expireIn(LingerSeconds);
  struct Drain {
    std::shared_ptr<HttpConnection> Own;
    size_t Left;
    void operator()(error_code Failure, size_t Got) {
      if (Failure || Got > Left)
        return Own->close();
      Left -= Got;
      HttpConnection &C = *Own;
      C.Wire.async_read_some(asio::buffer(C.Rest), std::move(*this));
    }
  };
  Drain{shared_from_this(), 4 * Owner.limits().BodyBytes}({}, 0);
}

void HttpConnection::close() { Wire.close(); }

std::shared_ptr<Connection> Connection::create(ConnectionOwner &Owner,
                                               Socket Taken) {
  return std::make_shared<HttpConnection>(Owner, std::move(Taken));
}
