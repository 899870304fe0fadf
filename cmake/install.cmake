# What is installed, in three parts (components): program; library, the shared one; development, what compiling against it
# needs, with the two ways to find it: find_package(mfpg) and pkg-config mfpg.
include(CMakePackageConfigHelpers)
set(MFPG_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mfpg)
install(TARGETS mfpg_shared EXPORT mfpgTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  NAMELINK_COMPONENT development)
install(TARGETS mfpg EXPORT mfpgStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/mfpg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

install(EXPORT mfpgTargets NAMESPACE mfpg:: DESTINATION ${MFPG_CMAKE_DIR} COMPONENT development)
install(EXPORT mfpgStaticTargets NAMESPACE mfpg:: DESTINATION ${MFPG_CMAKE_DIR} COMPONENT development)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/mfpgConfig.cmake.in ${CMAKE_BINARY_DIR}/mfpgConfig.cmake
  INSTALL_DESTINATION ${MFPG_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mfpgConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mfpgConfig.cmake ${CMAKE_BINARY_DIR}/mfpgConfigVersion.cmake
  DESTINATION ${MFPG_CMAKE_DIR} COMPONENT development)

file(RELATIVE_PATH MFPG_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" MFPG_PC_TO_PREFIX "${MFPG_PC_TO_PREFIX}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/mfpg.pc.in ${CMAKE_BINARY_DIR}/mfpg.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mfpg.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(TARGETS mfpg_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
if(TARGET mfpg_mpi)
  install(TARGETS mfpg_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/mfpg/examples COMPONENT program
  PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN embedding EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/embedding DESTINATION ${CMAKE_INSTALL_DATADIR}/mfpg/examples
  COMPONENT development)
