//===- Metrics.h - What a server counts -------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_HTTP_METRICS_H
#define TENON_RUNTIME_HTTP_METRICS_H

#include "runtime/Serving/Scheduler.h"

#include <array>
#include <map>
#include <string>

namespace tenon::http {

/// A histogram of seconds.
class Histogram {
public:
  void add(double Seconds);
  /// In the text format of Prometheus; `Label` is model_name="...".
  void print(std::string &To, std::string_view Name,
             std::string_view Label) const;

private:
  static constexpr std::array<double, 14> Bounds = {
      0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120};
  std::array<uint64_t, Bounds.size() + 1> Counts{};
  double Sum = 0;
};

/// Of one model; for the server's thread. The names that print() gives them
/// are vLLM's, under "tenon:".
struct ModelMetrics {
  Histogram FirstToken, LongestGap, Queued, Total;
  std::map<std::string, uint64_t, std::less<>> Finished; ///< By its reason.
};

/// The metrics of models by name, in the text format of Prometheus 0.0.4.
std::string printMetrics(
    const std::vector<std::pair<std::string, const ModelMetrics *>> &Models,
    const std::vector<serving::Statistics> &Engines);

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_METRICS_H
