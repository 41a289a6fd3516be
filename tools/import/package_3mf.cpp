/// The unit and the names of a 3MF package, which assimp does not look at: a ZIP archive with an XML part *.model.
/// Elements are found without an XML parser; what is not found keeps its default.

#include "tools/import/import.h"

#include <cstring>

#include <zlib.h>

namespace
{

size_t read_u16(const uint8_t *at)
{
    return at[0] | static_cast<size_t>(at[1]) << 8;
}

size_t read_u32(const uint8_t *at)
{
    return read_u16(at) | read_u16(at + 2) << 16;
}

/// A stored or deflated entry.
std::string unpack(const uint8_t *data, size_t packed, size_t method)
{
    if (method == 0) return std::string(reinterpret_cast<const char *>(data), packed);
    std::string out;
    z_stream stream = {};
    if (method != 8 || inflateInit2(&stream, -MAX_WBITS) != Z_OK) return out;
    stream.next_in = const_cast<Bytef *>(data);
    stream.avail_in = static_cast<uInt>(packed);
    int result = Z_OK;
    try {
        for (size_t had = 0; result == Z_OK; had = out.size() - stream.avail_out) {
            out.resize(had * 2 + (1 << 16));
            stream.next_out = reinterpret_cast<Bytef *>(&out[had]);
            stream.avail_out =
                static_cast<uInt>(out.size() - had < UINT32_MAX ? out.size() - had : UINT32_MAX);
            size_t room = stream.avail_out;
            result = inflate(&stream, Z_NO_FLUSH);
            out.resize(had + room);
        }
    } catch (...) {
        inflateEnd(&stream);
        throw;
    }
    out.resize(out.size() - stream.avail_out);
    inflateEnd(&stream);
    return out;
}

/// The first entry *.model of the archive's directory.
std::string model_part(const std::vector<uint8_t> &bytes)
{
    enum { DIRECTORY_ENTRY = 46, LOCAL_HEADER = 30 };
    const uint8_t *data = bytes.data();
    for (size_t at = 0; at + DIRECTORY_ENTRY <= bytes.size(); at++) {
        if (std::memcmp(data + at, "PK\1\2", 4) != 0) continue;
        size_t method = read_u16(data + at + 10), packed = read_u32(data + at + 20);
        size_t name_length = read_u16(data + at + 28), local = read_u32(data + at + 42);
        if (name_length > bytes.size() - at - DIRECTORY_ENTRY) return "";
        std::string name(reinterpret_cast<const char *>(data) + at + DIRECTORY_ENTRY, name_length);
        if (name_length < 6 || name.compare(name_length - 6, 6, ".model") != 0) continue;
        if (local > bytes.size() || bytes.size() - local < LOCAL_HEADER) return "";
        size_t skip = LOCAL_HEADER + read_u16(data + local + 26) + read_u16(data + local + 28);
        if (skip > bytes.size() - local) return "";
        size_t there = bytes.size() - local - skip;
        return unpack(data + local + skip, packed < there ? packed : there, method);
    }
    return "";
}

/// The value of an attribute of an element's text; "" without. Of the entities the five of XML alone.
std::string attribute(const std::string &element, const std::string &name)
{
    static const struct {
        const char *code;
        char character;
    } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    size_t at = element.find(' ' + name + '=');
    if (at == std::string::npos || at + name.size() + 3 > element.size()) return "";
    size_t begin = at + name.size() + 3, end = element.find(element[begin - 1], begin);
    std::string raw = element.substr(begin, end == std::string::npos ? end : end - begin), out;
    for (size_t i = 0; i < raw.size();) {
        size_t step = 1;
        char c = raw[i];
        for (const auto &entity : entities)
            if (raw.compare(i, std::strlen(entity.code), entity.code) == 0) {
                c = entity.character;
                step = std::strlen(entity.code);
            }
        out += c;
        i += step;
    }
    return out;
}

} // namespace

import_facts facts_of_3mf(const std::vector<uint8_t> &bytes)
{
    static const struct {
        const char *word;
        double metres;
    } units[] = {{"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 0.01}, {"inch", 0.0254},
        {"foot", 0.3048}, {"meter", 1}};
    import_facts facts;
    double metres = 1e-3;
    std::string text = model_part(bytes);
    for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at++) {
        bool model = text.compare(at, 7, "<model ") == 0, object = text.compare(at, 8, "<object ") == 0;
        if (!model && !object) continue;
        size_t end = text.find('>', at);
        std::string element = text.substr(at, end == std::string::npos ? end : end - at);
        if (model)
            for (const auto &unit : units)
                if (attribute(element, "unit") == unit.word) metres = unit.metres;
        std::string name = object ? attribute(element, "name") : "";
        if (!name.empty()) facts.names["Object_" + attribute(element, "id")] = name;
    }
    /* z is up: (x, z, −y) */
    const double turned[16] = {metres, 0, 0, 0, 0, 0, -metres, 0, 0, metres, 0, 0, 0, 0, 0, 1};
    std::memcpy(facts.root, turned, sizeof turned);
    facts.numbered_materials = true;
    return facts;
}
