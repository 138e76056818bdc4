//===- KeyValueCache.cpp - Keys and values between steps ------------------===//

#include "compiler/Evaluator/KeyValueCache.h"

#include "runtime/Support/Half.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon;

float tenon::roundTo(ElementType Type, float Value) {
  switch (Type) {
  case ElementType::F32:
    return Value;
  case ElementType::F16:
    return halfToFloat(floatToHalf(Value));
  case ElementType::BF16:
    return bf16ToFloat(floatToBf16(Value));
  }
  return Value;
}

void tenon::roundTo(CacheFormat Format, std::span<float> Head) {
  switch (Format) {
  case CacheFormat::F32:
    return;
  case CacheFormat::BF16:
    return roundTo(StorageFormat::BF16, Head);
  case CacheFormat::I8: {
    float Largest = 0;
    for (float X : Head)
      Largest = std::max(Largest, std::fabs(X));
    float Inverse = 127.0f / std::max(Largest, SmallestCachedHead);
    for (float &X : Head)
      X = std::nearbyint(X * Inverse) * (Largest / 127.0f);
    return;
  }
  }
}

void tenon::roundTo(StorageFormat Format, std::span<float> Row) {
  assert(!infoOf(Format).isQuantised() && "expected plain numbers");
  if (Format == StorageFormat::BF16)
    for (float &X : Row)
      X = roundTo(ElementType::BF16, X);
}

Status KeyValueCache::store(int64_t Layer, int64_t Sequence, int64_t Position,
                            const float *Key, const float *Value) {
  int64_t Length = length(Layer, Sequence);
  if (Position < 0 || Position > Length)
    return Error("position " + std::to_string(Position) + " of sequence " +
                 std::to_string(Sequence) + " in layer " +
                 std::to_string(Layer) + ": expected at most " +
                 std::to_string(Length) + ", as many as the cache holds");
  Rows &To = Stored[{Layer, Sequence}];
  if (Position == Length) {
    To.Keys.resize(To.Keys.size() + static_cast<size_t>(KeyWidth));
    To.Values.resize(To.Values.size() + static_cast<size_t>(ValueWidth));
  }
  auto HeadOf = static_cast<size_t>(HeadDim);
  auto Write = [&](const float *From, int64_t Width, std::vector<float> &Rows) {
    std::span<float> Row(Rows.data() + Position * Width,
                         static_cast<size_t>(Width));
    std::copy_n(From, Width, Row.begin());
    for (size_t First = 0; First < Row.size(); First += HeadOf)
      roundTo(Format, Row.subspan(First, HeadOf));
  };
  Write(Key, KeyWidth, To.Keys);
  Write(Value, ValueWidth, To.Values);
  return {};
}

int64_t KeyValueCache::length(int64_t Layer, int64_t Sequence) const {
  auto Found = Stored.find({Layer, Sequence});
  if (Found == Stored.end())
    return 0;
  return static_cast<int64_t>(Found->second.Keys.size()) / KeyWidth;
}

const float *KeyValueCache::key(int64_t Layer, int64_t Sequence,
                                int64_t Position) const {
  return Stored.find({Layer, Sequence})->second.Keys.data() +
         Position * KeyWidth;
}

const float *KeyValueCache::value(int64_t Layer, int64_t Sequence,
                                  int64_t Position) const {
  return Stored.find({Layer, Sequence})->second.Values.data() +
         Position * ValueWidth;
}

void KeyValueCache::forget(int64_t Sequence) {
  std::erase_if(Stored, [&](const auto &Entry) {
    return Entry.first.second == Sequence;
  });
}
