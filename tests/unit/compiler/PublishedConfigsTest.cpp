//===- PublishedConfigsTest.cpp - Configs as models come with them --------===//

#include "FamilyFixture.h"

#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Family.h"

#include <set>

using namespace tenon;

namespace {

class PublishedConfigs : public FamilyTest {};

TEST_F(PublishedConfigs, AreReadOrRefusedForWhatChangesTheResult) {
  auto All = readJsonFile(TENON_TEST_DATA "/configs/published.json");
  ASSERT_TRUE(All) << All.error().message();
  std::set<std::string> Types;
  for (const Json &Each : *All) {
    SCOPED_TRACE(Each["model"].get<std::string>());
    Types.insert(Each["config"]["model_type"].get<std::string>());
    auto Model = import(Each["config"]);
    if (Each.contains("refused")) {
      ASSERT_FALSE(Model);
      EXPECT_NE(Model.error().message().find(Each["refused"]),
                std::string::npos)
          << Model.error().message();
      continue;
    }
    if (!Model) {
      ADD_FAILURE() << Model.error().message();
      continue;
    }
    auto Estimate = estimateModel(*Model->Module);
    ASSERT_TRUE(Estimate) << Estimate.error().message();
    if (Each.contains("parameters")) {
      EXPECT_EQ(Estimate->Parameters, Each["parameters"].get<int64_t>());
    }
  }
  for (auto Known : {families(), multimodalFamilies()})
    for (const Family *F : Known)
      EXPECT_TRUE(Types.contains(std::string(F->ModelType)))
          << F->ModelType << " has no published config";
}

} // namespace
