//===- TensorViewTest.cpp - Parts and other forms of stored tensors -------===//

#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Support/Half.h"
#include "tests/unit/CheckpointFixture.h"

#include <numeric>

using namespace tenon;

namespace {

using Shape = std::vector<int64_t>;

/// A dense tensor, with the operations of expressions spelled out one element
/// at a time.
struct Dense {
  Shape Dims;
  std::vector<float> Values;

  static Dense counting(Shape Dims, float From) {
    Dense Result{std::move(Dims), {}};
    Result.Values.resize(static_cast<size_t>(
        std::accumulate(Result.Dims.begin(), Result.Dims.end(), int64_t(1),
                        std::multiplies<>())));
    std::iota(Result.Values.begin(), Result.Values.end(), From);
    return Result;
  }

  /// Element (I, J, K) with dimension `Dim` in the middle.
  int64_t before(size_t Dim) const {
    return std::accumulate(Dims.begin(), Dims.begin() + Dim, int64_t(1),
                           std::multiplies<>());
  }
  int64_t after(size_t Dim) const {
    return std::accumulate(Dims.begin() + Dim + 1, Dims.end(), int64_t(1),
                           std::multiplies<>());
  }

  Dense transposed() const {
    size_t Rank = Dims.size();
    int64_t R = Dims[Rank - 2], C = Dims[Rank - 1];
    Dense Result = *this;
    std::swap(Result.Dims[Rank - 2], Result.Dims[Rank - 1]);
    for (int64_t I = 0; I < before(Rank - 2); ++I)
      for (int64_t J = 0; J < R; ++J)
        for (int64_t K = 0; K < C; ++K)
          Result.Values[(I * C + K) * R + J] = Values[(I * R + J) * C + K];
    return Result;
  }

  Dense selected(size_t Dim, const std::vector<int64_t> &Indices) const {
    Dense Result{Dims, {}};
    Result.Dims[Dim] = static_cast<int64_t>(Indices.size());
    for (int64_t I = 0; I < before(Dim); ++I)
      for (int64_t J : Indices)
        for (int64_t K = 0; K < after(Dim); ++K)
          Result.Values.push_back(Values[(I * Dims[Dim] + J) * after(Dim) + K]);
    return Result;
  }

  /// Of every `Step` indices of `Dim` from `First` on, the first `Block`.
  Dense every(size_t Dim, int64_t First, int64_t Step, int64_t Block) const {
    std::vector<int64_t> Indices;
    for (int64_t I = First; I < Dims[Dim]; ++I)
      if ((I - First) % Step < Block)
        Indices.push_back(I);
    return selected(Dim, Indices);
  }
  Dense range(size_t Dim, int64_t First, int64_t End) const {
    return every(Dim, First, INT64_MAX, End - First);
  }
};

Dense stacked(const std::vector<Dense> &Parts) {
  Dense Result = {Parts[0].Dims, {}};
  Result.Dims.insert(Result.Dims.begin(), static_cast<int64_t>(Parts.size()));
  for (const Dense &Part : Parts)
    Result.Values.insert(Result.Values.end(), Part.Values.begin(),
                         Part.Values.end());
  return Result;
}

/// Serves a tensor's values, and counts them, where there are no bytes.
class CountingSource final : public TensorSource {
public:
  explicit CountingSource(Dense Content) : Content(std::move(Content)) {}

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    EXPECT_LE(First + Count, static_cast<int64_t>(Content.Values.size()));
    std::copy_n(Content.Values.begin() + First, Count, Out);
    Served += Count;
    return {};
  }
  void dropElements(int64_t First, int64_t Count) const override {
    Dropped.emplace_back(First, Count);
  }

  Dense Content;
  mutable int64_t Served = 0;
  mutable std::vector<std::pair<int64_t, int64_t>> Dropped;
};

class TensorViews : public TemporaryFiles {
protected:
  void add(const std::string &Name, const Dense &Tensor,
           const std::string &Type = "F32") {
    std::string Begin = std::to_string(Data.size());
    for (float Value : Tensor.Values) {
      if (Type == "F32")
        Data += rawBytes({Value});
      else if (Type == "BF16")
        Data += rawBytes({floatToBf16(Value)});
      else
        Data += rawBytes({floatToHalf(Value)});
    }
    Header += (Header.empty() ? "" : ",") + ("\"" + Name) + "\":{\"dtype\":\"" +
              Type + "\",\"shape\":" + shapeText(Tensor.Dims) +
              ",\"data_offsets\":[" + Begin + "," +
              std::to_string(Data.size()) + "]}";
  }

  const Checkpoint &open() {
    // An odd header, so that elements are not aligned.
    std::string Text = "{" + Header + "}";
    Text += std::string(Text.size() % 2 ? 0 : 1, ' ');
    write("model.safetensors", safetensors(Text, Data));
    auto Opened = Checkpoint::open(Directory);
    EXPECT_TRUE(Opened) << Opened.error().message();
    Weights = std::make_unique<Checkpoint>(std::move(*Opened));
    return *Weights;
  }

  /// The same tensors as `From` without bytes.
  const Checkpoint &
  openSources(const std::vector<std::pair<std::string, Dense>> &From) {
    auto File = MappedFile::open(write("sources", "x"));
    EXPECT_TRUE(File);
    auto Mapped = std::make_unique<MappedFile>(std::move(*File));
    std::vector<TensorInfo> Tensors;
    for (const auto &[Name, Content] : From) {
      TensorInfo &Next = Tensors.emplace_back();
      Next.Name = Name;
      Next.Shape = Content.Dims;
      Next.StoredType = "Q8_0";
      Next.File = Mapped.get();
      auto Source = std::make_shared<CountingSource>(Content);
      Sources.push_back(Source.get());
      Next.Source = std::move(Source);
    }
    std::vector<std::unique_ptr<MappedFile>> Files;
    Files.push_back(std::move(Mapped));
    auto Opened = Checkpoint::fromTensors(std::move(Files), std::move(Tensors));
    EXPECT_TRUE(Opened) << Opened.error().message();
    Weights = std::make_unique<Checkpoint>(std::move(*Opened));
    return *Weights;
  }

  /// Resolves and reads `Expression` in groups of every size.
  void expect(std::string_view Expression, const Dense &Expected,
              std::optional<Shape> As = {}) {
    SCOPED_TRACE(Expression);
    Shape Wanted = As.value_or(Expected.Dims);
    auto View = TensorView::resolve(*Weights, Expression, Wanted);
    ASSERT_TRUE(View) << View.error().message();
    int64_t Columns = Wanted.size() == 1 ? 1 : Wanted.back();
    ASSERT_EQ(View->columns(), Columns);
    auto Elements = static_cast<int64_t>(Expected.Values.size());
    ASSERT_EQ(View->rows(), Elements / Columns);
    expectContent(*View, Expected);

    auto Matrix =
        TensorView::resolveMatrix(*Weights, Expression, View->rows(), Columns);
    ASSERT_TRUE(Matrix) << Matrix.error().message();
    expectContent(*Matrix, Expected);
  }

  void expectContent(const TensorView &View, const Dense &Expected) {
    int64_t Rows = View.rows(), Columns = View.columns();
    ASSERT_EQ(Rows * Columns, static_cast<int64_t>(Expected.Values.size()));
    for (int64_t Group : {Rows, int64_t(1), int64_t(3), int64_t(7)}) {
      std::vector<float> Read(Expected.Values.size() + 1, -1);
      for (int64_t Row = 0; Row < Rows; Row += Group) {
        int64_t Count = std::min(Group, Rows - Row);
        Status Done =
            View.readRowsAsFloat(Row, Count, Read.data() + Row * Columns);
        ASSERT_TRUE(Done) << Done.error().message();
        View.dropRows(Row, Count);
      }
      EXPECT_EQ(Read.back(), -1) << "written beyond the rows";
      Read.pop_back();
      EXPECT_EQ(Read, Expected.Values) << "in groups of " << Group;
    }
  }

  void refuses(std::string_view Expression, const Shape &Wanted,
               const std::string &Begin, const std::string &Text) {
    SCOPED_TRACE(Expression);
    EXPECT_ERROR(TensorView::resolve(*Weights, Expression, Wanted), Begin,
                 Text);
  }
  void malformed(std::string_view Expression, const std::string &Text) {
    refuses(Expression, {1}, "parameter '", Text);
    EXPECT_ERROR(tensorNamesOf(Expression, 1), "parameter '", Text);
  }
  std::string file() const { return pathOf("model.safetensors"); }

  std::string Header, Data;
  std::unique_ptr<Checkpoint> Weights;
  std::vector<const CountingSource *> Sources;
};

TEST_F(TensorViews, PlainNames) {
  Dense Vector = Dense::counting({5}, 1), Matrix = Dense::counting({3, 4}, 10);
  Dense Experts = Dense::counting({2, 3, 4}, 100);
  add("v", Vector);
  add("m", Matrix, "BF16");
  add("e", Experts, "F16");
  open();
  expect("v", Vector);
  expect("m", Matrix);
  expect("e", Experts);
  auto View = TensorView::resolve(*Weights, "m", Shape{3, 4});
  ASSERT_TRUE(View);
  EXPECT_EQ(View->type(), ElementType::BF16);
  EXPECT_EQ(View->tensors(), std::vector<std::string_view>{"m"});
}

TEST_F(TensorViews, RowRanges) {
  Dense Matrix = Dense::counting({24, 5}, 0), Vector = Dense::counting({12}, 0);
  Dense Experts = Dense::counting({2, 6, 3}, 0);
  add("m", Matrix);
  add("v", Vector);
  add("e", Experts);
  open();
  expect("m[7:19]", Matrix.range(0, 7, 19));
  expect("m[0:24]", Matrix);
  expect("m[23:24]", Matrix.range(0, 23, 24));
  expect("m[1::2]", Matrix.every(0, 1, 2, 1));
  expect("m[2::6/2]", Matrix.every(0, 2, 6, 2));
  expect("m[4::6/2]", Matrix.every(0, 4, 6, 2));
  expect("m[4::5/5][1:13]", Matrix.range(0, 5, 17));
  expect("m[0::1]", Matrix);
  expect("m[5::9223372036854775807/3]", Matrix.range(0, 5, 8));
  // Ranges of ranges: heads of 8 rows, their last 4, of which 1 and 2.
  expect("m[4::8/4][1::4/2]", Matrix.every(0, 4, 8, 4).every(0, 1, 4, 2));
  expect("v[3:9]", Vector.range(0, 3, 9));
  expect("v[1::3/2]", Vector.every(0, 1, 3, 2));
  expect("e[2:5]", Experts.range(1, 2, 5));
  expect("e[1::2]", Experts.every(1, 1, 2, 1));
}

TEST_F(TensorViews, ColumnRanges) {
  Dense Matrix = Dense::counting({4, 9}, 0), Vector = Dense::counting({8}, 0);
  Dense Experts = Dense::counting({2, 3, 8}, 0);
  add("m", Matrix);
  add("v", Vector);
  add("e", Experts, "BF16");
  open();
  expect("m[2:7]c", Matrix.range(1, 2, 7));
  expect("m[0::2]c", Matrix.every(1, 0, 2, 1));
  expect("m[1::4/2]c[1:3]", Matrix.every(1, 1, 4, 2).range(0, 1, 3));
  expect("v[2:4]c", Vector.range(0, 2, 4));
  expect("e[1::2]c", Experts.every(2, 1, 2, 1));
  expect("e[1:3][4:8]c", Experts.range(1, 1, 3).range(2, 4, 8));
}

TEST_F(TensorViews, Transposed) {
  // More rows and columns than one block of the transposition.
  Dense Wide = Dense::counting({37, 600}, 0), Row = Dense::counting({1, 6}, 0);
  Dense Column = Dense::counting({6, 1}, 0);
  Dense Experts = Dense::counting({3, 5, 8}, 0);
  Dense Small = Dense::counting({16, 15}, 0);
  add("w", Wide);
  add("row", Row);
  add("column", Column);
  add("e", Experts, "F16");
  add("s", Small, "BF16");
  open();
  Dense T = Wide.transposed(), ET = Experts.transposed();
  expect("w^T", T);
  expect("w^T^T", Wide);
  expect("w^T[200:400]", T.range(0, 200, 400));
  expect("w[3:30]^T", Wide.range(0, 3, 30).transposed());
  expect("w^T[1::2]", T.every(0, 1, 2, 1));
  expect("w^T[50::200/90]", T.every(0, 50, 200, 90));
  // So far apart that no stretch holds a block of them.
  expect("w^T[0::40]", T.every(0, 0, 40, 1));
  expect("w^T[0::2][10::20/5]", T.every(0, 0, 2, 1).every(0, 10, 20, 5));
  expect("w^T[5:9]c", T.range(1, 5, 9));
  expect("w^T[1::3/2]c[7:300]", T.every(1, 1, 3, 2).range(0, 7, 300));
  expect("row^T", Row.transposed());
  expect("column^T", Column.transposed());
  expect("column^T[0:1]", Column.transposed());
  expect("row^T[0:1]c[2:5]", Row.transposed().range(0, 2, 5));
  expect("s^T", Small.transposed());
  expect("e^T", ET);
  expect("e^T[1::2]", ET.every(1, 1, 2, 1));
  expect("e[1:4]^T[0::4/3]",
         Experts.range(1, 1, 4).transposed().every(1, 0, 4, 3));
}

TEST_F(TensorViews, FarColumnsOfOneBlock) {
  Dense Wide = Dense::counting({2, 9000}, 0);
  add("w", Wide);
  open();
  expect("w^T[3::35]", Wide.transposed().every(0, 3, 35, 1));
}

TEST_F(TensorViews, Flat) {
  Dense Patches = Dense::counting({4, 3, 2, 2}, 0);
  Dense Class = Dense::counting({1, 1, 6}, 0);
  Dense Scalar = Dense::counting({}, 9);
  add("p", Patches);
  add("c", Class);
  add("s", Scalar);
  open();
  expect("p^flat", Patches, Shape{4, 12});
  expect("p^flat", Patches, Shape{48});
  expect("p^flat", Patches, Shape{2, 3, 8});
  expect("p[1:2]c^flat", Patches.range(3, 1, 2), Shape{4, 6});
  expect("c^flat", Class, Shape{6});
  expect("c^flat", Class, Shape{2, 3});
  expect("s^flat", Scalar, Shape{1});
}

TEST_F(TensorViews, Stacked) {
  std::vector<Dense> Matrices, Vectors;
  for (int I = 0; I < 12; ++I) {
    Matrices.push_back(Dense::counting({3, 4}, 12.0f * I));
    Vectors.push_back(Dense::counting({6}, 6.0f * I));
    add("e." + std::to_string(I) + ".w", Matrices[I], I == 5 ? "BF16" : "F16");
    add("e." + std::to_string(I) + ".b", Vectors[I], "BF16");
  }
  add("last.0", Vectors[3]);
  open();
  Dense All = stacked(Matrices), Biases = stacked(Vectors);
  expect("e.*.w", All);
  expect("e.*.w^T", All.transposed());
  expect("e.*.w[1:3]", All.range(1, 1, 3));
  expect("e.*.w^T[1::2]", All.transposed().every(1, 1, 2, 1));
  expect("e.*.w[2:4]c", All.range(2, 2, 4));
  expect("e.*.b", Biases);
  expect("e.*.b[0::2]c", Biases.every(1, 0, 2, 1));
  expect("e.*.b^flat", Biases, Shape{72});
  expect("e.*.w^flat", All, Shape{12, 12});
  expect("last.*", stacked({Vectors[3]}));

  // Less than are there: the rest stays unused.
  auto Five = TensorView::resolve(*Weights, "e.*.b", Shape{5, 6});
  ASSERT_TRUE(Five) << Five.error().message();
  expectContent(*Five, Biases.range(0, 0, 5));
  EXPECT_EQ(Five->tensors(), (std::vector<std::string_view>{
                                 "e.0.b", "e.1.b", "e.2.b", "e.3.b", "e.4.b"}));
  EXPECT_EQ(Five->type(), ElementType::BF16);
  auto Mixed = TensorView::resolve(*Weights, "e.*.w", Shape{12, 3, 4});
  ASSERT_TRUE(Mixed);
  EXPECT_EQ(Mixed->type(), ElementType::F32);

  // A matrix of unknown rows takes all.
  auto Rows = TensorView::resolveMatrix(*Weights, "e.*.w", {}, 4);
  ASSERT_TRUE(Rows) << Rows.error().message();
  expectContent(*Rows, All);

  refuses("e.*.b", {13, 6}, file(),
          "missing tensor 'e.12.b': expected it for 'e.*.b' of shape [13, 6]");
  refuses("f.*.b", {2, 6}, file(),
          "missing tensor 'f.0.b': expected it for 'f.*.b' of shape [2, 6]");
  refuses("e.*.b", {12, 5}, file(),
          "tensor 'e.0.b' of shape [6], read as 'e.*.b', has shape [*, 6]: "
          "expected [12, 5]");
  refuses("e.*.b", {72}, file(), "has shape [*, 6]: expected [72]");
  refuses("e.*.b^flat", {71}, file(),
          "has 6 elements per tensor: expected shape [71]");
  refuses("e.*.b^flat", {5}, file(), "expected shape [5]");
  refuses("e.*.b[0:2]", {12, 2}, file(),
          "suffix '[0:2]': expected '[0:2]c', as its rows are whole tensors");
  refuses("e.*.b^T", {6, 12}, file(),
          "expected a tensor of at least 2 dimensions");
}

TEST_F(TensorViews, StackedTensorsThatDiffer) {
  add("e.0", Dense::counting({2, 3}, 0));
  add("e.1", Dense::counting({3, 2}, 0));
  Header += R"(,"i.0":{"dtype":"I32","shape":[1],"data_offsets":[)" +
            std::to_string(Data.size()) + "," +
            std::to_string(Data.size() + 4) + "]}";
  Data += "1234";
  open();
  refuses("e.*", {2, 2, 3}, file(),
          "tensor 'e.1' has shape [3, 2]: expected [2, 3], as 'e.0' has");
  refuses("i.*", {1, 1}, file(),
          "tensor 'i.0' has type I32: expected F32, F16 or BF16");
  refuses("e.*", {65537, 2, 3}, "parameter 'e.*'",
          "65537 tensors in place of '*': expected 1 to 65536");
}

TEST_F(TensorViews, WrongShapes) {
  add("m", Dense::counting({6, 4}, 0));
  add("v", Dense::counting({6}, 0));
  open();
  refuses("m", {4, 6}, file(), "tensor 'm' has shape [6, 4]: expected [4, 6]");
  refuses("n", {4, 6}, file(), "missing tensor 'n': expected shape [4, 6]");
  refuses("n^T", {4, 6}, file(),
          "missing tensor 'n': expected it for 'n^T' of shape [4, 6]");
  refuses("m^T", {6, 4}, file(),
          "tensor 'm' of shape [6, 4], read as 'm^T', has shape [4, 6]: "
          "expected [6, 4]");
  refuses("m[0:2]", {3, 4}, file(), "has shape [2, 4]: expected [3, 4]");
  refuses("m^flat", {25}, file(), "has 24 elements: expected shape [25]");
  refuses("m^flat", {12}, file(), "has 24 elements: expected shape [12]");
  refuses("v^T", {6}, file(),
          "tensor 'v' of shape [6], read as 'v^T': suffix '^T': expected a "
          "tensor of at least 2 dimensions");
  for (const Shape &Wanted :
       {Shape{}, Shape{0}, Shape{6, -4}, Shape{1, 1, 6, 4}, Shape{INT64_MIN, 4},
        Shape{INT64_MAX, INT64_MAX, 4}})
    refuses("m", Wanted, "parameter 'm': shape " + shapeText(Wanted),
            "expected 1 to 3 dimensions of at least 1");
}

TEST_F(TensorViews, MatricesOfWrongSize) {
  add("m", Dense::counting({6, 4}, 0));
  open();
  auto Refuse = [&](std::string_view Expression, std::optional<int64_t> Rows,
                    int64_t Columns, const std::string &Begin,
                    const std::string &Text) {
    SCOPED_TRACE(Text);
    EXPECT_ERROR(TensorView::resolveMatrix(*Weights, Expression, Rows, Columns),
                 Begin, Text);
  };
  Refuse("m", 6, 5, file(), "has shape [6, 4]: expected [6, 5]");
  Refuse("m", 5, 4, file(), "has shape [6, 4]: expected [5, 4]");
  Refuse("m", {}, 8, file(), "has shape [6, 4]: expected [*, 8]");
  Refuse("m", 3, 8, file(), "has shape [6, 4]: expected [3, 8]");
  Refuse("m^T", 24, 1, file(), "has shape [4, 6]: expected [24, 1]");
  Refuse("m^flat", {}, 5, file(), "has 24 elements: expected shape [*, 5]");
  Refuse("m", {}, 0, "parameter 'm'", "expected at least 1 of 1");
  Refuse("m", INT64_MAX, 3, "parameter 'm'", "expected at least 1 of 1");
  // What only ^flat or a vector's layout asks for.
  EXPECT_TRUE(TensorView::resolveMatrix(*Weights, "m^flat", 3, 8));
  EXPECT_TRUE(TensorView::resolveMatrix(*Weights, "m", 24, 1));
}

TEST_F(TensorViews, RangesOutOfBounds) {
  add("m", Dense::counting({6, 4}, 0));
  open();
  refuses("m[0:7]", {7, 4}, file(), "expected an end of at most 6");
  refuses("m[0:6]c", {6, 6}, file(), "expected an end of at most 4");
  refuses("m^T[2:5]", {3, 6}, file(), "expected an end of at most 4");
  refuses("m[1:5][0:5]", {5, 4}, file(), "expected an end of at most 4");
  refuses("m[6::1]", {1, 4}, file(), "expected a start below 6");
  refuses("m[6:7]", {1, 4}, file(), "expected an end of at most 6");
  refuses("m[9223372036854775806:9223372036854775807]", {1, 4}, file(),
          "expected an end of at most 6");
  refuses("m[9223372036854775807::1]", {1, 4}, file(),
          "expected a start below 6");
  refuses("m[0::4/3]", {5, 4}, file(),
          "suffix '[0::4/3]': expected the last group to be whole within 6");
  refuses("m[0::9223372036854775807/9223372036854775807]", {6, 4}, file(),
          "expected the last group to be whole within 6");
}

TEST_F(TensorViews, MalformedExpressions) {
  add("m", Dense::counting({1}, 0));
  open();
  malformed("", "no name: expected that of a stored tensor");
  malformed("^T", "no name");
  malformed("[0:1]", "no name");
  malformed("a.*.*", "more than one '*'");
  malformed("**", "more than one '*'");
  for (std::string Suffix : {"^",
                             "^t",
                             "^Flat",
                             "[",
                             "[]",
                             "[:]",
                             "[1]",
                             "[0:",
                             "[:3]",
                             "[3:]",
                             "[0:0]",
                             "[2:1]",
                             "[-1:2]",
                             "[0:-2]",
                             "[0:+2]",
                             "[ 0:2]",
                             "[0:2 ]",
                             "[0:0x2]",
                             "[0::]",
                             "[0::0]",
                             "[0::2/]",
                             "[0::2/0]",
                             "[0::2/3]",
                             "[0::-2]",
                             "[0:2:1]",
                             "[0:2/1]",
                             "[0:9223372036854775808]",
                             "[99999999999999999999:2]",
                             "[0:1]d",
                             "^Tx",
                             "^flatten",
                             "[0:1]cc",
                             "[0:1",
                             "[0:1]]",
                             "[[0:1]]",
                             "^T.weight"}) {
    malformed("m" + Suffix, "suffix '");
    malformed("m^T" + Suffix, "suffix '");
  }
  malformed(std::string("m[0:1\0]", 7), "suffix '");
  malformed("m^flat^T", "suffix '^T': expected nothing after ^flat");
  malformed("m^flat[0:1]", "expected nothing after ^flat");
  malformed("m^T^flat", "'^flat' after '^T': expected the elements in the "
                        "order of storage");
  malformed("m[0:1][0:1][0:1][0:1][0:1][0:1][0:1][0:1][0:1]",
            "expected at most 8 suffixes");
  malformed("m[\n\x1b" + std::string(1 << 20, '0'), "suffix '[\\x0a\\x1b");
}

TEST_F(TensorViews, NamesWithoutCheckpoint) {
  auto Names = tensorNamesOf("e.*.w^T[0:3]", 3);
  ASSERT_TRUE(Names);
  EXPECT_EQ(*Names, (std::vector<std::string>{"e.0.w", "e.1.w", "e.2.w"}));
  Names = tensorNamesOf("a.b[0:3]", 3);
  ASSERT_TRUE(Names);
  EXPECT_EQ(*Names, std::vector<std::string>{"a.b"});
  EXPECT_ERROR(tensorNamesOf("e.*", 0), "parameter 'e.*'", "expected 1 to");
  EXPECT_ERROR(tensorNamesOf("e.*", 65537), "parameter 'e.*'", "expected 1 to");
}

TEST_F(TensorViews, RowsOutOfRange) {
  add("m", Dense::counting({6, 4}, 0));
  open();
  auto View = TensorView::resolve(*Weights, "m^T[1:3]", Shape{2, 6});
  ASSERT_TRUE(View);
  float Out[12];
  for (auto [First, Count] : {std::pair<int64_t, int64_t>{-1, 1},
                              {0, 3},
                              {2, 1},
                              {3, 0},
                              {0, -1},
                              {1, INT64_MAX}})
    EXPECT_ERROR(View->readRowsAsFloat(First, Count, Out), file(),
                 "wanted: expected them within 2 rows");
  EXPECT_TRUE(View->readRowsAsFloat(2, 0, nullptr));
  View->dropRows(-5, INT64_MAX);
  View->dropRows(7, 1);
}

TEST_F(TensorViews, ShrunkFile) {
  add("m", Dense::counting({6, 4}, 0));
  open();
  auto View = TensorView::resolve(*Weights, "m^T", Shape{4, 6});
  auto Same = TensorView::resolve(*Weights, "m^T", Shape{4, 6});
  ASSERT_TRUE(View && Same);
  EXPECT_TRUE(sameContent(*View, *Same));
  std::filesystem::resize_file(file(), 16);
  float Out[24];
  EXPECT_ERROR(View->readRowsAsFloat(0, 4, Out), file(), "");
  EXPECT_FALSE(sameContent(*View, *Same));
}

TEST_F(TensorViews, SameContent) {
  Dense Matrix = Dense::counting({300, 40}, 0);
  for (float &Value : Matrix.Values)
    Value = static_cast<float>(static_cast<int>(Value) % 251);
  Dense Other = Matrix;
  Other.Values.back() += 1;
  add("a", Matrix, "BF16");
  add("b", Matrix);
  add("t", Matrix.transposed());
  add("o", Other);
  open();
  auto View = [&](std::string_view Text, Shape Wanted) {
    auto Resolved = TensorView::resolve(*Weights, Text, Wanted);
    EXPECT_TRUE(Resolved) << Resolved.error().message();
    return std::move(*Resolved);
  };
  TensorView A = View("a", {300, 40});
  EXPECT_TRUE(sameContent(A, A));
  EXPECT_TRUE(sameContent(A, View("b", {300, 40})));
  EXPECT_TRUE(sameContent(A, View("t^T", {300, 40})));
  EXPECT_FALSE(sameContent(A, View("o", {300, 40})));
  EXPECT_FALSE(sameContent(A, View("t", {40, 300})));
  EXPECT_FALSE(sameContent(A, View("a[0:299]", {299, 40})));
}

TEST_F(TensorViews, SourcesWithoutBytes) {
  Dense Matrix = Dense::counting({37, 50}, 0);
  Dense Experts = Dense::counting({3, 20, 6}, 0);
  Dense Thin = Dense::counting({3, 1, 4}, 0);
  openSources({{"m", Matrix}, {"e", Experts}, {"t", Thin}});
  expect("m", Matrix);
  expect("m[5:9]", Matrix.range(0, 5, 9));
  expect("m[0::5/2]c", Matrix.every(1, 0, 5, 2));
  expect("m^T", Matrix.transposed());
  expect("m^T[1::2]", Matrix.transposed().every(0, 1, 2, 1));
  expect("m[1:30]^T[7:40]",
         Matrix.range(0, 1, 30).transposed().range(0, 7, 40));
  expect("e", Experts);
  expect("e^T[2:5]", Experts.transposed().range(1, 2, 5));
  expect("t^T[0:1]c", Thin.transposed());
}

TEST_F(TensorViews, SourcesAreTransposedOnce) {
  Dense Matrix = Dense::counting({64, 500}, 0);
  openSources({{"m", Matrix}});
  auto View = TensorView::resolve(*Weights, "m^T", Shape{500, 64});
  ASSERT_TRUE(View);
  std::vector<float> Out(64 * 10);
  for (int64_t Row = 0; Row < 500; Row += 10)
    ASSERT_TRUE(View->readRowsAsFloat(Row, 10, Out.data()));
  EXPECT_EQ(Sources[0]->Served, 64 * 500);
}

TEST_F(TensorViews, DropsWhatWasRead) {
  openSources({{"m", Dense::counting({8, 6}, 0)},
               {"e", Dense::counting({2, 4, 6}, 0)}});
  using Spans = std::vector<std::pair<int64_t, int64_t>>;
  auto Dropped = [&](std::string_view Text, Shape Wanted, int64_t First,
                     int64_t Count) {
    auto View = TensorView::resolve(*Weights, Text, Wanted);
    EXPECT_TRUE(View) << View.error().message();
    const CountingSource &Source = *Sources[Text[0] == 'e'];
    Source.Dropped.clear();
    View->dropRows(First, Count);
    return Source.Dropped;
  };
  EXPECT_EQ(Dropped("m", {8, 6}, 2, 3), (Spans{{12, 18}}));
  EXPECT_EQ(Dropped("m[2:5]", {3, 6}, 1, 2), (Spans{{18, 12}}));
  EXPECT_EQ(Dropped("m[0::2]", {4, 6}, 1, 2), (Spans{{12, 18}}));
  EXPECT_EQ(Dropped("m[1:3]c", {8, 2}, 0, 2), (Spans{{1, 8}}));
  EXPECT_EQ(Dropped("m", {8, 6}, 8, 1), Spans());
  EXPECT_EQ(Dropped("m^T", {6, 8}, 0, 5), Spans());
  EXPECT_EQ(Dropped("m^T", {6, 8}, 5, 1), (Spans{{0, 48}}));
  EXPECT_EQ(Dropped("m[0:3]^T", {6, 3}, 4, 2), (Spans{{0, 18}}));
  EXPECT_EQ(Dropped("e^T", {2, 6, 4}, 3, 5), (Spans{{0, 24}}));
  EXPECT_EQ(Dropped("e^T", {2, 6, 4}, 0, 12), (Spans{{0, 24}, {24, 24}}));
}

} // namespace
