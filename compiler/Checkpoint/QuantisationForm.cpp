//===- QuantisationForm.cpp - What quantization_config says ---------------===//

#include "compiler/Checkpoint/QuantisationForm.h"

#include <algorithm>

using namespace tenon;

using Method = QuantisationForm::Method;

std::optional<Method> tenon::quantMethodNamed(std::string_view Name) {
  static constexpr std::pair<std::string_view, Method> Methods[] = {
      {"gptq", Method::GPTQ},
      {"awq", Method::AWQ},
      {"compressed-tensors", Method::CompressedTensors},
      {"fp8", Method::FP8},
      {"mxfp4", Method::MXFP4}};
  for (auto [Known, Value] : Methods)
    if (Known == Name)
      return Value;
  return std::nullopt;
}

/// How the numbers were found, which modules have some, which tensors show, and
/// what kernels of other programs need; of compressed-tensors, in groups and
/// their schemes too. Shapes of scales say what is in a group. Activations are
/// quantised by --activations alone.
static constexpr std::string_view InertSettings[] = {
    "act_group_aware",
    "activation_scheme",
    "actorder",
    "batch_size",
    "block_name_to_quantize",
    "cache_block_outputs",
    "damp_auto_increment",
    "damp_percent",
    "dataset",
    "desc_act",
    "disable_exllama",
    "do_fuse",
    "dynamic",
    "exllama_config",
    "fuse_max_seq_len",
    "global_compression_ratio",
    "group_size",
    "ignore",
    "input_activations",
    "is_marlin_format",
    "lm_head",
    "max_input_length",
    "meta",
    "model_file_base_name",
    "model_name_or_path",
    "model_seqlen",
    "module_name_preceding_first_block",
    "modules_in_block_to_quantize",
    "modules_to_fuse",
    "modules_to_not_convert",
    "mse",
    "observer",
    "observer_kwargs",
    "output_activations",
    "pack_dtype",
    "pad_token_id",
    "quantization_status",
    "quantizer",
    "scale_dtype",
    "static_groups",
    "strategy",
    "sym",
    "symmetric",
    "targets",
    "tokenizer",
    "true_sequential",
    "use_cuda_fp16",
    "use_exllama",
    "version",
    "zero_point",
    "zp_dtype"};

static void discardSettings(const Config &Settings) {
  Settings.discardInert();
  for (std::string_view Key : InertSettings)
    Settings.discard(Key);
}

static Status readGptq(const Config &Settings, QuantisationForm &Form) {
  auto Bits = Settings.integer("bits", 2, 8);
  if (!Bits)
    return Bits.error();
  if (*Bits > 4 && *Bits != 8)
    return Settings.expected("bits", "2, 3, 4 or 8");
  Form.Bits = {*Bits};
  auto Size = Settings.integerOr("group_size", -1, -1, INT32_MAX);
  if (!Size)
    return Size.error();
  if (*Size == 0)
    return Settings.expected("group_size", "-1 or at least 1");
  if (*Size > 0)
    Form.GroupSize = *Size;
  // `format` is the newer name.
  std::string Layout = "gptq";
  for (std::string_view Key : {"checkpoint_format", "format"}) {
    auto Format = Settings.optionalString(Key);
    if (!Format)
      return Format.error();
    if (!*Format)
      continue;
    if (**Format != "gptq" && **Format != "gptq_v2")
      return Settings.expected(Key, "gptq or gptq_v2");
    if (Key == "format" && Settings.has("checkpoint_format") &&
        **Format != Layout)
      return Settings.expected(Key, "the same as checkpoint_format");
    Layout = **Format;
  }
  Form.ZerosLessOne = Layout == "gptq";
  if (Settings.has("rotation"))
    if (auto Rotation = Settings.optionalString("rotation");
        !Rotation || *Rotation)
      return Settings.expected("rotation", "no rotation");
  // Modules with bits or groups of their own; those after "-:" are plain, as
  // their tensors say.
  auto Dynamic = Settings.optionalObject("dynamic");
  if (!Dynamic)
    return Dynamic.error();
  if (*Dynamic)
    for (const std::string &Path : (*Dynamic)->unreadKeys())
      if (!Path.starts_with("quantization_config.dynamic.-:"))
        return Settings.expected("dynamic",
                                 "no settings of single modules but '-:', "
                                 "which leaves them as they are");
  return {};
}

static Status readAwq(const Config &Settings) {
  auto Bits = Settings.integer("bits", 4, 4);
  if (!Bits)
    return Bits.error();
  auto Version = Settings.stringOr("version", "gemm");
  if (!Version)
    return Version.error();
  if (*Version != "gemm" && *Version != "GEMM")
    return Settings.expected("version", "gemm");
  return {};
}

static Status readCompressedTensors(const Config &Settings,
                                    QuantisationForm &Form) {
  auto Format = Settings.string("format");
  if (!Format)
    return Format.error();
  constexpr std::string_view Read[] = {"pack-quantized", "int-quantized",
                                       "naive-quantized", "float-quantized"};
  if (std::ranges::find(Read, *Format) == std::end(Read))
    return Settings.expected("format",
                             "pack-quantized, int-quantized, naive-quantized "
                             "or float-quantized");
  if (auto Sparsity = Settings.optionalObject("sparsity_config"); !Sparsity)
    return Sparsity.error();
  else if (*Sparsity) {
    auto Kind = (*Sparsity)->stringOr("format", "dense");
    if (!Kind)
      return Kind.error();
    if (*Kind != "dense")
      return (*Sparsity)->expected("format", "dense");
    Settings.discard("sparsity_config");
  }
  if (auto Transform = Settings.optionalObject("transform_config"); !Transform)
    return Transform.error();
  else if (*Transform && (*Transform)->has("config_groups"))
    return Settings.expected("transform_config", "no rotations");
  auto Groups = Settings.object("config_groups");
  if (!Groups)
    return Groups.error();
  for (const std::string &Path : Groups->unreadKeys()) {
    std::string Name = Path.substr(Path.rfind('.') + 1);
    auto Group = Groups->object(Name);
    if (!Group)
      return Group.error();
    auto Scheme = Group->optionalObject("weights");
    if (!Scheme)
      return Scheme.error();
    if (!*Scheme)
      continue;
    std::string_view Expected = *Format == "float-quantized" ? "float" : "int";
    auto Kind = (*Scheme)->stringOr("type", Expected);
    if (!Kind)
      return Kind.error();
    if (*Kind != Expected && *Format != "naive-quantized")
      return (*Scheme)->expected("type", Expected);
    auto Bits = (*Scheme)->integer("num_bits", 2, 8);
    if (!Bits)
      return Bits.error();
    if (std::ranges::find(Form.Bits, *Bits) == Form.Bits.end())
      Form.Bits.push_back(*Bits);
    auto Tile = (*Scheme)->optionalIntegers("block_structure", 1, INT32_MAX);
    if (!Tile)
      return Tile.error();
    if (Tile->size() == 2)
      Form.Tile = *Tile;
    discardSettings(*Group);
    discardSettings(**Scheme);
  }
  return {};
}

static Status readFp8(const Config &Settings, QuantisationForm &Form) {
  auto Kind = Settings.stringOr("fmt", "e4m3");
  if (!Kind)
    return Kind.error();
  if (*Kind != "e4m3")
    return Settings.expected("fmt", "e4m3");
  auto Tile = Settings.optionalIntegers("weight_block_size", 1, INT32_MAX);
  if (!Tile)
    return Tile.error();
  if (!Tile->empty() && Tile->size() != 2)
    return Settings.expected("weight_block_size", "two sizes");
  Form.Tile = *Tile;
  return {};
}

Result<QuantisationForm> tenon::readQuantisationForm(Method Method,
                                                     const Config &Settings) {
  QuantisationForm Form{Method};
  auto Read = [&]() -> Status {
    switch (Method) {
    case Method::GPTQ:
      return readGptq(Settings, Form);
    case Method::AWQ:
      return readAwq(Settings);
    case Method::CompressedTensors:
      return readCompressedTensors(Settings, Form);
    case Method::FP8:
      return readFp8(Settings, Form);
    case Method::MXFP4:
      return {};
    }
    return {};
  };
  if (Status Done = Read(); !Done)
    return Done.error();
  discardSettings(Settings);
  return Form;
}
