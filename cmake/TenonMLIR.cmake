# LLVM, MLIR and lld from their packages, linked as shared libraries.

find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
find_package(ZLIB REQUIRED)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# LLVM's folder may hold an OpenMP runtime under the name of the compiler's,
# which the folder of the compiler's own, searched first, keeps out.
if(OpenMP_gomp_LIBRARY)
  file(REAL_PATH "${OpenMP_gomp_LIBRARY}" TENON_OPENMP_RUNTIME)
  get_filename_component(TENON_OPENMP_FOLDER "${TENON_OPENMP_RUNTIME}" DIRECTORY)
  list(PREPEND CMAKE_BUILD_RPATH "${TENON_OPENMP_FOLDER}")
endif()

add_library(tenon_mlir INTERFACE)
target_include_directories(tenon_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(tenon_mlir INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
separate_arguments(_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tenon_mlir INTERFACE ${_llvm_definitions})
target_link_libraries(tenon_mlir INTERFACE tenon_options MLIR LLVM)
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(tenon_mlir INTERFACE -fno-rtti)
endif()

# MLIR's headers are four fifths of the time that a file which uses them takes
# to compile. They are parsed once, and every library that links tenon_mlir
# reads them from there (tenon_mlir_headers below).
add_library(tenon_mlir_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/MLIRHeaders.cpp)
target_link_libraries(tenon_mlir_headers PRIVATE tenon_mlir)
target_precompile_headers(tenon_mlir_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/MLIRHeaders.h)

# mlir_tablegen takes its include path from the directory.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
