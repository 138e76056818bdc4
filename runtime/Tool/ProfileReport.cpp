//===- ProfileReport.cpp - A profile as table and JSON --------------------===//

#include "runtime/Tool/ProfileReport.h"

#include "runtime/Machine/MachineLimits.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <unistd.h>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::machine;
using namespace tenon::tool;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Memory to read: much more than caches hold, and what a small machine has.
static size_t bytesToRead() {
  constexpr size_t Most = size_t(512) << 20, Least = size_t(64) << 20;
  long Pages = ::sysconf(_SC_AVPHYS_PAGES), Size = ::sysconf(_SC_PAGESIZE);
  if (Pages <= 0 || Size <= 0)
    return Least;
  size_t Free = static_cast<size_t>(Pages) * static_cast<size_t>(Size);
  return std::clamp(Free / 4 / Least * Least, Least, Most);
}

Result<MachineRates> tool::measureRates(const CodeInfo &Code, int64_t Threads) {
  constexpr double ReadSeconds = 0.6, MatmulSeconds = 0.25;
  MachineRates Rates;
  Result<ReadLimit> Reading =
      measureReading(bytesToRead(), ReadSeconds, Threads);
  if (!Reading)
    return Reading.error();
  Rates.BytesPerSecond = Reading->BytesPerSecond;
  for (const auto &Numbers : Arithmetics) {
    auto IsUsed = [&](const KernelInfo &K) {
      return K.Cost.Numbers == Numbers.Value &&
             (K.Cost.RowFlops != 0 || K.Cost.KeyFlops != 0);
    };
    if (std::none_of(Code.Kernels.begin(), Code.Kernels.end(), IsUsed))
      continue;
    Result<std::optional<MatmulLimit>> Limit =
        measureMatmul(Numbers.Value, MatmulSeconds, Threads);
    if (!Limit)
      return Limit.error();
    if (*Limit)
      Rates.FlopsPerSecond[static_cast<size_t>(Numbers.Value)] =
          (*Limit)->OperationsPerSecond;
  }
  return Rates;
}

namespace {

/// The shortest time that the machine could take, in seconds.
struct Bound {
  double Seconds = 0;
  /// "memory", or the numbers whose products bound it.
  std::string_view What = "memory";
};

/// Calls of one or several kernels together.
struct Sum {
  int64_t Calls = 0;
  double Seconds = 0;
  double Bytes = 0;
  double Flops = 0;
  /// Of each kernel and layer, added up.
  double BoundSeconds = 0;
  /// What bounds the last one.
  std::string_view BoundBy;

  void add(const KernelTimes &Times, const Bound &Limit) {
    Calls += Times.Calls;
    Seconds += secondsOf(Times);
    Bytes += Times.Bytes;
    Flops += Times.Flops;
    BoundSeconds += Limit.Seconds;
    BoundBy = Limit.What;
  }
  static double secondsOf(const KernelTimes &Times) {
    return static_cast<double>(Times.Nanoseconds) / 1e9;
  }
};

} // namespace

static Bound boundOf(const KernelTimes &Times, const KernelInfo &Kernel,
                     const MachineRates &Rates) {
  Bound Limit;
  if (Rates.BytesPerSecond != 0)
    Limit.Seconds = Times.Bytes / Rates.BytesPerSecond;
  double Rate = Rates.FlopsPerSecond[static_cast<size_t>(Kernel.Cost.Numbers)];
  if (Rate != 0 && Times.Flops / Rate > Limit.Seconds)
    Limit = {Times.Flops / Rate, infoOf(Kernel.Cost.Numbers).Name};
  return Limit;
}

static double ratio(double A, double B) { return B != 0 ? A / B : 0; }

static std::string_view operationOf(const KernelInfo &Kernel) {
  return std::string_view(Kernel.Text).substr(0, Kernel.Text.find(' '));
}

/// "a + b" of what the library ran for the kernel; empty for generated ones.
static std::string implementationsOf(const ProfileReport &Report,
                                     const KernelInfo &Kernel) {
  std::string Names;
  if (Kernel.Primitive)
    for (const std::string &Name :
         Report.Implementations[static_cast<size_t>(*Kernel.Primitive)])
      Names += (Names.empty() ? "" : " + ") + Name;
  return Names;
}

static double kernelSeconds(const Profile &Recorder) {
  double Seconds = 0;
  for (const KernelTimes &Times : Recorder.kernels())
    Seconds += Sum::secondsOf(Times);
  return Seconds;
}

static double stepSeconds(const Profile &Recorder) {
  return static_cast<double>(Recorder.nanoseconds()) / 1e9;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

Json tool::limitsJson(const MachineRates &Rates) {
  Json Flops = Json::object();
  for (const auto &Numbers : Arithmetics)
    if (double Rate = Rates.FlopsPerSecond[static_cast<size_t>(Numbers.Value)])
      Flops[std::string(Numbers.Name)] = Rate;
  return {{"bytes_per_s", Rates.BytesPerSecond}, {"flops_per_s", Flops}};
}

static Json kernelJson(const ProfileReport &Report, const KernelTimes &Times) {
  const KernelInfo &Kernel = Report.Code.Kernels[Times.Kernel];
  Bound Limit = boundOf(Times, Kernel, Report.Rates);
  std::string Library = implementationsOf(Report, Kernel);
  double Seconds = Sum::secondsOf(Times);
  return {{"kernel", Times.Kernel},
          {"operation", operationOf(Kernel)},
          {"text", Kernel.Text},
          {"function", Kernel.Function},
          {"layer",
           Times.Scope ? Json(Report.Model.Scopes[*Times.Scope].Name) : Json()},
          {"calls", Times.Calls},
          {"rows", Times.Rows},
          {"seconds", Seconds},
          {"bytes", Times.Bytes},
          {"flops", Times.Flops},
          {"numbers", infoOf(Kernel.Cost.Numbers).Name},
          {"library", Library.empty() ? Json() : Json(Library)},
          {"reason", Kernel.Reason.empty() ? Json() : Json(Kernel.Reason)},
          {"bound_by", Limit.What},
          {"bound_seconds", Limit.Seconds},
          {"share_of_limit", ratio(Limit.Seconds, Seconds)}};
}

Json tool::profileJson(const ProfileReport &Report) {
  Json Phases = Json::array();
  for (const ProfiledPhase &Phase : Report.Phases) {
    const Profile &Recorder = Phase.Recorder;
    Json Kernels = Json::array();
    for (const KernelTimes &Times : Recorder.kernels())
      Kernels.push_back(kernelJson(Report, Times));
    double InSteps = stepSeconds(Recorder);
    Phases.push_back(
        {{"phase", Phase.Name},
         {"steps", Recorder.steps()},
         {"tokens", Recorder.tokens()},
         {"seconds", Phase.Seconds},
         {"between_kernels_seconds", InSteps - kernelSeconds(Recorder)},
         {"outside_steps_seconds", Phase.Seconds - InSteps},
         {"kernels", Kernels}});
  }
  return Phases;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string fixed(double Value, int Decimals) {
  char Text[64];
  std::snprintf(Text, sizeof(Text), "%.*f", Decimals, Value);
  return Text;
}

namespace {

/// Columns of text, the last ones to the left, the others to the right.
class TextTable {
public:
  TextTable(std::vector<std::string> Header, size_t Left)
      : Rows{std::move(Header)}, Left(Left) {}
  void add(std::vector<std::string> Row) { Rows.push_back(std::move(Row)); }

  std::string text() const {
    size_t Columns = Rows.front().size();
    std::vector<size_t> Widths(Columns);
    for (const auto &Row : Rows)
      for (size_t C = 0; C < Columns; ++C)
        Widths[C] = std::max(Widths[C], Row[C].size());
    std::string Text;
    for (const auto &Row : Rows) {
      std::string Line;
      for (size_t C = 0; C < Columns; ++C) {
        std::string Padding(Widths[C] - Row[C].size(), ' ');
        Line += C + Left < Columns ? Padding + Row[C] : Row[C] + Padding;
        Line += "  ";
      }
      Line.erase(Line.find_last_not_of(' ') + 1);
      Text += "  " + Line + "\n";
    }
    return Text;
  }

private:
  std::vector<std::vector<std::string>> Rows;
  size_t Left;
};

/// Reasons, told once each below the table.
class Footnotes {
public:
  /// " [1]".
  std::string mark(const std::string &Text) {
    if (Text.empty())
      return "";
    size_t Number = static_cast<size_t>(
        std::find(Texts.begin(), Texts.end(), Text) - Texts.begin());
    if (Number == Texts.size())
      Texts.push_back(Text);
    return " [" + std::to_string(Number + 1) + "]";
  }
  std::string text() const {
    std::string Lines;
    for (size_t I = 0; I < Texts.size(); ++I)
      Lines += "  [" + std::to_string(I + 1) + "] " + Texts[I] + "\n";
    return Lines;
  }

private:
  std::vector<std::string> Texts;
};

/// What one step of a phase takes.
class PhaseTable {
public:
  PhaseTable(const ProfileReport &Report, const ProfiledPhase &Phase)
      : Report(Report), Phase(Phase), Times(Phase.Recorder.kernels()),
        Steps(
            static_cast<double>(std::max<int64_t>(Phase.Recorder.steps(), 1))) {
  }

  std::string byKernel() {
    std::map<size_t, Sum> Sums;
    for (const KernelTimes &Each : Times)
      Sums[Each.Kernel].add(
          Each, boundOf(Each, Report.Code.Kernels[Each.Kernel], Report.Rates));
    std::vector<std::pair<size_t, Sum>> Sorted(Sums.begin(), Sums.end());
    std::stable_sort(Sorted.begin(), Sorted.end(),
                     [](const auto &A, const auto &B) {
                       return A.second.Seconds > B.second.Seconds;
                     });
    TextTable Table({"time", "ms", "calls", "GB/s", "GFLOP/s", "of limit", "by",
                     "ran", "kernel"},
                    3);
    for (const auto &[Number, S] : Sorted) {
      const KernelInfo &Kernel = Report.Code.Kernels[Number];
      std::string Library = implementationsOf(Report, Kernel);
      std::vector<std::string> Row = cells(S);
      Row.insert(Row.end(),
                 {std::string(S.BoundBy),
                  (Library.empty() ? "generated" : "oneDNN " + Library) +
                      Notes.mark(Kernel.Reason),
                  Kernel.Function + ": " + labelOf(Kernel)});
      Table.add(std::move(Row));
    }
    addRest(Table, 2);
    return Table.text();
  }

  std::string byLayer() const {
    // In the order of the manifest, an entry's own kernels last.
    std::map<size_t, Sum> Sums;
    for (const KernelTimes &Each : Times)
      Sums[Each.Scope.value_or(Report.Model.Scopes.size())].add(
          Each, boundOf(Each, Report.Code.Kernels[Each.Kernel], Report.Rates));
    TextTable Table(
        {"time", "ms", "calls", "GB/s", "GFLOP/s", "of limit", "layer"}, 1);
    for (const auto &[Scope, S] : Sums) {
      std::vector<std::string> Row = cells(S);
      Row.push_back(Scope < Report.Model.Scopes.size()
                        ? Report.Model.Scopes[Scope].Name
                        : "outside of layers");
      Table.add(std::move(Row));
    }
    addRest(Table, 0);
    return Table.text();
  }

  std::string title() const {
    const Profile &Recorder = Phase.Recorder;
    double Tokens = static_cast<double>(Recorder.tokens()) / Steps;
    return Phase.Name + ": " + std::to_string(Recorder.steps()) +
           (Recorder.steps() == 1 ? " step of " : " steps of ") +
           fixed(Tokens, 0) + (Tokens == 1 ? " token, " : " tokens, ") +
           fixed(Phase.Seconds / Steps * 1e3, 3) + " ms each; of one step:\n";
  }

  std::string footnotes() const { return Notes.text(); }

private:
  std::string shareOf(double Seconds) const {
    return fixed(ratio(Seconds, Phase.Seconds) * 100, 1) + " %";
  }

  /// Time, ms and calls of a step, rates and share of the limit.
  std::vector<std::string> cells(const Sum &S) const {
    double Calls = static_cast<double>(S.Calls) / Steps;
    return {shareOf(S.Seconds),
            fixed(S.Seconds / Steps * 1e3, 3),
            fixed(Calls, Calls == static_cast<int64_t>(Calls) ? 0 : 1),
            fixed(ratio(S.Bytes, S.Seconds) / 1e9, 1),
            fixed(ratio(S.Flops, S.Seconds) / 1e9, 1),
            fixed(ratio(S.BoundSeconds, S.Seconds) * 100, 0) + " %"};
  }

  /// What no kernel takes, and all together. `Blank` columns come before the
  /// last.
  void addRest(TextTable &Table, size_t Blank) const {
    double InSteps = stepSeconds(Phase.Recorder);
    auto Add = [&](double Seconds, const char *What) {
      std::vector<std::string> Row = {shareOf(Seconds),
                                      fixed(Seconds / Steps * 1e3, 3)};
      Row.resize(6 + Blank);
      Row.push_back(What);
      Table.add(std::move(Row));
    };
    Add(InSteps - kernelSeconds(Phase.Recorder), "between kernels");
    Add(Phase.Seconds - InSteps, "outside of steps: batches, sampling");
    Add(Phase.Seconds, "all");
  }

  /// The operation without destinations and types.
  static std::string labelOf(const KernelInfo &Kernel) {
    constexpr size_t Most = 90;
    std::string Label = Kernel.Text;
    for (const char *End : {" outs(", " : ("})
      Label.resize(std::min(Label.find(End), Label.size()));
    if (Label.size() > Most)
      Label = Label.substr(0, Most - 3) + "...";
    return Label;
  }

  const ProfileReport &Report;
  const ProfiledPhase &Phase;
  std::vector<KernelTimes> Times;
  double Steps;
  Footnotes Notes;
};

} // namespace

std::string tool::profileText(const ProfileReport &Report, bool ByLayer) {
  std::string Text =
      "limits: " + fixed(Report.Rates.BytesPerSecond / 1e9, 1) + " GB/s read";
  for (const auto &Numbers : Arithmetics)
    if (double Rate =
            Report.Rates.FlopsPerSecond[static_cast<size_t>(Numbers.Value)])
      Text +=
          ", " + fixed(Rate / 1e9, 0) + " GFLOP/s " + std::string(Numbers.Name);
  Text += "\n";
  for (const ProfiledPhase &Phase : Report.Phases) {
    PhaseTable Table(Report, Phase);
    Text += "\n" + Table.title();
    // What the notes are is known when the table is made.
    Text += Table.byKernel();
    Text += Table.footnotes();
    if (ByLayer)
      Text += "\n" + Phase.Name + " by layer:\n" + Table.byLayer();
  }
  return Text;
}

//===----------------------------------------------------------------------===//
// Roofline
//===----------------------------------------------------------------------===//

namespace {

/// Kernels of one operation in one phase.
struct Point {
  std::string Label;
  size_t Phase = 0;
  Sum Total;
  double intensity() const { return Total.Flops / Total.Bytes; }
  double rate() const { return Total.Flops / Total.Seconds; }
};

/// A logarithmic axis over whole powers of ten.
class Axis {
public:
  /// `From` and `To` in pixels.
  Axis(double From, double To) : From(From), To(To) {}
  void cover(double Value) {
    Low = std::min(Low, std::floor(std::log10(Value)));
    High = std::max(High, std::ceil(std::log10(Value)));
  }
  double at(double Value) const {
    return From + (std::log10(Value) - Low) / (High - Low) * (To - From);
  }
  double least() const { return std::pow(10, Low); }
  double most() const { return std::pow(10, High); }
  int low() const { return static_cast<int>(Low); }
  int high() const { return static_cast<int>(High); }

private:
  double From, To;
  double Low = 0, High = 1;
};

/// Writes the elements of a picture.
class Svg {
public:
  void line(double X1, double Y1, double X2, double Y2, const char *Class) {
    Body += "<line class=\"" + std::string(Class) + "\" x1=\"" + fixed(X1, 1) +
            "\" y1=\"" + fixed(Y1, 1) + "\" x2=\"" + fixed(X2, 1) + "\" y2=\"" +
            fixed(Y2, 1) + "\"/>\n";
  }
  void circle(double X, double Y, double Radius, size_t Class,
              std::string_view Title) {
    Body += "<circle class=\"p" + std::to_string(Class) + "\" cx=\"" +
            fixed(X, 1) + "\" cy=\"" + fixed(Y, 1) + "\" r=\"" +
            fixed(Radius, 1) + "\"><title>" + escaped(Title) +
            "</title></circle>\n";
  }
  void text(double X, double Y, const char *Anchor, std::string_view Text) {
    Body += "<text x=\"" + fixed(X, 1) + "\" y=\"" + fixed(Y, 1) +
            "\" text-anchor=\"" + Anchor + "\">" + escaped(Text) + "</text>\n";
  }

  std::string picture(int Width, int Height) const {
    std::string Size = std::to_string(Width) + " " + std::to_string(Height);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
           Size + "\" width=\"" + std::to_string(Width) + "\" height=\"" +
           std::to_string(Height) +
           "\">\n<style>\ntext { font: 12px sans-serif; fill: #222 }\n"
           ".grid { stroke: #ddd }\n.roof { stroke: #222; stroke-width: 1.5 }\n"
           "circle { fill-opacity: 0.6; stroke: #222 }\n.p0 { fill: #d95f02 }\n"
           ".p1 { fill: #1b78b4 }\n</style>\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
           Body + "</svg>\n";
  }

private:
  static std::string escaped(std::string_view Text) {
    std::string Safe;
    for (char C : Text) {
      if (C == '<')
        Safe += "&lt;";
      else if (C == '>')
        Safe += "&gt;";
      else if (C == '&')
        Safe += "&amp;";
      else if (static_cast<unsigned char>(C) < 0x20)
        Safe += '?';
      else
        Safe += C;
    }
    return Safe;
  }

  std::string Body;
};

} // namespace

/// One point for each operation of a phase whose FLOPs are counted, those that
/// take longest first. `Left` gets the seconds of the others, by phase.
static std::vector<Point> pointsOf(const ProfileReport &Report,
                                   std::vector<double> &Left) {
  std::vector<Point> Points;
  for (size_t P = 0; P < Report.Phases.size(); ++P) {
    std::map<std::string, Sum> Sums;
    double &Others = Left.emplace_back(0);
    for (const KernelTimes &Times : Report.Phases[P].Recorder.kernels()) {
      const KernelInfo &Kernel = Report.Code.Kernels[Times.Kernel];
      if (Times.Flops == 0 || Times.Bytes == 0 || Times.Nanoseconds == 0) {
        Others += Sum::secondsOf(Times);
        continue;
      }
      Sums[std::string(operationOf(Kernel)) + " " +
           std::string(infoOf(Kernel.Cost.Numbers).Name)]
          .add(Times, boundOf(Times, Kernel, Report.Rates));
    }
    for (const auto &[Label, Total] : Sums)
      Points.push_back({Report.Phases[P].Name + " " + Label, P, Total});
  }
  // Small ones on top of large ones.
  std::stable_sort(Points.begin(), Points.end(),
                   [](const Point &A, const Point &B) {
                     return A.Total.Seconds > B.Total.Seconds;
                   });
  return Points;
}

std::string tool::profileSvg(const ProfileReport &Report) {
  constexpr int Width = 900, Height = 560;
  constexpr double LeftEdge = 70, RightEdge = 880, Top = 40, Bottom = 470;
  std::vector<double> Left;
  std::vector<Point> Points = pointsOf(Report, Left);
  const MachineRates &Rates = Report.Rates;

  Axis X(LeftEdge, RightEdge), Y(Bottom, Top);
  for (const Point &P : Points) {
    X.cover(P.intensity());
    Y.cover(P.rate() / 1e9);
  }
  for (double Rate : Rates.FlopsPerSecond)
    if (Rate != 0) {
      Y.cover(Rate / 1e9);
      X.cover(Rate / Rates.BytesPerSecond);
    }

  Svg Picture;
  for (int Power = X.low(); Power <= X.high(); ++Power) {
    double At = X.at(std::pow(10, Power));
    Picture.line(At, Top, At, Bottom, "grid");
    Picture.text(At, Bottom + 18, "middle",
                 fixed(std::pow(10, Power), std::max(0, -Power)));
  }
  for (int Power = Y.low(); Power <= Y.high(); ++Power) {
    double At = Y.at(std::pow(10, Power));
    Picture.line(LeftEdge, At, RightEdge, At, "grid");
    Picture.text(LeftEdge - 8, At + 4, "end",
                 fixed(std::pow(10, Power), std::max(0, -Power)));
  }
  Picture.text((LeftEdge + RightEdge) / 2, Bottom + 38, "middle",
               "FLOPs per byte");
  Picture.text(8, Top - 16, "start", "GFLOP/s");

  // The memory's line up to the highest rate, or to the edge of the picture.
  double Highest = *std::max_element(Rates.FlopsPerSecond.begin(),
                                     Rates.FlopsPerSecond.end());
  double Bandwidth = Rates.BytesPerSecond / 1e9;
  double First = std::max(X.least(), Y.least() / Bandwidth);
  double Last = std::min(X.most(), Y.most() / Bandwidth);
  if (Highest != 0)
    Last = std::min(Last, Highest / Rates.BytesPerSecond);
  Picture.line(X.at(First), Y.at(First * Bandwidth), X.at(Last),
               Y.at(Last * Bandwidth), "roof");
  Picture.text(X.at(First) + 8, Y.at(First * Bandwidth) - 10, "start",
               fixed(Bandwidth, 1) + " GB/s");
  for (const auto &Numbers : Arithmetics) {
    double Rate = Rates.FlopsPerSecond[static_cast<size_t>(Numbers.Value)];
    if (Rate == 0)
      continue;
    double At = Y.at(Rate / 1e9);
    Picture.line(X.at(std::max(Rate / Rates.BytesPerSecond, X.least())), At,
                 RightEdge, At, "roof");
    Picture.text(RightEdge - 4, At - 5, "end",
                 std::string(Numbers.Name) + ", " + fixed(Rate / 1e9, 0) +
                     " GFLOP/s");
  }

  for (const Point &P : Points) {
    double Share = ratio(P.Total.Seconds, Report.Phases[P.Phase].Seconds);
    double AtX = X.at(P.intensity()), AtY = Y.at(P.rate() / 1e9);
    double Radius = 3 + 17 * std::sqrt(std::clamp(Share, 0.0, 1.0));
    std::string Text = P.Label + ", " + fixed(Share * 100, 1) + " %";
    Picture.circle(
        AtX, AtY, Radius, P.Phase % 2,
        Text + ", " + fixed(P.rate() / 1e9, 1) + " GFLOP/s, " +
            fixed(ratio(P.Total.BoundSeconds, P.Total.Seconds) * 100, 0) +
            " % of the limit");
    bool IsRight = AtX > (LeftEdge + RightEdge) / 2;
    Picture.text(IsRight ? AtX - Radius - 4 : AtX + Radius + 4, AtY + 4,
                 IsRight ? "end" : "start", Text);
  }
  std::string Below = "Circles: area by share of the phase's time. Not drawn, "
                      "as no FLOPs are counted:";
  for (size_t P = 0; P < Report.Phases.size(); ++P)
    Below += (P == 0 ? " " : ", ") +
             fixed(ratio(Left[P], Report.Phases[P].Seconds) * 100, 1) +
             " % of " + Report.Phases[P].Name;
  Picture.text(LeftEdge, Height - 24, "start", Below);
  return Picture.picture(Width, Height);
}
