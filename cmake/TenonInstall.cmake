# What `cmake --install` puts where: the tools, libtenon with its header, and a
# CMake and a pkg-config package. Everything finds everything else by relative
# paths, so that an installation may be moved. Components: runtime, development
# and, unless TENON_RUNTIME_ONLY, compiler.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A library of oneDNN that the loader knows need not be copied.
get_target_property(onednn DNNL::dnnl LOCATION)
get_filename_component(onednn_folder ${onednn} DIRECTORY)
set(copy_onednn ON)
if(onednn_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
  set(copy_onednn OFF)
endif()
option(TENON_INSTALL_ONEDNN
  "Install oneDNN's library too, where only Tenon finds it" ${copy_onednn})

set(private_libraries ${CMAKE_INSTALL_LIBDIR}/tenon)
set(documents ${CMAKE_INSTALL_DOCDIR})
set(from_lib "$ORIGIN/tenon")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE bin_to_lib)
set(from_bin "$ORIGIN/${bin_to_lib}/tenon")

if(TENON_INSTALL_ONEDNN)
  set_target_properties(tenon_shared PROPERTIES INSTALL_RPATH "${from_lib}")
  set_target_properties(tenon PROPERTIES INSTALL_RPATH "${from_bin}")
  install(FILES $<TARGET_FILE:DNNL::dnnl> DESTINATION ${private_libraries}
    RENAME $<TARGET_SONAME_FILE_NAME:DNNL::dnnl> COMPONENT runtime)
  # <prefix>/lib/cmake/dnnl/; the folder is oneDNN's own or Intel's.
  get_filename_component(onednn_prefix ${dnnl_DIR}/../../.. ABSOLUTE)
  foreach(name LICENSE THIRD-PARTY-PROGRAMS)
    find_file(ONEDNN_${name} ${name} NO_DEFAULT_PATH
      PATHS ${onednn_prefix}/share/doc/onednn ${onednn_prefix}/share/doc/dnnl)
    mark_as_advanced(ONEDNN_${name})
    if(ONEDNN_${name})
      install(FILES ${ONEDNN_${name}} DESTINATION ${documents}/onednn
        COMPONENT runtime)
    endif()
  endforeach()
endif()

install(TARGETS tenon RUNTIME COMPONENT runtime)
# Manual pages and completions are made by the tools from their own options.
set(pages ${CMAKE_CURRENT_BINARY_DIR}/share)
add_custom_command(OUTPUT ${pages}/tenon.stamp
  COMMAND tenon __manual ${pages}/man1
  COMMAND tenon completion bash > ${pages}/tenon.bash
  COMMAND tenon completion zsh > ${pages}/_tenon
  COMMAND tenon completion fish > ${pages}/tenon.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}/tenon.stamp
  DEPENDS tenon VERBATIM)
set(stamps ${pages}/tenon.stamp)
if(NOT TENON_RUNTIME_ONLY)
  add_custom_command(OUTPUT ${pages}/tenon-compile.stamp
    COMMAND tenon-compile __manual ${pages}/man1
    COMMAND ${CMAKE_COMMAND} -E touch ${pages}/tenon-compile.stamp
    DEPENDS tenon-compile ${pages}/tenon.stamp VERBATIM)
  list(APPEND stamps ${pages}/tenon-compile.stamp)
endif()
add_custom_target(tenon-pages ALL DEPENDS ${stamps})
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR}
  COMPONENT runtime)
install(FILES ${pages}/tenon.bash COMPONENT runtime RENAME tenon
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/_tenon COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/tenon.fish COMPONENT runtime
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

install(FILES README.md DESTINATION ${documents} COMPONENT runtime)
install(TARGETS tenon_shared EXPORT Tenon
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)

if(NOT TENON_RUNTIME_ONLY)
  # LLVM's folder comes last (TenonMLIR.cmake says why).
  set(rpath ${from_bin} ${TENON_OPENMP_FOLDER} ${LLVM_LIBRARY_DIR})
  set_target_properties(tenon-compile PROPERTIES INSTALL_RPATH "${rpath}")
  set_target_properties(tenon-opt PROPERTIES
    INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  install(TARGETS tenon-compile tenon-opt RUNTIME COMPONENT compiler)
endif()

# The header: #include <tenon/tenon.h>
install(FILES runtime/tenon.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon
  COMPONENT development)

# find_package(Tenon CONFIG) gives Tenon::tenon.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
set_target_properties(tenon_shared PROPERTIES EXPORT_NAME tenon)
target_include_directories(tenon_shared INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(EXPORT Tenon NAMESPACE Tenon:: FILE TenonTargets.cmake
  DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/TenonConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/TenonConfig.cmake INSTALL_DESTINATION ${package}
  NO_SET_AND_CHECK_MACRO)
# As the soname has it: structs only grow.
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/TenonConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/TenonConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)

# Paths from the folder of tenon.pc.
foreach(variable PREFIX FULL_LIBDIR FULL_INCLUDEDIR)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_${variable}
    BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE TENON_PC_${variable})
endforeach()
configure_file(cmake/tenon.pc.in tenon.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenon.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
