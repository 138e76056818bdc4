//===- AsanOptions.cpp - Defaults of the address sanitizer ----------------===//
//
// Linked into every executable of a build with the address sanitizer.
//
//===----------------------------------------------------------------------===//

/// LLVM's headers poison what their allocators have not handed out. Its
/// libraries, built without the sanitizer, never take that back.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
