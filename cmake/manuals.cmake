# Manual pages and completion scripts, printed by the program itself from the tables of its options and keys, and installed
# where man, bash and zsh look for them.
include(GNUInstallDirs)
set(MFPG_BASH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/bash-completion/completions CACHE STRING "Folder of bash completions")
set(MFPG_ZSH_COMPLETIONS ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Folder of zsh completions")
set(MFPG_MANUALS ${CMAKE_BINARY_DIR}/manuals)
set(MFPG_PRINTED "")

function(mfpg_print file) # ARGUMENT...: what mfpg ARGUMENT... prints becomes the file
  add_custom_command(OUTPUT ${MFPG_MANUALS}/${file} COMMAND mfpg_cli ${ARGN} > ${MFPG_MANUALS}/${file}
    DEPENDS mfpg_cli COMMENT "Printing ${file}" VERBATIM)
  set(MFPG_PRINTED ${MFPG_PRINTED} ${MFPG_MANUALS}/${file} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${MFPG_MANUALS})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cli/commands.def)
file(STRINGS ${CMAKE_SOURCE_DIR}/cli/commands.def MFPG_COMMANDS REGEX "^COMMAND\\(")
mfpg_print(mfpg.1 man)
mfpg_print(mfpg-config.5 man config)
foreach(line ${MFPG_COMMANDS})
  string(REGEX REPLACE "^COMMAND\\(([a-z_]+),.*" "\\1" command "${line}")
  mfpg_print(mfpg-${command}.1 man ${command})
endforeach()
mfpg_print(mfpg.bash completion bash)
mfpg_print(_mfpg completion zsh)
add_custom_target(mfpg_manuals ALL DEPENDS ${MFPG_PRINTED})

set(MFPG_PAGES ${MFPG_PRINTED})
list(FILTER MFPG_PAGES INCLUDE REGEX "\\.[15]$")
foreach(page ${MFPG_PAGES})
  string(REGEX MATCH "[15]$" section ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT program)
endforeach()
install(FILES ${MFPG_MANUALS}/mfpg.bash DESTINATION ${MFPG_BASH_COMPLETIONS} RENAME mfpg COMPONENT program)
install(FILES ${MFPG_MANUALS}/_mfpg DESTINATION ${MFPG_ZSH_COMPLETIONS} COMPONENT program)
