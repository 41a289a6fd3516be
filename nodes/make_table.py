"""Writes the table of node types: make_table.py OUTPUT NAME..."""
import sys

with open(sys.argv[1], "w") as out:
    out.write('#include "engine/registry.h"\n\n')
    for name in sys.argv[2:]:
        out.write(f"extern const rbl_node_desc rbli_node_{name};\n")
    out.write("\nconst rbl_node_desc *const rbli_builtin_nodes[] = {\n")
    for name in sys.argv[2:]:
        out.write(f"    &rbli_node_{name},\n")
    out.write("    NULL,\n};\n")
