//===- Checkpoint.cpp - The weights of a model directory ------------------===//

#include "compiler/Checkpoint/Checkpoint.h"

#include "compiler/Checkpoint/JsonEvents.h"
#include "compiler/Checkpoint/StoredFormat.h"
#include "runtime/Support/Half.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace tenon;

namespace {

/// Collects an index: {"weight_map": {tensor: shard}, "metadata"?: anything}.
class IndexReader final : public JsonEvents {
public:
  explicit IndexReader(std::string Path) : Path(std::move(Path)) {}

  Status open(char Bracket) override {
    ++Depth;
    if (Depth == 1 && Bracket != '{')
      return Error(Path + ": index is an array: expected an object");
    if (Depth == 2 && Key == "weight_map") {
      if (Bracket != '{')
        return wrongMap("an array");
      if (HasMap)
        return Error(Path + ": duplicate field 'weight_map'");
      HasMap = InMap = true;
    } else if (InMap) {
      return wrongShard(Bracket == '{' ? "an object" : "an array");
    }
    return {};
  }

  Status close() override {
    if (Depth-- == 2)
      InMap = false;
    return {};
  }

  Status key(std::string &NewKey) override {
    Key = std::move(NewKey);
    if (!InMap)
      return {};
    if (ShardOf.size() == MaxTensors)
      return Error(Path + ": field 'weight_map' has more than " +
                   std::to_string(MaxTensors) + " tensors");
    return checkName(Key, MaxTensorName,
                     Path + ": tensor " + std::to_string(ShardOf.size()));
  }

  Status scalar(const Json &Value) override {
    if (Depth == 0)
      return Error(Path + ": index is no object: expected an object");
    if (Depth == 1 && Key == "weight_map")
      return wrongMap(Value.is_string() ? "a string" : Value.dump());
    if (!InMap)
      return {};
    if (!Value.is_string())
      return wrongShard(Value.dump());
    const auto &Shard = Value.get_ref<const std::string &>();
    if (Status Checked = checkShard(Shard); !Checked)
      return Checked;
    ShardOf.emplace_back(std::move(Key), Shard);
    return {};
  }

  std::vector<std::pair<std::string, std::string>> ShardOf;
  bool HasMap = false;

private:
  Error wrongMap(const std::string &Found) const {
    return Error(Path + ": field 'weight_map' is " + Found +
                 ": expected an object from tensor names to shards");
  }
  Error wrongShard(const std::string &Found) const {
    return Error(Path + ": shard of tensor " + printable(Key) + " is " + Found +
                 ": expected a file name");
  }

  /// A shard lies beside its index: a path could lead anywhere.
  Status checkShard(const std::string &Shard) const {
    std::string Context = Path + ": shard of tensor " + printable(Key);
    if (Status Named = checkName(Shard, 255, Context); !Named)
      return Named;
    if (Shard.find('/') != std::string::npos)
      return wrongShard(printable(Shard) + ", a path");
    if (!Shard.ends_with(".safetensors"))
      return Error(Context + " is " + printable(Shard) +
                   ": expected a name ending in .safetensors");
    return {};
  }

  std::string Path;
  std::string Key;
  int Depth = 0;
  bool InMap = false;
};

bool exists(const std::string &Path) {
  // lstat's answer, so that a dangling link is reported by the opening.
  std::error_code Ignored;
  return std::filesystem::exists(
      std::filesystem::symlink_status(Path, Ignored));
}

/// Why `Directory` holds no checkpoint that can be read.
Error nothingToRead(const std::string &Directory) {
  std::error_code Failure;
  std::filesystem::directory_iterator Entries(Directory, Failure), End;
  if (Failure)
    return Error(Directory +
                 ": cannot read the directory: " + Failure.message());
  std::set<std::string> Pickles, Others;
  for (; !Failure && Entries != End; Entries.increment(Failure)) {
    std::string Suffix = Entries->path().extension().string();
    if (Suffix == ".bin" || Suffix == ".pt" || Suffix == ".pth" ||
        Suffix == ".ckpt")
      Pickles.insert(Entries->path().filename().string());
    else if (Suffix == ".safetensors")
      Others.insert(Entries->path().filename().string());
  }
  if (!Others.empty())
    return Error(Directory + ": holds weights under other names, " +
                 printable(*Others.begin()) +
                 (Others.size() == 1
                      ? ""
                      : " and " + std::to_string(Others.size() - 1) + " more") +
                 ": expected model.safetensors, or shards that "
                 "model.safetensors.index.json names, as save_pretrained "
                 "writes them");
  if (!Pickles.empty())
    return Error(Directory + ": holds only the pickle checkpoint " +
                 printable(*Pickles.begin()) +
                 ", which can run code when it is read: expected "
                 "model.safetensors (load the pickle where that is safe and "
                 "save it with save_pretrained)");
  return Error(Directory + ": holds neither model.safetensors nor "
                           "model.safetensors.index.json");
}

std::string contextOf(const TensorInfo &Tensor) {
  return Tensor.File->path() + ": tensor " + printable(Tensor.Name);
}

Error notFloat(const TensorInfo &Tensor) {
  return Error(contextOf(Tensor) + " has type " + Tensor.StoredType +
               ": expected F32, F16 or BF16");
}

bool isWithin(int64_t First, int64_t Count, int64_t Size) {
  return First >= 0 && Count >= 0 && First <= Size && Count <= Size - First;
}

template <typename Convert>
void widen(std::span<const std::byte> Bytes, float *Out, Convert ToFloat) {
  for (size_t I = 0; I < Bytes.size() / 2; ++I) {
    uint16_t Bits;
    std::memcpy(&Bits, Bytes.data() + 2 * I, 2);
    Out[I] = ToFloat(Bits);
  }
}

} // namespace

static std::string singleFileIn(const std::string &Directory) {
  return Directory + "/model.safetensors";
}

static std::string indexIn(const std::string &Directory) {
  return singleFileIn(Directory) + ".index.json";
}

bool Checkpoint::isIn(const std::string &Directory) {
  return exists(singleFileIn(Directory)) || exists(indexIn(Directory));
}

Result<Checkpoint> Checkpoint::open(const std::string &Directory) {
  std::string Single = singleFileIn(Directory);
  std::string Index = indexIn(Directory);
  if (!exists(Single))
    return exists(Index) ? openSharded(Directory, Index)
                         : nothingToRead(Directory);
  Result<SafetensorsFile> File = SafetensorsFile::open(Single);
  if (!File)
    return File.error();
  Checkpoint Opened;
  Opened.Path = Single;
  Opened.Files.push_back(std::move(*File));
  for (const TensorInfo &Tensor : Opened.Files[0].tensors())
    Opened.ByName.push_back(&Tensor);
  return Opened;
}

Result<Checkpoint> Checkpoint::openSharded(const std::string &Directory,
                                           const std::string &IndexPath) {
  Result<std::string> Text = readFile(IndexPath, MaxSafetensorsHeader);
  if (!Text)
    return Text.error();
  if (Status Pointer = refuseGitLfsPointer(*Text, IndexPath); !Pointer)
    return Pointer.error();
  IndexReader Reader(IndexPath);
  if (Status Read = readJsonEvents(*Text, IndexPath, Reader); !Read)
    return Read.error();
  if (!Reader.HasMap)
    return Error(IndexPath + ": missing field 'weight_map': expected an object "
                             "from tensor names to shards");
  auto &ShardOf = Reader.ShardOf;
  std::sort(ShardOf.begin(), ShardOf.end());
  for (size_t I = 1; I < ShardOf.size(); ++I)
    if (ShardOf[I].first == ShardOf[I - 1].first)
      return Error(IndexPath + ": duplicate tensor " +
                   printable(ShardOf[I].first));

  std::set<std::string> Shards;
  for (const auto &[Tensor, Shard] : ShardOf)
    Shards.insert(Shard);
  if (Shards.size() > MaxShards)
    return Error(IndexPath + ": names " + std::to_string(Shards.size()) +
                 " shards: expected at most " + std::to_string(MaxShards));
  Checkpoint Opened;
  Opened.Path = IndexPath;
  for (const std::string &Shard : Shards) {
    std::string ShardPath = Directory + "/" + Shard;
    if (!exists(ShardPath))
      return Error(IndexPath + ": names the shard " + printable(Shard) +
                   ": expected that file beside the index");
    Result<SafetensorsFile> File = SafetensorsFile::open(ShardPath);
    if (!File)
      return File.error();
    Opened.Files.push_back(std::move(*File));
    for (const TensorInfo &Tensor : Opened.Files.back().tensors())
      Opened.ByName.push_back(&Tensor);
  }

  auto &ByName = Opened.ByName;
  std::sort(ByName.begin(), ByName.end(),
            [](const TensorInfo *A, const TensorInfo *B) {
              return A->Name < B->Name;
            });
  for (size_t I = 1; I < ByName.size(); ++I)
    if (ByName[I]->Name == ByName[I - 1]->Name)
      return Error(ByName[I - 1]->File->path() + ": tensor " +
                   printable(ByName[I]->Name) + " is also in " +
                   ByName[I]->File->path() + ": expected it in one shard");
  // Both lists are sorted by name: walk them together.
  for (size_t I = 0; I < std::max(ByName.size(), ShardOf.size()); ++I) {
    bool InShard = I < ByName.size() &&
                   (I >= ShardOf.size() || ByName[I]->Name <= ShardOf[I].first);
    bool InIndex = I < ShardOf.size() &&
                   (I >= ByName.size() || ShardOf[I].first <= ByName[I]->Name);
    if (!InIndex)
      return Error(ByName[I]->File->path() + ": tensor " +
                   printable(ByName[I]->Name) +
                   " is not in the index: expected it in " + IndexPath);
    std::string Listed = Directory + "/" + ShardOf[I].second;
    if (!InShard)
      return Error(IndexPath + ": tensor " + printable(ShardOf[I].first) +
                   " is missing: expected it in the shard " +
                   printable(ShardOf[I].second));
    if (ByName[I]->File->path() != Listed)
      return Error(IndexPath + ": shard of tensor " +
                   printable(ShardOf[I].first) + " is " +
                   printable(ShardOf[I].second) + ": expected " +
                   ByName[I]->File->path() + ", which holds it");
  }
  return Opened;
}

Result<Checkpoint>
Checkpoint::fromTensors(std::vector<std::unique_ptr<MappedFile>> Files,
                        std::vector<TensorInfo> Tensors) {
  Checkpoint Opened;
  Opened.Path = Files.front()->path();
  Opened.Mapped = std::move(Files);
  Opened.Given = std::move(Tensors);
  std::sort(
      Opened.Given.begin(), Opened.Given.end(),
      [](const TensorInfo &A, const TensorInfo &B) { return A.Name < B.Name; });
  for (const TensorInfo &Tensor : Opened.Given) {
    if (!Opened.ByName.empty() && Opened.ByName.back()->Name == Tensor.Name)
      return Error(Opened.Path + ": duplicate tensor " +
                   printable(Tensor.Name));
    Opened.ByName.push_back(&Tensor);
  }
  return Opened;
}

Status Checkpoint::replace(const std::set<std::string_view> &Old,
                           std::vector<TensorInfo> New) {
  std::erase_if(ByName,
                [&](const TensorInfo *T) { return Old.contains(T->Name); });
  Given = std::move(New);
  for (const TensorInfo &Tensor : Given)
    ByName.push_back(&Tensor);
  std::ranges::sort(ByName, {}, &TensorInfo::Name);
  auto Same = std::ranges::adjacent_find(ByName, {}, &TensorInfo::Name);
  if (Same != ByName.end())
    return Error(contextOf(**Same) +
                 " is stored both quantised and as it is: expected it once");
  return {};
}

const TensorInfo *Checkpoint::find(std::string_view Name) const {
  auto Found = std::lower_bound(
      ByName.begin(), ByName.end(), Name,
      [](const TensorInfo *A, std::string_view B) { return A->Name < B; });
  return Found != ByName.end() && (*Found)->Name == Name ? *Found : nullptr;
}

Result<const TensorInfo *>
Checkpoint::requireFloat(std::string_view Name,
                         std::string_view Expected) const {
  const TensorInfo *Tensor = find(Name);
  if (!Tensor)
    return Error(Path + ": missing tensor " + printable(Name) + ": expected " +
                 std::string(Expected));
  if (!Tensor->isFloat())
    return notFloat(*Tensor);
  return Tensor;
}

Result<const TensorInfo *>
Checkpoint::require(std::string_view Name,
                    std::span<const int64_t> Shape) const {
  auto Tensor = requireFloat(Name, "shape " + shapeText(Shape));
  if (Tensor && !std::equal(Shape.begin(), Shape.end(),
                            (*Tensor)->Shape.begin(), (*Tensor)->Shape.end()))
    return Error(contextOf(**Tensor) + " has shape " +
                 shapeText((*Tensor)->Shape) + ": expected " +
                 shapeText(Shape));
  return Tensor;
}

std::vector<std::string_view> Checkpoint::names() const {
  std::vector<std::string_view> Names;
  Names.reserve(ByName.size());
  for (const TensorInfo *Tensor : ByName)
    Names.push_back(Tensor->Name);
  return Names;
}

Status Checkpoint::readRowsAsFloat(const TensorInfo &Tensor, int64_t FirstRow,
                                   int64_t Rows, float *Out) const {
  if (!Tensor.isFloat())
    return notFloat(Tensor);
  int64_t Stored = Tensor.Shape.empty() ? 1 : Tensor.Shape[0];
  if (!isWithin(FirstRow, Rows, Stored))
    return Error(contextOf(Tensor) + ": " + std::to_string(Rows) +
                 " rows from row " + std::to_string(FirstRow) +
                 " wanted: expected them within " + std::to_string(Stored) +
                 " rows");
  int64_t Columns = Tensor.elements() / Stored;
  return readElementsAsFloat(Tensor, FirstRow * Columns, Rows * Columns, Out);
}

Status Checkpoint::readElementsAsFloat(const TensorInfo &Tensor, int64_t First,
                                       int64_t Count, float *Out) const {
  if (!Tensor.isFloat())
    return notFloat(Tensor);
  if (!isWithin(First, Count, Tensor.elements()))
    return Error(contextOf(Tensor) + ": " + std::to_string(Count) +
                 " elements from element " + std::to_string(First) +
                 " wanted: expected them within " +
                 std::to_string(Tensor.elements()) + " elements");
  if (Status Whole = Tensor.File->checkUnchanged(); !Whole)
    return Whole;
  if (Tensor.Source) {
    if (Status Read = Tensor.Source->readElements(First, Count, Out); !Read)
      return Read.error().withContext(contextOf(Tensor));
    return {};
  }
  size_t Size = sizeOf(Tensor.Type);
  widenToFloat(Tensor.Bytes.subspan(static_cast<size_t>(First) * Size,
                                    static_cast<size_t>(Count) * Size),
               Tensor.Type, Out);
  return {};
}

Status Checkpoint::checkUnchanged() const {
  for (const SafetensorsFile &File : Files)
    if (Status Same = File.mapping().checkUnchanged(); !Same)
      return Same;
  for (const auto &File : Mapped)
    if (Status Same = File->checkUnchanged(); !Same)
      return Same;
  return {};
}

void Checkpoint::dropRows(const TensorInfo &Tensor, int64_t FirstRow,
                          int64_t Rows) const {
  int64_t Stored = Tensor.Shape.empty() ? 1 : Tensor.Shape[0];
  FirstRow = std::clamp<int64_t>(FirstRow, 0, Stored);
  Rows = std::clamp<int64_t>(Rows, 0, Stored - FirstRow);
  int64_t Columns = Tensor.elements() / Stored;
  dropElements(Tensor, FirstRow * Columns, Rows * Columns);
}

void Checkpoint::dropElements(const TensorInfo &Tensor, int64_t First,
                              int64_t Count) const {
  First = std::clamp<int64_t>(First, 0, Tensor.elements());
  Count = std::clamp<int64_t>(Count, 0, Tensor.elements() - First);
  if (Count != 0 && Tensor.Source)
    return Tensor.Source->dropElements(First, Count);
  if (Count == 0 || Tensor.Bytes.empty())
    return;
  size_t Size = sizeOf(Tensor.Type);
  dropBytes(Tensor.Bytes.subspan(static_cast<size_t>(First) * Size,
                                 static_cast<size_t>(Count) * Size));
}

void Checkpoint::drop(const TensorInfo &Tensor) const {
  dropRows(Tensor, 0, INT64_MAX);
}

void tenon::widenToFloat(std::span<const std::byte> Bytes, ElementType Type,
                         float *Out) {
  if (Bytes.empty())
    return;
  switch (Type) {
  case ElementType::F32:
    std::memcpy(Out, Bytes.data(), Bytes.size());
    break;
  case ElementType::F16:
    widen(Bytes, Out, halfToFloat);
    break;
  case ElementType::BF16:
    widen(Bytes, Out, bf16ToFloat);
    break;
  }
}
