#ifndef RUBBLE_CLI_RENDER_H
#define RUBBLE_CLI_RENDER_H

/// `rubble render FILE …`; argv[0] is "render". Built when Embree and libpng are there (meson option
/// `render`).
/// @return the command's exit code
int rubble_render(int argc, char **argv);

#endif
