# What the program carries within itself: the page of `mfpg report` with the library that draws its charts, and the
# gnuplot scripts of its figures. Sets MFPG_EMBEDDED, the generated source file.
find_file(MFPG_CHART_JS NAMES chart.min.js PATHS /usr/share/javascript PATH_SUFFIXES chart.js NO_DEFAULT_PATH
  DOC "Chart.js 3, chart.min.js (Debian: libjs-chart.js)")
if(NOT MFPG_CHART_JS)
  message(FATAL_ERROR "chart.min.js is missing: install Debian's libjs-chart.js, or say where Chart.js 3 is with "
                      "-DMFPG_CHART_JS=FILE")
endif()
file(GLOB MFPG_EMBEDDED_FILES CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/report/page/* ${CMAKE_SOURCE_DIR}/src/report/plots/* ${CMAKE_SOURCE_DIR}/reproduction/plots/*)
list(APPEND MFPG_EMBEDDED_FILES ${MFPG_CHART_JS})
set(MFPG_EMBEDDED ${CMAKE_BINARY_DIR}/embedded_files.c)
add_custom_command(OUTPUT ${MFPG_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -DOUT=${MFPG_EMBEDDED} "-DFILES=${MFPG_EMBEDDED_FILES}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${MFPG_EMBEDDED_FILES} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  COMMENT "Embedding the page of mfpg report" VERBATIM)
