//===- TensorView.cpp - Parameters as parts of stored tensors -------------===//

#include "compiler/Checkpoint/TensorView.h"

#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

using namespace tenon;

/// More suffixes than this are refused.
static constexpr size_t MaxSuffixes = 8;
/// What transposing a tensor without bytes may hold at once.
static constexpr int64_t MaxBandBytes = 64 << 20;
/// Rows of storage that are transposed together: a cache line of the result.
static constexpr int64_t TileRows = 16;
static constexpr int64_t TileColumns = 256;

/// Whether the elements can be picked out of the mapped bytes.
static bool hasBytes(const TensorInfo &Tensor) { return !Tensor.Source; }

static std::string contextOf(const TensorInfo &Tensor) {
  return Tensor.File->path() + ": tensor " + printable(Tensor.Name);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {

/// A parsed expression; its text must live on.
struct Expression {
  enum class Kind { Transpose, Rows, Columns, Flat };
  struct Suffix {
    Kind What;
    std::string_view Text;
    int64_t First = 0;
    int64_t End = 0;  ///< After the last index; 0 in the forms with '::'.
    int64_t Step = 0; ///< 0 in the form [a:b].
    int64_t Block = 1;
  };

  static Result<Expression> parse(std::string_view Text);

  /// The name of stored tensor `Number`.
  std::string name(int64_t Number) const {
    if (!IsStacked)
      return std::string(Before);
    return std::string(Before) + std::to_string(Number) + std::string(After);
  }

  std::string_view Text;
  std::string_view Before, After; ///< The name around its '*'.
  bool IsStacked = false;
  bool IsFlat = false;
  std::vector<Suffix> Suffixes;

private:
  static bool parseRange(std::string_view Inside, Suffix &Into);
};

/// Parses [a:b], [a::s] or [a::s/b] without its brackets.
bool Expression::parseRange(std::string_view Inside, Suffix &Into) {
  const char *At = Inside.data(), *End = At + Inside.size();
  auto Number = [&](int64_t &Value) {
    if (At == End || *At < '0' || *At > '9')
      return false;
    auto [Stop, Failure] = std::from_chars(At, End, Value);
    At = Stop;
    return Failure == std::errc();
  };
  auto Take = [&](char C) { return At != End && *At == C && (++At, true); };
  if (!Number(Into.First) || !Take(':'))
    return false;
  if (!Take(':'))
    return Number(Into.End) && At == End && Into.First < Into.End;
  if (!Number(Into.Step) || (Take('/') && !Number(Into.Block)))
    return false;
  return At == End && Into.Block >= 1 && Into.Block <= Into.Step;
}

Result<Expression> Expression::parse(std::string_view Text) {
  Expression Parsed;
  Parsed.Text = Text;
  auto Malformed = [&](const std::string &What) {
    return Error("parameter " + printable(Text) + ": " + What);
  };
  size_t NameEnd = std::min(Text.find_first_of("[^"), Text.size());
  std::string_view Name = Text.substr(0, NameEnd);
  if (Name.empty())
    return Malformed("no name: expected that of a stored tensor");
  size_t Star = Name.find('*');
  Parsed.Before = Name.substr(0, Star);
  if (Star != Name.npos) {
    Parsed.IsStacked = true;
    Parsed.After = Name.substr(Star + 1);
    if (Parsed.After.find('*') != Name.npos)
      return Malformed("more than one '*': expected one at most");
  }

  bool IsTransposed = false;
  for (std::string_view Rest = Text.substr(NameEnd); !Rest.empty();) {
    Suffix Next{Kind::Transpose, {}};
    size_t Length = 0;
    size_t Close = Rest.find(']');
    if (Rest.starts_with("^flat")) {
      Length = 5;
      Next.What = Kind::Flat;
    } else if (Rest.starts_with("^T")) {
      Length = 2;
      IsTransposed = !IsTransposed;
    } else if (Rest[0] == '[' && Close != Rest.npos &&
               parseRange(Rest.substr(1, Close - 1), Next)) {
      bool OfColumns = Rest.substr(Close + 1).starts_with('c');
      Length = Close + 1 + OfColumns;
      Next.What = OfColumns ? Kind::Columns : Kind::Rows;
    } else {
      return Malformed("suffix " + printable(Rest) +
                       ": expected ^T, ^flat, [a:b] with a < b, or [a::s/b] "
                       "with b from 1 to s");
    }
    if (Parsed.IsFlat)
      return Malformed("suffix " + printable(Rest) +
                       ": expected nothing after ^flat");
    if (Next.What == Kind::Flat && IsTransposed)
      return Malformed("suffix '^flat' after '^T': expected the elements in "
                       "the order of storage");
    if (Parsed.Suffixes.size() == MaxSuffixes)
      return Malformed("suffix " + printable(Rest) + ": expected at most " +
                       std::to_string(MaxSuffixes) + " suffixes");
    Parsed.IsFlat = Next.What == Kind::Flat;
    Next.Text = Rest.substr(0, Length);
    Parsed.Suffixes.push_back(Next);
    Rest.remove_prefix(Length);
  }
  return Parsed;
}

Error tooMany(std::string_view Text, int64_t Count) {
  return Error("parameter " + printable(Text) + ": " + std::to_string(Count) +
               " tensors in place of '*': expected 1 to " +
               std::to_string(MaxExperts));
}

} // namespace

Result<std::vector<std::string>> tenon::tensorNamesOf(std::string_view Text,
                                                      int64_t Count) {
  auto Parsed = Expression::parse(Text);
  if (!Parsed)
    return Parsed.error();
  if (!Parsed->IsStacked)
    Count = 1;
  if (Count < 1 || Count > MaxExperts)
    return tooMany(Text, Count);
  std::vector<std::string> Names;
  Names.reserve(static_cast<size_t>(Count));
  for (int64_t I = 0; I < Count; ++I)
    Names.push_back(Parsed->name(I));
  return Names;
}

//===----------------------------------------------------------------------===//
// Resolving
//===----------------------------------------------------------------------===//

int64_t TensorView::Axis::at(int64_t Index, int64_t &Length) const {
  Length = Count - Index;
  for (auto Each = Ranges.rbegin(); Each != Ranges.rend(); ++Each) {
    int64_t Inside = Index % Each->Block;
    Length = std::min(Length, Each->Block - Inside);
    Index = Each->Start + Index / Each->Block * Each->Step + Inside;
  }
  return Index;
}

int64_t TensorView::Axis::at(int64_t Index) const {
  int64_t Length;
  return at(Index, Length);
}

/// One resolution: what is wanted, and the steps to it.
struct TensorView::Resolver {
  const Checkpoint &Weights;
  std::string_view Text;
  /// What errors say was expected, as a shape.
  std::string ExpectedShape;
  Expression Parsed = {};
  TensorView View = TensorView(Weights);

  Status begin();
  Status addTensors(int64_t Count);
  Status mismatch() const;
  /// The dimensions that the expression gives, without that of '*'.
  std::vector<int64_t> shape() const {
    std::vector<int64_t> Shape;
    for (const Axis &Dim : View.Axes)
      Shape.push_back(Dim.Count);
    return Shape;
  }
  TensorView finish(int64_t Columns);

private:
  Status apply(const Expression::Suffix &Next);
  Status select(const Expression::Suffix &Next, Axis &Dim);
  Error misfit(const Expression::Suffix &Next, const std::string &Why) const {
    return Error(contextOf(*View.Tensors[0]) + " of shape " +
                 shapeText(View.Tensors[0]->Shape) + ", read as " +
                 printable(Text) + ": suffix " + printable(Next.Text) +
                 ": expected " + Why);
  }
};

/// Parses, finds the first tensor and applies the suffixes to its shape.
Status TensorView::Resolver::begin() {
  auto Outcome = Expression::parse(Text);
  if (!Outcome)
    return Outcome.error();
  Parsed = std::move(*Outcome);
  std::string Name = Parsed.name(0);
  auto First = Weights.requireFloat(
      Name, Name == Text
                ? "shape " + ExpectedShape
                : "it for " + printable(Text) + " of shape " + ExpectedShape);
  if (!First)
    return First.error();
  View.Tensors.push_back(*First);
  int64_t Stride = (*First)->elements();
  for (int64_t Size : (*First)->Shape)
    View.Axes.push_back({Size, Stride /= Size, {}});
  if ((*First)->ColumnsFirst) {
    size_t Own = View.Axes.size();
    View.Axes[Own - 2].Stride = 1;
    View.Axes[Own - 1].Stride = View.Axes[Own - 2].Count;
  }
  for (const Expression::Suffix &Next : Parsed.Suffixes)
    if (Status Applied = apply(Next); !Applied)
      return Applied;
  for (const Axis &Dim : View.Axes)
    View.PerTensor *= Dim.Count;
  return {};
}

Status TensorView::Resolver::apply(const Expression::Suffix &Next) {
  using Kind = Expression::Kind;
  std::vector<Axis> &Axes = View.Axes;
  size_t Own = Axes.size();
  switch (Next.What) {
  case Kind::Flat:
    return {};
  case Kind::Transpose:
    if (Own < 2)
      return misfit(Next, "a tensor of at least 2 dimensions");
    std::swap(Axes[Own - 2], Axes[Own - 1]);
    return {};
  case Kind::Columns:
    if (Own == 0)
      return misfit(Next, "a tensor of at least 1 dimension");
    return select(Next, Axes[Own - 1]);
  case Kind::Rows:
    if (Own >= 2)
      return select(Next, Axes[Own - 2]);
    if (Own == 0 || Parsed.IsStacked)
      return misfit(Next, Own == 0 ? "a tensor of at least 1 dimension"
                                   : "'" + std::string(Next.Text) +
                                         "c', as its rows are whole tensors");
    return select(Next, Axes[0]);
  }
  return {};
}

Status TensorView::Resolver::select(const Expression::Suffix &Next, Axis &Dim) {
  std::string Extent = std::to_string(Dim.Count);
  int64_t First = Next.First, Block = Next.Block, Step = Next.Step, Groups = 1;
  if (Step == 0) {
    if (Next.End > Dim.Count)
      return misfit(Next, "an end of at most " + Extent);
    Block = Next.End - First;
  } else {
    if (First >= Dim.Count)
      return misfit(Next, "a start below " + Extent);
    Groups = (Dim.Count - First - 1) / Step + 1;
    if (Dim.Count - First - (Groups - 1) * Step < Block)
      return misfit(Next, "the last group to be whole within " + Extent);
  }
  int64_t Count = Groups * Block;
  if (Count == Dim.Count)
    return {};
  if (Groups == 1 || Step == Block)
    Step = Block = Count; // One run: it can be read at once.
  Dim.Ranges.push_back({First, Step, Block});
  Dim.Count = Count;
  return {};
}

/// Adds the tensors 1 to Count-1 of a stack.
Status TensorView::Resolver::addTensors(int64_t Count) {
  if (Count < 1 || Count > MaxExperts)
    return tooMany(Text, Count);
  const TensorInfo &First = *View.Tensors[0];
  View.Tensors.reserve(static_cast<size_t>(Count));
  for (int64_t I = 1; I < Count; ++I) {
    auto Next =
        Weights.requireFloat(Parsed.name(I), "it for " + printable(Text) +
                                                 " of shape " + ExpectedShape);
    if (!Next)
      return Next.error();
    if ((*Next)->Shape != First.Shape ||
        (*Next)->ColumnsFirst != First.ColumnsFirst)
      return Error(contextOf(**Next) + " has shape " +
                   shapeText((*Next)->Shape) + ": expected " +
                   shapeText(First.Shape) + ", as " + printable(First.Name) +
                   " has");
    View.Tensors.push_back(*Next);
  }
  return {};
}

/// The error that the expression gives another shape than what is wanted.
Status TensorView::Resolver::mismatch() const {
  const TensorInfo &First = *View.Tensors[0];
  std::string ActualShape = shapeText(shape());
  if (Parsed.IsStacked)
    ActualShape.insert(1, shape().empty() ? "*" : "*, ");
  if (Parsed.IsFlat)
    ActualShape = std::to_string(View.PerTensor) + " elements" +
                  (Parsed.IsStacked ? " per tensor" : "");
  bool IsPlain = First.Name == Text;
  return Error(contextOf(First) +
               (IsPlain ? ""
                        : " of shape " + shapeText(First.Shape) + ", read as " +
                              printable(Text) + ",") +
               " has " + (Parsed.IsFlat ? "" : "shape ") + ActualShape +
               ": expected " + (Parsed.IsFlat ? "shape " : "") + ExpectedShape);
}

/// Merges the dimensions that storage does not keep apart, so that long runs
/// are read at once.
TensorView TensorView::Resolver::finish(int64_t Columns) {
  std::vector<Axis> Merged; // Innermost first.
  for (auto Dim = View.Axes.rbegin(); Dim != View.Axes.rend(); ++Dim) {
    if (Dim->Count == 1 && Dim->Ranges.empty())
      continue;
    Axis *Inner = Merged.empty() ? nullptr : &Merged.back();
    if (!Inner || !Inner->Ranges.empty() ||
        Dim->Stride != Inner->Count * Inner->Stride) {
      Merged.push_back(std::move(*Dim));
      continue;
    }
    for (Range &Each : Dim->Ranges) {
      Each.Start *= Inner->Count;
      Each.Step *= Inner->Count;
      Each.Block *= Inner->Count;
    }
    Inner->Count *= Dim->Count;
    Inner->Ranges = std::move(Dim->Ranges);
  }
  if (Merged.empty())
    Merged.push_back({1, 1, {}});
  std::reverse(Merged.begin(), Merged.end());
  View.Axes = std::move(Merged);
  View.ColumnCount = Columns;
  View.RowCount =
      View.PerTensor * static_cast<int64_t>(View.Tensors.size()) / Columns;
  return std::move(View);
}

Result<TensorView> TensorView::resolve(const Checkpoint &Weights,
                                       std::string_view Text,
                                       std::span<const int64_t> Shape) {
  int64_t Elements = 1;
  bool IsShape = !Shape.empty() && Shape.size() <= 3;
  for (int64_t Size : Shape)
    IsShape = IsShape && Size >= 1 &&
              !__builtin_mul_overflow(Elements, Size, &Elements);
  if (!IsShape)
    return Error("parameter " + printable(Text) + ": shape " +
                 shapeText(Shape) +
                 ": expected 1 to 3 dimensions of at least 1");
  Resolver Steps{Weights, Text, shapeText(Shape)};
  if (Status Begun = Steps.begin(); !Begun)
    return Begun.error();
  bool IsStacked = Steps.Parsed.IsStacked;
  int64_t Count = IsStacked ? Elements / Steps.View.PerTensor : 1;
  std::vector<int64_t> StepShape = Steps.shape();
  if (IsStacked)
    StepShape.insert(StepShape.begin(), Count);
  bool Fits = Steps.Parsed.IsFlat
                  ? Steps.View.PerTensor <= Elements &&
                        Elements == Steps.View.PerTensor * Count
                  : std::equal(StepShape.begin(), StepShape.end(),
                               Shape.begin(), Shape.end());
  if (!Fits)
    return Steps.mismatch().error();
  if (IsStacked)
    if (Status Added = Steps.addTensors(Count); !Added)
      return Added.error();
  return Steps.finish(Shape.size() == 1 ? 1 : Shape.back());
}

Result<TensorView> TensorView::resolveMatrix(const Checkpoint &Weights,
                                             std::string_view Text,
                                             std::optional<int64_t> Rows,
                                             int64_t Columns) {
  int64_t Elements = 0;
  if (Columns < 1 || (Rows && (*Rows < 1 || __builtin_mul_overflow(
                                                *Rows, Columns, &Elements))))
    return Error("parameter " + printable(Text) + ": " +
                 std::to_string(Rows.value_or(1)) + " rows of " +
                 std::to_string(Columns) + ": expected at least 1 of 1");
  Resolver Steps{Weights, Text,
                 "[" + (Rows ? std::to_string(*Rows) : "*") + ", " +
                     std::to_string(Columns) + "]"};
  if (Status Begun = Steps.begin(); !Begun)
    return Begun.error();
  const TensorView &View = Steps.View;
  int64_t Count = 1;
  if (Steps.Parsed.IsStacked) {
    if (Rows)
      Count = Elements / View.PerTensor;
    else
      while (Count <= MaxExperts && Weights.find(Steps.Parsed.name(Count)))
        ++Count;
  }
  bool IsRow =
      View.Axes.empty() ? Columns == 1 : View.Axes.back().Count == Columns;
  // The elements of a transposed tensor come in whole rows only.
  bool IsColumn =
      Columns == 1 && (View.Axes.empty() || View.Axes.back().Stride == 1);
  if (Rows && (View.PerTensor > Elements || View.PerTensor * Count != Elements))
    return Steps.mismatch().error();
  if (!IsRow && !IsColumn &&
      !(Steps.Parsed.IsFlat && View.PerTensor * Count % Columns == 0))
    return Steps.mismatch().error();
  if (Steps.Parsed.IsStacked)
    if (Status Added = Steps.addTensors(Count); !Added)
      return Added.error();
  return Steps.finish(Columns);
}

std::vector<std::string_view> TensorView::tensors() const {
  std::vector<std::string_view> Names;
  Names.reserve(Tensors.size());
  for (const TensorInfo *Tensor : Tensors)
    Names.push_back(Tensor->Name);
  return Names;
}

ElementType TensorView::type() const {
  for (const TensorInfo *Tensor : Tensors)
    if (Tensor->Type != Tensors[0]->Type)
      return ElementType::F32;
  return Tensors[0]->Type;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Where index `Index` of the outermost `Dims` dimensions begins.
int64_t TensorView::leadingOffset(int64_t Index, size_t Dims) const {
  int64_t Offset = 0;
  for (size_t I = Dims; I-- > 0;) {
    Offset += Axes[I].at(Index % Axes[I].Count) * Axes[I].Stride;
    Index /= Axes[I].Count;
  }
  return Offset;
}

template <typename Function>
Status TensorView::forEachTensor(int64_t First, int64_t Count,
                                 Function Take) const {
  if (First < 0 || Count < 0 || First > RowCount || Count > RowCount - First)
    return Error(contextOf(*Tensors[0]) + ": " + std::to_string(Count) +
                 " rows from row " + std::to_string(First) +
                 " wanted: expected them within " + std::to_string(RowCount) +
                 " rows");
  First *= ColumnCount;
  Count *= ColumnCount;
  while (Count > 0) {
    const TensorInfo &Tensor = *Tensors[static_cast<size_t>(First / PerTensor)];
    int64_t Inside = First % PerTensor;
    int64_t Part = std::min(Count, PerTensor - Inside);
    if (Status Whole = Tensor.File->checkUnchanged(); !Whole)
      return Whole;
    if (Status Read = Take(Tensor, Inside, Part); !Read)
      return Read;
    First += Part;
    Count -= Part;
  }
  return {};
}

Status TensorView::readRowsAsFloat(int64_t First, int64_t Count,
                                   float *Out) const {
  return forEachTensor(
      First, Count, [&](const TensorInfo &Tensor, int64_t From, int64_t Part) {
        Status Read = isTransposed() ? readTransposed(Tensor, From, Part, Out)
                                     : readElements(Tensor, From, Part, Out);
        Out += Part;
        return Read;
      });
}

/// Elements in the order of storage.
template <typename Function>
Status TensorView::forEachRun(int64_t First, int64_t Count,
                              Function Run) const {
  const Axis &Inner = Axes.back();
  while (Count > 0) {
    int64_t Length;
    int64_t At = leadingOffset(First / Inner.Count, Axes.size() - 1) +
                 Inner.at(First % Inner.Count, Length);
    Length = std::min(Length, Count);
    if (Status Done = Run(At, Length); !Done)
      return Done;
    First += Length;
    Count -= Length;
  }
  return {};
}

Status TensorView::readElements(const TensorInfo &Tensor, int64_t First,
                                int64_t Count, float *Out) const {
  size_t Size = sizeOf(Tensor.Type);
  return forEachRun(First, Count, [&](int64_t At, int64_t Length) -> Status {
    float *To = Out;
    Out += Length;
    if (!hasBytes(Tensor))
      return Weights->readElementsAsFloat(Tensor, At, Length, To);
    widenToFloat(Tensor.Bytes.subspan(static_cast<size_t>(At) * Size,
                                      static_cast<size_t>(Length) * Size),
                 Tensor.Type, To);
    return {};
  });
}

std::optional<StorageFormat> TensorView::keptFormat() const {
  if (hasBytes(*Tensors[0]) || widening())
    return {};
  return Tensors[0]->Source->keptFormat();
}

std::optional<Widening> TensorView::widening() const {
  if (std::ranges::all_of(
          Tensors, [](const TensorInfo *Tensor) { return hasBytes(*Tensor); }))
    return {};
  std::optional<StorageFormat> Format;
  for (const TensorInfo *Tensor : Tensors) {
    if (hasBytes(*Tensor))
      return Widening{Tensor, "of plain numbers"};
    std::optional<StorageFormat> Its = Tensor->Source->keptFormat();
    if (!Its)
      return Widening{Tensor, Tensor->Source->whyWidened()};
    if (Format && Its != Format)
      return Widening{Tensor, "in another quantised format"};
    Format = Its;
  }
  if (isTransposed())
    return Widening{nullptr, "that the model reads transposed"};
  // Every run of storage, and every row, is whole blocks.
  int64_t Block = infoOf(*Format).BlockValues;
  bool IsWhole = ColumnCount % Block == 0;
  for (const Axis &Dim : Axes) {
    if (&Dim != &Axes.back()) {
      IsWhole = IsWhole && Dim.Stride % Block == 0;
      continue;
    }
    IsWhole = IsWhole && Dim.Count % Block == 0;
    for (const Range &Each : Dim.Ranges)
      IsWhole = IsWhole && Each.Start % Block == 0 && Each.Step % Block == 0 &&
                Each.Block % Block == 0;
  }
  if (IsWhole)
    return {};
  return Widening{nullptr, "that the model reads in parts of blocks"};
}

int64_t TensorView::storedRowBytes() const {
  StorageFormat Format = *keptFormat();
  return ColumnCount / infoOf(Format).BlockValues * storedBlockBytes(Format);
}

Status TensorView::readStoredRows(int64_t First, int64_t Count,
                                  std::byte *Out) const {
  StorageFormat Format = *keptFormat();
  return forEachTensor(
      First, Count, [&](const TensorInfo &Tensor, int64_t From, int64_t Part) {
        return forEachRun(From, Part, [&](int64_t At, int64_t Length) {
          Status Read = Tensor.Source->readBlocks(At, Length, Out);
          Out += Length / infoOf(Format).BlockValues * storedBlockBytes(Format);
          return Read ? Read
                      : Status(Read.error().withContext(contextOf(Tensor)));
        });
      });
}

Status TensorView::readRowsQuantised(StorageFormat Format, int64_t First,
                                     int64_t Count, float *Out) const {
  if (Status Read = readRowsAsFloat(First, Count, Out); !Read)
    return Read;
  if (keptFormat() == Format)
    return {};
  if (!std::all_of(Out, Out + Count * ColumnCount,
                   [](float X) { return std::isfinite(X); }))
    return Error(contextOf(*Tensors[0]) +
                 ": a number is infinite or none: expected finite numbers to "
                 "quantise");
  int64_t Block = infoOf(Format).BlockValues;
  for (int64_t Row = 0; Row < Count; ++Row, Out += ColumnCount)
    for (int64_t At = 0; At < ColumnCount; At += Block) {
      int64_t Present = std::min(Block, ColumnCount - At);
      float Values[MaxBlockValues] = {};
      std::copy_n(Out + At, Present, Values);
      decodeBlock(Format, quantiseBlock(Format, Values), Values);
      std::copy_n(Values, Present, Out + At);
    }
  return {};
}

/// Rows [First, First + Count) of one transposed matrix, at most 64 MB of them
/// or what is asked for.
struct TensorView::Band {
  const TensorInfo *Tensor = nullptr;
  int64_t Base = 0, First = 0, Count = 0;
  std::vector<float> Rows;
};

/// Whole rows of transposed matrices.
Status TensorView::readTransposed(const TensorInfo &Tensor, int64_t First,
                                  int64_t Count, float *Out) const {
  int64_t Columns = Axes.back().Count;
  int64_t PerMatrix = Axes[Axes.size() - 2].Count;
  First /= Columns;
  Count /= Columns;
  while (Count > 0) {
    int64_t Base = leadingOffset(First / PerMatrix, Axes.size() - 2);
    int64_t Row = First % PerMatrix;
    int64_t Part = std::min(Count, PerMatrix - Row);
    if (hasBytes(Tensor)) {
      if (Status Done = transpose(Tensor, Base, Row, Part, Out); !Done)
        return Done;
    } else {
      bool IsKept = Kept && Kept->Tensor == &Tensor && Kept->Base == Base &&
                    Row >= Kept->First &&
                    Row + Part <= Kept->First + Kept->Count;
      if (!IsKept) {
        int64_t Fitting = MaxBandBytes / (Columns * int64_t(sizeof(float)));
        auto New = std::make_shared<Band>();
        New->Tensor = &Tensor;
        New->Base = Base;
        New->First = Row;
        New->Count = std::min(std::max(Part, Fitting), PerMatrix - Row);
        Kept.reset();
        New->Rows.resize(static_cast<size_t>(New->Count * Columns));
        if (Status Done =
                transpose(Tensor, Base, Row, New->Count, New->Rows.data());
            !Done)
          return Done;
        Kept = std::move(New);
      }
      std::copy_n(Kept->Rows.data() + (Row - Kept->First) * Columns,
                  Part * Columns, Out);
    }
    First += Part;
    Count -= Part;
    Out += Part * Columns;
  }
  return {};
}

/// Writes the columns [First, First + Count) of the matrix at element `Base`
/// as rows.
Status TensorView::transpose(const TensorInfo &Tensor, int64_t Base,
                             int64_t First, int64_t Count, float *Out) const {
  const Axis &Rows = Axes.back(), &Columns = Axes[Axes.size() - 2];
  // A stretch of storage that holds a block's columns, if they lie that dense.
  constexpr int64_t MaxStretch = 4 * TileColumns;
  float Stretch[MaxStretch], Tile[TileRows][TileColumns];
  int64_t Stored[TileColumns];
  // Without bytes, whole rows are read: any part may cost as much.
  std::vector<float> Whole;
  if (!hasBytes(Tensor))
    Whole.resize(static_cast<size_t>(TileRows * Rows.Stride));
  ElementType Type = hasBytes(Tensor) ? Tensor.Type : ElementType::F32;
  size_t Size = sizeOf(Type);

  for (int64_t R = 0; R < Rows.Count; R += TileRows) {
    int64_t Height = std::min(TileRows, Rows.Count - R);
    const std::byte *From[TileRows];
    for (int64_t I = 0; I < Height; ++I) {
      int64_t At = Base + Rows.at(R + I) * Rows.Stride;
      if (hasBytes(Tensor)) {
        From[I] = Tensor.Bytes.data() + static_cast<size_t>(At) * Size;
        continue;
      }
      float *Row = Whole.data() + I * Rows.Stride;
      if (Status Read =
              Weights->readElementsAsFloat(Tensor, At, Rows.Stride, Row);
          !Read)
        return Read;
      From[I] = reinterpret_cast<const std::byte *>(Row);
    }
    for (int64_t C = 0; C < Count; C += TileColumns) {
      int64_t Width = std::min(TileColumns, Count - C);
      for (int64_t J = 0; J < Width; ++J)
        Stored[J] = Columns.at(First + C + J);
      int64_t Length = Stored[Width - 1] - Stored[0] + 1;
      for (int64_t I = 0; I < Height; ++I) {
        auto Read = [&](int64_t At, int64_t Elements, float *To) {
          widenToFloat({From[I] + static_cast<size_t>(At) * Size,
                        static_cast<size_t>(Elements) * Size},
                       Type, To);
        };
        if (Length == Width) {
          Read(Stored[0], Width, Tile[I]);
        } else if (Length <= MaxStretch) {
          Read(Stored[0], Length, Stretch);
          for (int64_t J = 0; J < Width; ++J)
            Tile[I][J] = Stretch[Stored[J] - Stored[0]];
        } else {
          for (int64_t J = 0; J < Width; ++J)
            Read(Stored[J], 1, &Tile[I][J]);
        }
      }
      for (int64_t J = 0; J < Width; ++J)
        for (int64_t I = 0; I < Height; ++I)
          Out[(C + J) * Rows.Count + R + I] = Tile[I][J];
    }
  }
  return {};
}

void TensorView::dropRows(int64_t First, int64_t Count) const {
  First = std::clamp<int64_t>(First, 0, RowCount);
  Count = std::clamp<int64_t>(Count, 0, RowCount - First);
  int64_t Begin = First * ColumnCount, End = (First + Count) * ColumnCount;
  const Axis &Inner = Axes.back();
  bool OfMatrices = isTransposed();
  int64_t PerMatrix =
      OfMatrices ? Inner.Count * Axes[Axes.size() - 2].Count : PerTensor;
  while (Begin < End) {
    const TensorInfo &Tensor = *Tensors[static_cast<size_t>(Begin / PerTensor)];
    int64_t Inside = Begin % PerTensor;
    int64_t Part = std::min(End - Begin, PerMatrix - Inside % PerMatrix);
    if (!OfMatrices) {
      auto OffsetOf = [&](int64_t Index) {
        return leadingOffset(Index / Inner.Count, Axes.size() - 1) +
               Inner.at(Index % Inner.Count);
      };
      int64_t From = OffsetOf(Inside);
      Weights->dropElements(Tensor, From,
                            OffsetOf(Inside + Part - 1) + 1 - From);
    } else if ((Inside + Part) % PerMatrix == 0) {
      Weights->dropElements(Tensor,
                            leadingOffset(Inside / PerMatrix, Axes.size() - 2),
                            (Inner.at(Inner.Count - 1) + 1) * Inner.Stride);
    }
    Begin += Part;
  }
}

bool tenon::sameContent(const TensorView &A, const TensorView &B) {
  if (A.rows() != B.rows() || A.columns() != B.columns())
    return false;
  int64_t Group = std::max<int64_t>(1, (int64_t(1) << 16) / A.columns());
  std::vector<float> OfA(static_cast<size_t>(Group * A.columns()));
  std::vector<float> OfB(OfA.size());
  for (int64_t Row = 0; Row < A.rows(); Row += Group) {
    int64_t Count = std::min(Group, A.rows() - Row);
    if (!A.readRowsAsFloat(Row, Count, OfA.data()) ||
        !B.readRowsAsFloat(Row, Count, OfB.data()) ||
        std::memcmp(OfA.data(), OfB.data(),
                    static_cast<size_t>(Count * A.columns()) * sizeof(float)) !=
            0)
      return false;
    A.dropRows(Row, Count);
    B.dropRows(Row, Count);
  }
  return true;
}
