//===- Classify.cpp - Images and texts put into classes -------------------===//

#include "runtime/Engine/Pixels.h"
#include "runtime/Support/Clock.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tool/Npy.h"
#include "runtime/Tool/ProcessInfo.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::tool;

/// Classes that are printed.
static constexpr size_t MaxClasses = 5;
static constexpr std::string_view NpyMagic = "\x93NUMPY";

/// Whether the file at `Path` begins as NumPy's arrays do.
static Result<bool> isNpy(const std::string &Path) {
  Result<std::string> Start = readStart(Path, NpyMagic.size());
  if (!Start)
    return Start.error();
  return *Start == NpyMagic;
}

/// The pixel values [C, H, W] of an array of that shape, or of [1, C, H, W].
static Result<std::vector<float>> readPixels(const std::string &Path,
                                             const ImageInfo &Info) {
  Result<NpyArray> Array = readNpy(Path);
  if (!Array)
    return Array.error();
  std::vector<int64_t> Shape = Array->Shape;
  if (Shape.size() == 4 && Shape[0] == 1)
    Shape.erase(Shape.begin());
  std::vector<int64_t> Expected = {Info.Channels, Info.Height, Info.Width};
  if (Shape != Expected || Array->Floats.empty())
    return Error(Path + ": shape is " + Json(Array->Shape).dump() +
                 (Array->Floats.empty() ? " of whole numbers" : "") +
                 ": expected pixel values " + Json(Expected).dump() +
                 " of type f4");
  return std::move(Array->Floats);
}

Result<std::vector<float>> tool::readImageInput(const Model &M,
                                                const std::string &Path) {
  const ImageInfo &Info = *M.manifest().Image;
  Result<bool> IsArray = isNpy(Path);
  if (!IsArray)
    return IsArray.error();
  return *IsArray ? readPixels(Path, Info) : readPixelValues(Path, Info);
}

Result<std::vector<generation::PromptImage::Ptr>>
tool::readPromptImages(const Model &M, const std::vector<std::string> &Paths) {
  std::vector<generation::PromptImage::Ptr> Images;
  for (const std::string &Path : Paths) {
    Result<std::vector<float>> Pixels = readImageInput(M, Path);
    if (!Pixels)
      return Pixels.error();
    Images.push_back(generation::makePromptImage(*Pixels, *M.manifest().Image));
  }
  return Images;
}

static Status writeRows(const ItemResult &Answer, int64_t Width,
                        OutputFile Out) {
  Result<NpyWriter> File =
      NpyWriter::create(std::move(Out), Answer.Rows, Width);
  if (!File)
    return File.error();
  if (Status Written = File->append(Answer.Values); !Written)
    return Written;
  return File->finish();
}

/// The likeliest classes of a row of scores, best first.
static Result<Json> bestClasses(std::span<const float> Scores,
                                const std::vector<std::string> &Labels) {
  std::vector<size_t> Order(Scores.size());
  std::iota(Order.begin(), Order.end(), size_t(0));
  for (float Score : Scores)
    // False for NaN and the infinities alike.
    if (!(std::abs(Score) <= std::numeric_limits<float>::max()))
      return Error("the score of a class is NaN or infinite: the model's "
                   "output is unusable");
  std::stable_sort(Order.begin(), Order.end(),
                   [&](size_t A, size_t B) { return Scores[A] > Scores[B]; });
  double Sum = 0;
  for (float Score : Scores)
    Sum += std::exp(static_cast<double>(Score) - Scores[Order[0]]);
  Json Classes = Json::array();
  for (size_t I = 0; I < std::min(MaxClasses, Order.size()); ++I) {
    double Score = Scores[Order[I]];
    Json Class = {{"index", Order[I]}, {"label", nullptr}};
    if (Order[I] < Labels.size())
      Class["label"] = Labels[Order[I]];
    Class["score"] = Score;
    // A single class is there, or not.
    Class["probability"] = Scores.size() == 1
                               ? 1 / (1 + std::exp(-Score))
                               : std::exp(Score - Scores[Order[0]]) / Sum;
    Classes.push_back(Class);
  }
  return Classes;
}

static std::string textOf(const Json &Classes) {
  std::string Text;
  for (const Json &Class : Classes) {
    char Start[64];
    std::snprintf(Start, sizeof(Start), "%8.4f  %6zu",
                  Class.at("probability").get<double>(),
                  Class.at("index").get<size_t>());
    Text += Start;
    if (Class.at("label").is_string()) {
      // Without what could drive a terminal.
      std::string Label = printable(Class.at("label").get<std::string>());
      Text += "  " + Label.substr(1, Label.size() - 2);
    }
    Text += "\n";
  }
  return Text;
}

Status tool::classify(const std::shared_ptr<const Model> &M,
                      const RunOptions &Options, std::optional<OutputFile> Out,
                      double Begin) {
  const Manifest &Info = M->manifest();
  bool Sees = !Options.Images.empty();
  Result<const Entry *> Code = M->entry(Sees ? "encode_image" : "encode");
  if (!Code)
    return Code.error();
  if (Options.Output.empty() && (*Code)->Info.Output != OutputKind::Classes)
    return Error(M->path() + ": this model gives features and no classes: use "
                             "--output FILE.npy");
  std::vector<float> Patches;
  std::vector<std::vector<int32_t>> Prompts;
  std::vector<int32_t> Types;
  if (Sees) {
    Result<std::vector<float>> Read =
        readImageInput(*M, Options.Images.front());
    if (!Read)
      return Read.error();
    Patches = patchesOf(*Read, *Info.Image);
  } else {
    Result<std::vector<std::vector<int32_t>>> Read = readPrompts(*M, Options);
    if (!Read)
      return Read.error();
    Prompts = std::move(*Read);
    Result<std::vector<int32_t>> TypeIds =
        readTokenTypes(Options, Prompts.front());
    if (!TypeIds)
      return TypeIds.error();
    Types = std::move(*TypeIds);
  }
  Result<Session> S = Session::create(M, {Options.Threads, 0, 0});
  if (!S)
    return S.error();
  Timings Times;
  Times.Load = secondsNow() - Begin;

  double From = secondsNow();
  Result<std::vector<ItemResult>> Answers = std::vector<ItemResult>();
  if (Sees) {
    ImageItem Item{Patches, OutputRows::All};
    Answers = S->encodeImages({&Item, 1});
    Times.PromptTokens = Info.Image->patches() + 1;
  } else {
    std::vector<EncodeItem> Items;
    for (const std::vector<int32_t> &Prompt : Prompts) {
      Items.push_back({Prompt, Types, OutputRows::All});
      Times.PromptTokens += static_cast<int64_t>(Prompt.size());
    }
    Answers = S->encode(Items);
  }
  if (!Answers)
    return Answers.error();
  Times.Prefill = secondsNow() - From;
  Times.FirstToken = secondsSinceStart();

  Json All = Json::array();
  for (size_t I = 0; I < Answers->size(); ++I) {
    const ItemResult &Answer = (*Answers)[I];
    auto Blame = [&](const Error &E) {
      return Answers->size() == 1
                 ? E
                 : E.withContext("prompt " + std::to_string(I + 1));
    };
    if (!Answer.Outcome)
      return Blame(Answer.Outcome.error());
    // Only ever of a single prompt or image.
    if (Out)
      if (Status Written =
              writeRows(Answer, (*Code)->Info.Width, std::move(*Out));
          !Written)
        return Written;
    Json One = Json::object();
    if ((*Code)->Info.Output == OutputKind::Classes) {
      Result<Json> Classes = bestClasses(Answer.Values, Info.Labels);
      if (!Classes)
        return Blame(Classes.error().withContext(M->path()));
      One["classes"] = std::move(*Classes);
    }
    One["timings"] = timingsJson(Times);
    All.push_back(std::move(One));
  }
  if (Options.Json)
    return print(lineOf(All.size() == 1 ? Json(All.front()) : All));
  return Options.Output.empty() ? print(textOf(All.front().at("classes")))
                                : Status();
}
