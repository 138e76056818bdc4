//===- Import.cpp - Model directories to graphs ---------------------------===//

#include "compiler/Families/Import.h"

#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Families/Family.h"
#include "compiler/Families/GenerationSettings.h"
#include "compiler/Families/ImageSettings.h"
#include "compiler/Families/Sentence.h"

#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <filesystem>

using namespace mlir;
using namespace tenon;

namespace {

/// The family that the config's model_type names.
Result<const Family *> findFamily(const Config &Settings) {
  std::string Known;
  for (const Family *F : families())
    Known += (Known.empty() ? "one of " : ", ") + std::string(F->ModelType);
  if (!Settings.has("model_type"))
    return Error(Settings.file() +
                 ": field 'model_type' is missing: expected " + Known);
  auto Name = Settings.string("model_type");
  if (!Name)
    return Name.error();
  for (const Family *F : families())
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
  TensorUse(const Checkpoint *Weights, std::optional<ElementType> MatrixType)
      : Weights(Weights), MatrixType(MatrixType) {}

  /// Without a checkpoint there is a tensor of every name.
  Result<ElementType> keep(StringRef Name, ArrayRef<int64_t> Shape) {
    std::optional<ElementType> Type = MatrixType;
    if (Weights) {
      auto View = TensorView::resolve(*Weights, std::string_view(Name),
                                      {Shape.data(), Shape.size()});
      if (!View)
        return View.error();
      for (std::string_view Tensor : View->tensors())
        Used.insert(Tensor);
      if (!Type)
        Type = View->type() == ElementType::BF16 ? ElementType::BF16
                                                 : ElementType::F32;
    }
    if (Shape.size() == 1)
      return ElementType::F32;
    HasBf16 |= Type == ElementType::BF16;
    return Type.value_or(ElementType::F32);
  }

  /// An error that names the first tensor that is neither used nor among
  /// `Unused`; notes those that are.
  Status checkSurplus(std::string_view ModelType,
                      const std::vector<std::string> &Unused,
                      std::vector<std::string> &Notes) const {
    for (std::string_view Name : Weights->names()) {
      if (Used.contains(Name))
        continue;
      std::string Where =
          Weights->find(Name)->File->path() + ": tensor " + printable(Name);
      if (llvm::none_of(Unused, [&](StringRef Pattern) {
            return matches(Name, Pattern);
          }))
        return Error(Where + ": surplus: expected only tensors of a " +
                     std::string(ModelType) + " model as its config says");
      Notes.push_back(Where + " is not needed");
    }
    return {};
  }

  bool keepsBf16() const { return HasBf16; }

private:
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
  llvm::StringSet<> Used;
  bool HasBf16 = false;
};

/// What the cache keeps: bf16 where the matrices are.
ElementType cacheElement(const Checkpoint *Weights,
                         std::optional<ElementType> MatrixType) {
  if (MatrixType || !Weights)
    return MatrixType.value_or(ElementType::F32);
  for (std::string_view Name : Weights->names()) {
    const TensorInfo *Tensor = Weights->find(Name);
    if (Tensor->StoredType == "BF16" && Tensor->Shape.size() >= 2)
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
Result<std::optional<PoolingOptions>> readPooling(const std::string &Path,
                                                  const ModelSizes &Sizes,
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
/// as ViT's processor does when it is told nothing but the size.
Result<ImageInfo> readImages(const std::string &Path, const VisionModel &Vision,
                             std::vector<std::string> &Notes) {
  ImagePreprocessing Steps;
  std::error_code Ignored;
  if (std::filesystem::exists(Path + "/preprocessor_config.json", Ignored)) {
    auto Settings =
        readImageSettings(Path, Vision.Channels, Vision.Height, Vision.Width);
    if (!Settings)
      return Settings.error();
    Steps = std::move(*Settings);
  } else {
    Steps.Channels = Vision.Channels;
    Steps.Height = Steps.ResizeHeight = Vision.Height;
    Steps.Width = Steps.ResizeWidth = Vision.Width;
    Steps.Mean.assign(static_cast<size_t>(Vision.Channels), 0.5);
    Steps.Std = Steps.Mean;
    Notes.push_back(Path + ": has no preprocessor_config.json: image files are "
                           "prepared as ViT does by default");
  }
  return ImageInfo{Vision.Channels,    Vision.Height,     Vision.Width,
                   Vision.PatchHeight, Vision.PatchWidth, std::move(Steps)};
}

} // namespace

Result<ImportedModel> tenon::importModel(MLIRContext &Context,
                                         const std::string &Path,
                                         const ImportOptions &Options) {
  std::error_code Ignored;
  bool IsDirectory = std::filesystem::is_directory(Path, Ignored);
  auto Settings = Options.ConfigOnly && !IsDirectory ? Config::openFile(Path)
                                                     : Config::open(Path);
  if (!Settings)
    return Settings.error();
  auto Kind = findFamily(*Settings);
  if (!Kind)
    return Kind.error();

  ImportedModel Model;
  std::optional<ElementType> MatrixType = Options.MatrixType;
  if (MatrixType == ElementType::F16)
    return Error("weights kept in f16: expected f32 or bf16");
  if (!Options.ConfigOnly) {
    auto Weights = Checkpoint::open(Path);
    if (!Weights)
      return Weights.error();
    Model.Weights = std::move(*Weights);
  } else if (!MatrixType) {
    auto Type = configType(*Settings);
    if (!Type)
      return Type.error();
    MatrixType = *Type;
  }
  const Checkpoint *Weights = Model.Weights ? &*Model.Weights : nullptr;

  loadModelDialects(Context);
  FamilyInput Input{Context, *Settings, Weights, Options.MaxSequence};
  ConfigReader Reader(Input);
  ModelDescription Description = (*Kind)->Read(Reader);
  if (Reader.error())
    return *Reader.error();
  std::string ModelType((*Kind)->ModelType);
  if (Status S = Settings->refuseUnreadKeys("the family " + ModelType); !S)
    return S.error();
  const ModelSizes &Sizes = std::visit(
      [](auto &M) -> const ModelSizes & { return M.Sizes; }, Description);

  TensorUse Use(Weights, MatrixType);
  ModelBuilder Builder(Context, ModelType,
                       [&](StringRef Name, ArrayRef<int64_t> Shape) {
                         return Use.keep(Name, Shape);
                       });
  ElementType Kept = cacheElement(Weights, MatrixType);
  if (auto *Decoder = std::get_if<DecoderModel>(&Description)) {
    buildDecoder(Builder, *Decoder, Kept);
    if (Status S = setGeneration(*Settings, Sizes.Vocabulary, {}, Model); !S)
      return S.error();
  } else if (auto *Encoder = std::get_if<EncoderModel>(&Description)) {
    std::optional<PoolingOptions> Pooling;
    if (IsDirectory) {
      auto Read = readPooling(Path, Sizes, Model);
      if (!Read)
        return Read.error();
      Pooling = *Read;
    }
    buildEncoder(Builder, *Encoder, Pooling);
    Model.Labels = Encoder->Answer.Labels;
  } else if (auto *Translation = std::get_if<TranslationModel>(&Description)) {
    buildTranslation(Builder, *Translation, Kept);
    GenerationDefaults Defaults{true, Translation->DefaultStart,
                                Translation->DefaultForcedLast};
    if (Status S = setGeneration(*Settings, Sizes.Vocabulary, Defaults, Model);
        !S)
      return S.error();
  } else if (auto *Vision = std::get_if<VisionModel>(&Description)) {
    buildVision(Builder, *Vision);
    Model.Labels = Vision->Answer.Labels;
    // Pixel values can be given without settings for files.
    if (IsDirectory) {
      auto Images = readImages(Path, *Vision, Model.Notes);
      if (!Images)
        return Images.error();
      Model.Image = std::move(*Images);
    }
  }
  auto Module = Builder.finish();
  if (!Module)
    return Module.error();
  Model.Module = std::move(*Module);
  Model.StoredType = Use.keepsBf16() ? "bf16" : "f32";
  if (Weights) {
    const auto &Unused = std::visit(
        [](auto &M) -> const std::vector<std::string> & {
          return M.UnusedTensors;
        },
        Description);
    if (Status S = Use.checkSurplus(ModelType, Unused, Model.Notes); !S)
      return S.error();
  }
  if (std::string Tokenizer = Path + "/tokenizer.json";
      IsDirectory && std::filesystem::exists(Tokenizer, Ignored))
    Model.TokenizerPath = Tokenizer;
  return Model;
}
