//===- FamilyFixture.h - Bare configs as test cases -------------*- C++ -*-===//
//
// For tests of families: what a config says is handled as Transformers does,
// or refused in one line.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_COMPILER_FAMILYFIXTURE_H
#define TENON_TESTS_UNIT_COMPILER_FAMILYFIXTURE_H

#include "compiler/Families/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

namespace tenon {

/// Values of a key: what Transformers takes without it, and one that makes
/// another model.
struct KeyDefault {
  std::string Key;
  Json Default, Other;
};

/// Settings on top of a config, and the message that they give, without the
/// file's name.
struct Refusal {
  Json Changes;
  std::string Message;
};

/// What a message about an unknown activation expects.
inline constexpr const char *KnownActivations =
    "expected one of gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, quick_gelu, "
    "relu, silu, swish, tanh, sigmoid";

class FamilyTest : public testing::Test {
protected:
  void SetUp() override {
    File = std::filesystem::temp_directory_path() /
           ("tenon-family-" + std::to_string(getpid()) + ".json");
  }
  void TearDown() override { std::filesystem::remove(File); }

  /// `Base` with `Changes`; a null stays one.
  static Json with(Json Base, const Json &Changes) {
    Base.update(Changes);
    return Base;
  }
  static Json without(Json Base, const std::string &Key) {
    Base.erase(Key);
    return Base;
  }

  /// What is refused because nothing reads it; `Shown` is how the message shows
  /// `Value`.
  static Refusal unread(const std::string &Family, const std::string &Key,
                        const Json &Value, const std::string &Shown) {
    return {{{Key, Value}},
            "field '" + Key + "' is " + Shown + ": the family " + Family +
                " does not read this key, which may change the result (if "
                "not: tenon compile --ignore-config-key " +
                Key + ")"};
  }

  Result<ImportedModel> import(const Json &Settings) {
    std::ofstream(File) << Settings.dump();
    ImportOptions Options;
    Options.ConfigOnly = true;
    return importModel(Context, File, Options);
  }

  /// The graph of a config that must be right.
  std::string graphOf(const Json &Settings) {
    auto Model = import(Settings);
    EXPECT_TRUE(Model) << Model.error().message() << " in " << Settings;
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    if (Model)
      Model->Module->print(Stream);
    return Text;
  }

  /// Each key without a value is as with its default, and not as with another.
  void expectDefaults(const Json &Base, const std::vector<KeyDefault> &Keys) {
    std::string Graph = graphOf(Base);
    for (const KeyDefault &Each : Keys) {
      SCOPED_TRACE(Each.Key);
      EXPECT_FALSE(Base.contains(Each.Key));
      EXPECT_EQ(graphOf(with(Base, {{Each.Key, Each.Default}})), Graph);
      EXPECT_NE(graphOf(with(Base, {{Each.Key, Each.Other}})), Graph);
    }
  }

  /// Each change of `Base` is refused with its message.
  void expectRefusals(const Json &Base, const std::vector<Refusal> &Refusals) {
    (void)graphOf(Base);
    for (const Refusal &Each : Refusals) {
      SCOPED_TRACE(Each.Changes.dump());
      auto Model = import(with(Base, Each.Changes));
      ASSERT_FALSE(Model);
      EXPECT_EQ(Model.error().message(), File.string() + ": " + Each.Message);
    }
  }

  mlir::MLIRContext Context;
  std::filesystem::path File;
};

} // namespace tenon

#endif // TENON_TESTS_UNIT_COMPILER_FAMILYFIXTURE_H
