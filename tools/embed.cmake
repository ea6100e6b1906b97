# SPDX-License-Identifier: BSD-2-Clause
# Writes files as arrays of bytes into a C source that defines what base/embedded.h declares; those of kernels/gpu are
# its templates.
# Usage: cmake -DROOT=DIR "-DFILES=FILE;..." -DOUTPUT=FILE.c -P embed.cmake, files relative to ROOT; a leading include/ is
# not part of their names. Called by CMakeLists.txt at build time.
set(arrays "")
set(rows "")
set(templates "")
set(hashes "")
set(num_files 0)
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "^include/" "" name ${file})
  file(READ ${ROOT}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "\n// ${name}\nstatic const unsigned char file_${num_files}[] = {${bytes}0};\n")
  set(row "    {\"${name}\", file_${num_files}, sizeof(file_${num_files}) - 1},\n")
  if(name MATCHES "^kernels/gpu/")
    string(APPEND templates "${row}")
  else()
    file(SHA256 ${ROOT}/${file} hash)
    string(APPEND hashes "${name} ${hash}\n")
    string(APPEND rows "${row}")
  endif()
  math(EXPR num_files "${num_files} + 1")
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUTPUT} "// Made by tools/embed.cmake.
#include \"base/embedded.h\"
${arrays}
const RitzEmbeddedFile ritz_embedded_files[] = {
${rows}};
const size_t ritz_num_embedded_files = sizeof(ritz_embedded_files) / sizeof(ritz_embedded_files[0]);
const char ritz_embedded_hash[] = \"${hash}\";

const RitzEmbeddedFile ritz_embedded_templates[] = {
${templates}};
const size_t ritz_num_embedded_templates = sizeof(ritz_embedded_templates) / sizeof(ritz_embedded_templates[0]);
")
