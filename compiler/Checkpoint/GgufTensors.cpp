//===- GgufTensors.cpp - GGUF tensors as a checkpoint's -------------------===//

#include "compiler/Checkpoint/GgufTensors.h"

#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <charconv>
#include <map>

using namespace tenon;

namespace {

using RowOrder = std::shared_ptr<const std::vector<int64_t>>;

Error badScale() {
  return Error("a block's scale is infinite or no number: expected finite "
               "scales");
}

int64_t product(std::span<const int64_t> Shape) {
  int64_t Elements = 1;
  for (int64_t Dim : Shape)
    Elements *= Dim;
  return Elements;
}

/// The bytes of whole blocks that hold elements [First, First + Count).
std::span<const std::byte> blocksOf(const StoredFormat &Format,
                                    std::span<const std::byte> Bytes,
                                    uint64_t First, uint64_t Count) {
  uint64_t Begin = First / Format.Elements;
  uint64_t End = (First + Count + Format.Elements - 1) / Format.Elements;
  return Bytes.subspan(Begin * Format.Bytes, (End - Begin) * Format.Bytes);
}

/// Stored rows, in an order of their own, with a number added to each element.
class StoredRows final : public TensorSource {
public:
  /// Without `Order` the rows are as stored; with it, row r is stored as row
  /// (*Order)[r], of `Columns` elements.
  StoredRows(const StoredFormat &Format, std::span<const std::byte> Bytes,
             RowOrder Order, int64_t Columns, float Added)
      : Format(Format), Bytes(Bytes), Order(std::move(Order)), Columns(Columns),
        Added(Added) {}

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    bool Finite = true;
    forEachRun(First, Count, [&](int64_t Begin, int64_t Size, int64_t At) {
      Finite &= decodeElements(Format, Bytes, uint64_t(Begin), uint64_t(Size),
                               Out + At);
    });
    if (!Finite)
      return badScale();
    if (Added != 0)
      for (int64_t I = 0; I < Count; ++I)
        Out[I] += Added;
    return {};
  }

  void dropElements(int64_t First, int64_t Count) const override {
    // One range around all: neighbours in another order lie close together.
    int64_t Low = INT64_MAX, High = 0;
    forEachRun(First, Count, [&](int64_t Begin, int64_t Size, int64_t) {
      Low = std::min(Low, Begin);
      High = std::max(High, Begin + Size);
    });
    if (Low < High)
      dropBytes(blocksOf(Format, Bytes, uint64_t(Low), uint64_t(High - Low)));
  }

  std::optional<StorageFormat> keptFormat() const override {
    bool IsWhole = !Order || Columns % Format.Elements == 0;
    return IsWhole && Added == 0 ? Format.Kept : std::nullopt;
  }

  Status readBlocks(int64_t First, int64_t Count,
                    std::byte *Out) const override {
    bool Finite = true;
    forEachRun(First, Count, [&](int64_t Begin, int64_t Size, int64_t At) {
      std::span<const std::byte> Blocks =
          blocksOf(Format, Bytes, uint64_t(Begin), uint64_t(Size));
      std::byte *To = Out + At / Format.Elements * Format.Bytes;
      std::copy(Blocks.begin(), Blocks.end(), To);
      float Values[MaxBlockValues];
      for (size_t I = 0; I < Blocks.size(); I += Format.Bytes)
        Finite &= Format.Decode(Blocks.data() + I, 1, Values);
    });
    return Finite ? Status() : Status(badScale());
  }

  const StoredFormat &format() const { return Format; }

private:
  /// Calls `Run(begin, size, at)` for stored elements one after another; `at`
  /// counts from `First`.
  template <typename Function>
  void forEachRun(int64_t First, int64_t Count, Function Run) const {
    if (!Order)
      return Run(First, Count, 0);
    for (int64_t At = 0; At < Count;) {
      int64_t Row = (First + At) / Columns, Column = (First + At) % Columns;
      int64_t Size = std::min(Columns - Column, Count - At);
      Run((*Order)[size_t(Row)] * Columns + Column, Size, At);
      At += Size;
    }
  }

  const StoredFormat &Format;
  std::span<const std::byte> Bytes;
  RowOrder Order;
  int64_t Columns;
  float Added;
};

/// [E, K, N] of a stored [E, N, K].
class Transposed final : public TensorSource {
public:
  Transposed(const GgufTensor &From, int64_t N, int64_t K)
      : Format(*From.Format), Bytes(From.Bytes), N(N), K(K) {}

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    int64_t MatrixSize = K * N;
    bool Finite = true;
    std::vector<float> Row;
    int64_t End = First + Count;
    for (int64_t E = First / MatrixSize; E * MatrixSize < End; ++E) {
      int64_t Begin = std::max(First - E * MatrixSize, int64_t(0));
      int64_t Stop = std::min(End - E * MatrixSize, MatrixSize);
      // These columns of every stored row.
      int64_t FirstK = Begin / N, LastK = (Stop - 1) / N;
      Row.resize(static_cast<size_t>(LastK - FirstK + 1));
      for (int64_t I = 0; I < N; ++I) {
        Finite &=
            decodeElements(Format, Bytes, uint64_t((E * N + I) * K + FirstK),
                           Row.size(), Row.data());
        for (int64_t At = FirstK; At <= LastK; ++At)
          if (int64_t To = At * N + I; To >= Begin && To < Stop)
            Out[E * MatrixSize + To - First] =
                Row[static_cast<size_t>(At - FirstK)];
      }
    }
    return Finite ? Status() : Status(badScale());
  }

  void dropElements(int64_t First, int64_t Count) const override {
    // Only whole matrices: a part of one is spread over all of its rows.
    int64_t Begin = (First + K * N - 1) / (K * N);
    int64_t End = (First + Count) / (K * N);
    if (Begin < End)
      dropBytes(blocksOf(Format, Bytes, uint64_t(Begin * K * N),
                         uint64_t((End - Begin) * K * N)));
  }

private:
  const StoredFormat &Format;
  std::span<const std::byte> Bytes;
  int64_t N, K;
};

/// See interleaveRows.
class InterleavedRows final : public TensorSource {
public:
  InterleavedRows(const std::vector<const GgufTensor *> &From, int64_t Columns)
      : Columns(Columns) {
    for (const GgufTensor *Part : From)
      Parts.push_back(std::make_shared<StoredRows>(*Part->Format, Part->Bytes,
                                                   RowOrder(), Columns, 0));
  }

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    return forEachRun(
        First, Count,
        [&](const StoredRows &Part, int64_t Begin, int64_t Size, int64_t At) {
          return Part.readElements(Begin, Size, Out + At);
        });
  }

  void dropElements(int64_t First, int64_t Count) const override {
    // Of each part, the rows that begin in what is dropped.
    auto Ways = static_cast<int64_t>(Parts.size());
    int64_t Begin = First / Columns / Ways;
    int64_t End = (First + Count) / Columns / Ways;
    for (const auto &Part : Parts)
      Part->dropElements(Begin * Columns, (End - Begin) * Columns);
  }

  std::optional<StorageFormat> keptFormat() const override {
    std::optional<StorageFormat> Format = Parts[0]->keptFormat();
    for (const auto &Part : Parts)
      if (Part->keptFormat() != Format)
        return {};
    return Format && Columns % infoOf(*Format).BlockValues == 0 ? Format
                                                                : std::nullopt;
  }

  Status readBlocks(int64_t First, int64_t Count,
                    std::byte *Out) const override {
    const StoredFormat &Format = Parts[0]->format();
    return forEachRun(
        First, Count,
        [&](const StoredRows &Part, int64_t Begin, int64_t Size, int64_t At) {
          return Part.readBlocks(Begin, Size,
                                 Out + At / Format.Elements * Format.Bytes);
        });
  }

private:
  /// Calls `Run(part, begin, size, at)`, row by row; `at` counts from `First`.
  template <typename Function>
  Status forEachRun(int64_t First, int64_t Count, Function Run) const {
    auto Ways = static_cast<int64_t>(Parts.size());
    for (int64_t At = 0; At < Count;) {
      int64_t Row = (First + At) / Columns, Column = (First + At) % Columns;
      int64_t Size = std::min(Columns - Column, Count - At);
      if (Status Done = Run(*Parts[static_cast<size_t>(Row % Ways)],
                            Row / Ways * Columns + Column, Size, At);
          !Done)
        return Done;
      At += Size;
    }
    return {};
  }

  std::vector<std::shared_ptr<const StoredRows>> Parts;
  int64_t Columns;
};

/// Runs of two sources in turn.
class Alternating final : public TensorSource {
public:
  Alternating(std::shared_ptr<const TensorSource> A, int64_t ASize,
              std::shared_ptr<const TensorSource> B, int64_t BSize)
      : Sides{{std::move(A), ASize}, {std::move(B), BSize}} {}

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    Status Failed;
    forEachRun(First, Count, [&](const Side &S, int64_t Begin, int64_t Size) {
      if (Failed)
        Failed = S.Source->readElements(Begin, Size, Out);
      Out += Size;
    });
    return Failed;
  }

  void dropElements(int64_t First, int64_t Count) const override {
    forEachRun(First, Count, [](const Side &S, int64_t Begin, int64_t Size) {
      S.Source->dropElements(Begin, Size);
    });
  }

private:
  struct Side {
    std::shared_ptr<const TensorSource> Source;
    int64_t Size;
  };

  template <typename Function>
  void forEachRun(int64_t First, int64_t Count, Function Run) const {
    int64_t Both = Sides[0].Size + Sides[1].Size;
    while (Count > 0) {
      int64_t Turn = First / Both, At = First % Both;
      const Side &S = At < Sides[0].Size ? Sides[0] : Sides[1];
      if (&S == &Sides[1])
        At -= Sides[0].Size;
      int64_t Size = std::min(S.Size - At, Count);
      Run(S, Turn * S.Size + At, Size);
      First += Size;
      Count -= Size;
    }
  }

  Side Sides[2];
};

/// The `Bytes` that are stored of one tensor: as they are when nothing is to be
/// done to it.
TensorInfo plain(std::string Name, const GgufTensor &From,
                 std::span<const std::byte> Bytes, std::vector<int64_t> Shape,
                 RowOrder Order, float Added) {
  const StoredFormat &Format = *From.Format;
  TensorInfo To;
  To.Name = std::move(Name);
  To.Type = Format.Type;
  To.Shape = std::move(Shape);
  To.File = From.File;
  To.StoredType = Format.Name;
  if (!Format.isQuantised() && !Order && Added == 0) {
    To.Bytes = Bytes;
    return To;
  }
  int64_t Columns = product(To.Shape) / To.Shape[0];
  To.Source = std::make_shared<StoredRows>(Format, Bytes, std::move(Order),
                                           Columns, Added);
  return To;
}

class Namer {
public:
  Namer(const GgufFile &File, const GgufNaming &Naming)
      : File(File), Naming(Naming) {}

  Status add(const GgufTensor &From) {
    std::string_view Rest = From.Name;
    std::string Prefix;
    const auto *Tables = &Naming.Globals;
    if (Rest.starts_with("blk.")) {
      int64_t Layer = -1;
      const char *End = Rest.data() + Rest.size();
      auto Digits = std::from_chars(Rest.data() + 4, End, Layer);
      if (Digits.ec != std::errc() || Digits.ptr == End || *Digits.ptr != '.' ||
          Layer < 0 || Layer >= Naming.LayerCount)
        return wrong(From, "expected a layer below " +
                               std::to_string(Naming.LayerCount));
      Rest.remove_prefix(static_cast<size_t>(Digits.ptr + 1 - Rest.data()));
      Prefix = std::string(Naming.LayerPrefix) + std::to_string(Layer) + ".";
      Tables = &Naming.Layers;
    }
    for (std::span<const GgufName> Table : *Tables)
      for (const GgufName &Known : Table) {
        bool HasSuffix = Known.Stored.find('.') != std::string_view::npos;
        if (HasSuffix && Rest == Known.Stored)
          return convert(From, Prefix + std::string(Known.Name), Known.Form);
        for (std::string_view Suffix : {".weight", ".bias"})
          if (Rest.size() == Known.Stored.size() + Suffix.size() &&
              Rest.starts_with(Known.Stored) && Rest.ends_with(Suffix))
            return convert(
                From, Prefix + std::string(Known.Name) + std::string(Suffix),
                Known.Form);
      }
    return wrong(From,
                 "expected no such tensor, for the architecture has none");
  }

  std::vector<TensorInfo> Tensors;

private:
  Error wrong(const GgufTensor &From, const std::string &What) const {
    return Error(File.path() + ": tensor " + printable(From.Name) + ": " +
                 What);
  }

  void put(const GgufTensor &From, std::string Name, RowOrder Order = {}) {
    bool IsNorm = From.Name.ends_with("norm.weight");
    Tensors.push_back(plain(std::move(Name), From, From.Bytes, From.Shape,
                            std::move(Order), IsNorm ? -Naming.NormOffset : 0));
  }

  Status convert(const GgufTensor &From, std::string Name, GgufForm Form) {
    switch (Form) {
    case GgufForm::Dropped:
      return {};
    case GgufForm::Same:
      put(From, std::move(Name));
      return {};
    case GgufForm::QueryPairs:
      return putPairs(From, std::move(Name), Naming.Heads);
    case GgufForm::KeyPairs:
      return putPairs(From, std::move(Name), Naming.KvHeads);
    case GgufForm::FusedByHead:
      return putFused(From, std::move(Name));
    case GgufForm::QueryKeyValue:
      return putQueryKeyValue(From, Name);
    case GgufForm::Numbered:
      return putNumbered(From, Name);
    case GgufForm::OneRow: {
      put(From, std::move(Name));
      std::vector<int64_t> &Shape = Tensors.back().Shape;
      Shape = {1, product(Shape)};
      return {};
    }
    case GgufForm::Transposed:
      if (From.Shape.size() == 1) { // A bias.
        put(From, std::move(Name));
        return {};
      }
      if (From.Shape.size() != 2)
        return wrongShape(From, "two dimensions");
      put(From, std::move(Name));
      std::swap(Tensors.back().Shape[0], Tensors.back().Shape[1]);
      Tensors.back().ColumnsFirst = true;
      return {};
    }
    return {};
  }

  Error wrongShape(const GgufTensor &From, const std::string &Expected) const {
    return wrong(From, "shape is " + shapeText(From.Shape) + ": expected " +
                           Expected);
  }

  Status putPairs(const GgufTensor &From, std::string Name, int64_t Heads) {
    if (!Naming.Pairs) {
      put(From, std::move(Name));
      return {};
    }
    int64_t Rows = From.Shape[0];
    if (Rows % (2 * Heads) != 0)
      return wrongShape(From, "an even number of rows for each of " +
                                  std::to_string(Heads) + " heads");
    RowOrder &Order = Pairs[{Rows, Heads}];
    if (!Order) {
      int64_t Dim = Rows / Heads;
      std::vector<int64_t> Stored(static_cast<size_t>(Rows));
      for (int64_t Row = 0; Row < Rows; ++Row) {
        int64_t Head = Row / Dim, Half = Row % Dim / (Dim / 2);
        int64_t At = Row % (Dim / 2);
        Stored[size_t(Row)] = Head * Dim + 2 * At + Half;
      }
      Order = std::make_shared<const std::vector<int64_t>>(std::move(Stored));
    }
    put(From, std::move(Name), Order);
    return {};
  }

  Status putFused(const GgufTensor &From, std::string Name) {
    int64_t Rows = From.Shape[0], Queries = Naming.Heads / Naming.KvHeads;
    int64_t Heads = (Queries + 2) * Naming.KvHeads;
    if (Rows % Heads != 0)
      return wrongShape(From, "a multiple of " + std::to_string(Heads) +
                                  " rows, the heads of queries, keys and "
                                  "values");
    if (!Fused) {
      int64_t Dim = Rows / Heads;
      std::vector<int64_t> Stored;
      Stored.reserve(static_cast<size_t>(Rows));
      auto Take = [&](int64_t Head) {
        for (int64_t I = 0; I < Dim; ++I)
          Stored.push_back(Head * Dim + I);
      };
      for (int64_t Group = 0; Group < Naming.KvHeads; ++Group) {
        for (int64_t Q = 0; Q < Queries; ++Q)
          Take(Group * Queries + Q);
        Take(Naming.Heads + Group);
        Take(Naming.Heads + Naming.KvHeads + Group);
      }
      Fused = std::make_shared<const std::vector<int64_t>>(std::move(Stored));
    }
    if (static_cast<int64_t>(Fused->size()) != Rows)
      return wrongShape(From, std::to_string(Fused->size()) +
                                  " rows, as in the layers before");
    put(From, std::move(Name), Fused);
    return {};
  }

  Status putQueryKeyValue(const GgufTensor &From, const std::string &Name) {
    int64_t Rows = From.Shape[0], Heads = Naming.Heads + 2 * Naming.KvHeads;
    size_t RowBytes = From.Bytes.size() / static_cast<size_t>(Rows);
    if (Rows % Heads != 0 || RowBytes * size_t(Rows) != From.Bytes.size())
      return wrongShape(From, "a multiple of " + std::to_string(Heads) +
                                  " rows, the heads of queries, keys and "
                                  "values");
    size_t First = 0;
    for (auto [Letter, Count] : {std::pair("q", Naming.Heads),
                                 {"k", Naming.KvHeads},
                                 {"v", Naming.KvHeads}}) {
      GgufTensor Part = From;
      Part.Shape[0] = Rows / Heads * Count;
      size_t Size = static_cast<size_t>(Part.Shape[0]) * RowBytes;
      Part.Bytes = From.Bytes.subspan(First, Size);
      First += Size;
      std::string One = Name;
      One.replace(One.find('*'), 1, Letter);
      if (*Letter == 'v')
        put(Part, std::move(One));
      else if (Status S = putPairs(Part, std::move(One), Count); !S)
        return S;
    }
    return {};
  }

  Status putNumbered(const GgufTensor &From, const std::string &Name) {
    int64_t Count = From.Shape[0];
    if (From.Shape.size() < 2 || Count > MaxNumbered)
      return wrongShape(From, "two or three dimensions, the first at most " +
                                  std::to_string(MaxNumbered));
    std::vector<int64_t> Shape(From.Shape.begin() + 1, From.Shape.end());
    size_t Star = Name.find('*');
    size_t Bytes = From.Bytes.size() / static_cast<size_t>(Count);
    if (Tensors.size() + static_cast<size_t>(Count) > MaxTensors)
      return wrongShape(From, "at most " + std::to_string(MaxTensors) +
                                  " tensors in all");
    for (int64_t I = 0; I < Count; ++I) {
      std::string One = Name;
      One.replace(Star, 1, std::to_string(I));
      Tensors.push_back(plain(std::move(One), From,
                              From.Bytes.subspan(size_t(I) * Bytes, Bytes),
                              Shape, {}, 0));
    }
    return {};
  }

  /// More tensors than any model has experts or heads.
  static constexpr int64_t MaxNumbered = 1 << 16;

  const GgufFile &File;
  const GgufNaming &Naming;
  std::map<std::pair<int64_t, int64_t>, RowOrder> Pairs;
  RowOrder Fused;
};

} // namespace

Result<std::vector<TensorInfo>>
tenon::nameGgufTensors(const GgufFile &File, const GgufNaming &Naming,
                       const std::function<bool(const std::string &)> &Skip) {
  Namer Names(File, Naming);
  for (const GgufTensor &Tensor : File.tensors())
    if (!Skip(Tensor.Name))
      if (Status S = Names.add(Tensor); !S)
        return S.error();
  return std::move(Names.Tensors);
}

TensorInfo tenon::interleaveRows(std::string Name,
                                 const std::vector<const GgufTensor *> &Parts,
                                 int64_t Columns, std::vector<int64_t> Shape) {
  TensorInfo To;
  To.Name = std::move(Name);
  To.Type = Parts[0]->Format->Type;
  To.StoredType = Parts[0]->Format->Name;
  To.File = Parts[0]->File;
  To.Source = std::make_shared<InterleavedRows>(Parts, Columns);
  To.Shape = std::move(Shape);
  return To;
}

TensorInfo tenon::alternateRows(std::string Name, const GgufTensor &First,
                                const GgufTensor &Second) {
  int64_t Groups = Second.Shape[0], K = Second.Shape[2];
  int64_t A = First.Shape[2], B = Second.Shape[1];
  TensorInfo To;
  To.Name = std::move(Name);
  To.Type = Second.Format->Type;
  To.StoredType = Second.Format->Name;
  To.File = Second.File;
  To.Shape = {Groups * (A + B), K};
  To.Source = std::make_shared<Alternating>(
      std::make_shared<Transposed>(First, K, A), A * K,
      std::make_shared<StoredRows>(*Second.Format, Second.Bytes, RowOrder(), K,
                                   0),
      B * K);
  return To;
}

Result<std::vector<double>> tenon::readGgufVector(const GgufFile &File,
                                                  const GgufTensor &Tensor) {
  if (Status Whole = Tensor.File->checkUnchanged(); !Whole)
    return Whole.error();
  constexpr int64_t MaxElements = 1'000'000;
  if (product(Tensor.Shape) > MaxElements)
    return Error(File.path() + ": tensor " + printable(Tensor.Name) +
                 ": shape is " + shapeText(Tensor.Shape) +
                 ": expected at most " + std::to_string(MaxElements) +
                 " elements");
  std::vector<float> Values(static_cast<size_t>(product(Tensor.Shape)));
  if (!decodeElements(*Tensor.Format, Tensor.Bytes, 0, Values.size(),
                      Values.data()))
    return badScale().withContext(File.path() + ": tensor " +
                                  printable(Tensor.Name));
  return std::vector<double>(Values.begin(), Values.end());
}
