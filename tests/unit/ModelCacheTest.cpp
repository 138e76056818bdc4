//===- ModelCacheTest.cpp - Compiled models in a folder -------------------===//
//
// A shell script stands in for the compiler: it copies an artifact.
//
//===----------------------------------------------------------------------===//

#include "runtime/ModelCache/ModelCache.h"

#include "EngineFixture.h"

#include "runtime/Support/Json.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <sys/stat.h>
#include <thread>

using namespace tenon;
using namespace tenon::modelcache;
using namespace tenon::test;
namespace fs = std::filesystem;

namespace {

void writeText(const fs::path &Path, const std::string &Text) {
  fs::create_directories(Path.parent_path());
  std::ofstream(Path, std::ios::binary) << Text;
}

std::string readText(const fs::path &Path) {
  std::ifstream File(Path, std::ios::binary);
  return {std::istreambuf_iterator<char>(File), {}};
}

class ModelCacheTest : public testing::Test {
protected:
  void SetUp() override {
    Status Written = writeModel(Directory / "made.tenon", {}, "");
    ASSERT_TRUE(Written) << Written.error().message();
    writeText(Model + "/config.json", "{}");
    writeText(Model + "/model.safetensors", "weights");
    setCompiler("");
    Result<CacheFolder> Opened = CacheFolder::open(Directory / "cache");
    ASSERT_TRUE(Opened) << Opened.error().message();
    Folder.emplace(std::move(*Opened));
  }

  /// The compiler that runs `Before`, then writes the artifact to what follows
  /// "compile MODEL -o".
  void setCompiler(const std::string &Before) {
    std::string Path = Directory / "compiler";
    writeText(Path, "#!/bin/sh\necho run >>" + std::string(Directory / "log") +
                        "\n" + Before + "\ncp " +
                        std::string(Directory / "made.tenon") + " \"$4\"\n");
    fs::permissions(Path, fs::perms::owner_all);
    Wanted = {Model, {}, Path};
  }

  Result<std::string> obtain() {
    Events Heard;
    Heard.Note = [this](const std::string &Note) { Notes.push_back(Note); };
    Heard.Waits = [this] { Waited = true; };
    Heard.Progress = [this](const std::string &Phase,
                            std::optional<double> Share) {
      Phases.push_back(Phase + " " +
                       (Share ? std::to_string(*Share) : "unknown"));
    };
    return obtainArtifact(*Folder, Wanted, Heard);
  }
  /// The artifact's path; empty, and a failure, on an error.
  std::string obtained() {
    Result<std::string> Path = obtain();
    EXPECT_TRUE(Path) << Path.error().message();
    return Path ? *Path : "";
  }

  /// How often the compiler ran.
  size_t runs() {
    std::string Log = readText(Directory / "log");
    return static_cast<size_t>(std::count(Log.begin(), Log.end(), '\n'));
  }

  std::vector<std::string> filesOfFolder() {
    std::vector<std::string> Names;
    for (const fs::directory_entry &At : fs::directory_iterator(Folder->path()))
      Names.push_back(At.path().extension());
    std::sort(Names.begin(), Names.end());
    return Names;
  }

  TemporaryDirectory Directory;
  std::string Model = Directory / "model";
  std::optional<CacheFolder> Folder;
  ModelRequest Wanted;
  std::vector<std::string> Notes, Phases;
  bool Waited = false;
};

/// Sets an environment variable for as long as it lives.
class Variable {
public:
  Variable(const char *Name, const char *Value) : Name(Name) {
    if (const char *Old = std::getenv(Name))
      Before = Old;
    Value ? ::setenv(Name, Value, 1) : ::unsetenv(Name);
  }
  ~Variable() {
    Before ? ::setenv(Name, Before->c_str(), 1) : ::unsetenv(Name);
  }

private:
  const char *Name;
  std::optional<std::string> Before;
};

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

std::string pathWith(const char *Own, const char *Xdg, const char *Home) {
  Variable A("TENON_CACHE_DIR", Own), B("XDG_CACHE_HOME", Xdg), C("HOME", Home);
  Result<std::string> Path = cachePath();
  return Path ? *Path : Path.error().message();
}

TEST(ModelCachePath, PrefersTenonsThenXdgThenHome) {
  EXPECT_EQ(pathWith("/a/b/", "/xdg", "/home/u"), "/a/b");
  EXPECT_EQ(pathWith("a", "/xdg", "/home/u"), (fs::current_path() / "a"));
  EXPECT_EQ(pathWith(nullptr, "/xdg", "/home/u"), "/xdg/tenon");
  EXPECT_EQ(pathWith("", "relative", "/home/u"), "/home/u/.cache/tenon");
  EXPECT_EQ(pathWith(nullptr, nullptr, "/home/u"), "/home/u/.cache/tenon");
  EXPECT_NE(pathWith(nullptr, nullptr, nullptr).find("TENON_CACHE_DIR"),
            std::string::npos);
}

TEST_F(ModelCacheTest, FolderIsForItsUserAlone) {
  struct stat Info;
  ASSERT_EQ(::stat(Folder->path().c_str(), &Info), 0);
  EXPECT_EQ(Info.st_mode & 0777, 0700u);
  ASSERT_EQ(::chmod(Folder->path().c_str(), 0777), 0);
  Result<CacheFolder> Shared = CacheFolder::open(Folder->path());
  ASSERT_FALSE(Shared);
  EXPECT_NE(Shared.error().message().find("others may write to it"),
            std::string::npos);
  Result<CacheFolder> File = CacheFolder::open(Model + "/config.json");
  ASSERT_FALSE(File);
  // Parents are made.
  EXPECT_TRUE(CacheFolder::open(Directory / "x/y/z"));
  // The first that cannot be made is named.
  fs::create_symlink("nowhere", Directory / "link");
  Result<CacheFolder> Below = CacheFolder::open(Directory / "link/z");
  ASSERT_FALSE(Below);
  EXPECT_EQ(Below.error().message().find(
                Directory / "link: cannot make the folder of compiled models"),
            0u);
}

//===----------------------------------------------------------------------===//
// Files and keys
//===----------------------------------------------------------------------===//

std::vector<std::string> namesOf(const ModelFiles &Model) {
  std::vector<std::string> Names;
  for (const ModelFiles::File &File : Model.Files)
    Names.push_back(File.Name);
  return Names;
}

TEST_F(ModelCacheTest, FindsWhatTheCompilerReads) {
  for (const char *Name :
       {"tokenizer.json", "README.md", "a.bin", "1_Pooling/config.json",
        "additional_chat_templates/rag.jinja", ".cache/x.json",
        "a/b/c/deep.json", "merges.txt", "source.spm", "tokenizer.model"})
    writeText(Model + "/" + Name, "x");
  // The hub's folders are links to files of any name.
  fs::rename(Model + "/model.safetensors", Directory / "blob");
  fs::create_symlink(Directory / "blob", Model + "/model.safetensors");
  Result<ModelFiles> Found = findModelFiles(Model);
  ASSERT_TRUE(Found);
  EXPECT_EQ(namesOf(*Found),
            (std::vector<std::string>{
                "1_Pooling/config.json", "additional_chat_templates/rag.jinja",
                "config.json", "merges.txt", "model.safetensors", "source.spm",
                "tokenizer.json", "tokenizer.model"}));
  EXPECT_TRUE(isModel(Model));
  EXPECT_TRUE(isModel(Model + "/"));
  EXPECT_FALSE(isModel(Model + "/1_Pooling/config.json"));
  EXPECT_FALSE(isModel(Model + "/a"));
}

TEST_F(ModelCacheTest, FindsThePartsOfGgufFiles) {
  auto Files = [&](const std::string &Name) {
    Result<ModelFiles> Found = findModelFiles(Directory / Name);
    EXPECT_TRUE(Found);
    std::vector<std::string> Names;
    for (const ModelFiles::File &File : Found->Files)
      Names.push_back(fs::path(File.Path).filename());
    return Names;
  };
  using Names = std::vector<std::string>;
  Names Parts = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                 "m-00003-of-00003.gguf"};
  for (const std::string &Name : Parts)
    writeText(Directory / Name, "part");
  writeText(Directory / "m-1-of-3.gguf", "whole");
  EXPECT_TRUE(isModel(Directory / "m-1-of-3.gguf"));
  EXPECT_FALSE(isModel(Directory / "none.gguf"));
  writeText(Directory / "sha256-0123", "GGUF is how such files begin");
  EXPECT_TRUE(isModel(Directory / "sha256-0123"));
  EXPECT_EQ(Files("sha256-0123"), Names{"sha256-0123"});
  EXPECT_EQ(Files("m-1-of-3.gguf"), Names{"m-1-of-3.gguf"});
  EXPECT_EQ(Files(Parts[0]), Parts);
  EXPECT_EQ(Files(Parts[1]), (Names{Parts[1], Parts[0], Parts[2]}));
  EXPECT_EQ(Files("m-00004-of-00003.gguf"), Names{"m-00004-of-00003.gguf"});
}

TEST(ModelCacheKey, ChangesWithWhateverTheArtifactDependsOn) {
  ModelFiles Model{"m", {{"a", "/m/a"}, {"b", "/m/b"}}};
  std::string One = hashOf("one"), Two = hashOf("two");
  std::vector<HashedFile> Hashes = {{One, {}}, {Two, {}}};
  auto Key = [&] { return keyOf(Model, Hashes, One, {}, "avx2"); };
  std::string Plain = Key();
  EXPECT_TRUE(isHash(Plain));
  std::set<std::string> Keys = {Plain, keyOf(Model, Hashes, Two, {}, "avx2"),
                                keyOf(Model, Hashes, One, {}, "amx")};
  Settings Others;
  for (const Setting &S : AllSettings)
    for (std::string_view Value : S.Values) {
      Settings Options;
      Options.*S.Value = Value;
      if (!Value.empty() && Value != S.Values.front())
        Keys.insert(keyOf(Model, Hashes, One, Options, "avx2"));
    }
  std::swap(Hashes[0], Hashes[1]);
  Keys.insert(Key());
  std::swap(Hashes[0], Hashes[1]);
  Model.Files[0].Name = "c";
  Keys.insert(Key());
  Model.Files[0].Name = "a\n" + Two + " 1 b"; // Not the two files.
  Keys.insert(Key());
  Model.Files.pop_back();
  Keys.insert(Key());
  EXPECT_EQ(Keys.size(), 3u + 9 + 4);
  // The same model in another place.
  ModelFiles Moved{"n", {{"a", "/n/a"}, {"b", "/n/b"}}};
  EXPECT_EQ(keyOf(Moved, Hashes, One, {}, "avx2"), Plain);
}

TEST_F(ModelCacheTest, RemembersHashesOfFilesThatAreLeftAlone) {
  std::string Path = Directory / "large", Known = Folder->contentPath();
  writeText(Path, std::string(3 << 20, 'a'));
  uint64_t Read = 0;
  auto Count = [&](uint64_t Bytes) { Read += Bytes; };
  Result<HashedFile> Fresh = hashFile(Path, Known, Count);
  ASSERT_TRUE(Fresh);
  EXPECT_EQ(Fresh->Hash, hashOf(std::string(3 << 20, 'a')));
  EXPECT_EQ(Read, 3u << 20);
  EXPECT_TRUE(fs::is_empty(Known)) << "changed a moment ago";
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
  ASSERT_TRUE(hashFile(Path, Known));
  ASSERT_FALSE(fs::is_empty(Known));
  // What is remembered is what is answered.
  std::string Other = hashOf("other");
  fs::path Remembered = fs::directory_iterator(Known)->path();
  writeText(Remembered, Other);
  EXPECT_EQ(hashFile(Path, Known)->Hash, Other);
  writeText(Remembered, "no hash");
  EXPECT_EQ(hashFile(Path, Known)->Hash, Fresh->Hash);
  // Other bytes, with size and time set back.
  auto Time = fs::last_write_time(Path);
  writeText(Path, std::string(3 << 20, 'b'));
  fs::last_write_time(Path, Time);
  EXPECT_EQ(hashFile(Path, Known)->Hash, hashOf(std::string(3 << 20, 'b')));
}

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

TEST_F(ModelCacheTest, CompilesOnce) {
  setCompiler(R"(echo '{"progress":{"phase":"weights","share":0.5}}' >&2
echo '{"progress":{"phase":"reading","share":null}}' >&2
echo 'tenon: note: a note' >&2; echo anything)");
  std::string Path = obtained();
  EXPECT_EQ(readText(Path), readText(Directory / "made.tenon"));
  EXPECT_EQ(Phases,
            (std::vector<std::string>{"weights 0.500000", "reading unknown"}));
  EXPECT_EQ(Notes, std::vector<std::string>{"a note"});
  EXPECT_EQ(obtained(), Path);
  EXPECT_EQ(runs(), 1u);
  EXPECT_FALSE(Waited);
  EXPECT_EQ(filesOfFolder(),
            (std::vector<std::string>{"", ".json", ".lock", ".tenon"}));
  // Somewhere else, with what no compilation reads.
  fs::rename(Model, Directory / "moved");
  writeText(Directory / "moved/README.md", "x");
  Wanted.Model = Directory / "moved";
  EXPECT_EQ(obtained(), Path);
  EXPECT_EQ(runs(), 1u);
  Wanted.Options.Quantize = "int8";
  EXPECT_NE(obtained(), Path);
  writeText(Wanted.Model + "/model.safetensors", "others!");
  EXPECT_NE(obtained(), Path);
  EXPECT_EQ(runs(), 3u);
}

TEST_F(ModelCacheTest, TellsTheCompilerWhatIsAskedFor) {
  setCompiler("echo \"$@\" >" + std::string(Directory / "arguments"));
  Wanted.Options = {"int4", "auto", "f32", "int8", "exact"};
  obtained();
  std::string Arguments = readText(Directory / "arguments");
  EXPECT_TRUE(Arguments.starts_with("compile " + Model + " -o ")) << Arguments;
  EXPECT_TRUE(
      Arguments.ends_with(" --progress json --quantize int4 "
                          "--calibrate auto --dtype f32 --kv-cache int8 "
                          "--activations exact\n"))
      << Arguments;
  Result<std::vector<Entry>> All = Folder->list();
  ASSERT_TRUE(All && All->size() == 1 && All->front().Origin);
  EXPECT_EQ(All->front().Origin->Compiled, Wanted.Options);
  EXPECT_EQ(All->front().Origin->Model, Model);
  EXPECT_EQ(toText(Wanted.Options), "--quantize int4 --calibrate auto --dtype "
                                    "f32 --kv-cache int8 --activations exact");
  EXPECT_EQ(toText({}), "");
  // The compiler knows its defaults.
  Wanted.Options = {};
  obtained();
  EXPECT_TRUE(readText(Directory / "arguments").ends_with(" --progress json\n"))
      << readText(Directory / "arguments");
}

TEST_F(ModelCacheTest, DamagedEntriesAreCompiledAgain) {
  std::string Path = obtained(), Text = Path;
  Text.replace(Text.rfind(".tenon"), 6, ".json");
  std::string Described = readText(Text), Bytes = readText(Path);
  auto KeepTime = [&](const auto &Change) {
    auto Time = fs::last_write_time(Path);
    Change();
    fs::last_write_time(Path, Time);
  };
  auto Replaced = [&](const std::string &Old, const std::string &New) {
    std::string Changed = Described;
    size_t At = Changed.find(Old);
    EXPECT_NE(At, std::string::npos) << Old;
    return Changed.replace(At, Old.size(), New);
  };
  std::vector<std::pair<std::function<void()>, std::string>> Damages = {
      {[&] { fs::resize_file(Path, Bytes.size() / 2); }, "changed since"},
      {[&] {
         fs::last_write_time(Path, fs::last_write_time(Path) +
                                       std::chrono::seconds(1));
       },
       "changed since"},
      {[&] {
         KeepTime([&] { writeText(Path, std::string(Bytes.size(), 'x')); });
       },
       "not a Tenon artifact"},
      {[&] { fs::remove(Path); }, "is missing"},
      {[&] { fs::remove(Text); }, "is missing"},
      {[&] { writeText(Text, ""); }, ".json"},
      {[&] { writeText(Text, "[]"); }, ".json"},
      {[&] { writeText(Text, Replaced("\"format\": 2", "\"format\": 3")); },
       "'format' is 3"},
      {[&] { writeText(Text, Replaced("\"none\"", "\"int2\"")); },
       "'options.quantize' is 'int2': expected a value of --quantize"},
      {[&] { writeText(Text, Replaced("\"bytes\": ", "\"bytes\": -")); },
       "'artifact.bytes'"},
      {[&] { writeText(Text, Described + std::string(70000, ' ')); },
       "expected at most"}};
  for (auto &[Damage, Message] : Damages) {
    size_t Before = runs();
    Damage();
    Result<std::vector<Entry>> All = Folder->list();
    EXPECT_TRUE(All && All->size() == 1);
    Notes.clear();
    EXPECT_EQ(obtained(), Path);
    EXPECT_EQ(runs(), Before + 1) << Message;
    ASSERT_EQ(Notes.size(), 1u) << Message;
    EXPECT_NE(Notes[0].find(Message), std::string::npos) << Notes[0];
    EXPECT_TRUE(Notes[0].ends_with(": compiled again")) << Notes[0];
    EXPECT_EQ(readText(Path), Bytes);
    obtained();
    EXPECT_EQ(runs(), Before + 1) << Message;
    Described = readText(Text);
  }
}

TEST_F(ModelCacheTest, FailedCompilationsLeaveNothing) {
  auto Expect = [&](const std::string &Message) {
    Result<std::string> Path = obtain();
    ASSERT_FALSE(Path);
    EXPECT_NE(Path.error().message().find(Message), std::string::npos)
        << Path.error().message();
    EXPECT_EQ(filesOfFolder(), (std::vector<std::string>{"", ".lock"}));
    fs::remove_all(Folder->path());
    ASSERT_TRUE(CacheFolder::open(Folder->path()));
  };
  setCompiler("echo 'tenon: error: m: what is wrong' >&2; exit 1");
  Expect("m: what is wrong");
  setCompiler("echo 'out of ideas' >&2; exit 3");
  Expect("ended with status 3: 'out of ideas'");
  setCompiler("kill -9 $$");
  Expect("signal 9 (Killed)");
  setCompiler("echo x >\"$4\"; exit 1");
  Expect("ended with status 1");
  // What is no artifact, and of another model.
  setCompiler("echo x >\"$4\"; exit 0");
  Expect(".new: ");
  setCompiler("echo '{ }' >" + Model + "/config.json");
  Expect("config.json: changed while it was compiled");
  setCompiler("");
  fs::permissions(Wanted.Compiler, fs::perms::owner_read);
  Expect("cannot start");
}

TEST_F(ModelCacheTest, WithoutACompilerSaysSo) {
  Wanted.Compiler = Directory / "none";
  Result<std::string> Path = obtain();
  ASSERT_FALSE(Path);
  EXPECT_NE(Path.error().message().find("runtime-only build"),
            std::string::npos);
  Status Compiled = compileModel(Wanted, Directory / "x.tenon", {});
  ASSERT_FALSE(Compiled);
  EXPECT_NE(Compiled.error().message().find("runtime-only build"),
            std::string::npos);
  ::setenv("TENON_COMPILE", Wanted.Compiler.c_str(), 1);
  Compiled = compileModel(Wanted, Directory / "x.tenon", {});
  ::unsetenv("TENON_COMPILE");
  ASSERT_FALSE(Compiled);
  EXPECT_NE(Compiled.error().message().find("TENON_COMPILE is '" +
                                            Wanted.Compiler + "': no such"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

TEST_F(ModelCacheTest, TheSecondWaitsForTheFirst) {
  // Goes on when it is told to.
  std::string Go = Directory / "go";
  setCompiler("while [ ! -e " + Go + " ]; do sleep 0.01; done");
  std::atomic<int> Waiting{0};
  std::vector<std::string> Paths(3);
  std::vector<std::thread> Threads;
  for (std::string &Path : Paths)
    Threads.emplace_back([&] {
      Events Heard;
      Heard.Waits = [&] { ++Waiting; };
      if (auto Obtained = obtainArtifact(*Folder, Wanted, Heard))
        Path = *Obtained;
    });
  while (Waiting != 2)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  writeText(Go, "");
  for (std::thread &Each : Threads)
    Each.join();
  EXPECT_EQ(runs(), 1u);
  EXPECT_FALSE(Paths[0].empty());
  EXPECT_EQ(Paths[1], Paths[0]);
  EXPECT_EQ(Paths[2], Paths[0]);
}

TEST_F(ModelCacheTest, ALockThatWasRemovedLocksNothing) {
  std::string Key = hashOf("key");
  Result<std::optional<KeyLock>> Held = Folder->lock(Key);
  ASSERT_TRUE(Held && *Held);
  Result<std::optional<KeyLock>> Refused = Folder->lock(Key);
  EXPECT_TRUE(Refused && !*Refused);
  std::atomic<bool> IsWaiting{false};
  std::thread Second([&] {
    auto Mine = Folder->lock(Key, [&] { IsWaiting = true; });
    EXPECT_TRUE(Mine && *Mine);
    // That of the file that has the name now.
    auto Third = Folder->lock(Key);
    EXPECT_TRUE(Third && !*Third);
  });
  while (!IsWaiting)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  fs::remove(Folder->path() + "/" + Key + ".lock");
  *Held = std::nullopt;
  Second.join();
}

//===----------------------------------------------------------------------===//
// Clearing
//===----------------------------------------------------------------------===//

TEST_F(ModelCacheTest, ClearsWhatWasNotUsedForLong) {
  std::string Old = obtained();
  Wanted.Options.Quantize = "int8";
  std::string New = obtained();
  std::string Foreign = Folder->path() + "/notes.txt",
              Left = Folder->newPath(hashOf("left"));
  writeText(Foreign, "mine");
  writeText(Left, "interrupted");
  auto Now = std::chrono::system_clock::now().time_since_epoch();
  int64_t NowNs =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Now).count();
  constexpr int64_t Hour = 3600LL * 1'000'000'000;
  std::string Text = Old;
  Text.replace(Text.rfind(".tenon"), 6, ".json");
  fs::last_write_time(Text, fs::file_time_type::clock::now() -
                                std::chrono::hours(48));
  Result<std::vector<Entry>> All = Folder->list();
  ASSERT_TRUE(All && All->size() == 2);
  EXPECT_EQ(All->front().Path, New);
  EXPECT_EQ(All->back().Path, Old);
  Result<Cleared> Some = Folder->clear(NowNs - 24 * Hour);
  ASSERT_TRUE(Some) << Some.error().message();
  EXPECT_EQ(Some->Artifacts, 1u);
  EXPECT_EQ(Some->Bytes, fs::file_size(New));
  EXPECT_FALSE(fs::exists(Old));
  EXPECT_FALSE(fs::exists(Left));
  EXPECT_TRUE(fs::exists(New));

  // One that is being made.
  std::string Key = fs::path(New).stem();
  {
    auto Held = Folder->lock(Key);
    ASSERT_TRUE(Held && *Held);
    Result<Cleared> None = Folder->clear(std::nullopt);
    ASSERT_TRUE(None);
    EXPECT_EQ(None->InUse, 1u);
    EXPECT_TRUE(fs::exists(New));
  }
  // Using it makes it young.
  Folder->touch(Key);
  EXPECT_EQ(Folder->clear(NowNs - Hour)->Artifacts, 0u);
  EXPECT_EQ(Folder->clear(std::nullopt)->Artifacts, 1u);
  EXPECT_TRUE(fs::exists(Foreign));
  EXPECT_EQ(filesOfFolder(), (std::vector<std::string>{"", ".txt"}));
}

} // namespace
