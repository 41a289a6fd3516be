/// rubble farm: a batch cut into chunks for other machines.

#include "tools/cli/farm/farm.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli/batch/list.h"

static const char help[] =
    "usage: rubble farm slurm MANIFEST.json [options]\n"
    "       rubble farm kubernetes MANIFEST.json --image IMAGE --claim CLAIM [options]\n"
    "       rubble farm status DIR [--json]\n"
    "\n"
    "Makes a batch on several machines. Each makes a chunk of its assets (`rubble batch --chunk`) into one "
    "folder\n"
    "that all of them see. A graph with --over does instead of a manifest.\n"
    "\n"
    "  slurm       submits a job array, and a job that joins the summaries when it has ended; the scripts "
    "are in\n"
    "              DIR/batch-farm, with the log of each task. A task whose machine goes down runs again and\n"
    "              leaves out what was finished. The same command again makes what is missing.\n"
    "  kubernetes  prints an Indexed Job for `kubectl apply -f -`\n"
    "  status      tells what is done, failed, running and missing, from what the chunks note and what "
    "Slurm says;\n"
    "              exit 1 when something failed or is missing and nothing runs any more\n"
    "\n"
    "  --over, --set, --name, --time-limit, --thumbnails, --fail-on, --cache, --cache-bytes, --no-cache   "
    "as of\n"
    "                        rubble batch\n"
    "  --out DIR             default: out\n"
    "  --chunks N            tasks (default: one an asset, at most 16)\n"
    "  --threads N           cores of a task (default 1)\n"
    "  --memory BYTES        of a task, like 8G; it is an error of an asset to need more\n"
    "  --program FILE        rubble, as those machines find it (default: this one; in a container `rubble`)\n"
    "  --dry-run             slurm: print the scripts, submit nothing\n"
    "  --time TIME           slurm: most time of a task, as D-HH:MM:SS, HH:MM:SS or minutes\n"
    "  --partition NAME      slurm: where\n"
    "  --sbatch OPTION       slurm: any other option, like --sbatch=--account=art; may be repeated\n"
    "  --image IMAGE         kubernetes: the image that has rubble\n"
    "  --claim CLAIM         kubernetes: the volume claim with manifest, meshes and output folder\n"
    "  --mount PATH          kubernetes: where it is mounted, and what paths are relative to (default "
    "/work)\n"
    "  -o FILE               kubernetes: write there instead of to stdout\n"
    "\n"
    "example: rubble farm slurm props.json --out out --chunks 8 --threads 4 --memory 8G\n";

const char farm_folder[] = "batch-farm", farm_record[] = "batch-farm/farm.json";

/* ---- The list of assets ---- */

static bool take_names(const batch_list *list, farm_assets *assets)
{
    assets->names = calloc(list->count + 1, sizeof *assets->names);
    for (size_t i = 0; assets->names && i < list->count; i++) {
        assets->names[i] = strdup(list->assets[i].name);
        if (!assets->names[i]) return false;
        assets->count++;
        assets->faults += list->assets[i].fault != NULL;
    }
    return assets->names != NULL;
}

static int read_assets(const farm_options *o, farm_assets *assets)
{
    rbl_engine *engine = cli_engine(1, NULL);
    if (!engine) return EXIT_EVALUATION;
    batch_request request = {.file = o->file,
        .sets = o->sets.items,
        .overs = o->overs.items,
        .set_count = o->sets.count,
        .over_count = o->overs.count,
        .name = o->name};
    batch_list list = {0};
    int code = batch_list_read(engine, &request, &list);
    if (code == EXIT_DONE && !take_names(&list, assets)) {
        cli_error("%s", rbl_status_text(RBL_ERR_NO_MEMORY));
        code = EXIT_EVALUATION;
    }
    batch_list_free(&list);
    rbl_engine_destroy(engine);
    if (code == EXIT_DONE && assets->faults)
        fprintf(stderr, "note: %zu of %zu assets cannot run; `rubble batch --dry-run` tells why\n",
            assets->faults, assets->count);
    return code;
}

/* ---- Options ---- */

static bool check_options(farm_options *o, bool kubernetes)
{
    if (!*o->out) {
        cli_error("--out needs a folder");
        return false;
    }
    if (o->fail_on && strcmp(o->fail_on, "warning") != 0) {
        cli_error("--fail-on takes \"warning\", not \"%s\"", o->fail_on);
        return false;
    }
    if (o->threads < 1 || o->threads > 256) {
        cli_error("--threads needs a number from 1 to 256");
        return false;
    }
    if (o->chunks > 1000000) {
        cli_error("--chunks needs a number up to 1000000");
        return false;
    }
    if (o->memory && o->memory < (size_t)1 << 24) {
        cli_error("--memory needs at least 16M");
        return false;
    }
    if (kubernetes && (!o->image || !*o->image || !o->claim || !*o->claim)) {
        cli_error("rubble farm kubernetes needs --image and --claim");
        return false;
    }
    return true;
}

static int make_farm(farm_options *o, bool kubernetes)
{
    if (!check_options(o, kubernetes)) return EXIT_USAGE;
    farm_assets assets = {0};
    int code = read_assets(o, &assets);
    if (code == EXIT_DONE) {
        if (o->chunks == 0) o->chunks = assets.count < 16 ? (long)assets.count : 16;
        code = kubernetes ? farm_kubernetes(o) : farm_slurm(o, &assets);
    }
    for (size_t i = 0; i < assets.count; i++)
        free(assets.names[i]);
    free(assets.names);
    return code;
}

int cli_farm(int argc, char **argv)
{
    farm_options o = {.out = "out", .threads = 1, .mount = "/work"};
    const char *arguments[2];
    bool json = false;
    const cli_option options[] = {{"over", CLI_LIST, &o.overs}, {"set", CLI_LIST, &o.sets},
        {"name", CLI_TEXT, &o.name}, {"out", CLI_TEXT, &o.out}, {"time-limit", CLI_NUMBER, &o.limit},
        {"thumbnails", CLI_FLAG, &o.thumbnails}, {"fail-on", CLI_TEXT, &o.fail_on},
        {"cache", CLI_TEXT, &o.cache}, {"cache-bytes", CLI_TEXT, &o.cache_bytes},
        {"no-cache", CLI_FLAG, &o.no_cache}, {"chunks", CLI_NUMBER, &o.chunks},
        {"threads", CLI_NUMBER, &o.threads}, {"memory", CLI_BYTES, &o.memory},
        {"program", CLI_TEXT, &o.program}, {"dry-run", CLI_FLAG, &o.dry_run}, {"time", CLI_TEXT, &o.time},
        {"partition", CLI_TEXT, &o.partition}, {"sbatch", CLI_LIST, &o.extra}, {"image", CLI_TEXT, &o.image},
        {"claim", CLI_TEXT, &o.claim}, {"mount", CLI_TEXT, &o.mount}, {"o", CLI_TEXT, &o.output},
        {"json", CLI_FLAG, &json}, {0}};
    int code = cli_parse(&(cli_command){"farm", help, options, arguments, 2, 2}, argc, argv);
    o.file = code < 0 ? arguments[1] : NULL;
    if (code < 0 && strcmp(arguments[0], "slurm") == 0) code = make_farm(&o, false);
    if (code < 0 && strcmp(arguments[0], "kubernetes") == 0) code = make_farm(&o, true);
    if (code < 0 && strcmp(arguments[0], "status") == 0) code = farm_status(arguments[1], json);
    if (code < 0) {
        cli_error("rubble farm takes slurm, kubernetes or status, not \"%s\"", arguments[0]);
        code = EXIT_USAGE;
    }
    free(o.sets.items);
    free(o.overs.items);
    free(o.extra.items);
    return code;
}
