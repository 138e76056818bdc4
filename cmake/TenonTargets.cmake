# Compile options and the two target functions that every folder uses.

include(TenonDependencies)

# Paths below the checkout do not count, so that another clone finds the same
# objects in the cache.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
    CCACHE_SLOPPINESS=pch_defines,time_macros ${TENON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE -Wall -Wextra -Wno-unused-parameter)
target_include_directories(tenon_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(tenon_options INTERFACE TENON_VERSION="${PROJECT_VERSION}")
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes each file of a unity source for a header, where a type of an
  # unnamed namespace would be another one in each file.
  target_compile_options(tenon_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(TENON_SANITIZE)
  target_compile_options(tenon_options INTERFACE
    -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE})
endif()
if(TENON_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TENON_FUZZ needs clang, which has libFuzzer: use the preset fuzz")
  endif()
  # Everything counts its edges; only fuzz targets have libFuzzer's main. The
  # vptr check needs run-time type information, which LLVM is built without.
  target_compile_options(tenon_options INTERFACE
    -fsanitize=fuzzer-no-link -fno-sanitize=vptr)
endif()

# tenon_library(NAME sources... [LIBS libs...]): a static library of one folder.
# The global property TENON_LIBRARIES lists them all.
function(tenon_library name)
  cmake_parse_arguments(ARG "" "" "LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC tenon_options ${ARG_LIBS})
  if(tenon_mlir IN_LIST ARG_LIBS)
    target_precompile_headers(${name} REUSE_FROM tenon_mlir_headers)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY TENON_LIBRARIES ${name})
endfunction()

# tenon_executable(NAME sources... [LIBS libs...]): an executable in build/bin.
function(tenon_executable name)
  cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(TENON_SANITIZE MATCHES "address")
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/AsanOptions.cpp)
  endif()
  target_link_libraries(${name} PRIVATE tenon_options ${ARG_LIBS})
endfunction()
