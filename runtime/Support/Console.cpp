//===- Console.cpp - The standard streams of the tools --------------------===//

#include "runtime/Support/Console.h"

#include "runtime/Support/Json.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace tenon;

bool tenon::writeAll(int Descriptor, std::string_view Bytes) {
  while (!Bytes.empty()) {
    ssize_t Written = ::write(Descriptor, Bytes.data(), Bytes.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written < 0)
      return false;
    Bytes.remove_prefix(static_cast<size_t>(Written));
  }
  return true;
}

Status tenon::print(std::string_view Text) {
  if (!writeAll(STDOUT_FILENO, Text))
    return Error(std::string("cannot write to standard output: ") +
                 std::strerror(errno));
  return {};
}

static void printLine(const char *Kind, std::string_view Message) {
  // Nobody can be told when this fails.
  (void)writeAll(STDERR_FILENO,
                 std::string("tenon: ") + Kind + escaped(Message) + "\n");
}

void tenon::printError(std::string_view Message) {
  printLine("error: ", Message);
}

void tenon::printNote(std::string_view Message) {
  printLine("note: ", Message);
}

void tenon::holdStandardStreams() {
  for (int Stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(Stream, F_GETFD) < 0 && errno == EBADF)
      // The lowest number that is free is this one; open for the other
      // direction, so that using it fails.
      (void)::open("/dev/null", Stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}
