# Library, headers, examples, and the two ways to find them: find_package(mfpg) and pkg-config mfpg.
include(CMakePackageConfigHelpers)
install(TARGETS mfpg EXPORT mfpgTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/mfpg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mfpg/examples
  PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE)
install(EXPORT mfpgTargets NAMESPACE mfpg:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfpg)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/mfpgConfig.cmake.in ${CMAKE_BINARY_DIR}/mfpgConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfpg)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mfpgConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mfpgConfig.cmake ${CMAKE_BINARY_DIR}/mfpgConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/mfpg)
file(RELATIVE_PATH MFPG_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" MFPG_PC_TO_PREFIX "${MFPG_PC_TO_PREFIX}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/mfpg.pc.in ${CMAKE_BINARY_DIR}/mfpg.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mfpg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
