//===- CApiTest.cpp - The C API -------------------------------------------===//

#include "CommandLineFixture.h"

#include "runtime/tenon.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace tenon;
using namespace tenon::test;

extern "C" int useTenonFromC(const char *Path);

namespace {

class CApiTest : public testing::Test {
protected:
  void SetUp() override {
    Status Written = writeModel(File, nullptr, WordPieces);
    ASSERT_TRUE(Written) << Written.error().message();
  }
  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

} // namespace

TEST_F(CApiTest, UsedFromC) {
  EXPECT_EQ(useTenonFromC(File.c_str()), 0)
      << "the line of CApiUse.c; last error: " << tenon_last_error();
}

TEST_F(CApiTest, CancelledGenerationsGoOn) {
  tenon_model *M = nullptr;
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  ASSERT_EQ(tenon_session_create(M, 1, 0, &S), TENON_OK);
  tenon_model_destroy(M);
  // The test model waits on these tokens until it is cancelled.
  int32_t Prompt[] = {48, 48};
  tenon_generation *G = nullptr;
  ASSERT_EQ(tenon_generation_create(S, nullptr, Prompt, 2, &G), TENON_OK);
  std::atomic<bool> HasEnded{false};
  std::thread Impatient([&] {
    // So that the step runs already.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    while (!HasEnded) {
      tenon_session_cancel(S);
      std::this_thread::yield();
    }
  });
  tenon_piece Piece = {};
  Piece.struct_size = sizeof(Piece);
  tenon_status Twice[2];
  for (tenon_status &Status : Twice)
    Status = tenon_generation_next(G, &Piece);
  HasEnded = true;
  Impatient.join();
  EXPECT_EQ(Twice[0], TENON_CANCELLED);
  EXPECT_EQ(Twice[1], TENON_CANCELLED);
  EXPECT_EQ(Piece.finish, TENON_FINISH_NONE);
  tenon_generation_destroy(G);
  tenon_session_destroy(S);
}
