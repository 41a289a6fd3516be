/// Materials of a .usda: UsdPreviewSurface with its textures, by the rules of glTF's materials.

#include <math.h>
#include <stdio.h>

#include "fracture/geometry/elementary.h"
#include "fracture/io/usda_writer.h"

/// What a texture gives to the surface: an input, the output of the texture that it comes from.
typedef struct texture_use {
    const char *input, *output, *type;
} texture_use;

static const char *const texture_names[RBLI_TEXTURE_ROLES] = {[RBLI_TEXTURE_BASE_COLOR] = "base_color",
    [RBLI_TEXTURE_METALLIC_ROUGHNESS] = "metallic_roughness",
    [RBLI_TEXTURE_NORMAL] = "normal",
    [RBLI_TEXTURE_OCCLUSION] = "occlusion",
    [RBLI_TEXTURE_EMISSIVE] = "emissive"};

static void put_clean(usda_writer *w, const char *text)
{
    for (const char *p = text; *p; p++)
        rbli_put_bytes(&w->text, (unsigned char)*p < 32 ? "_" : p, 1);
}

/// `attribute.connect = </Asset/Looks/MATERIAL/PRIM.outputs:OUTPUT>`
static void put_connection(usda_writer *w, size_t depth, const char *attribute, size_t material,
    const char *prim, const char *output)
{
    rbli_usda_indent(w, depth);
    rbli_put(&w->text, attribute);
    rbli_put(&w->text, ".connect = </Asset/Looks/");
    rbli_put(&w->text, w->material_names[material]);
    rbli_put(&w->text, "/");
    rbli_put(&w->text, prim);
    rbli_put(&w->text, ".outputs:");
    rbli_put(&w->text, output);
    rbli_put(&w->text, ">\n");
}

static void open_shader(usda_writer *w, const char *name, const char *id)
{
    rbli_usda_indent(w, 3);
    rbli_put(&w->text, "def Shader \"");
    rbli_put(&w->text, name);
    rbli_put(&w->text, "\"\n");
    rbli_usda_line(w, 3, "{");
    rbli_usda_indent(w, 4);
    rbli_put(&w->text, "uniform token info:id = \"");
    rbli_put(&w->text, id);
    rbli_put(&w->text, "\"\n");
}

static void put_numbers(usda_writer *w, const char *name, const double *values, int count)
{
    rbli_usda_indent(w, 4);
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = (");
    for (int k = 0; k < count; k++) {
        if (k) rbli_put(&w->text, ", ");
        rbli_put_float(&w->text, (float)values[k]);
    }
    rbli_put(&w->text, ")\n");
}

static const char *wrap_word(int32_t wrap)
{
    return wrap == RBLI_WRAP_CLAMP ? "clamp" : wrap == RBLI_WRAP_MIRROR ? "mirror" : "repeat";
}

static void put_wrap(usda_writer *w, const char *name, int32_t wrap)
{
    rbli_usda_indent(w, 4);
    rbli_put(&w->text, name);
    rbli_put(&w->text, " = \"");
    rbli_put(&w->text, wrap_word(wrap));
    rbli_put(&w->text, "\"\n");
}

/// A reader of UVs and, where the texture is moved on them, its transform. v points upwards in USD: with it the
/// rotation changes its sign, and the corner that it turns about moves.
static void put_coordinates(
    usda_writer *w, size_t m, const char *name, const rbli_texture *texture, bool moved)
{
    char reader[48], varname[32];
    snprintf(reader, sizeof reader, moved ? "%.30s_uv" : "%.30s_st", name);
    snprintf(varname, sizeof varname, texture->uv_set ? "st%d" : "st", (int)texture->uv_set);
    open_shader(w, reader, "UsdPrimvarReader_float2");
    rbli_usda_indent(w, 4);
    rbli_put(&w->text, "string inputs:varname = \"");
    rbli_put(&w->text, varname);
    rbli_put(&w->text, "\"\n");
    rbli_usda_line(w, 4, "float2 outputs:result");
    rbli_usda_line(w, 3, "}");
    if (!moved) return;
    double angle = (double)texture->rotation, s = rbli_sin(angle), c = rbli_cos(angle),
           up = (double)texture->scale[1];
    const double scale[2] = {(double)texture->scale[0], up},
                 shift[2] = {(double)texture->offset[0] - s * up, 1 - (double)texture->offset[1] - c * up};
    char transform[48];
    snprintf(transform, sizeof transform, "%.30s_st", name);
    open_shader(w, transform, "UsdTransform2d");
    put_connection(w, 4, "float2 inputs:in", m, reader, "result");
    rbli_usda_put_scalar(w, 4, "float inputs:rotation", -angle * 180 / RBLI_PI);
    put_numbers(w, "float2 inputs:scale", scale, 2);
    put_numbers(w, "float2 inputs:translation", shift, 2);
    rbli_usda_line(w, 4, "float2 outputs:result");
    rbli_usda_line(w, 3, "}");
}

/// Factors of the material, which a texture is multiplied by, and what is added.
static void texture_scale(
    const rbli_material *look, const float color[4], int role, double scale[4], double bias[4])
{
    double strength = (double)look->occlusion_strength, bump = (double)look->normal_scale;
    for (int k = 0; k < 4; k++)
        scale[k] = 1, bias[k] = 0;
    for (int k = 0; k < 4 && role == RBLI_TEXTURE_BASE_COLOR; k++)
        scale[k] = (double)color[k];
    for (int k = 0; k < 3 && role == RBLI_TEXTURE_EMISSIVE; k++)
        scale[k] = (double)look->emissive[k];
    if (role == RBLI_TEXTURE_METALLIC_ROUGHNESS)
        scale[1] = (double)look->roughness, scale[2] = (double)look->metallic;
    for (int k = 0; k < 3 && role == RBLI_TEXTURE_NORMAL; k++)
        scale[k] = 2 * (k < 2 ? bump : 1), bias[k] = -(k < 2 ? bump : 1);
    if (role == RBLI_TEXTURE_OCCLUSION) scale[0] = strength, bias[0] = 1 - strength;
}

/// The name of an image's file, or that of the source's base colour texture. Freed by the caller; NULL and RBL_OK
/// without one.
static char *texture_file(usda_writer *w, const rbli_material *look, size_t m, int role, rbl_status *status)
{
    const rbl_collection *c = w->view.collection;
    *status = RBL_OK;
    if (w->image_stem && look->textures[role] >= 0) {
        int32_t image = rbli_texture_get(c, (size_t)look->textures[role]).image;
        char *name = image < 0 ? NULL : rbli_image_file_name(w->ctx, c, w->image_stem, (size_t)image, status);
        if (name || *status != RBL_OK) return name;
    }
    const char *source = rbli_collection_string(c, "material", "texture", m);
    if (role != RBLI_TEXTURE_BASE_COLOR || !*source || strncmp(source, "embedded:", 9) == 0) return NULL;
    char *name = rbli_strdup(w->ctx, source);
    if (!name) *status = RBL_ERR_NO_MEMORY;
    return name;
}

static void put_texture(
    usda_writer *w, size_t m, const rbli_material *look, const float color[4], int role, const char *path)
{
    rbli_texture texture = look->textures[role] >= 0
                               ? rbli_texture_get(w->view.collection, (size_t)look->textures[role])
                               : rbli_texture_default();
    bool moved = texture.offset[0] != 0 || texture.offset[1] != 0 || texture.scale[0] != 1 ||
                 texture.scale[1] != 1 || texture.rotation != 0;
    bool data = role != RBLI_TEXTURE_BASE_COLOR && role != RBLI_TEXTURE_EMISSIVE;
    double scale[4], bias[4];
    char st[48];
    texture_scale(look, color, role, scale, bias);
    open_shader(w, texture_names[role], "UsdUVTexture");
    rbli_usda_indent(w, 4);
    rbli_put(&w->text, "asset inputs:file = @@@");
    put_clean(w, path);
    rbli_put(&w->text, "@@@\n");
    rbli_usda_line(
        w, 4, data ? "token inputs:sourceColorSpace = \"raw\"" : "token inputs:sourceColorSpace = \"sRGB\"");
    put_numbers(w, "float4 inputs:scale", scale, 4);
    put_numbers(w, "float4 inputs:bias", bias, 4);
    put_wrap(w, "token inputs:wrapS", texture.wrap[0]);
    put_wrap(w, "token inputs:wrapT", texture.wrap[1]);
    snprintf(st, sizeof st, "%s_st", texture_names[role]);
    put_connection(w, 4, "float2 inputs:st", m, st, "result");
    rbli_usda_line(w, 4, "float outputs:r");
    rbli_usda_line(w, 4, "float outputs:g");
    rbli_usda_line(w, 4, "float outputs:b");
    rbli_usda_line(w, 4, "float outputs:a");
    rbli_usda_line(w, 4, "float3 outputs:rgb");
    rbli_usda_line(w, 3, "}");
    put_coordinates(w, m, texture_names[role], &texture, moved);
}

/// The surface's inputs that textures give.
static void put_inputs(
    usda_writer *w, size_t m, const rbli_material *look, const bool there[RBLI_TEXTURE_ROLES], float alpha)
{
    static const struct {
        int role;
        const char *input, *output;
    } uses[] = {{RBLI_TEXTURE_BASE_COLOR, "color3f inputs:diffuseColor", "rgb"},
        {RBLI_TEXTURE_METALLIC_ROUGHNESS, "float inputs:metallic", "b"},
        {RBLI_TEXTURE_METALLIC_ROUGHNESS, "float inputs:roughness", "g"},
        {RBLI_TEXTURE_NORMAL, "normal3f inputs:normal", "rgb"},
        {RBLI_TEXTURE_OCCLUSION, "float inputs:occlusion", "r"},
        {RBLI_TEXTURE_EMISSIVE, "color3f inputs:emissiveColor", "rgb"}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (there[uses[i].role])
            put_connection(w, 4, uses[i].input, m, texture_names[uses[i].role], uses[i].output);
    bool clear = look->alpha_mode == RBLI_ALPHA_MASK || look->alpha_mode == RBLI_ALPHA_BLEND ||
                 (look->alpha_mode == RBLI_ALPHA_AUTO && alpha < 1);
    if (!clear) return;
    rbli_usda_put_scalar(w, 4, "float inputs:opacity", (double)alpha);
    if (there[RBLI_TEXTURE_BASE_COLOR])
        put_connection(w, 4, "float inputs:opacity", m, texture_names[RBLI_TEXTURE_BASE_COLOR], "a");
    if (look->alpha_mode == RBLI_ALPHA_MASK)
        rbli_usda_put_scalar(w, 4, "float inputs:opacityThreshold", (double)look->alpha_cutoff);
}

rbl_status rbli_usda_put_material(usda_writer *w, size_t m)
{
    rbl_status status = RBL_OK;
    char *files[RBLI_TEXTURE_ROLES] = {NULL};
    bool there[RBLI_TEXTURE_ROLES];
    float color[4];
    rbli_material look = rbli_material_get(w->view.collection, m);
    rbli_material_color(&w->view, m, color);
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++) {
        files[role] = texture_file(w, &look, m, role, &status);
        if (status != RBL_OK) goto done;
        there[role] = files[role] != NULL;
    }
    const double rgb[3] = {(double)color[0], (double)color[1], (double)color[2]};
    const double glow[3] = {(double)look.emissive[0], (double)look.emissive[1], (double)look.emissive[2]};
    rbli_usda_indent(w, 2);
    rbli_put(&w->text, "def Material \"");
    rbli_put(&w->text, w->material_names[m]);
    rbli_put(&w->text, "\"\n");
    rbli_usda_line(w, 2, "{");
    put_connection(w, 3, "token outputs:surface", m, "surface", "surface");
    open_shader(w, "surface", "UsdPreviewSurface");
    rbli_usda_put_vector(w, 4, "color3f inputs:diffuseColor", rgb, false);
    rbli_usda_put_scalar(w, 4, "float inputs:metallic", (double)look.metallic);
    rbli_usda_put_scalar(w, 4, "float inputs:roughness", (double)look.roughness);
    if (glow[0] > 0 || glow[1] > 0 || glow[2] > 0)
        rbli_usda_put_vector(w, 4, "color3f inputs:emissiveColor", glow, false);
    put_inputs(w, m, &look, there, color[3]);
    rbli_usda_line(w, 4, "token outputs:surface");
    rbli_usda_line(w, 3, "}");
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
        if (there[role]) put_texture(w, m, &look, color, role, files[role]);
    rbli_usda_line(w, 2, "}");
done:
    for (int role = 0; role < RBLI_TEXTURE_ROLES; role++)
        rbli_free(w->ctx, files[role]);
    return status;
}
