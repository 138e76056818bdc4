//===- HttpClient.cpp - One question to a server --------------------------===//

#include "runtime/Http/HttpClient.h"

#include "runtime/Support/Json.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::http;

namespace {

/// A socket that is closed in the end.
struct ClientSocket {
  int Number = -1;
  ClientSocket(int Family, int Kind) : Number(::socket(Family, Kind, 0)) {
    constexpr timeval Patience = {30, 0};
    for (int Direction : {SO_RCVTIMEO, SO_SNDTIMEO})
      (void)::setsockopt(Number, SOL_SOCKET, Direction, &Patience,
                         sizeof(Patience));
  }
  ~ClientSocket() {
    if (Number >= 0)
      ::close(Number);
  }
  ClientSocket(const ClientSocket &) = delete;
  ClientSocket &operator=(const ClientSocket &) = delete;
};

} // namespace

static Result<std::unique_ptr<ClientSocket>>
connectUnix(const std::string &Path) {
  sockaddr_un Where{};
  Where.sun_family = AF_UNIX;
  if (Path.size() >= sizeof(Where.sun_path))
    return Error(Path + ": is too long for the path of a socket");
  std::memcpy(Where.sun_path, Path.c_str(), Path.size() + 1);
  auto S = std::make_unique<ClientSocket>(AF_UNIX, SOCK_STREAM);
  if (::connect(S->Number, reinterpret_cast<sockaddr *>(&Where),
                sizeof(Where)) != 0)
    return Error(Path + ": " + std::strerror(errno));
  return S;
}

static Result<std::unique_ptr<ClientSocket>>
connectTcp(const std::string &Host, const std::string &Port) {
  addrinfo Wish{}, *Found = nullptr;
  Wish.ai_socktype = SOCK_STREAM;
  if (int Failure = ::getaddrinfo(Host.c_str(), Port.c_str(), &Wish, &Found))
    return Error(Host + ":" + Port + ": " + ::gai_strerror(Failure));
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> Own(Found,
                                                           ::freeaddrinfo);
  int Failure = 0;
  for (const addrinfo *At = Found; At; At = At->ai_next) {
    auto S = std::make_unique<ClientSocket>(At->ai_family, At->ai_socktype);
    if (::connect(S->Number, At->ai_addr, At->ai_addrlen) == 0)
      return S;
    Failure = errno;
  }
  return Error(Host + ":" + Port + ": " + std::strerror(Failure));
}

/// Connects, and sets the value of the header "Host".
static Result<std::unique_ptr<ClientSocket>> connectTo(const std::string &Url,
                                                       std::string &Named) {
  constexpr std::string_view Unix = "unix:", Http = "http://";
  Named = "localhost";
  if (Url.starts_with(Unix))
    return connectUnix(Url.substr(Unix.size()));
  std::string Rest =
      Url.starts_with(Http) ? Url.substr(Http.size()) : std::string();
  while (Rest.ends_with('/'))
    Rest.pop_back();
  if (Rest.empty() || Rest.find_first_of("/?# \r\n") != std::string::npos)
    return Error("the URL is " + printable(Url) +
                 ": expected http://HOST:PORT or unix:PATH");
  Named = Rest;
  std::string Port = "80";
  size_t Colon = Rest.rfind(':');
  if (Colon != std::string::npos && Rest.find(']', Colon) == std::string::npos)
    Port = Rest.substr(Colon + 1);
  std::string Host =
      Colon == std::string::npos || Rest.find(']', Colon) != std::string::npos
          ? Rest
          : Rest.substr(0, Colon);
  if (Host.starts_with('[') && Host.ends_with(']'))
    Host = Host.substr(1, Host.size() - 2);
  return connectTcp(Host, Port);
}

Result<FetchedAnswer> http::fetchFrom(const std::string &Url,
                                      const std::string &Path,
                                      const std::string &Key) {
  std::string Named;
  Result<std::unique_ptr<ClientSocket>> S = connectTo(Url, Named);
  if (!S)
    return S.error();
  int Number = (*S)->Number;
  // The answer of HTTP/1.0 ends with the connection.
  std::string Asked = "GET " + Path + " HTTP/1.0\r\nHost: " + Named + "\r\n";
  if (!Key.empty())
    Asked += "Authorization: Bearer " + Key + "\r\n";
  Asked += "\r\n";
  for (size_t At = 0; At < Asked.size();) {
    ssize_t Sent =
        ::send(Number, Asked.data() + At, Asked.size() - At, MSG_NOSIGNAL);
    if (Sent < 0)
      return Error(Url + ": " + std::strerror(errno));
    At += static_cast<size_t>(Sent);
  }
  constexpr size_t MostBytes = 64 << 20;
  std::string Got;
  char Part[1 << 14];
  while (Got.size() < MostBytes) {
    ssize_t Count = ::recv(Number, Part, sizeof(Part), 0);
    if (Count < 0)
      return Error(Url + ": " + std::strerror(errno));
    if (Count == 0)
      break;
    Got.append(Part, static_cast<size_t>(Count));
  }
  constexpr std::string_view Begin = "HTTP/1.";
  size_t Body = Got.find("\r\n\r\n"), Space = Got.find(' ');
  FetchedAnswer Answer;
  if (!Got.starts_with(Begin) || Body == std::string::npos ||
      Space + 4 > Got.size() ||
      std::from_chars(Got.data() + Space + 1, Got.data() + Space + 4,
                      Answer.Status)
              .ec != std::errc())
    return Error(Url + ": is no answer of HTTP: " + printable(Got));
  Answer.Body = Got.substr(Body + 4);
  return Answer;
}
