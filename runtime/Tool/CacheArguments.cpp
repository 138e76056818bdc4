//===- CacheArguments.cpp - tenon cache, its options ----------------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tool/CommandLine.h"

#include <optional>

using namespace tenon;
using namespace tenon::tool;

namespace {
struct CacheArguments {
  std::string Model;
  bool Json = false;
  std::optional<double> OlderThan;
  ModelOptions Compiling;
};
/// A century.
constexpr double MostDays = 36525;
} // namespace

Command tool::addCacheCommand(CLI::App &App) {
  auto Cache = std::make_shared<CacheArguments>();
  CLI::App *Added = App.add_subcommand(
      "cache", "Add, show or remove models that are compiled to be run");
  Added->require_subcommand(1);
  Added->footer("They are kept in $TENON_CACHE_DIR, else in "
                "$XDG_CACHE_HOME/tenon, else in ~/.cache/tenon.");
  CLI::App *List =
      Added->add_subcommand("list", "Show them, the last used first");
  List->add_flag("--json", Cache->Json, "Print a JSON array");
  CLI::App *Clear = Added->add_subcommand("clear", "Remove them");
  Clear
      ->add_option("--older-than", Cache->OlderThan,
                   "Only those that were not used in so many days")
      ->check(between(0.0, MostDays));
  CLI::App *Add = Added->add_subcommand(
      "add", "Compile a model into it, unless it is there, and print the path "
             "of the artifact");
  Add->add_option("model", Cache->Model, "Directory, or GGUF file")->required();
  addCompileSettings(*Add, Cache->Compiling,
                     Add->option_defaults()->get_group());
  addProgressOption(*Add, Cache->Compiling.Progress);
  Added->add_subcommand("path", "Print the folder that they are kept in");
  return {Added, [=] {
            return exitStatusOf(List->parsed()    ? listCache(Cache->Json)
                                : Clear->parsed() ? clearCache(Cache->OlderThan)
                                : Add->parsed()
                                    ? addToCache(Cache->Model, Cache->Compiling)
                                    : printCachePath());
          }};
}
