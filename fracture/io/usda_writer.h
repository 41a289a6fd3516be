#ifndef RUBBLE_IO_USDA_WRITER_H
#define RUBBLE_IO_USDA_WRITER_H

/// A .usda file under way, shared by the parts of its writer.

#include "fracture/collection/material.h"
#include "fracture/io/body_view.h"
#include "fracture/io/float_table.h"
#include "fracture/io/text_out.h"
#include "fracture/io/write.h"

typedef struct usda_writer {
    rbl_context *ctx;
    rbli_asset_view view;
    rbli_body_view bodies;
    bool physics;
    const char *image_stem; /* names of images begin with it; NULL: the source's names are used */
    rbli_text_out text;
    double (*centers)[3];  /* of bones, in their frames; zero for those without mesh */
    char **bone_names;     /* [bone] identifiers, different from each other */
    char **material_names; /* [material] the same */
    int32_t *path;         /* [bone_count] scratch: a bone and those above it */
    /* scratch of one piece */
    rbli_float_table table;
    uint32_t *numbers;   /* of corners */
    int32_t *face_count; /* [material + 1] faces of the piece with it */
    rbli_usda_report report;
} usda_writer;

void rbli_usda_indent(usda_writer *w, size_t depth);
/// A line of text at a depth; `text` ends without line end.
void rbli_usda_line(usda_writer *w, size_t depth, const char *text);
/// `name = (x, y, z)` on a line.
void rbli_usda_put_vector(usda_writer *w, size_t depth, const char *name, const double v[3], bool wide);
void rbli_usda_put_scalar(usda_writer *w, size_t depth, const char *name, double value);
/// The bone's path below `Asset`, in angle brackets.
void rbli_usda_put_path(usda_writer *w, size_t bone);
/// `extent`, the corners of a box.
void rbli_usda_put_extent(usda_writer *w, size_t depth, const double low[3], const double high[3]);

/// A material with its textures.
rbl_status rbli_usda_put_material(usda_writer *w, size_t material);
/// The whole file as text, streamed where `text` has a writer, else in memory, which is the caller's on success.
rbl_status rbli_usda_make_text(rbl_context *ctx, const rbl_collection *collection, const char *image_stem,
    rbli_collider_form colliders, rbli_text_out *text, rbli_usda_report *report);

/// What stands in the parentheses of a piece's prim: its API schemas, if it has any.
bool rbli_usda_body_has_schemas(const rbli_body *body);
void rbli_usda_put_body_schemas(usda_writer *w, size_t depth, const rbli_body *body);
/// Attributes of the body, and its colliders, at a depth within the piece's prim.
void rbli_usda_put_body(usda_writer *w, size_t depth, size_t bone, const rbli_body *body);
/// A scope with all joints. @return RBL_OK · RBL_ERR_COLLECTION · RBL_ERR_NO_MEMORY · RBL_ERR_CANCELLED
rbl_status rbli_usda_put_joints(usda_writer *w);

#endif
