//===- BenchArguments.cpp - tenon bench, its options ----------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tool;

namespace {
struct BenchArguments {
  BenchOptions Options;
  ModelOptions Compiling;
};
} // namespace

Command tool::addBenchCommand(CLI::App &App) {
  auto Bench = std::make_shared<BenchArguments>();
  CLI::App *Added =
      App.add_subcommand("bench", "Measure speed with random tokens");
  Added->add_option("file", Bench->Options.File, FileHelp)->required();
  constexpr int64_t MostTokens = 1 << 24, MostRounds = 1 << 20;
  Added
      ->add_option("--prompt-tokens", Bench->Options.PromptTokens,
                   "Tokens of each prompt [512, or what the model's length "
                   "leaves]")
      ->check(between(int64_t(1), MostTokens));
  Added
      ->add_option("--new-tokens", Bench->Options.NewTokens,
                   "Tokens to decode after it [32, or what the model's length "
                   "leaves]")
      ->check(between(int64_t(0), MostTokens));
  Added->add_option("--batch", Bench->Options.Batch, "Sequences at once")
      ->check(between(int64_t(1), MostRounds))
      ->capture_default_str();
  Added
      ->add_option("--repeat", Bench->Options.Repeat,
                   "Rounds; medians are printed")
      ->check(between(int64_t(1), MostRounds))
      ->capture_default_str();
  addThreads(*Added, Bench->Options.Threads);
  Added->add_flag("--json", Bench->Options.Json, "Print one JSON object");
  auto *Profile = Added->add_flag(
      "--profile", Bench->Options.Profile,
      "Say what every kernel takes, and how far that is from what the machine "
      "can do; a round before those that count warms up");
  Added
      ->add_flag("--profile-layers", Bench->Options.ProfileLayers,
                 "Add a table by layer (--json has every kernel by layer)")
      ->needs(Profile);
  Added
      ->add_option("--profile-svg", Bench->Options.ProfileSvg,
                   "Draw the profile as a roofline into this SVG file")
      ->needs(Profile);
  addModelOptions(*Added, Bench->Compiling);
  return {Added, [=] {
            return exitStatusOf(
                withModel(Bench->Options, Bench->Compiling, benchModel));
          }};
}
