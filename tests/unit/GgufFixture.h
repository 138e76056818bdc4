//===- GgufFixture.h - Files for the GGUF tests -----------------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_GGUFFIXTURE_H
#define TENON_TESTS_UNIT_GGUFFIXTURE_H

#include "CheckpointFixture.h"
#include "compiler/Checkpoint/Gguf.h"

#include <vector>

namespace tenon {

/// Puts a GGUF file together, field by field.
class GgufBytes {
public:
  template <typename T> static std::string number(T Value) {
    return rawBytes<T>({Value});
  }
  static std::string string(std::string_view Text) {
    return number<uint64_t>(Text.size()) + std::string(Text);
  }
  template <typename T>
  static std::string array(GgufType Type, const std::vector<T> &Values) {
    std::string Bytes = number(Type) + number<uint64_t>(Values.size());
    for (const T &Value : Values)
      if constexpr (std::is_arithmetic_v<T>)
        Bytes += number(Value);
      else
        Bytes += string(Value);
    return Bytes;
  }

  GgufBytes &key(std::string_view Name, GgufType Type, std::string Value) {
    Keys.push_back(string(Name) + number(Type) + std::move(Value));
    return *this;
  }
  GgufBytes &text(std::string_view Name, std::string_view Value) {
    return key(Name, GgufType::String, string(Value));
  }
  GgufBytes &size(std::string_view Name, uint32_t Value) {
    return key(Name, GgufType::UInt32, number(Value));
  }
  GgufBytes &real(std::string_view Name, float Value) {
    return key(Name, GgufType::Float32, number(Value));
  }
  GgufBytes &flag(std::string_view Name, bool Value) {
    return key(Name, GgufType::Bool, number<uint8_t>(Value));
  }

  /// Dimensions innermost first, as the file has them.
  GgufBytes &tensor(std::string_view Name, const std::vector<uint64_t> &Dims,
                    uint32_t Type, uint64_t Offset) {
    std::string Bytes = string(Name) + number<uint32_t>(uint32_t(Dims.size()));
    for (uint64_t Dim : Dims)
      Bytes += number(Dim);
    Tensors.push_back(Bytes + number(Type) + number(Offset));
    return *this;
  }
  /// A tensor of zeros after all others.
  GgufBytes &zeros(std::string_view Name, const std::vector<uint64_t> &Dims) {
    uint64_t Elements = 1;
    for (uint64_t Dim : Dims)
      Elements *= Dim;
    return floats(Name, Dims, std::vector<float>(Elements));
  }
  /// The same of these values.
  GgufBytes &floats(std::string_view Name, const std::vector<uint64_t> &Dims,
                    const std::vector<float> &Values) {
    tensor(Name, Dims, 0, Stored.size());
    for (float Value : Values)
      Stored += number(Value);
    Stored.resize((Stored.size() + 31) / 32 * 32);
    return *this;
  }

  /// The header, without the padding that follows.
  std::string header(uint32_t Version = 3) const {
    std::string Bytes = "GGUF" + number(Version) +
                        number<uint64_t>(Tensors.size()) +
                        number<uint64_t>(Keys.size());
    for (const std::string &Key : Keys)
      Bytes += Key;
    for (const std::string &Tensor : Tensors)
      Bytes += Tensor;
    return Bytes;
  }

  /// The file, with `Data` or what zeros() and floats() stored.
  std::string file(std::string_view Data = "", uint32_t Version = 3,
                   size_t Alignment = 32) const {
    std::string Bytes = header(Version);
    Bytes.resize((Bytes.size() + Alignment - 1) / Alignment * Alignment);
    Bytes += Data.empty() ? std::string_view(Stored) : Data;
    return Bytes;
  }

private:
  std::vector<std::string> Keys, Tensors;
  std::string Stored;
};

} // namespace tenon

#endif // TENON_TESTS_UNIT_GGUFFIXTURE_H
