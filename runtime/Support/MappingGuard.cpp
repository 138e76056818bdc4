//===- MappingGuard.cpp - Mappings whose file goes away -------------------===//

#include "runtime/Support/MappingGuard.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;

/// A place in the list that the handler walks. Places are never freed, only
/// taken again: the handler may be looking at one at any time.
struct MappingGuard::Slot {
  std::atomic<bool> IsTaken{true};
  std::atomic<uintptr_t> Begin{0}, End{0}; ///< Empty while not in use.
  std::atomic<bool> IsDamaged{false};
  Slot *Next = nullptr;
};

static std::atomic<MappingGuard::Slot *> Slots{nullptr};
static uintptr_t PageBytes;
static struct sigaction Before;

static_assert(std::atomic<uintptr_t>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "a signal handler must not wait");

extern "C" {

/// Does with the signal what would have been done without this handler.
static void handOn(int Signal, siginfo_t *Info, void *Context) {
  if (Before.sa_flags & SA_SIGINFO) {
    Before.sa_sigaction(Signal, Info, Context);
  } else if (Before.sa_handler == SIG_IGN && Info->si_code <= 0) {
    // Sent by a process, and ignored.
  } else if (Before.sa_handler == SIG_DFL || Before.sa_handler == SIG_IGN) {
    // Ends the process as soon as this handler returns.
    ::signal(Signal, SIG_DFL);
    ::raise(Signal);
  } else {
    Before.sa_handler(Signal);
  }
}

static void onBusError(int Signal, siginfo_t *Info, void *Context) {
  int Errno = errno;
  // Of faults alone; a signal that a process sent has no address.
  auto Address = Info->si_code > 0 ? reinterpret_cast<uintptr_t>(Info->si_addr)
                                   : uintptr_t(0);
  for (MappingGuard::Slot *S = Slots.load(); S; S = S->Next) {
    uintptr_t End = S->End.load();
    if (Address < S->Begin.load() || Address >= End)
      continue;
    // What follows is beyond the end of the file too, or the disk is failing;
    // either way no result will be given out, so one call does for all.
    uintptr_t Page = Address / PageBytes * PageBytes;
    S->IsDamaged.store(true);
    if (::mmap(reinterpret_cast<void *>(Page), End - Page, PROT_READ,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
               0) == MAP_FAILED)
      break;
    errno = Errno;
    return;
  }
  errno = Errno;
  handOn(Signal, Info, Context);
}

} // extern "C"

static void installHandler() {
  PageBytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction Action = {};
  Action.sa_sigaction = onBusError;
  // On the alternative stack of threads that have one, as some runtimes ask.
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&Action.sa_mask);
  ::sigaction(SIGBUS, &Action, &Before);
}

MappingGuard::MappingGuard(const void *Address, size_t Bytes) {
  static std::once_flag Installed;
  std::call_once(Installed, installHandler);
  for (Slot *S = Slots.load(); S && !Taken; S = S->Next)
    if (!S->IsTaken.exchange(true))
      Taken = S;
  if (!Taken) {
    Taken = new Slot;
    Taken->Next = Slots.load();
    while (!Slots.compare_exchange_weak(Taken->Next, Taken)) {
    }
  }
  Taken->IsDamaged.store(false);
  auto Begin = reinterpret_cast<uintptr_t>(Address);
  // The end last: until then the range is empty.
  Taken->Begin.store(Begin);
  Taken->End.store(Begin + (Bytes + PageBytes - 1) / PageBytes * PageBytes);
}

MappingGuard::~MappingGuard() {
  if (!Taken)
    return;
  Taken->End.store(0);
  Taken->Begin.store(0);
  Taken->IsTaken.store(false);
}

bool MappingGuard::isDamaged() const {
  return Taken && Taken->IsDamaged.load();
}
