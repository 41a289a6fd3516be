/// `rubble-import FORMAT`: reads an FBX, DAE or 3MF file from standard input with assimp and writes it to standard
/// output as GLB. librubble starts it, with limits on time and memory, and trusts nothing that it says: assimp is
/// known to crash and hang on damaged files. Opens no other file.
///
/// Exit: 0; 2 wrong usage; 3 with one line on standard error that says what is wrong with the file; 4 out of memory.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <unistd.h>

#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <assimp/BaseImporter.h>
#include <assimp/config.h>
#include <assimp/scene.h>
#include <assimp/version.h>

#include "tools/import/import.h"

namespace
{

enum { EXIT_REFUSED = 3, EXIT_NO_MEMORY = 4 }; /* fracture/io/import_process.c knows them */

/// Files besides the input are not there, whatever the input says.
class NoFiles : public Assimp::IOSystem
{
  public:
    bool Exists(const char *) const override
    {
        return false;
    }
    char getOsSeparator() const override
    {
        return '/';
    }
    Assimp::IOStream *Open(const char *, const char *) override
    {
        return nullptr;
    }
    void Close(Assimp::IOStream *) override
    {
    }
};

std::vector<uint8_t> read_input()
{
    std::vector<uint8_t> bytes;
    size_t count = 0;
    for (;;) {
        if (bytes.size() - count < 1 << 16) bytes.resize(count * 2 + (1 << 20));
        ssize_t got = read(STDIN_FILENO, bytes.data() + count, bytes.size() - count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw import_error(std::string("standard input: ") + std::strerror(errno));
        if (got == 0) break;
        count += static_cast<size_t>(got);
    }
    bytes.resize(count);
    return bytes;
}

void write_output(const std::vector<uint8_t> &bytes)
{
    for (size_t at = 0; at < bytes.size();) {
        ssize_t put = write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) throw import_error(std::string("standard output: ") + std::strerror(errno));
        at += static_cast<size_t>(put);
    }
}

/// Leaves only the reader of one format, so that no other one is tried on the bytes.
void keep_reader(Assimp::Importer &importer, const char *format)
{
    for (size_t i = importer.GetImporterCount(); i-- > 0;) {
        Assimp::BaseImporter *reader = importer.GetImporter(i);
        std::set<std::string> extensions;
        reader->GetExtensionList(extensions);
        if (extensions.count(format) == 0) importer.UnregisterLoader(reader);
    }
    if (importer.GetImporterCount() == 0) throw import_error("this assimp does not read the format");
}

double metadata_number(const aiScene &scene, const char *key, double missing)
{
    double number = missing;
    float single = 0;
    int32_t whole = 0;
    if (!scene.mMetaData) return missing;
    if (scene.mMetaData->Get(key, number)) return number;
    if (scene.mMetaData->Get(key, single)) return static_cast<double>(single);
    if (scene.mMetaData->Get(key, whole)) return whole;
    return missing;
}

/// FBX names its axes and its unit in centimetres. assimp turns the axes of DAE and applies its unit, but leaves
/// those of FBX to us.
import_facts facts_of_fbx(const aiScene &scene)
{
    /* Where right, up and front of the file go: x, y and z of glTF. */
    static const char *const axes[3][2] = {
        {"CoordAxis", "CoordAxisSign"}, {"UpAxis", "UpAxisSign"}, {"FrontAxis", "FrontAxisSign"}};
    import_facts facts;
    double unit = metadata_number(scene, "UnitScaleFactor", 1) * 0.01;
    if (!(unit > 1e-9 && unit < 1e9)) unit = 0.01;
    int from[3];
    double sign[3];
    for (int i = 0; i < 3; i++) {
        from[i] = static_cast<int>(metadata_number(scene, axes[i][0], i));
        sign[i] = metadata_number(scene, axes[i][1], 1) < 0 ? -1 : 1;
    }
    bool known =
        (from[0] | from[1] | from[2]) == 3 && from[0] != from[1] && from[1] != from[2] && from[0] != from[2];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            facts.root[4 * k + i] = known ? (k == from[i] ? sign[i] * unit : 0) : k == i ? unit : 0;
    return facts;
}

import_facts facts_of(const std::string &format, const std::vector<uint8_t> &bytes, const aiScene &scene)
{
    if (format == "fbx") return facts_of_fbx(scene);
    return format == "3mf" ? facts_of_3mf(bytes) : import_facts();
}

std::vector<uint8_t> convert(const std::string &format, const std::vector<uint8_t> &bytes)
{
    if (bytes.empty()) throw import_error("the file is empty");
    Assimp::Importer importer;
    importer.SetIOHandler(new NoFiles);
    keep_reader(importer, format.c_str());
    importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, false);
    importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_ANIMATIONS, false);
    importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_CAMERAS, false);
    importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_LIGHTS, false);
    importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_WEIGHTS, false);
    importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_USE_COLLADA_NAMES, true);
    const aiScene *scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, format.c_str());
    if (!scene || !scene->mRootNode) {
        std::string why = importer.GetErrorString();
        if (why.find("bad_alloc") != std::string::npos) throw std::bad_alloc();
        bool no_archive = format == "3mf" && why.find("Failed to open file") != std::string::npos;
        if (no_archive) throw import_error("it is no ZIP archive that can be read, which a 3MF file is");
        throw import_error(!why.empty()      ? why
                           : format == "3mf" ? "assimp finds no model in the package"
                                             : "assimp does not understand the file");
    }
    return make_glb(*scene, facts_of(format, bytes, *scene));
}

/// One line on standard error. @return `code`
int fail(const char *text, int code)
{
    std::string line = std::string(text).substr(0, 300); /* assimp quotes whole files */
    for (char &c : line)
        if (static_cast<unsigned char>(c) < 32) c = ' ';
    line += '\n';
    ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
    (void)ignored;
    return code;
}

int run(int argc, char **argv)
{
    std::string format = argc == 2 ? argv[1] : "";
    if (format == "--version") {
        std::printf("rubble-import, assimp %u.%u.%u\n", aiGetVersionMajor(), aiGetVersionMinor(),
            aiGetVersionPatch());
        std::fflush(stdout);
        return 0;
    }
    if (format != "fbx" && format != "dae" && format != "3mf")
        return fail("usage: rubble-import fbx|dae|3mf <FILE >FILE.glb", 2);
    try {
        write_output(convert(format, read_input()));
        return 0;
    } catch (const import_error &e) {
        return fail(e.what(), EXIT_REFUSED);
    } catch (const std::bad_alloc &) {
        return fail("out of memory", EXIT_NO_MEMORY);
    } catch (const std::exception &e) {
        return fail(e.what(), EXIT_REFUSED);
    }
}

} // namespace

int main(int argc, char **argv)
{
    _exit(run(argc, argv)); /* the system frees all, also what assimp leaks where it throws */
}
