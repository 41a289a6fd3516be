/// Compression of a GLB's arrays by meshoptimizer's codecs (Kapoulkine), as EXT_meshopt_compression has them.

#include "fracture/io/glb_writer.h"

#ifdef RUBBLE_HAVE_MESHOPT

#include <meshoptimizer.h>

bool rbli_glb_has_meshopt(void)
{
    return true;
}

rbl_status rbli_glb_reorder(glb_writer *writer, uint32_t *indices, size_t count)
{
    rbl_context *ctx = writer->ctx;
    rbl_status status = RBL_OK;
    rbli_vertex_split *split = &writer->split;
    size_t vertices = split->count, width = split->width * sizeof *split->values;
    unsigned *order = rbli_alloc(ctx, vertices, sizeof *order),
             *sorted = rbli_alloc(ctx, count, sizeof *sorted);
    uint32_t *numbers = rbli_alloc(ctx, vertices, sizeof *numbers);
    float *values = rbli_alloc(ctx, vertices, width);
    if (!order || !sorted || !numbers || !values) {
        status = RBL_ERR_NO_MEMORY;
        goto done;
    }
    meshopt_optimizeVertexCache(sorted, indices, count, vertices);
    meshopt_optimizeVertexFetchRemap(order, sorted, count, vertices);
    meshopt_remapIndexBuffer(indices, sorted, count, order);
    memcpy(values, split->values, vertices * width);
    meshopt_remapVertexBuffer(split->values, values, vertices, width, order);
    memcpy(numbers, split->vertices, vertices * sizeof *numbers);
    meshopt_remapVertexBuffer(split->vertices, numbers, vertices, sizeof *numbers, order);
done:
    rbli_free(ctx, order);
    rbli_free(ctx, sorted);
    rbli_free(ctx, numbers);
    rbli_free(ctx, values);
    return status;
}

/// The blocks of a stream one behind the other; freed by the caller.
static uint8_t *join_blocks(rbl_context *ctx, const glb_stream *stream)
{
    uint8_t *joined = rbli_alloc(ctx, stream->count, 1);
    for (size_t i = 0; joined && i < stream->blocks.count; i++) {
        const glb_block *block = &stream->blocks.data[i];
        if (block->count) memcpy(joined + block->start, block->data, block->count);
    }
    return joined;
}

static rbl_status pack_vertices(rbl_context *ctx, glb_stream *stream)
{
    rbl_status status = RBL_OK;
    size_t count = stream->count / stream->stride,
           bound = meshopt_encodeVertexBufferBound(count, stream->stride);
    uint8_t *joined = join_blocks(ctx, stream);
    RBL_TRY_ALLOC(joined);
    RBL_TRY_ALLOC(stream->packed = rbli_alloc(ctx, bound, 1));
    stream->packed_count = meshopt_encodeVertexBuffer(stream->packed, bound, joined, count, stream->stride);
done:
    rbli_free(ctx, joined);
    return status;
}

static rbl_status pack_indices(rbl_context *ctx, glb_stream *stream)
{
    rbl_status status = RBL_OK;
    bool narrow = stream->stride == sizeof(uint16_t);
    size_t count = stream->count / stream->stride;
    size_t bound = meshopt_encodeIndexBufferBound(count, narrow ? UINT16_MAX : UINT32_MAX);
    uint8_t *joined = join_blocks(ctx, stream);
    unsigned *wide = rbli_alloc(ctx, count, sizeof *wide);
    RBL_TRY_ALLOC(joined);
    RBL_TRY_ALLOC(wide);
    RBL_TRY_ALLOC(stream->packed = rbli_alloc(ctx, bound, 1));
    for (size_t i = 0; i < count; i++)
        wide[i] = narrow ? ((const uint16_t *)(const void *)joined)[i]
                         : ((const uint32_t *)(const void *)joined)[i];
    meshopt_encodeIndexVersion(1); /* which the extension asks for: 0 before meshoptimizer 0.19 */
    stream->packed_count = meshopt_encodeIndexBuffer(stream->packed, bound, wide, count);
done:
    rbli_free(ctx, joined);
    rbli_free(ctx, wide);
    return status;
}

rbl_status rbli_glb_pack(glb_writer *writer)
{
    for (int s = 0; s < GLB_STREAMS; s++) {
        glb_stream *stream = &writer->streams[s];
        if (stream->count == 0) continue;
        if (rbli_cancelled(writer->ctx)) return RBL_ERR_CANCELLED;
        rbl_status status =
            s < GLB_INDEX32 ? pack_vertices(writer->ctx, stream) : pack_indices(writer->ctx, stream);
        if (status != RBL_OK) return status;
    }
    return RBL_OK;
}

#else

bool rbli_glb_has_meshopt(void)
{
    return false;
}

rbl_status rbli_glb_reorder(glb_writer *writer, uint32_t *indices, size_t count)
{
    (void)writer;
    (void)indices;
    (void)count;
    return RBL_OK;
}

rbl_status rbli_glb_pack(glb_writer *writer)
{
    (void)writer;
    return RBL_OK;
}

#endif
