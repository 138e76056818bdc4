# The libraries that more than one folder uses, found once at the top so that
# their targets are known in every folder.

find_package(dnnl 3.2 QUIET CONFIG)
if(NOT dnnl_FOUND)
  message(FATAL_ERROR "oneDNN 3.2 or newer was not found: run scripts/setup, "
    "or let CMAKE_PREFIX_PATH name an installation (the presets name .venv)")
endif()
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
