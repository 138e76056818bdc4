//===- limits.cpp - What this machine can do at most ----------------------===//
//
// Measures the two rates that bound a Transformer: how fast all cores together
// read memory, and how fast oneDNN multiplies matrices whose weights are
// packed. Prints one JSON object.
//
//===----------------------------------------------------------------------===//

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <immintrin.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <sys/mman.h>
#include <unordered_map>

using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::vector<std::string> Only;
  double Seconds = 0.5;
  int64_t Megabytes = 2048;
};

double secondsNow() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

double medianOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 != 0 ? Values[Middle]
                                : (Values[Middle - 1] + Values[Middle]) / 2;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads `Streams` neighbouring ranges of `Length` bytes at once, 64 bytes of
/// each in turn. Returns a value that depends on all of them. `Length` is a
/// multiple of 256.
using ReadFunction = uint64_t (*)(const std::byte *Begin, size_t Length);

template <int Streams>
__attribute__((target("avx512f"))) uint64_t readAvx512(const std::byte *Begin,
                                                       size_t Length) {
  __m512i Sums[Streams * 4];
  for (__m512i &Sum : Sums)
    Sum = _mm512_setzero_si512();
  for (size_t At = 0; At < Length; At += 256)
#pragma GCC unroll 8
    for (int S = 0; S < Streams; ++S)
#pragma GCC unroll 4
      for (int I = 0; I < 4; ++I)
        Sums[S * 4 + I] = _mm512_xor_si512(
            Sums[S * 4 + I], _mm512_load_si512(Begin + size_t(S) * Length + At +
                                               size_t(I) * 64));
  for (int I = 1; I < Streams * 4; ++I)
    Sums[0] = _mm512_xor_si512(Sums[0], Sums[I]);
  alignas(64) uint64_t Lanes[8];
  _mm512_store_si512(Lanes, Sums[0]);
  return std::accumulate(Lanes, Lanes + 8, uint64_t(0), std::bit_or<>());
}

template <int Streams>
__attribute__((target("avx2"))) uint64_t readAvx2(const std::byte *Begin,
                                                  size_t Length) {
  __m256i Sums[Streams * 2];
  for (__m256i &Sum : Sums)
    Sum = _mm256_setzero_si256();
  for (size_t At = 0; At < Length; At += 64)
#pragma GCC unroll 8
    for (int S = 0; S < Streams; ++S)
#pragma GCC unroll 2
      for (int I = 0; I < 2; ++I)
        Sums[S * 2 + I] = _mm256_xor_si256(
            Sums[S * 2 + I],
            _mm256_load_si256(reinterpret_cast<const __m256i *>(
                Begin + size_t(S) * Length + At + size_t(I) * 32)));
  for (int I = 1; I < Streams * 2; ++I)
    Sums[0] = _mm256_xor_si256(Sums[0], Sums[I]);
  alignas(32) uint64_t Lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i *>(Lanes), Sums[0]);
  return std::accumulate(Lanes, Lanes + 4, uint64_t(0), std::bit_or<>());
}

struct Reader {
  int Streams;
  ReadFunction Read;
};

std::vector<Reader> readers() {
  if (__builtin_cpu_supports("avx512f"))
    return {{1, readAvx512<1>}, {2, readAvx512<2>}, {4, readAvx512<4>}};
  if (__builtin_cpu_supports("avx2"))
    return {{1, readAvx2<1>}, {2, readAvx2<2>}, {4, readAvx2<4>}};
  return {};
}

/// Bytes per second that all threads together read from a buffer much larger
/// than any cache, each its own part of it. 0 when the reads went wrong.
double readRate(const Reader &R, const std::byte *Buffer, size_t Bytes,
                double Seconds) {
  auto Threads = static_cast<size_t>(omp_get_max_threads());
  constexpr size_t Step = 256;
  size_t Length = Bytes / Threads / size_t(R.Streams) / Step * Step;
  size_t Part = Length * size_t(R.Streams);
  uint64_t Bits = 0;
  double Begin = secondsNow();
  double Taken = 0;
  int64_t Passes = 0;
  do {
#pragma omp parallel reduction(| : Bits)
    {
      auto Thread = static_cast<size_t>(omp_get_thread_num());
      Bits |= R.Read(Buffer + Thread * Part, Length);
    }
    ++Passes;
    Taken = secondsNow() - Begin;
  } while (Taken < Seconds);
  // Every word of the buffer is 1: an even number of them cancels out.
  return Bits <= 1 ? double(Part * Threads) * double(Passes) / Taken : 0;
}

bool measureReading(const Options &O, Json &Answer) {
  size_t Bytes = size_t(O.Megabytes) << 20;
  void *Memory = ::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Memory == MAP_FAILED) {
    std::fprintf(stderr, "tenon-limits: error: cannot allocate %zu bytes\n",
                 Bytes);
    return false;
  }
  // Large pages show what the memory can do, not what address translation
  // costs.
  ::madvise(Memory, Bytes, MADV_HUGEPAGE);
  auto *Words = static_cast<uint64_t *>(Memory);
  auto Count = static_cast<int64_t>(Bytes / sizeof(uint64_t));
#pragma omp parallel for schedule(static)
  for (int64_t I = 0; I < Count; ++I)
    Words[I] = 1;

  std::vector<Reader> All = readers();
  Json ByStreams = Json::object();
  double Best = 0;
  for (const Reader &R : All) {
    double Rate = readRate(R, static_cast<std::byte *>(Memory), Bytes,
                           O.Seconds / double(All.size()));
    ByStreams[std::to_string(R.Streams)] = Rate / 1e9;
    Best = std::max(Best, Rate);
  }
  ::munmap(Memory, Bytes);
  Answer["read_gb_per_s"] = Best / 1e9;
  Answer["read_gb_per_s_by_streams"] = ByStreams;
  return Best > 0;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// A matmul as the runtime asks oneDNN for it.
struct Matmul {
  const char *Name;
  dnnl::memory::data_type Source;
  dnnl::memory::data_type Weights;
  dnnl::memory::data_type Destination;
  dnnl::memory::format_tag Packed;
};

constexpr int64_t Rows = 512, Depth = 2048, Columns = 2048;

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

const Matmul Matmuls[] = {
    {"f32", Type::f32, Type::f32, Type::f32, Tag::BA16a64b},
    {"bf16", Type::bf16, Type::bf16, Type::bf16, Tag::BA16a64b2a},
    {"u8s8s32", Type::u8, Type::s8, Type::s32, Tag::BA16a64b4a},
};

/// Fills with small numbers that need no rounding; zeros would flatter.
void fill(dnnl::engine &Engine, dnnl::stream &Stream, dnnl::memory &Target) {
  dnnl::memory::desc Desc = Target.get_desc();
  dnnl::memory Plain(dnnl::memory::desc(Desc.get_dims(), Type::f32, Tag::ab),
                     Engine);
  auto *Values = static_cast<float *>(Plain.get_data_handle());
  size_t Count = Plain.get_desc().get_size() / sizeof(float);
  for (size_t I = 0; I < Count; ++I)
    Values[I] = float((I * 2654435761u >> 7) % 7);
  dnnl::reorder(Plain, Target).execute(Stream, Plain, Target);
  Stream.wait();
}

/// Operations per second of one matmul; nothing when oneDNN has only its
/// reference loop for it.
Json measureMatmul(const Matmul &P, double Seconds) {
  dnnl::engine Engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream Stream(Engine);
  dnnl::memory::desc Source({Rows, Depth}, P.Source, Tag::ab);
  dnnl::memory::desc Destination({Rows, Columns}, P.Destination, Tag::ab);

  dnnl::matmul::primitive_desc Desc;
  std::string Layout;
  // Levels without the packed kernel have another layout that they like.
  for (Tag Weights : {P.Packed, Tag::any, Tag::ab}) {
    Desc = dnnl::matmul::primitive_desc(
        Engine, Source,
        dnnl::memory::desc({Depth, Columns}, P.Weights, Weights), Destination,
        dnnl::primitive_attr(), /*allow_empty=*/true);
    Layout = Weights == P.Packed   ? "packed"
             : Weights == Tag::any ? "any"
                                   : "plain";
    if (Desc &&
        std::string(Desc.impl_info_str()).find("ref") == std::string::npos)
      break;
    Desc = dnnl::matmul::primitive_desc();
  }
  if (!Desc)
    return nullptr;

  dnnl::memory A(Desc.src_desc(), Engine), B(Desc.weights_desc(), Engine),
      C(Desc.dst_desc(), Engine);
  fill(Engine, Stream, A);
  fill(Engine, Stream, B);
  dnnl::matmul Matmul(Desc);
  std::unordered_map<int, dnnl::memory> Arguments{
      {DNNL_ARG_SRC, A}, {DNNL_ARG_WEIGHTS, B}, {DNNL_ARG_DST, C}};
  auto Run = [&] {
    double Begin = secondsNow();
    Matmul.execute(Stream, Arguments);
    Stream.wait();
    return secondsNow() - Begin;
  };
  for (int I = 0; I < 3; ++I)
    Run();
  std::vector<double> Times;
  for (double Sum = 0; Sum < Seconds; Sum += Times.back())
    Times.push_back(Run());
  constexpr double Operations = 2.0 * Rows * Depth * Columns;
  return {{"gop_per_s", Operations / medianOf(Times) / 1e9},
          {"weights", Layout},
          {"implementation", Desc.impl_info_str()}};
}

} // namespace

int main(int Count, char **Values) {
  Options O;
  CLI::App App("Measures what this machine can do: read bandwidth, and "
               "oneDNN's matmuls of 512 x 2048 by 2048 x 2048.",
               "tenon-limits");
  App.add_option("--only", O.Only, "Of read, f32, bf16, u8s8s32 [all]")
      ->check(CLI::IsMember({"read", "f32", "bf16", "u8s8s32"}));
  App.add_option("--seconds", O.Seconds, "Time for each measurement")
      ->check(CLI::Range(0.01, 600.0))
      ->capture_default_str();
  App.add_option("--megabytes", O.Megabytes, "Memory to read")
      ->check(CLI::Range(int64_t(64), int64_t(1) << 20))
      ->capture_default_str();
  try {
    App.parse(Count, Values);
  } catch (const CLI::ParseError &Failure) {
    return App.exit(Failure) == 0 ? 0 : 2;
  }
  auto Asked = [&](const char *Name) {
    return O.Only.empty() ||
           std::find(O.Only.begin(), O.Only.end(), Name) != O.Only.end();
  };

  Json Answer = {{"threads", omp_get_max_threads()}};
  if (Asked("read") && !measureReading(O, Answer))
    return 1;
  try {
    Json Rates = Json::object();
    for (const Matmul &P : Matmuls)
      if (Asked(P.Name))
        Rates[P.Name] = measureMatmul(P, O.Seconds);
    Answer["matmul"] = Rates;
  } catch (const dnnl::error &Failure) {
    std::fprintf(stderr, "tenon-limits: error: oneDNN: %s\n", Failure.what());
    return 1;
  }
  std::printf("%s\n", Answer.dump(2).c_str());
  return 0;
}
