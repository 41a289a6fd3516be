/// Images and textures of mesh files. Image files are read as they are; nothing is decoded.

#include "fracture/io/mesh_builder.h"

#include "fracture/base/file.h"

/// The type that an image is given: what its bytes are, else what the file says. NULL when neither is known.
static const char *choose_type(const char *mime_type, const uint8_t *bytes, size_t byte_count)
{
    static const char *const known[] = {"image/png", "image/jpeg", "image/webp", "image/ktx2",
        "image/vnd-ms.dds", "image/gif", "image/bmp", "image/x-tga"};
    const char *type = rbli_image_type_of_bytes(bytes, byte_count);
    for (size_t i = 0; !type && mime_type && i < sizeof known / sizeof *known; i++)
        if (strcmp(mime_type, known[i]) == 0) type = known[i];
    return type;
}

/// Warns once that there is no room for an image.
static rbl_status tell_excess(rbli_mesh_builder *builder, const char *name)
{
    if (builder->images_exceed) return RBL_OK;
    builder->images_exceed = true;
    return rbli_builder_message(builder, RBLI_WARNING,
        ": image \"%.200s\" and perhaps others are left out, at most %d images of %d MiB together are taken",
        name, (int)RBLI_MOST_IMAGES, (int)RBLI_MOST_IMAGE_BYTES >> 20);
}

rbl_status rbli_builder_add_image(rbli_mesh_builder *builder, const char *name, const char *source,
    const char *mime_type, const uint8_t *bytes, size_t byte_count, int32_t *out)
{
    rbl_context *ctx = builder->ctx;
    rbli_mesh_file *file = &builder->file;
    rbl_status status = RBL_OK;
    rbli_mesh_file_image image = {.byte_count = byte_count};
    *out = -1;
    if (file->image_count >= RBLI_MOST_IMAGES || byte_count > RBLI_MOST_IMAGE_BYTES - builder->image_bytes)
        return tell_excess(builder, name);
    image.mime_type = choose_type(mime_type, bytes, byte_count);
    if (byte_count == 0 || !image.mime_type)
        return rbli_builder_message(builder, RBLI_WARNING,
            ": image \"%.200s\" is left out, its bytes are of no known kind of image", name);
    RBL_TRY(rbli_array_reserve_(
        ctx, (void **)&file->images, &builder->image_capacity, file->image_count, 1, sizeof *file->images));
    RBL_TRY_ALLOC(image.name = rbli_clean_text(ctx, name, strlen(name), "image"));
    RBL_TRY_ALLOC(image.source = rbli_clean_text(ctx, source, strlen(source), ""));
    RBL_TRY_ALLOC(image.bytes = rbli_alloc(ctx, byte_count, 1));
    memcpy(image.bytes, bytes, byte_count);
    builder->image_bytes += byte_count;
    *out = (int32_t)file->image_count;
    file->images[file->image_count++] = image;
    return RBL_OK;
done:
    rbli_free(ctx, image.name);
    rbli_free(ctx, image.source);
    rbli_free(ctx, image.bytes);
    return status;
}

/// Whether a path stays in or below the folder that it is relative to.
static bool stays_below(const char *relative)
{
    if (relative[0] == '/' || relative[0] == '\\' || (relative[0] && relative[1] == ':')) return false;
    for (const char *part = relative; *part;) {
        size_t length = strcspn(part, "/\\");
        if (length == 2 && memcmp(part, "..", 2) == 0) return false;
        part += length;
        part += strspn(part, "/\\");
    }
    return relative[0] != 0;
}

bool rbli_may_read(const rbli_mesh_folder *folder, const char *relative)
{
    return folder->anywhere ? relative[0] != 0 : stays_below(relative);
}

/// Name of a file without its folders.
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static rbl_status read_image_file(
    rbli_mesh_builder *builder, const rbli_mesh_folder *folder, const char *relative, int32_t *out)
{
    rbl_context *ctx = builder->ctx;
    rbl_status status = RBL_OK;
    uint8_t *bytes = NULL;
    size_t byte_count = 0, room = RBLI_MOST_IMAGE_BYTES - builder->image_bytes;
    char *path = NULL;
    if (!rbli_may_read(folder, relative))
        return rbli_builder_message(builder, RBLI_WARNING,
            ": image \"%.200s\" is left out, it is not in the folder of the mesh or below (\"other_files\": "
            "\"anywhere\" reads it)",
            relative);
    if (room == 0 || builder->file.image_count >= RBLI_MOST_IMAGES) return tell_excess(builder, relative);
    RBL_TRY_ALLOC(path = rbli_join_path(ctx, folder->path, relative));
    rbl_context quiet = *ctx;
    quiet.messages = NULL;
    status = rbli_file_read(&quiet, path, room, &bytes, &byte_count);
    if (status == RBL_ERR_LIMIT) {
        status = tell_excess(builder, relative);
    } else if (status == RBL_ERR_READ) {
        status = rbli_builder_message(
            builder, RBLI_WARNING, ": image \"%.200s\" cannot be read and is left out", relative);
    } else if (status == RBL_OK) {
        const char *dot = strrchr(relative, '.');
        bool tga = dot && (strcmp(dot, ".tga") == 0 || strcmp(dot, ".TGA") == 0); /* has no first bytes */
        RBL_TRY(rbli_builder_add_file(builder, path));
        status = rbli_builder_add_image(
            builder, base_name(relative), relative, tga ? "image/x-tga" : NULL, bytes, byte_count, out);
    }
done:
    rbli_free(ctx, bytes);
    rbli_free(ctx, path);
    return status;
}

rbl_status rbli_builder_load_image(
    rbli_mesh_builder *builder, const rbli_mesh_folder *folder, const char *relative, int32_t *out)
{
    rbl_status status = RBL_OK;
    int32_t path, image = -1;
    *out = -1;
    if (!folder || !*relative) return RBL_OK;
    RBL_TRY(rbli_names_add(builder->ctx, &builder->image_paths, relative, strlen(relative), &path));
    if ((size_t)path < builder->image_of_path.count) {
        *out = builder->image_of_path.data[path];
        return RBL_OK;
    }
    RBL_TRY(read_image_file(builder, folder, relative, &image));
    RBL_TRY(rbli_array_push(builder->ctx, &builder->image_of_path, image));
    *out = image;
done:
    return status;
}

rbl_status rbli_builder_add_texture(rbli_mesh_builder *builder, const rbli_texture *texture, int32_t *out)
{
    enum { LOOK_BACK = 64 };
    rbli_mesh_file *file = &builder->file;
    size_t first = file->texture_count > LOOK_BACK ? file->texture_count - LOOK_BACK : 0;
    for (size_t i = first; i < file->texture_count; i++)
        if (memcmp(&file->textures[i], texture, sizeof *texture) == 0) {
            *out = (int32_t)i;
            return RBL_OK;
        }
    rbl_status status = rbli_array_reserve_(builder->ctx, (void **)&file->textures,
        &builder->texture_capacity, file->texture_count, 1, sizeof *file->textures);
    if (status != RBL_OK) return status;
    *out = (int32_t)file->texture_count;
    file->textures[file->texture_count++] = *texture;
    return RBL_OK;
}
