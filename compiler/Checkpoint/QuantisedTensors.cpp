//===- QuantisedTensors.cpp - Quantised Hugging Face tensors --------------===//
//
// Layouts: GPTQ as GPTQModel writes it (formats gptq and gptq_v2), AWQ as
// AutoAWQ does (version gemm), compressed-tensors (pack-quantized,
// int-quantized, naive-quantized, float-quantized), fp8 and mxfp4 as
// Transformers reads them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/QuantisedTensors.h"

#include "compiler/Checkpoint/QuantisedMatrix.h"

#include <algorithm>
#include <set>

using namespace tenon;

namespace {

using Method = QuantisationForm::Method;

int64_t ceilDiv(int64_t Value, int64_t By) { return (Value + By - 1) / By; }

/// AutoAWQ packs 8 columns into a word in another order: where each is.
constexpr std::array<uint8_t, 8> AwqPlaces = {0, 4, 1, 5, 2, 6, 3, 7};

/// Makes matrices of stored tensors. The first error sticks.
class Restorer {
public:
  Restorer(const QuantisationForm &Form, const Checkpoint &Weights)
      : Form(Form), Weights(Weights) {}

  Status run() {
    for (std::string_view Name : Weights.names()) {
      take(*Weights.find(Name));
      if (Failure)
        return *Failure;
    }
    if (Made.empty())
      return Error(Weights.path() +
                   ": has no quantised matrix: expected those that "
                   "quantization_config promises");
    return {};
  }

  std::vector<TensorInfo> Made;
  std::set<std::string_view> Taken;
  /// The first of the scales of activations, which are not used.
  std::string_view ActivationScale;

private:
  void take(const TensorInfo &Tensor) {
    std::string_view Name = Tensor.Name;
    auto ModuleOf = [&](std::string_view Suffix) -> std::optional<std::string> {
      if (!Name.ends_with(Suffix))
        return std::nullopt;
      return std::string(Name.substr(0, Name.size() - Suffix.size()));
    };
    switch (Form.Kind) {
    case Method::GPTQ:
      if (auto Module = ModuleOf(".qweight"))
        addGptq(*Module, Tensor);
      return;
    case Method::AWQ:
      if (auto Module = ModuleOf(".qweight"))
        addAwq(*Module, Tensor);
      return;
    case Method::CompressedTensors:
    case Method::FP8:
      if (auto Module = ModuleOf(".weight_packed"))
        addPacked(*Module, Tensor);
      else if (auto Module = ModuleOf(".weight");
               Module &&
               (Tensor.StoredType == "I8" || Tensor.StoredType == "F8_E4M3"))
        addPlain(*Module, Tensor);
      else
        takeCacheScale(Name);
      return;
    case Method::MXFP4:
      if (auto Module = ModuleOf("_blocks"))
        addMxfp4(*Module, Tensor);
      return;
    }
  }

  //===--- Checks ---------------------------------------------------------===//

  void fail(const TensorInfo &Tensor, const std::string &What) {
    if (!Failure)
      Failure = Error(Tensor.File->path() + ": tensor " +
                      printable(Tensor.Name) + What);
  }

  bool expectShape(const TensorInfo &Tensor,
                   const std::vector<int64_t> &Shape) {
    if (Tensor.Shape == Shape)
      return true;
    fail(Tensor, " has shape " + shapeText(Tensor.Shape) + ": expected " +
                     shapeText(Shape));
    return false;
  }

  bool expectType(const TensorInfo &Tensor,
                  const std::vector<std::string_view> &Types) {
    std::string Expected;
    for (std::string_view Type : Types) {
      if (Tensor.StoredType == Type)
        return true;
      Expected += (Expected.empty() ? "" : " or ") + std::string(Type);
    }
    fail(Tensor, " has type " + Tensor.StoredType + ": expected " + Expected);
    return false;
  }

  bool expectMatrix(const TensorInfo &Tensor) {
    if (Tensor.Shape.size() == 2)
      return true;
    fail(Tensor,
         " has shape " + shapeText(Tensor.Shape) + ": expected 2 dimensions");
    return false;
  }

  /// The tensor of that name, which is taken; null without.
  const TensorInfo *part(const std::string &Name) {
    const TensorInfo *Found = Weights.find(Name);
    if (Found)
      Taken.insert(Found->Name);
    return Found;
  }

  const TensorInfo *need(const TensorInfo &Main, const std::string &Name,
                         const std::vector<std::string_view> &Types) {
    const TensorInfo *Found = part(Name);
    if (!Found)
      fail(Main, " has no " + printable(Name) + " beside it");
    else if (!expectType(*Found, Types))
      Found = nullptr;
    return Found;
  }

  static std::vector<std::string_view> floats() {
    return {"F16", "BF16", "F32"};
  }

  //===--- Parts ----------------------------------------------------------===//

  static PackedIntegers words(const TensorInfo &Tensor, int64_t Bits,
                              int64_t WordStride, int64_t LineStride) {
    PackedIntegers Packed;
    Packed.Bytes = Tensor.Stored.data();
    Packed.Bits = Bits;
    Packed.WordStride = 4 * WordStride;
    Packed.LineStride = 4 * LineStride;
    return Packed;
  }

  static ScaleTable scales(const TensorInfo &Tensor, int64_t RowStride,
                           int64_t GroupStride) {
    return {Tensor.Stored.data(), Tensor.Type, RowStride, GroupStride};
  }

  /// Groups of `Size` columns; false when there are not as many as scales.
  bool setGroups(QuantisedMatrix &M, const TensorInfo &Scales, int64_t Size) {
    if (ceilDiv(M.Columns, Size) != M.Groups) {
      fail(Scales, " has scales of " + std::to_string(M.Groups) +
                       " groups: expected " +
                       std::to_string(ceilDiv(M.Columns, Size)) +
                       ", for groups of " + std::to_string(Size) + " of the " +
                       std::to_string(M.Columns) + " input features");
      return false;
    }
    for (int64_t Column = 0; Column < M.Columns; ++Column)
      M.GroupOf.push_back(static_cast<int32_t>(Column / Size));
    return true;
  }

  /// Equal groups of columns, as many as there are scales.
  bool setEqualGroups(QuantisedMatrix &M, const TensorInfo &Scales) {
    if (M.Groups < 1 || M.Columns % M.Groups != 0) {
      fail(Scales, " has shape " + shapeText(Scales.Shape) +
                       ": expected scales of equal groups of the " +
                       std::to_string(M.Columns) + " input features");
      return false;
    }
    return setGroups(M, Scales, M.Columns / M.Groups);
  }

  /// Groups that a tensor lists by column.
  bool setListedGroups(QuantisedMatrix &M, const TensorInfo &Index) {
    if (!expectType(Index, {"I32"}) || !expectShape(Index, {M.Columns}))
      return false;
    M.GroupOf.resize(static_cast<size_t>(M.Columns));
    std::memcpy(M.GroupOf.data(), Index.Stored.data(), Index.Stored.size());
    for (int32_t Group : M.GroupOf)
      if (Group < 0 || Group >= M.Groups) {
        fail(Index, " has group " + std::to_string(Group) + ": expected 0 to " +
                        std::to_string(M.Groups - 1));
        return false;
      }
    return true;
  }

  void add(const TensorInfo &Main, std::string Name, QuantisedMatrix M,
           std::string Type) {
    TensorInfo To;
    To.Name = std::move(Name);
    To.Shape = {M.Rows, M.Columns};
    To.File = Main.File;
    To.StoredType = std::move(Type);
    To.Source = makeSource(std::move(M), Main.Stored.size());
    Made.push_back(std::move(To));
  }

  //===--- Methods --------------------------------------------------------===//

  /// qweight I32 [K x bits / 32, N], qzeros I32 [G, N x bits / 32], scales
  /// [G, N], g_idx I32 [K].
  void addGptq(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    int64_t Bits = Form.Bits.front();
    const TensorInfo *Scales = need(Main, Module + ".scales", floats());
    const TensorInfo *Zeros = need(Main, Module + ".qzeros", {"I32"});
    const TensorInfo *Index = part(Module + ".g_idx");
    if (!Scales || !Zeros || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectMatrix(*Scales))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[1];
    M.Columns = Main.Shape[0] * 32 / Bits;
    M.Groups = Scales->Shape[0];
    int64_t ZeroWords = ceilDiv(M.Rows * Bits, 32);
    if (!expectShape(Main, {ceilDiv(M.Columns * Bits, 32), M.Rows}) ||
        !expectShape(*Scales, {M.Groups, M.Rows}) ||
        !expectShape(*Zeros, {M.Groups, ZeroWords}))
      return;
    M.Codes = words(Main, Bits, M.Rows, 1);
    M.Zeros = words(*Zeros, Bits, 1, ZeroWords);
    // One was subtracted from all integers of a word at once, so that a zero
    // point of 0 has borrowed from its neighbour; from those of 3 bits, which
    // lie across words, one by one.
    if (Form.ZerosLessOne && Bits == 3)
      M.Zero = 1;
    else if (Form.ZerosLessOne)
      M.Zeros->WordAddend = UINT32_MAX / ((1u << Bits) - 1);
    M.Scales = scales(*Scales, 1, M.Rows);
    if (Index ? setListedGroups(M, *Index)
              : setGroups(M, *Scales, Form.GroupSize.value_or(M.Columns)))
      add(Main, Module + ".weight", std::move(M),
          "GPTQ, " + std::to_string(Bits) + " bits");
  }

  /// qweight I32 [K, N / 8], qzeros I32 [G, N / 8], scales [G, N].
  void addAwq(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + ".scales", floats());
    const TensorInfo *Zeros = need(Main, Module + ".qzeros", {"I32"});
    if (!Scales || !Zeros || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectMatrix(*Scales))
      return;
    QuantisedMatrix M;
    int64_t Words = Main.Shape[1];
    M.Rows = Words * 8;
    M.Columns = Main.Shape[0];
    M.Groups = Scales->Shape[0];
    if (!expectShape(*Scales, {M.Groups, M.Rows}) ||
        !expectShape(*Zeros, {M.Groups, Words}))
      return;
    M.Codes = words(Main, 4, 1, Words);
    M.LinesAreColumns = true;
    M.Zeros = words(*Zeros, 4, 1, Words);
    M.Codes.Places = M.Zeros->Places = &AwqPlaces;
    M.Scales = scales(*Scales, 1, M.Rows);
    if (setEqualGroups(M, *Scales))
      add(Main, Module + ".weight", std::move(M), "AWQ, 4 bits");
  }

  /// What compressed-tensors and fp8 store of activations.
  void takeActivations(const std::string &Module) {
    for (const char *Suffix : {".input_scale", ".input_zero_point",
                               ".output_scale", ".output_zero_point"})
      if (const TensorInfo *Found = part(Module + Suffix);
          Found && ActivationScale.empty())
        ActivationScale = Found->Name;
  }

  /// The same of what a KV cache in few bits would keep, beside attention.
  void takeCacheScale(std::string_view Name) {
    for (const char *Suffix :
         {".q_scale", ".k_scale", ".v_scale", ".q_zero_point", ".k_zero_point",
          ".v_zero_point"})
      if (Name.ends_with(Suffix)) {
        Taken.insert(Name);
        if (ActivationScale.empty())
          ActivationScale = Name;
      }
  }

  /// Sets the scales, of one number, or [N] or [N, G].
  bool setScales(QuantisedMatrix &M, const TensorInfo &Scales) {
    const std::vector<int64_t> &Shape = Scales.Shape;
    bool IsRow = !Shape.empty() && Shape[0] == M.Rows;
    if (IsRow && Shape.size() <= 2) {
      M.Groups = Shape.size() == 2 ? Shape[1] : 1;
      M.Scales = scales(Scales, M.Groups, 1);
      return setEqualGroups(M, Scales);
    }
    M.Groups = 1;
    M.Scales = scales(Scales, 0, 0);
    M.Scales.RowsPerScale = M.Rows;
    if (Shape.empty() || expectShape(Scales, {1}))
      return setEqualGroups(M, Scales);
    return false;
  }

  /// weight_packed I32 [N, K x bits / 32] of integers plus 2^(bits-1),
  /// weight_shape [2], weight_scale [N, G], weight_zero_point I32
  /// [N x bits / 32, G] likewise, weight_g_idx I32 [K].
  void addPacked(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + ".weight_scale", floats());
    const TensorInfo *Shape =
        need(Main, Module + ".weight_shape", {"I64", "I32"});
    const TensorInfo *Zeros = part(Module + ".weight_zero_point");
    const TensorInfo *Index = part(Module + ".weight_g_idx");
    takeActivations(Module);
    if (!Scales || !Shape || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectShape(*Shape, {2}))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[0];
    int64_t Sizes[2];
    for (size_t I = 0; I < 2; ++I)
      Sizes[I] = readInteger(*Shape, I);
    // Any number of columns that the words can hold.
    M.Columns = Sizes[1];
    constexpr int64_t MaxColumns = int64_t(1) << 40;
    auto Fits = [&](int64_t Bits) {
      return M.Columns >= 1 && M.Columns <= MaxColumns &&
             ceilDiv(M.Columns * Bits, 32) == Main.Shape[1];
    };
    auto Bits = std::find_if(Form.Bits.begin(), Form.Bits.end(), Fits);
    if (Sizes[0] != M.Rows || Bits == Form.Bits.end())
      return fail(Main, " has shape " + shapeText(Main.Shape) +
                            ": expected the packed integers of shape " +
                            shapeText(Sizes) + ", as weight_shape says");
    M.Codes = words(Main, *Bits, 1, Main.Shape[1]);
    M.Zero = 1 << (*Bits - 1);
    if (Index) {
      if (!expectMatrix(*Scales))
        return;
      M.Groups = Scales->Shape[1];
      if (!expectShape(*Scales, {M.Rows, M.Groups}) ||
          !setListedGroups(M, *Index))
        return;
      M.Scales = scales(*Scales, M.Groups, 1);
    } else if (!setScales(M, *Scales)) {
      return;
    }
    if (Zeros) {
      if (!expectType(*Zeros, {"I32"}) ||
          !expectShape(*Zeros, {ceilDiv(M.Rows * *Bits, 32), M.Groups}))
        return;
      M.Zeros = words(*Zeros, *Bits, M.Groups, 1);
      M.Zero = 0;
    }
    add(Main, Module + ".weight", std::move(M),
        "compressed-tensors, " + std::to_string(*Bits) + " bits");
  }

  /// weight I8 or F8_E4M3 [N, K], weight_scale of one number, [N] or [N, G], or
  /// weight_scale_inv of tiles; weight_zero_point I8 as the scale.
  void addPlain(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    takeActivations(Module);
    bool IsFloat = Main.StoredType == "F8_E4M3";
    const TensorInfo *Tiles = part(Module + ".weight_scale_inv");
    const TensorInfo *Scales =
        Tiles ? Tiles : need(Main, Module + ".weight_scale", floats());
    if (!Scales || !expectType(*Scales, floats()) || !expectMatrix(Main))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[0];
    M.Columns = Main.Shape[1];
    M.IsE4M3 = IsFloat;
    M.Codes.Bytes = Main.Stored.data();
    M.Codes.Bits = 8;
    M.Codes.WordBytes = M.Codes.WordStride = 1;
    M.Codes.LineStride = M.Columns;
    if (!IsFloat) {
      M.Codes.Inverted = 0x80;
      M.Zero = 0x80;
    }
    bool IsTiled = Form.Tile.size() == 2 && Scales->Shape.size() == 2;
    if (IsTiled) {
      M.Groups = ceilDiv(M.Columns, Form.Tile[1]);
      M.Scales = scales(*Scales, M.Groups, 1);
      M.Scales.RowsPerScale = Form.Tile[0];
      if (!expectShape(*Scales, {ceilDiv(M.Rows, Form.Tile[0]), M.Groups}) ||
          !setGroups(M, *Scales, Form.Tile[1]))
        return;
    } else if (!setScales(M, *Scales)) {
      return;
    }
    if (const TensorInfo *Zeros = part(Module + ".weight_zero_point");
        Zeros && !IsFloat) {
      if (!expectType(*Zeros, {"I8"}) || !expectShape(*Zeros, Scales->Shape))
        return;
      M.Zeros = M.Codes;
      M.Zeros->Bytes = Zeros->Stored.data();
      M.Zeros->LineStride = M.Scales.RowStride;
      M.ZeroLinesAreRows = true;
      M.Zero = 0;
    }
    add(Main, Module + ".weight", std::move(M), Main.StoredType);
  }

  /// X_blocks U8 [E, N, G, 16], X_scales U8 [E, N, G]: of X [E, 32 G, N].
  void addMxfp4(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + "_scales", {"U8"});
    if (!Scales || !expectType(Main, {"U8"}))
      return;
    if (Main.Shape.size() != 4 || Main.Shape[3] != GroupValues / 2)
      return fail(Main, " has shape " + shapeText(Main.Shape) +
                            ": expected [experts, output features, groups, "
                            "16]");
    const std::vector<int64_t> &Shape = Main.Shape;
    if (!expectShape(*Scales, {Shape[0], Shape[1], Shape[2]}))
      return;
    TensorInfo To;
    To.Name = Module;
    To.Shape = {Shape[0], GroupValues * Shape[2], Shape[1]};
    To.ColumnsFirst = true;
    To.File = Main.File;
    To.StoredType = "MXFP4";
    To.Source = makeMxfp4Source(Main.Stored.data(), Scales->Stored.data());
    Made.push_back(std::move(To));
  }

  static int64_t readInteger(const TensorInfo &Tensor, size_t At) {
    if (Tensor.StoredType == "I64") {
      int64_t Value;
      std::memcpy(&Value, Tensor.Stored.data() + 8 * At, 8);
      return Value;
    }
    int32_t Value;
    std::memcpy(&Value, Tensor.Stored.data() + 4 * At, 4);
    return Value;
  }

  const QuantisationForm &Form;
  const Checkpoint &Weights;
  std::optional<Error> Failure;
};

} // namespace

Status tenon::restoreQuantised(const QuantisationForm &Form,
                               Checkpoint &Weights,
                               std::vector<std::string> &Notes) {
  if (Status Same = Weights.checkUnchanged(); !Same)
    return Same;
  Restorer Work(Form, Weights);
  if (Status Done = Work.run(); !Done)
    return Done;
  if (!Work.ActivationScale.empty())
    Notes.push_back(Weights.find(Work.ActivationScale)->File->path() +
                    ": scales of activations, such as " +
                    printable(Work.ActivationScale) +
                    ", are not used: activations are quantised by groups, or "
                    "not at all (--activations)");
  return Weights.replace(Work.Taken, std::move(Work.Made));
}
