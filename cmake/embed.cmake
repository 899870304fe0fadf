# cmake -DOUT=FILE.c -DFILES=a;b;... -DINCLUDE=... -DTYPE=... -DNAME=... -P embed.cmake: a C file that holds the files, as
# the header INCLUDE declares the array NAME of the struct TYPE: name, bytes, size; a name of NULL ends it.
set(arrays "")
set(entries "")
set(number 0)
foreach(file ${FILES})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
    bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "static const unsigned char file_${number}[] = {\n${bytes}0};\n")
  string(APPEND entries "    {\"${name}\", (const char *)file_${number}, sizeof file_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "#include \"${INCLUDE}\"\n\n${arrays}\nconst ${TYPE} ${NAME}[] = {\n"
  "${entries}    {0}};\n")
