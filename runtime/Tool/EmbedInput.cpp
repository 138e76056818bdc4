//===- EmbedInput.cpp - tenon embed --input -------------------------------===//
//
// Reads texts in windows. Those of a window run step by step as the session
// would divide them (TextBatches.h), and are answered in the order of the
// input.
//
//===----------------------------------------------------------------------===//

#include "runtime/Engine/TextBatches.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/EmbedSupport.h"
#include "runtime/Tool/JsonLines.h"
#include "runtime/Tool/Npy.h"
#include "runtime/Tool/ProgressLine.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::tokenizer;
using namespace tenon::tool;

// A window ends with whichever is reached first.
static constexpr size_t WindowTexts = 4096;
static constexpr size_t WindowTokens = 1 << 20;

namespace {

struct Text {
  size_t Line; ///< Of the input.
  std::vector<int32_t> Ids;
};

/// The text of a line.
Result<std::string> textOf(const Json &Value, const std::string &Place) {
  JsonField Root(Value, Place);
  if (Value.is_string())
    return Root.asString();
  if (!Value.is_object())
    return Error(Place + ": is " + jsonKind(Value) +
                 ": expected a string, or an object with a 'text'");
  Result<JsonField> Field = Root.member("text");
  if (!Field)
    return Field.error();
  return Field->asString();
}

class InputEmbedder {
public:
  InputEmbedder(const Model &M, Session &S, const Tokenizer &T, JsonLines In,
                int64_t Width, std::optional<NpyWriter> Out)
      : M(M), S(S), T(T), In(std::move(In)), Width(static_cast<size_t>(Width)),
        Out(std::move(Out)) {}

  Status run() {
    for (;;) {
      Result<std::vector<Text>> Window = read();
      if (!Window)
        return Window.error();
      if (Window->empty())
        break;
      if (Status Done = embed(*Window); !Done)
        return Done;
      if (Status Done = write(Window->size()); !Done)
        return Done;
    }
    if (Written == 0)
      return Error(In.file() + ": has no texts: expected one a line");
    return Out ? Out->finish() : Status();
  }

private:
  /// The next texts, none at the end.
  Result<std::vector<Text>> read() {
    std::vector<Text> Window;
    size_t Tokens = 0;
    From = In.position();
    while (Window.size() < WindowTexts && Tokens < WindowTokens) {
      Result<std::optional<Json>> Value = In.next();
      if (!Value)
        return Value.error();
      if (!*Value)
        break;
      Result<std::string> Own = textOf(**Value, In.place());
      if (!Own)
        return Own.error();
      Result<std::vector<int32_t>> Ids =
          T.encode(*Own, true, static_cast<size_t>(longestText(M.manifest())));
      if (!Ids)
        return Ids.error().withContext(In.place());
      Tokens += Ids->size();
      Window.push_back({In.line(), std::move(*Ids)});
    }
    return Window;
  }

  /// Fills Rows, in the order of the window.
  Status embed(const std::vector<Text> &Window) {
    Rows.resize(Window.size() * Width);
    std::vector<int64_t> Lengths;
    for (const Text &Each : Window)
      Lengths.push_back(static_cast<int64_t>(Each.Ids.size()));
    size_t Done = 0;
    for (const std::vector<size_t> &Texts :
         planBatches(Lengths, M.manifest().MaxTokensPerStep)) {
      if (Status Ran = embedBatch(Window, Texts); !Ran)
        return Ran;
      for (size_t Place : Texts) {
        ++Done;
        Speed.add(1, Window[Place].Ids.size());
      }
      Speed.show(share(static_cast<double>(Done) /
                       static_cast<double>(Window.size())));
    }
    return {};
  }

  Status embedBatch(const std::vector<Text> &Window,
                    const std::vector<size_t> &Texts) {
    std::vector<EncodeItem> Items;
    for (size_t Place : Texts)
      Items.push_back({Window[Place].Ids, {}, OutputRows::All});
    Result<std::vector<ItemResult>> Answers = S.embed(Items);
    if (!Answers)
      return Answers.error();
    for (size_t I = 0; I < Texts.size(); ++I) {
      size_t Place = Texts[I];
      const ItemResult &Answer = (*Answers)[I];
      if (Status Good = checkEmbedding(Answer, M); !Good)
        return Good.error().withContext(In.file() + ":" +
                                        std::to_string(Window[Place].Line));
      std::copy(Answer.Values.begin(), Answer.Values.end(),
                Rows.begin() + static_cast<ptrdiff_t>(Place * Width));
    }
    return {};
  }

  /// Of the input, when so much of the window is done.
  std::optional<double> share(double OfWindow) const {
    if (!In.bytes() || *In.bytes() == 0)
      return std::nullopt;
    double Bytes = static_cast<double>(From) +
                   OfWindow * static_cast<double>(In.position() - From);
    return std::min(Bytes / static_cast<double>(*In.bytes()), 1.0);
  }

  Status write(size_t Count) {
    if (Out) {
      Written += Count;
      return Out->append(Rows);
    }
    Speed.clear();
    std::string Lines;
    for (size_t I = 0; I < Count; ++I) {
      Lines += "{\"index\":" + std::to_string(Written++) + ",\"embedding\":[";
      for (size_t Column = 0; Column < Width; ++Column) {
        if (Column != 0)
          Lines += ',';
        Lines += shortest(Rows[I * Width + Column]);
      }
      Lines += "]}\n";
      constexpr size_t ManyBytes = 1 << 20;
      if (Lines.size() < ManyBytes && I + 1 < Count)
        continue;
      if (Status Done = print(Lines); !Done)
        return Done;
      Lines.clear();
    }
    return {};
  }

  const Model &M;
  Session &S;
  const Tokenizer &T;
  JsonLines In;
  size_t Width;
  std::optional<NpyWriter> Out;
  ProgressLine Speed{"embedding", "texts"};
  std::vector<float> Rows; ///< [texts of the window, Width]
  size_t Written = 0;
  uint64_t From = 0; ///< Where the window begins in the input.
};

} // namespace

/// Reads a file to its end: a mistake in the last line of many is better known
/// before the first is embedded.
static Status checkLines(const std::string &Path) {
  Result<JsonLines> In = JsonLines::open(Path);
  if (!In)
    return In.error();
  for (;;) {
    Result<std::optional<Json>> Value = In->next();
    if (!Value)
      return Value.error();
    if (!*Value)
      return {};
    if (Result<std::string> Own = textOf(**Value, In->place()); !Own)
      return Own.error();
  }
}

Status tool::embedInput(const EmbedOptions &Options) {
  std::optional<OutputFile> File;
  if (!Options.Output.empty()) {
    std::vector<std::string> Inputs = Options.ModelFiles;
    Inputs.insert(Inputs.end(), {Options.File, Options.Input});
    Result<OutputFile> Created = OutputFile::create(Options.Output, Inputs);
    if (!Created)
      return Created.error();
    File = std::move(*Created);
  }
  // What comes through a pipe can be read once.
  if (Options.Input != "-")
    if (Status Good = checkLines(Options.Input); !Good)
      return Good;
  Result<JsonLines> In = JsonLines::open(Options.Input);
  if (!In)
    return In.error();
  Result<EmbeddingModel> Loaded = EmbeddingModel::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  std::optional<NpyWriter> Out;
  if (File) {
    Result<NpyWriter> Begun =
        NpyWriter::createGrowing(std::move(*File), Loaded->Width);
    if (!Begun)
      return Begun.error();
    Out = std::move(*Begun);
  }
  Result<Session> S = Session::create(Loaded->Code, {Options.Threads, 0});
  if (!S)
    return S.error();
  return InputEmbedder(*Loaded->Code, *S, *Loaded->Text, std::move(*In),
                       Loaded->Width, std::move(Out))
      .run();
}
