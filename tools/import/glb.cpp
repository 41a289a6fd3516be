/// A scene of assimp as GLB 2.0.

#include "tools/import/import.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include <assimp/GltfMaterial.h>
#include <assimp/scene.h>

namespace
{

/// JSON text under way.
class Json
{
  public:
    std::string text;
    void raw(const char *words)
    {
        text += words;
    }
    void comma()
    {
        if (!text.empty() && text.back() != '[' && text.back() != '{' && text.back() != ':') text += ',';
    }
    void open(char bracket)
    {
        comma();
        text += bracket;
    }
    void close(char bracket)
    {
        text += bracket;
    }
    void key(const char *name)
    {
        comma();
        text += '"';
        text += name;
        text += "\":";
    }
    void number(double value)
    {
        char digits[40];
        comma();
        if (!std::isfinite(value)) value = 0;
        /* The fewest digits that give the same float: 0.01, not 0.00999999978. */
        for (int count = 6; count <= 9; count++) {
            std::snprintf(digits, sizeof digits, "%.*g", count, value);
            if (std::strtof(digits, nullptr) == static_cast<float>(value)) break;
        }
        text += digits;
    }
    void integer(size_t value)
    {
        comma();
        text += std::to_string(value);
    }
    void string(const std::string &value)
    {
        comma();
        text += '"';
        for (char c : value) {
            if (c == '"' || c == '\\') text += '\\';
            text += static_cast<unsigned char>(c) < 32 ? ' ' : c;
        }
        text += '"';
    }
    void pair(const char *name, size_t value)
    {
        key(name);
        integer(value);
    }
};

enum { COMPONENT_U32 = 5125, COMPONENT_FLOAT = 5126, NO_MORE_DEPTH = 500 };

class Writer
{
  public:
    Writer(const aiScene &from, const import_facts &about) : scene(from), facts(about)
    {
    }
    std::vector<uint8_t> write();

  private:
    const aiScene &scene;
    const import_facts &facts;
    std::vector<uint8_t> binary;
    Json views, accessors, meshes, nodes, materials, textures, images, samplers;
    size_t view_count = 0, accessor_count = 0, mesh_count = 0, node_count = 0, texture_count = 0;
    std::map<std::string, size_t> image_of, mesh_of;
    std::map<std::string, size_t> texture_of;
    std::vector<size_t> primitive_state; /* of a mesh: 0 not written, 1 without triangles, 2 in `primitive` */
    std::vector<std::string> primitive;
    bool any_triangle = false;

    size_t add_view(const void *bytes, size_t count);
    size_t add_accessor(size_t view, int component, size_t count, const char *type);
    size_t add_floats(const std::vector<float> &values, size_t width);
    void write_primitive(size_t index);
    size_t write_mesh(const aiNode &node);
    size_t write_node(const aiNode &node, const double *root, int depth);
    void write_materials();
    void write_material(const aiMaterial &material, size_t index);
    bool find_texture(
        const aiMaterial &material, const aiTextureType *types, size_t type_count, std::string *out);
    size_t write_image(const aiString &path);
    void write_texture_info(
        Json &json, const char *key, const std::string &info, const char *extra = nullptr);
};

size_t Writer::add_view(const void *bytes, size_t count)
{
    while (binary.size() % 4)
        binary.push_back(0);
    if (binary.size() + count > 0xF0000000u) throw import_error("more than 4 GB of data");
    views.open('{');
    views.pair("buffer", 0);
    views.pair("byteOffset", binary.size());
    views.pair("byteLength", count);
    views.close('}');
    const uint8_t *from = static_cast<const uint8_t *>(bytes);
    binary.insert(binary.end(), from, from + count);
    return view_count++;
}

size_t Writer::add_accessor(size_t view, int component, size_t count, const char *type)
{
    accessors.open('{');
    accessors.pair("bufferView", view);
    accessors.pair("componentType", static_cast<size_t>(component));
    accessors.pair("count", count);
    accessors.key("type");
    accessors.string(type);
    accessors.close('}');
    return accessor_count++;
}

size_t Writer::add_floats(const std::vector<float> &values, size_t width)
{
    static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    size_t view = add_view(values.data(), values.size() * sizeof(float));
    return add_accessor(view, COMPONENT_FLOAT, values.size() / width, types[width]);
}

std::vector<float> flatten(const aiVector3D *values, size_t count, size_t width, bool turn_v)
{
    std::vector<float> out(count * width);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++) {
            float value = values[i][static_cast<unsigned>(k)];
            out[i * width + k] = turn_v && k == 1 ? 1 - value : value;
        }
    return out;
}

std::vector<float> tangents_of(const aiMesh &mesh)
{
    std::vector<float> out(4 * static_cast<size_t>(mesh.mNumVertices));
    for (size_t i = 0; i < mesh.mNumVertices; i++) {
        const aiVector3D &t = mesh.mTangents[i];
        aiVector3D b = mesh.mNormals[i] ^ t;
        /* v is turned round, and with it the bitangent */
        float sign = b * mesh.mBitangents[i] < 0 ? 1.f : -1.f;
        const float values[4] = {t.x, t.y, t.z, sign};
        std::memcpy(&out[4 * i], values, sizeof values);
    }
    return out;
}

/// The polygons of a mesh as fans, as FB_ngon_encoding wants them: those of neighbours begin at different vertices.
/// The reader triangulates them. Lines and points are left out.
std::vector<uint32_t> indices_of(const aiMesh &mesh)
{
    std::vector<uint32_t> out;
    out.reserve(3 * static_cast<size_t>(mesh.mNumFaces));
    for (size_t f = 0; f < mesh.mNumFaces; f++) {
        const aiFace &face = mesh.mFaces[f];
        unsigned count = face.mNumIndices;
        if (count < 3) continue;
        for (unsigned k = 0; k < count; k++)
            if (face.mIndices[k] >= mesh.mNumVertices)
                throw import_error("an index of a vertex of mesh \"" + std::string(mesh.mName.C_Str()) +
                                   "\" is out of range");
        unsigned start = !out.empty() && out[out.size() - 3] == face.mIndices[0] ? 1 : 0;
        for (unsigned k = 1; k + 1 < count; k++)
            for (unsigned corner : {0u, k, k + 1})
                out.push_back(face.mIndices[(start + corner) % count]);
    }
    return out;
}

void Writer::write_primitive(size_t index)
{
    const aiMesh &mesh = *scene.mMeshes[index];
    size_t count = mesh.mNumVertices;
    std::vector<uint32_t> indices = mesh.mVertices ? indices_of(mesh) : std::vector<uint32_t>();
    primitive_state[index] = 1;
    if (indices.empty()) return;
    primitive_state[index] = 2;
    any_triangle = true;
    Json json;
    json.open('{');
    json.key("attributes");
    json.open('{');
    json.pair("POSITION", add_floats(flatten(mesh.mVertices, count, 3, false), 3));
    if (mesh.HasNormals()) json.pair("NORMAL", add_floats(flatten(mesh.mNormals, count, 3, false), 3));
    if (mesh.HasNormals() && mesh.HasTangentsAndBitangents())
        json.pair("TANGENT", add_floats(tangents_of(mesh), 4));
    if (mesh.HasVertexColors(0)) {
        const float *first = &mesh.mColors[0][0].r;
        json.pair("COLOR_0", add_floats(std::vector<float>(first, first + 4 * count), 4));
    }
    for (unsigned set = 0, used = 0; set < AI_MAX_NUMBER_OF_TEXTURECOORDS; set++) {
        if (!mesh.HasTextureCoords(set)) continue;
        std::string name = "TEXCOORD_" + std::to_string(used++);
        json.pair(name.c_str(), add_floats(flatten(mesh.mTextureCoords[set], count, 2, true), 2));
    }
    json.close('}');
    json.pair("indices", add_accessor(add_view(indices.data(), indices.size() * sizeof indices[0]),
                             COMPONENT_U32, indices.size(), "SCALAR"));
    json.raw(",\"extensions\":{\"FB_ngon_encoding\":{}}");
    if (mesh.mMaterialIndex < scene.mNumMaterials) json.pair("material", mesh.mMaterialIndex);
    json.close('}');
    primitive[index] = json.text;
}

/// The mesh of a node; nodes with equal lists of meshes share it. SIZE_MAX: no triangles.
size_t Writer::write_mesh(const aiNode &node)
{
    std::string key, list, name;
    for (unsigned i = 0; i < node.mNumMeshes; i++) {
        unsigned index = node.mMeshes[i];
        if (index >= scene.mNumMeshes) throw import_error("a node names a mesh that is not there");
        if (primitive_state[index] == 0) write_primitive(index);
        if (primitive_state[index] != 2) continue;
        key += std::to_string(index) + ' ';
        list += (list.empty() ? "" : ",") + primitive[index];
        if (name.empty()) name = scene.mMeshes[index]->mName.C_Str();
    }
    if (key.empty()) return SIZE_MAX;
    auto known = mesh_of.find(key);
    if (known != mesh_of.end()) return known->second;
    meshes.open('{');
    if (!name.empty()) {
        meshes.key("name");
        meshes.string(name);
    }
    meshes.key("primitives");
    meshes.open('[');
    meshes.raw(list.c_str());
    meshes.close(']');
    meshes.close('}');
    return mesh_of[key] = mesh_count++;
}

/// Writes a node behind its children, whose numbers it names. `root` (column-major) is multiplied from the left.
size_t Writer::write_node(const aiNode &node, const double *root, int depth)
{
    if (depth > NO_MORE_DEPTH) throw import_error("its nodes are nested too deeply");
    std::vector<size_t> children;
    for (unsigned i = 0; i < node.mNumChildren; i++)
        children.push_back(write_node(*node.mChildren[i], nullptr, depth + 1));
    size_t mesh = write_mesh(node);
    const aiMatrix4x4 &t = node.mTransformation;
    double m[16], product[16];
    for (unsigned c = 0; c < 4; c++)
        for (unsigned r = 0; r < 4; r++)
            m[4 * c + r] = static_cast<double>(t[r][c]);
    if (root) {
        for (int c = 0; c < 4; c++)
            for (int r = 0; r < 4; r++) {
                product[4 * c + r] = 0;
                for (int k = 0; k < 4; k++)
                    product[4 * c + r] += root[4 * k + r] * m[4 * c + k];
            }
        std::memcpy(m, product, sizeof m);
    }
    nodes.open('{');
    nodes.key("name");
    std::string name(node.mName.C_Str());
    auto better = facts.names.find(name);
    nodes.string(better != facts.names.end() ? better->second : name);
    nodes.key("matrix");
    nodes.open('[');
    for (double value : m)
        nodes.number(value);
    nodes.close(']');
    if (mesh != SIZE_MAX) nodes.pair("mesh", mesh);
    if (!children.empty()) {
        nodes.key("children");
        nodes.open('[');
        for (size_t child : children)
            nodes.integer(child);
        nodes.close(']');
    }
    nodes.close('}');
    return node_count++;
}

/// What is left of a path that an exporter wrote: with forward slashes; of an absolute one the file's name alone,
/// because its folders are those of another machine.
std::string portable_path(const char *path)
{
    std::string out(path);
    for (char &c : out)
        if (c == '\\') c = '/';
    if (out.compare(0, 7, "file://") == 0) out.erase(0, 7);
    while (out.compare(0, 2, "./") == 0)
        out.erase(0, 2);
    bool absolute = !out.empty() && (out[0] == '/' || (out.size() > 1 && out[1] == ':'));
    size_t slash = out.rfind('/');
    return absolute && slash != std::string::npos ? out.substr(slash + 1) : out;
}

/// A path as URI of glTF: what would be taken for an escape or a scheme is escaped.
std::string uri_of(const std::string &path)
{
    std::string out;
    for (char c : path) {
        if (c == '%' || c == ':') {
            out += c == '%' ? "%25" : "%3A";
        } else {
            out += c;
        }
    }
    return out;
}

const char *type_of(const aiTexture &texture)
{
    if (std::strncmp(texture.achFormatHint, "png", 3) == 0) return "image/png";
    if (std::strncmp(texture.achFormatHint, "jp", 2) == 0) return "image/jpeg";
    return nullptr;
}

size_t Writer::write_image(const aiString &path)
{
    std::string key(path.C_Str());
    auto known = image_of.find(key);
    if (known != image_of.end()) return known->second;
    size_t index = image_of.size();
    const aiTexture *embedded = scene.GetEmbeddedTexture(path.C_Str());
    images.open('{');
    if (embedded && embedded->mHeight == 0 && embedded->mWidth > 0) {
        std::string name =
            portable_path(embedded->mFilename.length ? embedded->mFilename.C_Str() : path.C_Str());
        images.key("name");
        images.string(name.substr(name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1));
        images.pair("bufferView", add_view(embedded->pcData, embedded->mWidth));
        const char *type = type_of(*embedded);
        images.key("mimeType");
        images.string(type ? type : "image/png");
    } else {
        images.key("uri");
        images.string(uri_of(portable_path(path.C_Str())));
    }
    images.close('}');
    return image_of[key] = index;
}

int wrap_of(aiTextureMapMode mode)
{
    return mode == aiTextureMapMode_Mirror ? 33648 : mode == aiTextureMapMode_Wrap ? 10497 : 33071;
}

/// The first texture of these types as a textureInfo without its brackets.
bool Writer::find_texture(
    const aiMaterial &material, const aiTextureType *types, size_t type_count, std::string *out)
{
    for (size_t i = 0; i < type_count; i++) {
        aiString path;
        unsigned set = 0;
        aiTextureMapMode modes[2] = {aiTextureMapMode_Wrap, aiTextureMapMode_Wrap};
        if (material.GetTexture(types[i], 0, &path, nullptr, &set, nullptr, nullptr, modes) !=
            aiReturn_SUCCESS)
            continue;
        if (path.length == 0) continue;
        size_t image = write_image(path);
        char key[80];
        std::snprintf(key, sizeof key, "%zu %d %d", image, wrap_of(modes[0]), wrap_of(modes[1]));
        auto known = texture_of.find(key);
        size_t texture = known != texture_of.end() ? known->second : texture_count;
        if (texture == texture_count) {
            texture_of[key] = texture_count++;
            samplers.open('{');
            samplers.pair("wrapS", static_cast<size_t>(wrap_of(modes[0])));
            samplers.pair("wrapT", static_cast<size_t>(wrap_of(modes[1])));
            samplers.close('}');
            textures.open('{');
            textures.pair("sampler", texture);
            textures.pair("source", image);
            textures.close('}');
        }
        Json json;
        json.pair("index", texture);
        if (set > 0 && set < AI_MAX_NUMBER_OF_TEXTURECOORDS) json.pair("texCoord", set);
        aiUVTransform move;
        if (material.Get(AI_MATKEY_UVTRANSFORM(types[i], 0), move) == aiReturn_SUCCESS &&
            (move.mTranslation.x != 0 || move.mTranslation.y != 0 || move.mScaling.x != 1 ||
                move.mScaling.y != 1)) {
            json.key("extensions");
            json.open('{');
            json.key("KHR_texture_transform");
            json.open('{');
            json.key("offset"); /* v grows downwards */
            json.open('[');
            json.number(static_cast<double>(move.mTranslation.x));
            json.number(1 - static_cast<double>(move.mScaling.y) - static_cast<double>(move.mTranslation.y));
            json.close(']');
            json.key("scale");
            json.open('[');
            json.number(static_cast<double>(move.mScaling.x));
            json.number(static_cast<double>(move.mScaling.y));
            json.close(']');
            json.close('}');
            json.close('}');
        }
        *out = json.text;
        return true;
    }
    return false;
}

void Writer::write_texture_info(Json &json, const char *key, const std::string &info, const char *extra)
{
    json.key(key);
    json.open('{');
    json.raw(info.c_str());
    if (extra) {
        json.comma();
        json.raw(extra);
    }
    json.close('}');
}

double clamp01(double value)
{
    return value > 0 ? value < 1 ? value : 1 : 0;
}

/// A material's name without the number that assimp's 3MF reader puts before it.
std::string plain_name(const std::string &name, const import_facts &facts)
{
    size_t digits = name.compare(0, 2, "id") == 0 ? name.find_first_not_of("0123456789", 2) : 0;
    bool numbered = facts.numbered_materials && digits > 2 && digits != std::string::npos &&
                    digits + 1 < name.size() && name[digits] == '_';
    return numbered ? name.substr(digits + 1) : name;
}

void Writer::write_material(const aiMaterial &material, size_t index)
{
    static const aiTextureType base_types[] = {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE};
    static const aiTextureType normal_types[] = {
        aiTextureType_NORMALS, aiTextureType_NORMAL_CAMERA, aiTextureType_HEIGHT};
    static const aiTextureType emissive_types[] = {aiTextureType_EMISSION_COLOR, aiTextureType_EMISSIVE};
    static const aiTextureType occlusion_types[] = {aiTextureType_AMBIENT_OCCLUSION, aiTextureType_LIGHTMAP};
    aiColor4D base(1, 1, 1, 1), emissive(0, 0, 0, 1);
    ai_real opacity = 1, metallic = 0, roughness = -1, shininess = -1;
    int two_sided = 0;
    std::string info;
    aiString name = const_cast<aiMaterial &>(material).GetName();
    bool textured = find_texture(material, base_types, 2, &info);
    if (material.Get(AI_MATKEY_BASE_COLOR, base) != aiReturn_SUCCESS)
        material.Get(AI_MATKEY_COLOR_DIFFUSE, base);
    material.Get(AI_MATKEY_OPACITY, opacity);
    material.Get(AI_MATKEY_COLOR_EMISSIVE, emissive);
    material.Get(AI_MATKEY_METALLIC_FACTOR, metallic);
    if (material.Get(AI_MATKEY_ROUGHNESS_FACTOR, roughness) != aiReturn_SUCCESS &&
        material.Get(AI_MATKEY_SHININESS, shininess) == aiReturn_SUCCESS && shininess >= 0)
        roughness = std::sqrt(std::sqrt(2 / (shininess + 2))); /* as of the Ns of .mtl */
    materials.open('{');
    materials.key("name");
    materials.string(name.length ? plain_name(name.C_Str(), facts) : "material_" + std::to_string(index));
    materials.key("pbrMetallicRoughness");
    materials.open('{');
    materials.key("baseColorFactor");
    materials.open('[');
    double alpha = clamp01(static_cast<double>(base.a)) * clamp01(static_cast<double>(opacity));
    const double rgba[4] = {clamp01(static_cast<double>(base.r)), clamp01(static_cast<double>(base.g)),
        clamp01(static_cast<double>(base.b)), alpha};
    for (double value : rgba)
        materials.number(value);
    materials.close(']');
    materials.key("metallicFactor");
    materials.number(clamp01(static_cast<double>(metallic)));
    materials.key("roughnessFactor");
    materials.number(roughness >= 0 ? clamp01(static_cast<double>(roughness)) : 1);
    if (textured) write_texture_info(materials, "baseColorTexture", info);
    materials.close('}');
    if (find_texture(material, normal_types, 3, &info)) write_texture_info(materials, "normalTexture", info);
    if (find_texture(material, occlusion_types, 2, &info))
        write_texture_info(materials, "occlusionTexture", info);
    bool shines = find_texture(material, emissive_types, 2, &info);
    if (shines) write_texture_info(materials, "emissiveTexture", info);
    double light[3] = {clamp01(static_cast<double>(emissive.r)), clamp01(static_cast<double>(emissive.g)),
        clamp01(static_cast<double>(emissive.b))};
    bool dark = light[0] == 0 && light[1] == 0 && light[2] == 0;
    if (!dark || shines) {
        materials.key("emissiveFactor");
        materials.open('[');
        for (double value : light)
            materials.number(dark ? 1 : value);
        materials.close(']');
    }
    if (alpha < 1) {
        materials.key("alphaMode");
        materials.string("BLEND");
    }
    if (material.Get(AI_MATKEY_TWOSIDED, two_sided) == aiReturn_SUCCESS && two_sided) {
        materials.key("doubleSided");
        materials.raw("true");
    }
    materials.close('}');
}

void Writer::write_materials()
{
    for (unsigned i = 0; i < scene.mNumMaterials; i++)
        write_material(*scene.mMaterials[i], i);
}

void put_u32(std::vector<uint8_t> &out, size_t value)
{
    for (int i = 0; i < 4; i++)
        out.push_back(static_cast<uint8_t>(value >> 8 * i));
}

std::vector<uint8_t> Writer::write()
{
    primitive_state.resize(scene.mNumMeshes);
    primitive.resize(scene.mNumMeshes);
    size_t top = write_node(*scene.mRootNode, facts.root, 0);
    if (!any_triangle) throw import_error("no triangles");
    write_materials();
    Json json;
    json.raw("{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"FB_ngon_encoding\",\"KHR_texture_"
             "transform\"],\"scene\":0,\"scenes\":[{\"nodes\":[");
    json.raw(std::to_string(top).c_str());
    json.raw("]}]");
    const struct {
        const char *key;
        const Json &list;
    } lists[] = {{"nodes", nodes}, {"meshes", meshes}, {"accessors", accessors}, {"bufferViews", views},
        {"materials", materials}, {"textures", textures}, {"samplers", samplers}, {"images", images}};
    for (const auto &list : lists) {
        json.raw(",\"");
        json.raw(list.key);
        json.raw("\":[");
        json.text += list.list.text;
        json.raw("]");
    }
    while (binary.size() % 4)
        binary.push_back(0);
    json.raw(",\"buffers\":[{\"byteLength\":");
    json.raw(std::to_string(binary.size()).c_str());
    json.raw("}]}");
    while (json.text.size() % 4)
        json.text += ' ';
    size_t total = 12 + 8 + json.text.size() + 8 + binary.size();
    if (total > 0xFFFFFFFFu) throw import_error("more than 4 GB of data");
    std::vector<uint8_t> out;
    out.reserve(total);
    put_u32(out, 0x46546C67);
    put_u32(out, 2);
    put_u32(out, total);
    put_u32(out, json.text.size());
    put_u32(out, 0x4E4F534A);
    out.insert(out.end(), json.text.begin(), json.text.end());
    put_u32(out, binary.size());
    put_u32(out, 0x004E4942);
    out.insert(out.end(), binary.begin(), binary.end());
    return out;
}

} // namespace

std::vector<uint8_t> make_glb(const aiScene &scene, const import_facts &facts)
{
    return Writer(scene, facts).write();
}
