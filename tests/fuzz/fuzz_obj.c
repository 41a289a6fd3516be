/// The OBJ reader on any bytes.

#include "tests/fuzz/mesh_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    return fuzz_mesh_reader(rbli_mesh_file_parse_obj, bytes, count);
}
