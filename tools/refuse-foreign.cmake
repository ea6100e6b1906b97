# SPDX-License-Identifier: BSD-2-Clause
# First step of `cmake --install`: stops when the destination holds a libCEED that is not Ritz, unless
# -DRITZ_CEED_OVERWRITE=ON was given. CMakeLists.txt sets include_dir, lib_dir and overwrite.

# Where a folder of the installation will really be.
function(destination folder result)
  if(NOT IS_ABSOLUTE "${folder}")
    set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
  endif()
  set(${result} "$ENV{DESTDIR}${folder}" PARENT_SCOPE)
endfunction()

# The library is ours if it is a link to our name; a text is ours if it names Ritz.
function(is_foreign file result)
  set(${result} FALSE PARENT_SCOPE)
  if(NOT EXISTS "${file}" AND NOT IS_SYMLINK "${file}")
    return()
  endif()
  set(mark "")
  if(NOT file MATCHES "[.]so$")
    file(STRINGS "${file}" mark REGEX "Ritz")
  elseif(IS_SYMLINK "${file}")
    file(READ_SYMLINK "${file}" target)
    string(REGEX MATCH "libritz[.]so[^/]*$" mark "${target}")
  endif()
  if(NOT mark)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

destination("${include_dir}" include_folder)
destination("${lib_dir}" lib_folder)
set(foreign "")
foreach(file "${include_folder}/ceed.h" "${lib_folder}/libceed.so" "${lib_folder}/pkgconfig/ceed.pc")
  is_foreign("${file}" answer)
  if(answer)
    string(APPEND foreign "\n  ${file}")
  endif()
endforeach()
if(foreign AND NOT overwrite)
  message(FATAL_ERROR "Ritz is not installed: files of another libCEED are there:${foreign}\n"
                      "Choose another prefix, remove that library, or configure with -DRITZ_CEED_OVERWRITE=ON.")
endif()
