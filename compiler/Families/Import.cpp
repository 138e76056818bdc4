//===- Import.cpp - Model directories to graphs ---------------------------===//

#include "compiler/Families/Import.h"

#include "compiler/Checkpoint/ChatFiles.h"
#include "compiler/Checkpoint/DirectoryTokenizer.h"
#include "compiler/Checkpoint/GgufModel.h"
#include "compiler/Checkpoint/StoredFormat.h"
#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Families/Family.h"
#include "compiler/Families/GenerationSettings.h"
#include "compiler/Families/ImageSettings.h"
#include "compiler/Families/ModelPath.h"
#include "compiler/Families/Sentence.h"
#include "compiler/Families/StoredForm.h"

#include "dialects/Transformer/Transformer.h"
#include "runtime/Support/InputFile.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

using namespace mlir;
using namespace tenon;

namespace {

/// The family that the config's model_type names.
Result<const Family *> findFamily(const Config &Settings) {
  std::string Known;
  for (auto All : {families(), multimodalFamilies()})
    for (const Family *F : All)
      Known += (Known.empty() ? "one of " : ", ") + std::string(F->ModelType);
  if (!Settings.has("model_type"))
    return Error(Settings.file() +
                 ": field 'model_type' is missing: expected " + Known +
                 ", as the config.json of a model has it");
  auto Name = Settings.string("model_type");
  if (!Name)
    return Name.error();
  for (auto All : {families(), multimodalFamilies()})
    for (const Family *F : All)
      if (F->ModelType == *Name)
        return F;
  return Settings.expected("model_type", Known);
}

/// The config's dtype as the type that estimates use.
Result<ElementType> configType(const Config &Settings) {
  std::string_view Key = Settings.has("dtype") ? "dtype" : "torch_dtype";
  auto Name = Settings.stringOr(Key, "float32");
  if (!Name)
    return Name.error();
  if (*Name == "float32")
    return ElementType::F32;
  if (*Name == "bfloat16" || *Name == "float16")
    return ElementType::BF16;
  return Settings.expected(Key, "one of float32, bfloat16, float16");
}

/// The tensors of a checkpoint that are in use, and how each is kept.
class TensorUse {
public:
  TensorUse(const Checkpoint *Weights, std::optional<ElementType> MatrixType,
            const ImportOptions &Options)
      : Weights(Weights), MatrixType(MatrixType), Options(Options) {}

  /// Without a checkpoint there is a tensor of every name.
  Result<StorageFormat> keep(StringRef Name, ArrayRef<int64_t> Shape,
                             ParameterUse Use) {
    std::optional<ElementType> Type = MatrixType;
    if (Weights) {
      auto View = TensorView::resolve(*Weights, std::string_view(Name),
                                      {Shape.data(), Shape.size()});
      if (!View)
        return View.error();
      auto InsertAll = [&](llvm::StringSet<> &Into) {
        for (std::string_view Tensor : View->tensors())
          Into.insert(Tensor);
      };
      InsertAll(Used);
      std::optional<StorageFormat> Format = View->keptFormat();
      std::optional<Widening> Cause = View->widening();
      if (Use == ParameterUse::F32) {
        InsertAll(InF32);
        Cause.reset();
      } else if (Use == ParameterUse::PlainNumbers) {
        if (Format)
          Cause = Widening{nullptr, "that the model needs as plain numbers"};
      } else if (Options.Requantises &&
                 Options.Requantises(std::string_view(Name),
                                     {Shape.data(), Shape.size()})) {
        InsertAll(AsAsked);
        InsertAll(Requantised);
      } else if (Format && Shape.size() > 1) {
        InsertAll(AsAsked);
        return *Format;
      }
      if (Cause)
        for (std::string_view Tensor : View->tensors())
          Widened.try_emplace(Tensor, *Cause);
      if (!Type)
        Type = View->type() == ElementType::BF16 ? ElementType::BF16
                                                 : ElementType::F32;
    }
    if (Shape.size() == 1)
      return StorageFormat::F32;
    return formatOf(Type.value_or(ElementType::F32));
  }

  /// A note when matrices of fewer bits are kept in f32 unasked.
  void noteWidened(std::vector<std::string> &Notes) const {
    if (MatrixType)
      return;
    std::set<std::string> Types;
    double Stored = 0, Kept = 0;
    std::string File;
    for (const auto &Name : Used.keys()) {
      const TensorInfo &Tensor = *Weights->find(std::string_view(Name));
      const StoredFormat *Format = storedFormat(Tensor.StoredType);
      if (!Format || Tensor.Shape.size() < 2 || Tensor.StoredType == "F32" ||
          Tensor.StoredType == "BF16" || AsAsked.contains(Name) ||
          InF32.contains(Name))
        continue;
      auto Elements = static_cast<double>(Tensor.elements());
      Types.insert(Tensor.StoredType);
      Stored += Elements * Format->Bytes / Format->Elements;
      Kept += Elements * 4;
      File = Tensor.File->path();
    }
    if (Types.empty())
      return;
    auto Megabytes = [](double Bytes) {
      char Text[32];
      std::snprintf(Text, sizeof(Text), "%.*f MB", Bytes < 1e7 ? 2 : 0,
                    Bytes / 1e6);
      return std::string(Text);
    };
    Notes.push_back(File + ": weights stored as " + llvm::join(Types, ", ") +
                    " are kept as f32: " + Megabytes(Kept) + " instead of " +
                    Megabytes(Stored) + " (--dtype bf16 rounds them to " +
                    Megabytes(Kept / 2) + ")");
  }

  /// A note when matrices that are quantised already are quantised again.
  void noteRequantised(std::vector<std::string> &Notes) const {
    std::map<std::string_view, int64_t> Counts; // By type.
    std::string File;
    for (const auto &Name : Requantised.keys()) {
      const TensorInfo &Tensor = *Weights->find(std::string_view(Name));
      if (!isQuantised(Tensor))
        continue;
      ++Counts[Tensor.StoredType];
      File = Tensor.File->path();
    }
    std::string Types;
    for (const auto &[Type, Count] : Counts)
      Types += (Types.empty() ? "" : ", ") + std::to_string(Count) + " of " +
               std::string(Type);
    if (!Types.empty())
      Notes.push_back(File + ": --quantize " + Options.RequantisedTo +
                      " quantises matrices that are quantised already, so that "
                      "errors add up: " +
                      Types);
  }

  /// Notes when quantised matrices are kept in f32 unasked, for a reason each.
  void noteQuantised(std::vector<std::string> &Notes) const {
    if (MatrixType)
      return;
    // By reason, of tensors by themselves and of those stacked with others.
    std::map<std::string_view, std::vector<std::string_view>> Alone, Stacked;
    for (const auto &[Name, Cause] : Widened) {
      const TensorInfo *Tensor = Weights->find(Name);
      if (!Tensor->Source || AsAsked.contains(Name))
        continue;
      std::string_view Own = Tensor->Source->whyWidened();
      bool IsStacked = Own.empty() && Cause.Of;
      std::string_view Why = Own.empty() ? Cause.Why : Own;
      if (!Why.empty())
        (IsStacked ? Stacked : Alone)[Why].push_back(Name);
    }
    auto Begin = [&](const std::vector<std::string_view> &Names) {
      return Weights->find(Names.front())->File->path() + ": " +
             std::to_string(Names.size()) + " quantised matrices ";
    };
    constexpr std::string_view Middle =
        "are kept as f32 (--dtype bf16 rounds them)";
    for (const auto &[Why, Names] : Alone)
      Notes.push_back(Begin(Names) + std::string(Why) + " " +
                      std::string(Middle) + "; the first is " +
                      printable(Names.front()));
    for (const auto &[Why, Names] : Stacked)
      Notes.push_back(Begin(Names) + std::string(Middle) +
                      ", as all experts of a layer are kept in one format; "
                      "the first is " +
                      printable(Names.front()) + ", beside " +
                      printable(Widened.find(Names.front())->second.Of->Name) +
                      ", a matrix " + std::string(Why));
  }

  /// A note when quantised matrices are kept in f32 whatever is asked for.
  void noteNeeded(std::vector<std::string> &Notes) const {
    std::set<std::string_view> Names;
    for (const auto &Name : InF32.keys())
      if (isQuantised(*Weights->find(std::string_view(Name))))
        Names.insert(Name);
    if (!Names.empty())
      Notes.push_back(Weights->find(*Names.begin())->File->path() + ": " +
                      std::to_string(Names.size()) +
                      " quantised matrices that the model needs in f32 are "
                      "kept so; the first is " +
                      printable(*Names.begin()));
  }

  /// An error that names the first tensor that is neither used nor among
  /// `Unneeded`; sets the model's UnneededTensors, with one note for all.
  Status checkUnused(std::string_view ModelType,
                     const std::vector<std::string> &Unneeded,
                     ImportedModel &Model) const {
    std::vector<std::string_view> &Left = Model.UnneededTensors, Unknown;
    for (std::string_view Name : Weights->names()) {
      if (Used.contains(Name))
        continue;
      bool IsKnown =
          isEmptyBias(Name) || llvm::any_of(Unneeded, [&](StringRef Pattern) {
            return matches(Name, Pattern);
          });
      (IsKnown ? Left : Unknown).push_back(Name);
    }
    auto Where = [&](const std::vector<std::string_view> &Names) {
      std::string Text = Weights->find(Names.front())->File->path();
      Text += Names.size() == 1 ? ": tensor " : ": tensors ";
      constexpr size_t MostShown = 3;
      for (size_t I = 0; I < std::min(Names.size(), MostShown); ++I)
        Text += (I == 0 ? "" : ", ") + printable(Names[I]);
      if (Names.size() > MostShown)
        Text += " and " + std::to_string(Names.size() - MostShown) + " more";
      return Text;
    };
    if (!Unknown.empty())
      return Error(Where(Unknown) + ": unknown: a " + std::string(ModelType) +
                   " model with this config has no such " +
                   (Unknown.size() == 1 ? "tensor" : "tensors"));
    if (!Left.empty())
      Model.Notes.push_back(Where(Left) + (Left.size() == 1
                                               ? " is not needed"
                                               : " are not needed"));
    return {};
  }

private:
  static bool isQuantised(const TensorInfo &Tensor) {
    const StoredFormat *Format = storedFormat(Tensor.StoredType);
    return Tensor.Source || (Format && Format->isQuantised());
  }

  /// Whether a tensor is the bias of a quantised matrix and adds nothing:
  /// AutoGPTQ has stored one beside every matrix.
  bool isEmptyBias(std::string_view Name) const {
    constexpr std::string_view Suffix = ".bias";
    if (!Name.ends_with(Suffix))
      return false;
    const TensorInfo *Bias = Weights->find(Name);
    Name.remove_suffix(Suffix.size());
    const TensorInfo *Matrix = Weights->find(std::string(Name) + ".weight");
    return Matrix && Matrix->Source && !Bias->Source &&
           llvm::all_of(Bias->Stored,
                        [](std::byte Byte) { return Byte == std::byte{0}; });
  }

  /// Whether `Name` is `Pattern`, in which a '*' stands for anything.
  static bool matches(StringRef Name, StringRef Pattern) {
    auto [Before, After] = Pattern.split('*');
    if (Before.size() == Pattern.size())
      return Name == Pattern;
    return Name.size() >= Pattern.size() - 1 && Name.starts_with(Before) &&
           Name.ends_with(After);
  }

  const Checkpoint *Weights;
  std::optional<ElementType> MatrixType;
  const ImportOptions &Options;
  llvm::StringSet<> Used;
  /// Tensors that are kept as they are stored, or get another format.
  llvm::StringSet<> AsAsked;
  /// Those of them that get another format.
  llvm::StringSet<> Requantised;
  /// Tensors that the model needs in f32.
  llvm::StringSet<> InF32;
  /// Of tensors of views that are not kept as they are stored.
  std::map<std::string_view, Widening> Widened;
};

/// What the cache keeps: bf16 where the matrices are, or are quantised.
ElementType chooseCacheElement(const Checkpoint *Weights,
                               std::optional<ElementType> MatrixType,
                               bool IsRequantised) {
  if (MatrixType || !Weights)
    return MatrixType.value_or(ElementType::F32);
  if (IsRequantised)
    return ElementType::BF16;
  for (std::string_view Name : Weights->names()) {
    const TensorInfo *Tensor = Weights->find(Name);
    const StoredFormat *Format = storedFormat(Tensor->StoredType);
    bool IsKept = (Format && Format->Kept) ||
                  (Tensor->Source && Tensor->Source->keptFormat());
    if ((Tensor->StoredType == "BF16" || IsKept) && Tensor->Shape.size() >= 2)
      return ElementType::BF16;
  }
  return ElementType::F32;
}

/// How the model generates, of models that do.
Status setGeneration(const Config &Settings, int64_t Vocabulary,
                     const GenerationDefaults &Defaults, ImportedModel &Model) {
  auto Info = readGeneration(Settings, Vocabulary, Defaults, Model.Notes);
  if (!Info)
    return Info.error();
  Model.Generation = std::move(*Info);
  return {};
}

/// Reads what a sentence-transformers directory asks for, if it is one.
Result<std::optional<PoolingOptions>>
readSentenceOptions(const std::string &Path, const ModelSizes &Sizes,
                    ImportedModel &Model) {
  auto Sentence = readSentenceModel(Path, Sizes.Width);
  if (!Sentence)
    return Sentence.error();
  if (!*Sentence)
    return std::optional<PoolingOptions>();
  Model.MaxTextTokens =
      std::min((*Sentence)->MaxTextTokens.value_or(Sizes.MaxSequence),
               Sizes.MaxSequence);
  return std::optional((*Sentence)->Pooling);
}

/// How image files become the input of `Vision`: as the directory says, else
/// as the processor `Usual` does when it is told nothing but the size.
Result<ImageInfo> readImages(const std::string &Path, const VisionModel &Vision,
                             ImageProcessor Usual,
                             std::vector<std::string> &Notes) {
  ImagePreprocessing Steps =
      usualImageSettings(Vision.Channels, Vision.Height, Vision.Width, Usual);
  if (hasImageSettings(Path)) {
    auto Settings = readImageSettings(Path, Vision.Channels, Vision.Height,
                                      Vision.Width, Usual);
    if (!Settings)
      return Settings.error();
    Steps = std::move(*Settings);
  } else {
    if (static_cast<int64_t>(Steps.Mean.size()) != Vision.Channels)
      return Error(Path +
                   ": has no preprocessor_config.json: expected one, as "
                   "images have " +
                   std::to_string(Vision.Channels) +
                   " channel and CLIP's numbers are for 3");
    Notes.push_back(Path +
                    ": has no preprocessor_config.json: image files are "
                    "prepared as " +
                    (Usual == ImageProcessor::Vit ? "ViT" : "CLIP") +
                    " does by default");
  }
  return ImageInfo{Vision.Channels,    Vision.Height,     Vision.Width,
                   Vision.PatchHeight, Vision.PatchWidth, std::move(Steps)};
}

/// One import, step by step.
class Importer {
public:
  Importer(MLIRContext &Context, const Config &Settings,
           const ImportOptions &Options)
      : Context(Context), Settings(Settings), Options(Options) {}

  /// Reads the config as its family does, builds the graph over `Weights`, if
  /// there are any, and checks that these hold nothing else. `Directory` is
  /// where other files of the model are; empty for none.
  Result<ImportedModel> run(std::optional<Checkpoint> Weights,
                            const std::string &Directory) {
    Model.Weights = std::move(Weights);
    if (Status S = chooseType(); !S)
      return S.error();
    if (Status S = readConfig(Directory); !S)
      return S.error();
    if (Status S = build(Directory); !S)
      return S.error();
    return std::move(Model);
  }

private:
  const Checkpoint *weights() const {
    return Model.Weights ? &*Model.Weights : nullptr;
  }

  Status chooseType() {
    MatrixType = Options.MatrixType;
    if (MatrixType == ElementType::F16)
      return Error("weights kept in f16: expected f32 or bf16");
    if (weights() || MatrixType)
      return {};
    auto Type = configType(Settings);
    if (!Type)
      return Type.error();
    MatrixType = *Type;
    return {};
  }

  Status readConfig(const std::string &Directory) {
    auto Kind = findFamily(Settings);
    if (!Kind)
      return Kind.error();
    if (Status Read = readQuantisation(
            Settings, Model.Weights ? &*Model.Weights : nullptr, Model.Notes);
        !Read)
      return Read;
    loadModelDialects(Context);
    bool OnlyEmbeds = !Directory.empty() && isSentenceDirectory(Directory);
    FamilyInput Input{Context, Settings, weights(), Options.MaxSequence,
                      &Model.Notes};
    Input.OnlyEmbeds = OnlyEmbeds;
    ConfigReader Reader(Input);
    Description = (*Kind)->Read(Reader);
    ModelType = (*Kind)->ModelType;
    if (Reader.error())
      return refuseIgnoring(*Reader.error());
    if (OnlyEmbeds)
      if (Status S = leaveHeadOut(Directory); !S)
        return S;
    for (const std::string &Key : Options.IgnoredKeys)
      Model.Notes.push_back(Settings.file() + ": field " + printable(Key) +
                            " is ignored, as --ignore-config-key says");
    return Settings.refuseUnreadKeys(
        "the family " + ModelType, Options.IgnoredKeys, "--ignore-config-key");
  }

  /// The error of a config, and that ignoring a key does not help where the
  /// family reads it.
  Error refuseIgnoring(const Error &Refusal) const {
    std::vector<std::string> Unread = Settings.unreadKeys();
    for (const std::string &Key : Options.IgnoredKeys)
      if (!llvm::is_contained(Unread, Key))
        return Error(Refusal.message() + "; --ignore-config-key " + Key +
                     " is for a key of this file that the family " + ModelType +
                     " does not read");
    return Refusal;
  }

  /// Makes a decoder whose directory is that of a sentence-transformer the
  /// model that it is of.
  Status leaveHeadOut(const std::string &Directory) {
    if (std::holds_alternative<EncoderModel>(Description))
      return {};
    std::optional<EncoderModel> Body;
    if (auto *Decoder = std::get_if<DecoderModel>(&Description))
      Body = withoutHead(*Decoder);
    if (!Body)
      return Error(Directory + "/modules.json: a " + ModelType +
                   " model with this config embeds no texts: expected an "
                   "encoder, or a decoder without latent attention");
    Model.Notes.push_back(Directory +
                          "/modules.json: the model embeds texts, and does not "
                          "continue them");
    Description = std::move(*Body);
    return {};
  }

  Status build(const std::string &Directory) {
    TensorUse Use(weights(), MatrixType, Options);
    ModelBuilder Builder(
        Context, ModelType,
        [&](StringRef Name, ArrayRef<int64_t> Shape, ParameterUse For) {
          return Use.keep(Name, Shape, For);
        });
    Status Built = std::visit(
        [&](const auto &Kind) { return build(Builder, Kind, Directory); },
        Description);
    if (!Built)
      return Built;
    std::vector<std::string> Widened = Builder.widened();
    auto Module = Builder.finish();
    if (!Module)
      return Module.error();
    Model.Module = std::move(*Module);
    Model.StoredType = storedTypeOf(*Model.Module);
    if (!Widened.empty())
      Model.Notes.push_back(std::to_string(Widened.size()) +
                            " matrices that are stored in fewer bits are kept "
                            "in f32, as the gate or up that each is computed "
                            "with has another type; the first is " +
                            printable(Widened.front()));
    if (!weights())
      return {};
    const auto &Unused = std::visit(
        [](const auto &Kind) -> const std::vector<std::string> & {
          return Kind.UnusedTensors;
        },
        Description);
    Use.noteWidened(Model.Notes);
    Use.noteQuantised(Model.Notes);
    Use.noteNeeded(Model.Notes);
    Use.noteRequantised(Model.Notes);
    return Use.checkUnused(ModelType, Unused, Model);
  }

  Status build(ModelBuilder &Builder, const DecoderModel &Decoder,
               const std::string &) {
    buildDecoder(Builder, Decoder, cacheElement());
    return setGeneration(Settings, Decoder.Sizes.Vocabulary, {}, Model);
  }

  Status build(ModelBuilder &Builder, const EncoderModel &Encoder,
               const std::string &Directory) {
    std::optional<PoolingOptions> Pooling;
    if (!Directory.empty()) {
      auto Read = readSentenceOptions(Directory, Encoder.Sizes, Model);
      if (!Read)
        return Read.error();
      Pooling = *Read;
    }
    buildEncoder(Builder, Encoder, Pooling);
    Model.Labels = Encoder.Answer.Labels;
    return {};
  }

  Status build(ModelBuilder &Builder, const TranslationModel &Translation,
               const std::string &) {
    buildTranslation(Builder, Translation, cacheElement());
    return setGeneration(
        Settings, Translation.Sizes.Vocabulary,
        {true, Translation.DefaultStart, Translation.DefaultForcedLast}, Model);
  }

  Status build(ModelBuilder &Builder, const VisionModel &Vision,
               const std::string &Directory) {
    buildVision(Builder, Vision);
    Model.Labels = Vision.Answer.Labels;
    if (Directory.empty())
      return {};
    auto Images =
        readImages(Directory, Vision, ImageProcessor::Vit, Model.Notes);
    if (!Images)
      return Images.error();
    Model.Image = std::move(*Images);
    return {};
  }

  Status build(ModelBuilder &Builder, const VisionLanguageModel &Both,
               const std::string &Directory) {
    buildVisionLanguage(Builder, Both, cacheElement());
    if (!Directory.empty()) {
      auto Images =
          readImages(Directory, Both.Vision, ImageProcessor::Clip, Model.Notes);
      if (!Images)
        return Images.error();
      Model.Image = std::move(*Images);
      Model.Image->Token =
          static_cast<int32_t>(*Both.Text.Stack.Embedding.ImageToken);
      Model.Image->Rows = Both.ImageRows;
    }
    // Older files say inside what ends a text.
    auto Text = Settings.object("text_config");
    return setGeneration(Text && !Settings.has("eos_token_id") ? *Text
                                                               : Settings,
                         Both.Text.Sizes.Vocabulary, {}, Model);
  }

  ElementType cacheElement() const {
    return chooseCacheElement(weights(), MatrixType,
                              Options.Requantises != nullptr);
  }

  MLIRContext &Context;
  const Config &Settings;
  const ImportOptions &Options;
  ImportedModel Model;
  std::optional<ElementType> MatrixType;
  ModelDescription Description;
  std::string ModelType;
};

} // namespace

/// The file with its weights, or for its config alone.
static Result<ImportedModel> importGguf(MLIRContext &Context,
                                        const std::string &Path,
                                        const ImportOptions &Options) {
  auto File = openGgufModel(Path, ggufArchitectures());
  if (!File)
    return File.error();
  std::optional<Checkpoint> Weights;
  if (!Options.ConfigOnly)
    Weights = std::move(File->Weights);
  auto Model =
      Importer(Context, File->Settings, Options).run(std::move(Weights), "");
  if (!Model)
    return Model.error();
  Model->TokenizerText = std::move(File->Tokenizer);
  Model->Chat = std::move(File->Chat);
  Model->Notes.insert(Model->Notes.end(), File->Notes.begin(),
                      File->Notes.end());
  return Model;
}

Result<ImportedModel> tenon::importModel(MLIRContext &Context,
                                         const std::string &Path,
                                         const ImportOptions &Options) {
  if (Status IsModel = checkModelPath(Path, Options.ConfigOnly); !IsModel)
    return IsModel.error();
  if (isGgufFile(Path))
    return importGguf(Context, Path, Options);
  std::error_code Ignored;
  bool IsDirectory = std::filesystem::is_directory(Path, Ignored);
  auto Settings = Options.ConfigOnly && !IsDirectory ? Config::openFile(Path)
                                                     : Config::open(Path);
  if (!Settings)
    return Settings.error();
  // Before weights are looked for: of another kind of model they may be
  // anything.
  if (auto Kind = findFamily(*Settings); !Kind)
    return Kind.error();
  std::optional<Checkpoint> Weights;
  if (!Options.ConfigOnly) {
    auto Opened = Checkpoint::open(Path);
    if (!Opened)
      return Opened.error();
    Weights = std::move(*Opened);
  }
  auto Model = Importer(Context, *Settings, Options)
                   .run(std::move(Weights), IsDirectory ? Path : "");
  if (!Model)
    return Model.error();
  if (std::string Tokenizer = Path + "/tokenizer.json";
      IsDirectory && std::filesystem::exists(Tokenizer, Ignored)) {
    Model->TokenizerPath = Tokenizer;
    if (!Options.ConfigOnly)
      Model->Chat = readChat(Path, Model->Notes);
  } else if (IsDirectory && !Options.ConfigOnly) {
    auto ModelType = Settings->stringOr("model_type", "");
    auto Text =
        readDirectoryTokenizer(Path, ModelType ? *ModelType : "", Model->Notes);
    if (!Text)
      return Text.error();
    Model->TokenizerText = std::move(*Text);
    if (!Model->TokenizerText.empty())
      Model->Chat = readChat(Path, Model->Notes);
  }
  return Model;
}

std::string tenon::storedTypeOf(ModuleOp Module) {
  // A layer's function has the parameters of each call.
  llvm::StringMap<int64_t> Calls;
  Module.walk([&](func::CallOp Call) { ++Calls[Call.getCallee()]; });
  std::array<int64_t, StorageFormats.size()> Bytes = {};
  Module.walk([&](transformer::ParameterOp Op) {
    auto Type = cast<RankedTensorType>(Op.getType());
    StorageFormat Format = transformer::storageFormatOf(Type);
    auto Function = Op->getParentOfType<func::FuncOp>();
    if (Type.getRank() > 1 && Format != StorageFormat::F32)
      Bytes[static_cast<size_t>(Format)] +=
          storedBytes(Format, Type.getNumElements()) *
          std::max<int64_t>(1, Calls.lookup(Function.getName()));
  });
  std::vector<std::string> Names;
  std::vector<size_t> Order;
  for (size_t I = 0; I < Bytes.size(); ++I)
    if (Bytes[I] != 0)
      Order.push_back(I);
  llvm::stable_sort(Order,
                    [&](size_t A, size_t B) { return Bytes[A] > Bytes[B]; });
  for (size_t I : Order)
    Names.emplace_back(StorageFormats[I].Name);
  return Names.empty() ? "f32" : llvm::join(Names, "+");
}

Result<OwningOpRef<ModuleOp>> tenon::importConfig(MLIRContext &Context,
                                                  const Config &Settings) {
  auto Model = Importer(Context, Settings, {}).run(std::nullopt, "");
  if (!Model)
    return Model.error();
  return std::move(Model->Module);
}

Result<ImportedModel> tenon::importNamed(MLIRContext &Context,
                                         const std::string &Path,
                                         const std::string &WeightsDirectory,
                                         const ImportOptions &Options) {
  if (StringRef(Path).ends_with(".mlir")) {
    if (!Options.IgnoredKeys.empty())
      return Error(Path + ": --ignore-config-key: a model in MLIR has no "
                          "config.json");
    return importMlir(Context, Path, WeightsDirectory);
  }
  if (!WeightsDirectory.empty())
    return Error("--weights is '" + WeightsDirectory +
                 "': expected it with a .mlir model only, others have weights "
                 "of their own");
  return importModel(Context, Path, Options);
}

Result<ImportedModel> tenon::importDescription(MLIRContext &Context,
                                               const std::string &Path,
                                               ImportOptions Options) {
  std::error_code Ignored;
  bool IsPlanned =
      std::filesystem::is_directory(Path, Ignored) && !Checkpoint::isIn(Path);
  Options.ConfigOnly = IsPlanned || StringRef(Path).ends_with(".json");
  auto Model = importNamed(Context, Path, "", Options);
  if (Model && IsPlanned)
    Model->Notes.push_back(Path +
                           ": has no weights: all matrices are taken "
                           "to be of the config's dtype, " +
                           Model->StoredType);
  return Model;
}
