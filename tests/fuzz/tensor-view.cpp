//===- tensor-view.cpp - Keys that are expressions over tensors -----------===//
//
// Input: four bytes for the shape that is asked for, then the expression.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Support/Json.h"
#include "tests/fuzz/FuzzTarget.h"

#include <algorithm>

using namespace tenon;

namespace {

/// Tensors of one to three dimensions, and stacks of each, with values that
/// tell elements apart.
struct Stored {
  fuzz::MemoryFile File;
  std::optional<Checkpoint> Weights;

  Stored() {
    struct Entry {
      const char *Name;
      std::vector<int64_t> Shape;
    };
    const Entry Entries[] = {
        {"v", {12}},           {"m", {6, 8}},         {"c", {2, 6, 4}},
        {"e.0.w", {4, 6}},     {"e.1.w", {4, 6}},     {"e.2.w", {4, 6}},
        {"s.0", {5}},          {"s.1", {5}},          {"fused", {12, 3}},
        {"odd [name]^T", {3}}, {"four", {2, 3, 2, 2}}};
    std::string Header = "{", Data;
    for (const Entry &E : Entries) {
      int64_t Elements = 1;
      for (int64_t Dim : E.Shape)
        Elements *= Dim;
      size_t Begin = Data.size();
      for (int64_t I = 0; I < Elements; ++I) {
        float Value = static_cast<float>(Begin + I);
        Data.append(reinterpret_cast<const char *>(&Value), sizeof(Value));
      }
      Json Shape = E.Shape;
      Header += (Header.size() > 1 ? ",\"" : "\"") + std::string(E.Name) +
                R"(":{"dtype":"F32","shape":)" + Shape.dump() +
                R"(,"data_offsets":[)" + std::to_string(Begin) + "," +
                std::to_string(Data.size()) + "]}";
    }
    Header += "}";
    std::string Bytes(8, '\0');
    for (size_t I = 0; I < 8; ++I)
      Bytes[I] = static_cast<char>(Header.size() >> (8 * I));
    File.setContent(Bytes + Header + Data);
    static Result<SafetensorsFile> Opened = SafetensorsFile::open(File.path());
    fuzz::require(static_cast<bool>(Opened), "the fixed file opens");
    Result<MappedFile> Mapped = MappedFile::open(File.path());
    fuzz::require(static_cast<bool>(Mapped), "the fixed file opens twice");
    std::vector<std::unique_ptr<MappedFile>> Files;
    Files.push_back(std::make_unique<MappedFile>(std::move(*Mapped)));
    Result<Checkpoint> Made =
        Checkpoint::fromTensors(std::move(Files), Opened->tensors());
    fuzz::require(static_cast<bool>(Made), "the fixed tensors have names");
    Weights.emplace(std::move(*Made));
  }
};

void read(const TensorView &View) {
  auto Columns = static_cast<size_t>(View.columns());
  std::vector<float> All(static_cast<size_t>(View.rows()) * Columns);
  fuzz::require(View.rows() > 0 && View.columns() > 0 && All.size() <= 4096,
                "a view is no larger than what is stored");
  fuzz::require(
      static_cast<bool>(View.readRowsAsFloat(0, View.rows(), All.data())),
      "all rows can be read");
  std::vector<float> Row(Columns);
  for (int64_t I = 0; I < View.rows(); ++I) {
    fuzz::require(static_cast<bool>(View.readRowsAsFloat(I, 1, Row.data())),
                  "each row can be read");
    fuzz::require(
        std::equal(Row.begin(), Row.end(),
                   All.begin() +
                       static_cast<int64_t>(static_cast<size_t>(I) * Columns)),
        "a row alone is as it is among all");
    View.dropRows(I, 1);
  }
  fuzz::isGood(View.readRowsAsFloat(View.rows(), 1, Row.data()));
  fuzz::require(sameContent(View, View), "a view is the same as itself");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static Stored Files;
  constexpr size_t ShapeBytes = 4;
  if (Size < ShapeBytes)
    return 0;
  std::string_view Expression =
      fuzz::textOf(Data + ShapeBytes, Size - ShapeBytes);
  std::vector<int64_t> Shape;
  for (size_t I = 0; I < size_t(1 + Data[0] % 3); ++I)
    Shape.push_back(Data[1 + I]);
  Result<TensorView> View =
      TensorView::resolve(*Files.Weights, Expression, Shape);
  if (fuzz::isGood(View)) {
    int64_t Elements = 1;
    for (int64_t Dim : Shape)
      Elements *= Dim;
    fuzz::require(View->rows() * View->columns() == Elements,
                  "a view has the shape that is asked for");
    read(*View);
  }
  for (std::optional<int64_t> Rows :
       {std::optional<int64_t>(), std::optional<int64_t>(Data[1])}) {
    Result<TensorView> Matrix =
        TensorView::resolveMatrix(*Files.Weights, Expression, Rows, Data[2]);
    if (fuzz::isGood(Matrix))
      read(*Matrix);
  }
  fuzz::isGood(tensorNamesOf(Expression, 1 + Data[3]));
  return 0;
}
