//===- NoRoomForThreads.h - A process that starts no thread -----*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_NOROOMFORTHREADS_H
#define TENON_TESTS_UNIT_NOROOMFORTHREADS_H

#include <gtest/gtest.h>
#include <pthread.h>

/// While it lives, no thread of this process starts.
class NoRoomForThreads {
public:
  NoRoomForThreads() {
    // A stack as large as all addresses is one that no thread gets.
    pthread_attr_t Huge;
    EXPECT_EQ(pthread_getattr_default_np(&Usual), 0);
    EXPECT_EQ(pthread_attr_init(&Huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&Huge, size_t{1} << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&Huge), 0);
    pthread_attr_destroy(&Huge);
  }
  ~NoRoomForThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&Usual), 0);
    pthread_attr_destroy(&Usual);
  }
  NoRoomForThreads(const NoRoomForThreads &) = delete;
  NoRoomForThreads &operator=(const NoRoomForThreads &) = delete;

private:
  pthread_attr_t Usual;
};

#endif // TENON_TESTS_UNIT_NOROOMFORTHREADS_H
