// SPDX-License-Identifier: BSD-2-Clause
// Pictures of grids: `ritz picture`, and the option --picture of `ritz solve`.
//
//     picture.c    the command; what is seen from where, and in which colours
//     vtu.c ..     the grid of a file
//     surface.c    its faces
//     raster.c     triangles to pixels
//     legend.c     colour bar, axes; font.c: their letters
//     png.c        the file
#ifndef RITZ_CLI_PICTURE_H
#define RITZ_CLI_PICTURE_H

#include <stdbool.h>

typedef struct {
  const char *file, *output, *field; // output NULL: FILE.png; field NULL: the first of points
  const char *component;             // "x", "y", "z" or a number from 0; NULL: the length of vectors
  const char *title;                 // NULL: the field
  const char *view, *range, *size;   // as in the help; NULL: default
  int map;                           // of legend_maps
  bool no_lines;
} PictureOptions;

// Reads the grid and writes the picture. Returns an exit code, after a message that begins with the command.
// written: the path, for free(), or NULL.
int picture_draw(const char *command, const PictureOptions *options, char **written);

#endif
