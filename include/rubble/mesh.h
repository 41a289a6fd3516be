#ifndef RUBBLE_MESH_H
#define RUBBLE_MESH_H

/// Meshes in a host's memory, handed to a graph without a file.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rubble/node.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rbl_graph rbl_graph;
typedef struct rbl_messages rbl_messages;

enum { RBL_MESH_UV_SETS = 8 };

/// An array in the host's memory.
typedef struct rbl_mesh_array {
    const void *data; /* NULL: the mesh has no such attribute */
    rbl_type type;    /* of an element; what is allowed stands at each array */
    size_t stride;    /* bytes from one element to the next, any number; 0: they stand side by side */
} rbl_mesh_array;

/// A triangle mesh. Attributes are given for each vertex, or for each triangle corner.
typedef struct rbl_mesh_desc {
    size_t size;      /* sizeof(rbl_mesh_desc) */
    const char *name; /* of the bone, UTF-8; NULL or "": "mesh" */
    size_t vertex_count;
    rbl_mesh_array positions; /* [vertex_count] FLOAT_3 or VEC3 (doubles) */
    size_t triangle_count;    /* at least 1 */
    const void *indices;      /* [3 · triangle_count] into the vertices; NULL: vertex 3·t + k is corner k of
                                 triangle t */
    int index_bits;           /* of an index: 16 or 32 (default), unsigned */
    bool clockwise;           /* triangles are clockwise seen from outside; default false */
    bool at_corners; /* the arrays below have 3 · triangle_count elements, element 3·t + k of corner k of
                        triangle t; default false: vertex_count elements */
    rbl_mesh_array normals;  /* FLOAT_3 or VEC3; made unit vectors; zero: computed */
    rbl_mesh_array tangents; /* FLOAT_4 or VEC4; the fourth is the sign of the bitangent */
    rbl_mesh_array colors;   /* FLOAT_3, FLOAT_4 (0 … 1, linear) or INT32 (four bytes R, G, B, A) */
    rbl_mesh_array
        uvs[RBL_MESH_UV_SETS]; /* FLOAT_2 or VEC2, v grows downwards as in glTF; sets without a gap */
    const int32_t
        *materials; /* [triangle_count] element of material_names, or −1; NULL: one material for all */
    const char *const *material_names; /* [material_count] UTF-8, unique, not empty */
    size_t material_count;
} rbl_mesh_desc;

RBL_API void rbl_mesh_desc_init(rbl_mesh_desc *mesh);

/// Binds a mesh to a node that takes one (MeshToCollection, or a type with RBL_NODE_TAKES_MESH): it then
/// stands for the file that the node's parameter `file` names, which may be "" in the graph. All arrays are
/// copied, the host may free or change its own at once. Equal meshes have equal keys: binding the same
/// content again runs nothing. Evaluations under way go on with what they began with.
/// @param node its id; of one in a graph within the graph "wall/mesh"; of one in the graph that the ForEach
/// `each` runs "each/mesh", for all its elements (and those of others that run the same graph, which read it
/// when they begin)
/// @param mesh NULL takes the mesh away again
/// @return RBL_OK · RBL_ERR_NOT_FOUND (node) · RBL_ERR_ARGUMENT (the node takes no mesh; types, strides) ·
/// RBL_ERR_MESH (an index out of range, a number that is not finite) · RBL_ERR_LIMIT (2^31 − 1 vertices or
/// corners) · RBL_ERR_NO_MEMORY; `messages` says what. On failure nothing changes. Cost: linear.
RBL_API rbl_status rbl_graph_bind_mesh(
    rbl_graph *graph, const char *node, const rbl_mesh_desc *mesh, rbl_messages **messages);

/// Inside a node's functions: the mesh that the host bound, as views that live as long as the call; positions
/// are VEC3, indices have 32 bits, attributes are at corners and FLOAT_…, triangles counter-clockwise. False
/// when none is bound: read the file.
RBL_API bool rbl_call_mesh(const rbl_call *call, rbl_mesh_desc *mesh);

#ifdef __cplusplus
}
#endif
#endif
