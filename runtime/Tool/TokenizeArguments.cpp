//===- TokenizeArguments.cpp - tenon tokenize, its options ----------------===//

#include "runtime/Tool/CommandArguments.h"

#include "runtime/Tokenizer/TokenizeCommand.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/CommandLine.h"

using namespace tenon;
using namespace tenon::tokenizer;
using namespace tenon::tool;

namespace {
struct TokenizeArguments {
  std::string File;
  TokenizeOptions Options;
  std::string Decode;
  ModelOptions Compiling;
};
} // namespace

static Status tokenize(TokenizeArguments &Arguments) {
  if (!Arguments.Decode.empty()) {
    Result<std::vector<int32_t>> Ids =
        parseTokens(Arguments.Decode, "--decode");
    if (!Ids)
      return Ids.error();
    Arguments.Options.Decode = std::move(*Ids);
  }
  return withTokenizerOf(Arguments.File, Arguments.Compiling,
                         [&](const Tokenizer &T, std::string &Out) {
                           return runTokenize(T, Arguments.Options, Out);
                         });
}

Command tool::addTokenizeCommand(CLI::App &App) {
  auto Tokenize = std::make_shared<TokenizeArguments>();
  CLI::App *Added =
      App.add_subcommand("tokenize", "Turn text into token ids, or back");
  Added
      ->add_option(
          "file", Tokenize->File,
          "Artifact, tokenizer.json, or a directory that holds one; or "
          "a GGUF file, which is compiled and kept (tenon cache)")
      ->required();
  auto *Modes = Added->add_option_group("what");
  addText(*Modes, "--text", Tokenize->Options.Text, "Text to turn into ids");
  Modes->add_option("--json-lines", Tokenize->Options.JsonLinesFile,
                    "JSON file: an array of texts");
  Modes
      ->add_option("--decode", Tokenize->Decode,
                   "Ids to turn into text: 1,2,3 or @FILE.npy")
      ->check(tokenIds());
  Modes->require_option(1);
  addModelOptions(*Added, Tokenize->Compiling);
  return {Added, [=] { return exitStatusOf(tokenize(*Tokenize)); }};
}
