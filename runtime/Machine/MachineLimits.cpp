//===- MachineLimits.cpp - What this machine can do at most ---------------===//

#include "runtime/Machine/MachineLimits.h"

#include "runtime/Support/Clock.h"

#include <algorithm>
#include <functional>
#include <immintrin.h>
#include <numeric>
#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>
#include <sys/mman.h>
#include <unordered_map>

using namespace tenon;
using namespace tenon::machine;

namespace {

double medianOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 != 0 ? Values[Middle]
                                : (Values[Middle - 1] + Values[Middle]) / 2;
}

/// So many threads in regions that this thread opens, oneDNN's among them.
class TeamSize {
public:
  explicit TeamSize(int64_t Threads) : Before(omp_get_max_threads()) {
    if (Threads != 0)
      omp_set_num_threads(static_cast<int>(Threads));
  }
  ~TeamSize() { omp_set_num_threads(Before); }
  TeamSize(const TeamSize &) = delete;
  TeamSize &operator=(const TeamSize &) = delete;

private:
  int Before;
};

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

} // namespace

Result<ReadLimit> machine::measureReading(size_t Bytes, double Seconds,
                                          int64_t Threads) {
  TeamSize Team(Threads);
  void *Memory = ::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (Memory == MAP_FAILED)
    return Error(ErrorKind::OutOfMemory,
                 "cannot allocate " + std::to_string(Bytes) + " bytes");
  // Large pages show what the memory can do, not what address translation
  // costs.
  ::madvise(Memory, Bytes, MADV_HUGEPAGE);
  auto *Words = static_cast<uint64_t *>(Memory);
  auto Count = static_cast<int64_t>(Bytes / sizeof(uint64_t));
#pragma omp parallel for schedule(static)
  for (int64_t I = 0; I < Count; ++I)
    Words[I] = 1;

  std::vector<Reader> All = readers();
  ReadLimit Limit;
  for (const Reader &R : All) {
    double Rate = readRate(R, static_cast<std::byte *>(Memory), Bytes,
                           Seconds / double(All.size()));
    Limit.ByStreams.emplace_back(R.Streams, Rate);
    Limit.BytesPerSecond = std::max(Limit.BytesPerSecond, Rate);
  }
  ::munmap(Memory, Bytes);
  if (Limit.BytesPerSecond == 0)
    return Error(ErrorKind::UnsupportedCpu,
                 "cannot measure how fast memory is read: expected AVX2");
  return Limit;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

namespace {

/// A matmul as the runtime asks oneDNN for it.
struct Matmul {
  dnnl::memory::data_type Source;
  dnnl::memory::data_type Weights;
  dnnl::memory::data_type Destination;
  dnnl::memory::format_tag Packed;
};

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

/// By Arithmetic.
const Matmul Matmuls[] = {
    {Type::f32, Type::f32, Type::f32, Tag::BA16a64b},
    {Type::bf16, Type::bf16, Type::bf16, Tag::BA16a64b2a},
    {Type::u8, Type::s8, Type::s32, Tag::BA16a64b4a},
};
static_assert(std::size(Matmuls) == Arithmetics.size());

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

/// May throw dnnl::error.
std::optional<MatmulLimit> measure(const Matmul &P, double Seconds,
                                   int64_t Rows, size_t WeightBytes) {
  dnnl::engine Engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream Stream(Engine);
  dnnl::memory::desc Source({Rows, MatmulDepth}, P.Source, Tag::ab);
  dnnl::memory::desc Destination({Rows, MatmulColumns}, P.Destination, Tag::ab);

  dnnl::matmul::primitive_desc Desc;
  std::string Layout;
  // Levels without the packed kernel have another layout that they like.
  for (Tag Weights : {P.Packed, Tag::any, Tag::ab}) {
    Desc = dnnl::matmul::primitive_desc(
        Engine, Source,
        dnnl::memory::desc({MatmulDepth, MatmulColumns}, P.Weights, Weights),
        Destination, dnnl::primitive_attr(), /*allow_empty=*/true);
    Layout = Weights == P.Packed   ? "packed"
             : Weights == Tag::any ? "any"
                                   : "plain";
    if (Desc &&
        std::string(Desc.impl_info_str()).find("ref") == std::string::npos)
      break;
    Desc = dnnl::matmul::primitive_desc();
  }
  if (!Desc)
    return std::nullopt;

  dnnl::memory A(Desc.src_desc(), Engine), C(Desc.dst_desc(), Engine);
  fill(Engine, Stream, A);
  dnnl::matmul Matmul(Desc);
  size_t Matrices =
      std::max<size_t>(1, WeightBytes / Desc.weights_desc().get_size());
  std::vector<std::unordered_map<int, dnnl::memory>> Arguments;
  for (size_t I = 0; I < Matrices; ++I) {
    dnnl::memory B(Desc.weights_desc(), Engine);
    fill(Engine, Stream, B);
    Arguments.push_back(
        {{DNNL_ARG_SRC, A}, {DNNL_ARG_WEIGHTS, B}, {DNNL_ARG_DST, C}});
  }
  auto Run = [&] {
    double Begin = secondsNow();
    for (const auto &One : Arguments)
      Matmul.execute(Stream, One);
    Stream.wait();
    return secondsNow() - Begin;
  };
  for (int I = 0; I < 3; ++I)
    Run();
  std::vector<double> Times;
  for (double Sum = 0; Sum < Seconds; Sum += Times.back())
    Times.push_back(Run());
  double Operations = 2.0 * double(Matrices) * double(Rows) *
                      double(MatmulDepth) * double(MatmulColumns);
  return MatmulLimit{Operations / medianOf(Times), Layout,
                     Desc.impl_info_str()};
}

} // namespace

Result<std::optional<MatmulLimit>>
machine::measureMatmul(Arithmetic Numbers, double Seconds, int64_t Threads,
                       int64_t Rows, size_t WeightBytes) {
  TeamSize Team(Threads);
  try {
    return measure(Matmuls[static_cast<size_t>(Numbers)], Seconds, Rows,
                   WeightBytes);
  } catch (const dnnl::error &Failure) {
    return Error(ErrorKind::Internal, std::string("oneDNN: ") + Failure.what());
  }
}
