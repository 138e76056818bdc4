//===- ContentHash.cpp - What a file's content is known by ----------------===//

#include "runtime/ModelCache/ContentHash.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

using namespace tenon;
using namespace tenon::modelcache;

static constexpr size_t HashDigits = 32;
/// A shorter file is read again sooner than its hash is found.
static constexpr uint64_t FewBytes = 1 << 20;

static std::string digitsOf(XXH128_hash_t Hash) {
  char Digits[HashDigits + 1];
  std::snprintf(Digits, sizeof(Digits), "%016" PRIx64 "%016" PRIx64,
                static_cast<uint64_t>(Hash.high64),
                static_cast<uint64_t>(Hash.low64));
  return Digits;
}

std::string modelcache::hashOf(std::string_view Text) {
  return digitsOf(XXH3_128bits(Text.data(), Text.size()));
}

bool modelcache::isHash(std::string_view Text) {
  return Text.size() == HashDigits &&
         Text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

FileState FileState::of(const struct stat &Info) {
  auto Nanoseconds = [](const struct timespec &Time) {
    return static_cast<int64_t>(Time.tv_sec) * 1'000'000'000 + Time.tv_nsec;
  };
  return {static_cast<uint64_t>(Info.st_dev),
          static_cast<uint64_t>(Info.st_ino),
          static_cast<uint64_t>(Info.st_size), Nanoseconds(Info.st_mtim),
          Nanoseconds(Info.st_ctim)};
}

/// Whether the file was left alone for long enough before `NowNs`.
static bool isSettled(const FileState &State, int64_t NowNs) {
  constexpr int64_t LongestTickNs = 2'000'000'000; // of FAT
  return std::max(State.ModifiedNs, State.ChangedNs) < NowNs - LongestTickNs;
}

static Result<std::string> readHash(const InputFile &File,
                                    const std::string &Path,
                                    const std::function<void(uint64_t)> &Read) {
  struct FreeHash {
    void operator()(XXH3_state_t *State) const { XXH3_freeState(State); }
  };
  std::unique_ptr<XXH3_state_t, FreeHash> Hash{XXH3_createState()};
  // Small enough to stay in the cache that it is hashed from.
  std::vector<char> Piece(1 << 20);
  if (!Hash || XXH3_128bits_reset(Hash.get()) != XXH_OK)
    return Error(ErrorKind::OutOfMemory, Path + ": no memory for a hash");
  for (;;) {
    ssize_t Count = ::read(File.Descriptor.get(), Piece.data(), Piece.size());
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count < 0)
      return systemError(Path, "cannot read");
    if (Count == 0)
      return digitsOf(XXH3_128bits_digest(Hash.get()));
    (void)XXH3_128bits_update(Hash.get(), Piece.data(),
                              static_cast<size_t>(Count));
    if (Read)
      Read(static_cast<uint64_t>(Count));
  }
}

static std::string knownPath(const std::string &Known, const FileState &State) {
  std::string Text;
  for (uint64_t Value : {State.Device, State.Number, State.Bytes,
                         static_cast<uint64_t>(State.ModifiedNs),
                         static_cast<uint64_t>(State.ChangedNs)})
    Text += std::to_string(Value) + " ";
  return Known + "/" + hashOf(Text);
}

Result<HashedFile>
modelcache::hashFile(const std::string &Path, const std::string &Known,
                     const std::function<void(uint64_t)> &Read) {
  auto Now = std::chrono::system_clock::now().time_since_epoch();
  Result<InputFile> File = openInput(Path);
  if (!File)
    return File.error();
  FileState State = FileState::of(File->Info);
  bool IsRemembered =
      State.Bytes >= FewBytes &&
      isSettled(
          State,
          std::chrono::duration_cast<std::chrono::nanoseconds>(Now).count());
  std::string Place = knownPath(Known, State);
  if (IsRemembered)
    if (Result<std::string> Text = readFile(Place, HashDigits);
        Text && isHash(*Text)) {
      if (Read)
        Read(State.Bytes);
      return HashedFile{*Text, State};
    }
  Result<std::string> Hash = readHash(*File, Path, Read);
  if (!Hash)
    return Hash.error();
  struct stat After;
  if (::fstat(File->Descriptor.get(), &After) != 0)
    return systemError(Path, "cannot stat");
  if (FileState::of(After) != State)
    return Error(Path + ": changed while it was read");
  // Without it the file is read again next time, no more.
  if (IsRemembered)
    if (Result<OutputFile> Out = OutputFile::create(Place))
      if (Out->append(*Hash))
        (void)Out->finish();
  return HashedFile{*Hash, State};
}
