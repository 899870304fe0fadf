# What the program carries within itself: the page of `mfpg report` with the library that draws its charts, and the
# gnuplot scripts of its figures. Sets MFPG_EMBEDDED, the generated source file.
find_file(MFPG_CHART_JS NAMES chart.min.js PATHS /usr/share/javascript PATH_SUFFIXES chart.js NO_DEFAULT_PATH
  DOC "Chart.js 3, chart.min.js (Debian: libjs-chart.js)")
if(NOT MFPG_CHART_JS)
  message(FATAL_ERROR "chart.min.js is missing: install Debian's libjs-chart.js, or say where Chart.js 3 is with "
                      "-DMFPG_CHART_JS=FILE")
endif()
file(GLOB MFPG_EMBEDDED_FILES CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/report/page/* ${CMAKE_SOURCE_DIR}/src/report/plots/*)
list(APPEND MFPG_EMBEDDED_FILES ${MFPG_CHART_JS})
function(mfpg_embed out include type name files)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}" -DINCLUDE=${include} -DTYPE=${type} -DNAME=${name}
      -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding files in ${name}" VERBATIM)
endfunction()
set(MFPG_EMBEDDED ${CMAKE_BINARY_DIR}/embedded_files.c)
mfpg_embed(${MFPG_EMBEDDED} base/file.h mfpg_embedded mfpg_embedded_files "${MFPG_EMBEDDED_FILES}")

# What the suites of reproduction/ write beside their tables.
file(GLOB MFPG_SCRIPTS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/reproduction/plots/* ${CMAKE_SOURCE_DIR}/src/report/plots/style.gp)
set(MFPG_REPRODUCTION_EMBEDDED ${CMAKE_BINARY_DIR}/embedded_scripts.c)
mfpg_embed(${MFPG_REPRODUCTION_EMBEDDED} reproduction/support.h reproduction_script reproduction_scripts "${MFPG_SCRIPTS}")

# The completion scripts, and the prose of the manual pages that are no command's.
file(GLOB MFPG_CLI_PAGES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/pages/*)
set(MFPG_CLI_EMBEDDED ${CMAKE_BINARY_DIR}/embedded_pages.c)
mfpg_embed(${MFPG_CLI_EMBEDDED} cli/cli.h cli_embedded cli_pages "${MFPG_CLI_PAGES}")
