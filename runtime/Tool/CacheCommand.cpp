//===- CacheCommand.cpp - tenon cache -------------------------------------===//

#include "runtime/ModelCache/CacheFolder.h"
#include "runtime/ModelCache/ModelFiles.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/ModelArgument.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>

using namespace tenon;
using namespace tenon::tool;

static constexpr int64_t NsPerSecond = 1'000'000'000;

/// The folder, null if it is not there.
static Result<std::optional<modelcache::CacheFolder>> existingFolder() {
  Result<std::string> Path = modelcache::cachePath();
  if (!Path)
    return Path.error();
  std::error_code Ignored;
  if (!std::filesystem::exists(*Path, Ignored))
    return std::optional<modelcache::CacheFolder>();
  Result<modelcache::CacheFolder> Folder = modelcache::CacheFolder::open(*Path);
  if (!Folder)
    return Folder.error();
  return std::optional<modelcache::CacheFolder>(std::move(*Folder));
}

static std::string megabytes(uint64_t Bytes) {
  std::array<char, 64> Text;
  std::snprintf(Text.data(), Text.size(), "%.1f MB",
                static_cast<double>(Bytes) / 1e6);
  return Text.data();
}

static std::string timeText(int64_t Ns, const char *Format,
                            struct tm *(*Convert)(const time_t *,
                                                  struct tm *)) {
  time_t Seconds = Ns / NsPerSecond;
  struct tm Parts = {};
  std::array<char, 64> Text;
  Convert(&Seconds, &Parts);
  return {Text.data(), std::strftime(Text.data(), Text.size(), Format, &Parts)};
}

static Json toJson(const modelcache::Entry &E) {
  Json J = Json::object();
  J["model"] = E.Origin ? Json(E.Origin->Model) : Json();
  Json Options = Json::object();
  if (E.Origin)
    for (const modelcache::Setting &S : modelcache::AllSettings)
      Options[std::string(S.Name)] = E.Origin->Compiled.*S.Value;
  J["options"] = E.Origin ? Options : Json();
  J["target_cpu"] = E.Origin ? Json(E.Origin->Level) : Json();
  J["tenon"] = E.Origin ? Json(E.Origin->Version) : Json();
  J["bytes"] = E.Bytes;
  J["last_used"] = timeText(E.UsedNs, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r);
  J["path"] = E.Path;
  if (!E.Origin)
    J["error"] = E.Origin.error().message();
  return J;
}

Status tool::listCache(bool AsJson) {
  Result<std::optional<modelcache::CacheFolder>> Folder = existingFolder();
  if (!Folder)
    return Folder.error();
  std::vector<modelcache::Entry> Entries;
  if (*Folder) {
    Result<std::vector<modelcache::Entry>> Listed = (*Folder)->list();
    if (!Listed)
      return Listed.error();
    Entries = std::move(*Listed);
  }
  if (AsJson) {
    Json All = Json::array();
    for (const modelcache::Entry &E : Entries)
      All.push_back(::toJson(E));
    return print(All.dump(2, ' ', false, Json::error_handler_t::replace) +
                 "\n");
  }
  if (Entries.empty())
    return print("no compiled models\n");
  std::string Text;
  for (const modelcache::Entry &E : Entries) {
    if (!E.Origin) {
      Text += "unusable: " + escaped(E.Origin.error().message()) + "\n";
    } else {
      Text += escaped(E.Origin->Model);
      if (std::string Options = toText(E.Origin->Compiled); !Options.empty())
        Text += " " + Options;
      Text += "\n";
    }
    Text += "  " + megabytes(E.Bytes) + ", last used " +
            timeText(E.UsedNs, "%Y-%m-%d %H:%M", ::localtime_r);
    if (E.Origin)
      Text += ", for " + escaped(E.Origin->Level) + " by tenon " +
              escaped(E.Origin->Version);
    Text += "\n  " + E.Path + "\n";
  }
  return print(Text);
}

Status tool::clearCache(std::optional<double> OlderThanDays) {
  Result<std::optional<modelcache::CacheFolder>> Folder = existingFolder();
  if (!Folder)
    return Folder.error();
  modelcache::Cleared Done;
  if (*Folder) {
    std::optional<int64_t> Before;
    if (OlderThanDays) {
      constexpr double NsPerDay = 86400e9;
      auto Now = std::chrono::system_clock::now().time_since_epoch();
      Before =
          std::chrono::duration_cast<std::chrono::nanoseconds>(Now).count() -
          static_cast<int64_t>(*OlderThanDays * NsPerDay);
    }
    Result<modelcache::Cleared> Removed = (*Folder)->clear(Before);
    if (!Removed)
      return Removed.error();
    Done = *Removed;
  }
  std::string Text = "removed " + std::to_string(Done.Artifacts) +
                     (Done.Artifacts == 1 ? " artifact, " : " artifacts, ") +
                     megabytes(Done.Bytes) + "\n";
  if (Done.InUse != 0)
    Text += "left " + std::to_string(Done.InUse) + " being compiled\n";
  return print(Text);
}

Status tool::addToCache(const std::string &Model, const ModelOptions &Options) {
  if (!modelcache::isModel(Model)) {
    if (Status IsThere = checkArtifactPath(Model); !IsThere)
      return IsThere;
    return Error(Model + ": expected a model: a directory or a GGUF file");
  }
  Result<ModelArgument> Found = ModelArgument::open(Model, Options);
  if (!Found)
    return Found.error();
  return print(Found->artifact() + "\n");
}

Status tool::printCachePath() {
  Result<std::string> Path = modelcache::cachePath();
  if (!Path)
    return Path.error();
  return print(*Path + "\n");
}
