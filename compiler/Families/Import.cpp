//===- Import.cpp - Model directories to graphs ---------------------------===//

#include "compiler/Families/Import.h"

#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Families/Family.h"
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

/// Ends of sequence: those of `Settings` that the vocabulary has.
Status readEnds(const Config &Settings, int64_t Vocabulary,
                ImportedModel &Model) {
  auto Ids = Settings.optionalIntegers("eos_token_id", 0, INT32_MAX);
  if (!Ids)
    return Ids.error();
  for (int64_t Id : *Ids) {
    if (Id < Vocabulary)
      Model.Generation.EndOfSequence.push_back(static_cast<int32_t>(Id));
    else
      Model.Notes.push_back(Settings.file() + ": field 'eos_token_id' has " +
                            std::to_string(Id) + ", which a vocabulary of " +
                            std::to_string(Vocabulary) + " never reaches");
  }
  return {};
}

/// Settings of generation_config.json that say nothing about which token is
/// taken.
bool isInertForGeneration(const Config &Settings, const std::string &Key) {
  static constexpr std::string_view Inert[] = {
      "_from_model_config",   "bos_token_id",
      "cache_implementation", "max_length",
      "max_new_tokens",       "output_attentions",
      "output_hidden_states", "output_scores",
      "pad_token_id",         "return_dict_in_generate",
      "transformers_version", "use_cache"};
  if (std::find(std::begin(Inert), std::end(Inert), Key) != std::end(Inert) ||
      !Settings.has(Key))
    return true;
  // Penalties and such that are off.
  auto Number = Settings.number(Key);
  if (Number && (*Number == (StringRef(Key).ends_with("penalty") ? 1 : 0) ||
                 (*Number == 1 &&
                  (StringRef(Key).starts_with("num_") || Key == "typical_p"))))
    return true;
  auto Flag = Settings.boolean(Key);
  return Flag && !*Flag;
}

Status readGeneration(const Config &Settings, int64_t Vocabulary,
                      ImportedModel &Model) {
  std::optional<Config> Generation = Settings.generation();
  if (!Generation || !Generation->has("eos_token_id"))
    if (Status S = readEnds(Settings, Vocabulary, Model); !S)
      return S;
  if (!Generation)
    return {};
  if (Status S = readEnds(*Generation, Vocabulary, Model); !S)
    return S;
  auto Sample = Generation->booleanOr("do_sample", false);
  auto Temperature = Generation->optionalNumber("temperature", 0, 1e6);
  auto TopK = Generation->optionalInteger("top_k", 0, INT32_MAX);
  auto TopP = Generation->optionalNumber("top_p", 0, 1);
  if (!Sample)
    return Sample.error();
  if (!Temperature)
    return Temperature.error();
  if (!TopK)
    return TopK.error();
  if (!TopP)
    return TopP.error();
  Model.Generation.Sample = *Sample;
  Model.Generation.Temperature = *Temperature;
  Model.Generation.TopK = *TopK;
  Model.Generation.TopP = *TopP;
  for (const std::string &Key : Generation->unreadKeys())
    if (!isInertForGeneration(*Generation, Key))
      Model.Notes.push_back(
          Generation->expected(Key, "nothing, as generating leaves it out")
              .message());
  return {};
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
  if (auto *Decoder = std::get_if<DecoderModel>(&Description)) {
    buildDecoder(Builder, *Decoder, cacheElement(Weights, MatrixType));
    if (Status S = readGeneration(*Settings, Sizes.Vocabulary, Model); !S)
      return S.error();
  } else if (auto *Encoder = std::get_if<EncoderModel>(&Description)) {
    std::optional<PoolingOptions> Pooling;
    if (IsDirectory) {
      auto Sentence = readSentenceModel(Path, Sizes.Width);
      if (!Sentence)
        return Sentence.error();
      if (*Sentence) {
        Pooling = (*Sentence)->Pooling;
        Model.MaxTextTokens =
            std::min((*Sentence)->MaxTextTokens.value_or(Sizes.MaxSequence),
                     Sizes.MaxSequence);
      }
    }
    buildEncoder(Builder, *Encoder, Pooling);
    Model.Labels = Encoder->Answer.Labels;
  } else if (auto *Translation = std::get_if<TranslationModel>(&Description)) {
    buildTranslation(Builder, *Translation, cacheElement(Weights, MatrixType));
    if (Status S = readGeneration(*Settings, Sizes.Vocabulary, Model); !S)
      return S.error();
  } else if (auto *Vision = std::get_if<VisionModel>(&Description)) {
    buildVision(Builder, *Vision);
    Model.Labels = Vision->Answer.Labels;
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
