//===- limits.cpp - What this machine can do at most ----------------------===//
//
// Prints the rates of runtime/Machine as one JSON object.
//
//===----------------------------------------------------------------------===//

#include "runtime/Machine/MachineLimits.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <omp.h>

using namespace tenon;
using namespace tenon::machine;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::vector<std::string> Only;
  double Seconds = 0.5;
  int64_t Megabytes = 2048;
  int64_t Rows = 0;
};

/// Under the names of their types.
constexpr std::pair<const char *, Arithmetic> Matmuls[] = {
    {"f32", Arithmetic::F32},
    {"bf16", Arithmetic::BF16},
    {"u8s8s32", Arithmetic::Int8},
};

} // namespace

int main(int Count, char **Values) {
  Options O;
  CLI::App App("Measures what this machine can do: read bandwidth, and "
               "oneDNN's matmuls of rows of 2048 by 2048 x 2048.",
               "tenon-limits");
  App.add_option("--only", O.Only, "Of read, f32, bf16, u8s8s32 [all]")
      ->check(CLI::IsMember({"read", "f32", "bf16", "u8s8s32"}));
  App.add_option("--seconds", O.Seconds, "Time for each measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  App.add_option("--megabytes", O.Megabytes, "Memory to read")
      ->check(CLI::Range(int64_t(64), int64_t(1) << 20))
      ->capture_default_str();
  App.add_option("--rows", O.Rows,
                 "Of a matmul whose weights come from memory, --megabytes of "
                 "them [512 rows, and weights in the cache]")
      ->check(CLI::Range(int64_t(1), int64_t(65536)));
  try {
    App.parse(Count, Values);
  } catch (const CLI::ParseError &Failure) {
    return App.exit(Failure) == 0 ? 0 : 2;
  }
  auto Asked = [&](const char *Name) {
    return O.Only.empty() ||
           std::find(O.Only.begin(), O.Only.end(), Name) != O.Only.end();
  };

  auto Fail = [](const Error &Failure) {
    std::fprintf(stderr, "tenon-limits: error: %s\n",
                 Failure.message().c_str());
    return 1;
  };

  Json Answer = {{"threads", omp_get_max_threads()}};
  if (Asked("read")) {
    Result<ReadLimit> Limit =
        measureReading(size_t(O.Megabytes) << 20, O.Seconds, 0);
    if (!Limit)
      return Fail(Limit.error());
    Json ByStreams = Json::object();
    for (auto [Streams, Rate] : Limit->ByStreams)
      ByStreams[std::to_string(Streams)] = Rate / 1e9;
    Answer["read_gb_per_s"] = Limit->BytesPerSecond / 1e9;
    Answer["read_gb_per_s_by_streams"] = ByStreams;
  }
  Json Rates = Json::object();
  for (auto [Name, Numbers] : Matmuls) {
    if (!Asked(Name))
      continue;
    Result<std::optional<MatmulLimit>> Limit =
        O.Rows == 0 ? measureMatmul(Numbers, O.Seconds, 0)
                    : measureMatmul(Numbers, O.Seconds, 0, O.Rows,
                                    size_t(O.Megabytes) << 20);
    if (!Limit)
      return Fail(Limit.error());
    Rates[Name] = nullptr;
    if (*Limit)
      Rates[Name] = {{"gop_per_s", (*Limit)->OperationsPerSecond / 1e9},
                     {"weights", (*Limit)->Weights},
                     {"implementation", (*Limit)->Implementation}};
  }
  Answer["matmul"] = Rates;
  std::printf("%s\n", Answer.dump(2).c_str());
  return 0;
}
