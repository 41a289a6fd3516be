/// `rubble-render`, which `rubble render` becomes: a program of its own, so that every other command starts
/// without the ray tracer's libraries.

#include "tools/cli/render.h"

int main(int argc, char **argv)
{
    return rubble_render(argc, argv);
}
