# Debian packages by CPack, one a component: mfpg, libmfpgMAJOR.MINOR, libmfpg-dev. `make deb` builds them; a packager says
# who that is by DEBFULLNAME and DEBEMAIL in the environment, as for other tools of Debian.
set(MFPG_PACKAGER_DEFAULT "mfpg packagers <mfpg@localhost.localdomain>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(MFPG_PACKAGER_DEFAULT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(MFPG_PACKAGER "${MFPG_PACKAGER_DEFAULT}" CACHE STRING "Maintainer of the Debian packages")
string(TIMESTAMP MFPG_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH where that is set
set(MFPG_DEB_LIBRARY libmfpg${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mfpg)
set(CPACK_PACKAGE_CONTACT "${MFPG_PACKAGER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # every package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian/stage.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME mfpg)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "bash-completion, dataset-fashion-mnist, gnuplot-nox")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "privacy games in federated learning
Trains federations in which every client chooses its own privacy: how much
noise it adds is the equilibrium of a game, among finitely many players or in
the mean field. Every client gets a certificate of what it was promised.

This package has the command line with its manual pages and examples.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${MFPG_DEB_LIBRARY})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "privacy games in federated learning (shared library)
Federations in which every client chooses its own privacy, privacy accountants
with certificates, and the games that the choice is an equilibrium of.

This package has what programs need to run.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmfpg-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "${MFPG_DEB_LIBRARY} (= ${PROJECT_VERSION}-1), libjansson-dev, libsodium-dev, libyaml-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "privacy games in federated learning (development files)
Federations in which every client chooses its own privacy, privacy accountants
with certificates, and the games that the choice is an equilibrium of.

This package has headers, the static library, and what CMake and pkg-config
find the library by.")

if(MFPG_DEB)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/debian/changelog.in ${CMAKE_BINARY_DIR}/changelog.Debian @ONLY)
  foreach(package IN ITEMS "program mfpg" "library ${MFPG_DEB_LIBRARY}" "development libmfpg-dev")
    string(REPLACE " " ";" package ${package})
    list(GET package 0 component)
    list(GET package 1 name)
    install(FILES ${CMAKE_BINARY_DIR}/changelog.Debian ${CMAKE_SOURCE_DIR}/cmake/debian/copyright
      DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  endforeach()
endif()
include(CPack)
