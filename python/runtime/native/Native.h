//===- Native.h - The C API as Python classes -------------------*- C++ -*-===//
//
// Internal to the extension module: what its sources share. Everything goes
// through tenon.h; threads that compute or wait let go of the interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PYTHON_NATIVE_H
#define TENON_PYTHON_NATIVE_H

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tenon/tenon.h>

#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace tenon::python {

namespace nb = nanobind;

using Tokens = std::vector<int32_t>;
/// [rows, width] f32, read-only memory of the runtime.
using Rows = nb::ndarray<nb::numpy, const float, nb::ndim<2>>;

/// [channels, height, width].
using Pixels =
    nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

/// Raises the exception class of `Status`, with the message.
[[noreturn]] void raise(tenon_status Status, const std::string &Message);
/// Raises the last error of this thread, unless `Status` says that there is
/// none.
void check(tenon_status Status);

/// The text as C has it; raises where it has U+0000, naming `Name`.
const char *terminated(const char *Name, const std::string &Text);

/// The process that something with threads was made in. One that was forked
/// from it has the memory, but not the threads: there it can neither be used
/// nor destroyed.
class HomeProcess {
public:
  bool isHere() const { return ::getpid() == Id; }
  /// Raises elsewhere.
  void check(const char *What) const;

private:
  pid_t Id = ::getpid();
};

/// Handles that end with their owner.
struct ModelEnd {
  void operator()(tenon_model *M) const { tenon_model_destroy(M); }
};
using ModelHandle = std::unique_ptr<tenon_model, ModelEnd>;

/// A loaded artifact; sessions and engines keep it alive.
struct Model {
  explicit Model(const std::string &Path);
  tenon_model *get() const { return Handle.get(); }
  ModelHandle Handle;
};

/// Where the pixels of images begin, which must be of the model's shape.
std::vector<const float *> pixelsOf(const Model &M,
                                    const std::vector<Pixels> &Images);

/// What sessions and engines share.
struct Resources {
  Resources(int64_t Threads, uint64_t MemoryBytes);
  Resources(const Resources &) = delete;
  ~Resources() {
    if (Home.isHere())
      tenon_resources_destroy(Handle);
  }
  tenon_resources *get() const {
    Home.check("Resources");
    return Handle;
  }

private:
  HomeProcess Home;
  tenon_resources *Handle = nullptr;
};

/// The settings of Python's dataclass `Settings`, in C; the arrays are its own.
class CSettings {
public:
  explicit CSettings(nb::handle Fields);
  CSettings(const CSettings &) = delete;
  const tenon_settings *get() const { return &Values; }
  /// Images of the prompt, which must live as long.
  void setImages(std::vector<const float *> Pixels);
  /// The tools of the conversation, as JSON.
  void setTools(std::string Json);

private:
  tenon_settings Values;
  Tokens BiasTokens, BadWordTokens, StopTokens;
  std::vector<float> Biases;
  std::vector<size_t> BadWordLengths;
  std::vector<std::string> Stops, Choices;
  std::vector<const char *> StopPointers, ChoicePointers;
  std::string Schema, Regex, Ebnf, Format, Tools;
  std::vector<const float *> Images;
};

void bindModel(nb::module_ &M);
void bindSession(nb::module_ &M);
void bindEngine(nb::module_ &M);

} // namespace tenon::python

#endif // TENON_PYTHON_NATIVE_H
