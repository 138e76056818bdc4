//===- TemporaryFile.cpp - Files that an interrupt removes ----------------===//

#include "runtime/Tool/TemporaryFile.h"

#include <climits>
#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace tenon;
using namespace tenon::tool;

// What a signal handler may read: nothing that allocates.
static char Guarded[PATH_MAX];
static volatile std::sig_atomic_t IsGuarded = 0;

extern "C" {

static void removeAndEnd(int Signal) {
  if (IsGuarded)
    ::unlink(Guarded);
  // The handler is gone (SA_RESETHAND): this time the signal ends the process,
  // so that whoever waits sees which signal it was.
  ::raise(Signal);
}

} // extern "C"

void tool::removeOnSignal(const std::string &Path) {
  keepOnSignal();
  if (Path.size() >= sizeof(Guarded))
    return;
  std::memcpy(Guarded, Path.c_str(), Path.size() + 1);
  IsGuarded = 1;
  for (int Signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction Before = {};
    // Who is told to ignore a signal goes on doing so.
    if (::sigaction(Signal, nullptr, &Before) != 0 ||
        Before.sa_handler != SIG_DFL)
      continue;
    struct sigaction Action = {};
    Action.sa_handler = removeAndEnd;
    Action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&Action.sa_mask);
    ::sigaction(Signal, &Action, nullptr);
  }
}

void tool::keepOnSignal() { IsGuarded = 0; }
