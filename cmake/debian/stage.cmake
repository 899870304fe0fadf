# Before CPack makes the packages: Debian wants pages and changelogs compressed, without the time of day in them.
file(GLOB_RECURSE pages "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*/*.[15]"
  "${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog*")
foreach(page ${pages})
  execute_process(COMMAND gzip -9 -n -f ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
