// Reads the block of bytes that tools/cli/view_data.h describes.

const TYPES = {
    i8: Int8Array,
    u8: Uint8Array,
    u16: Uint16Array,
    u32: Uint32Array,
    i32: Int32Array,
    f32: Float32Array,
    f64: Float64Array,
}

/// Bytes of base64 text, decoded in parts so that no huge intermediate string is made.
export function fromBase64(text) {
    const step = 1 << 20
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    const out = new Uint8Array((text.length / 4) * 3 - padding)
    let at = 0
    for (let i = 0; i < text.length; i += step) {
        const part = atob(text.slice(i, i + step))
        for (let k = 0; k < part.length; k++) out[at++] = part.charCodeAt(k)
    }
    return out
}

/// @return {title, program, origin, names, materials, …} with every array of the table by its name
export function readData(bytes) {
    if (bytes.length < 16 || String.fromCharCode(...bytes.subarray(0, 4)) !== 'RUBV')
        throw new Error('This page holds no data of rubble.')
    const header = new Uint32Array(bytes.buffer, bytes.byteOffset, 4)
    if (header[1] !== 1) throw new Error(`This page holds data of version ${header[1]}, and reads version 1.`)
    const text = new TextDecoder().decode(bytes.subarray(16, 16 + header[2]))
    const { arrays, ...data } = JSON.parse(text)
    for (const [name, [type, offset, count]] of Object.entries(arrays))
        data[name] = new TYPES[type](bytes.buffer, bytes.byteOffset + 16 + header[2] + offset, count)
    return data
}
