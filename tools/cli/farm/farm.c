/// rubble farm: a batch cut into chunks for other machines.

#include "tools/cli/farm/farm.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cli/batch/list.h"

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
    const cli_option options[] = {{"over", CLI_LIST, &o.overs, "NAME=VALUES", "as of rubble batch"},
        {"set", CLI_LIST, &o.sets, "NAME=VALUE", "as of rubble batch"},
        {"name", CLI_TEXT, &o.name, "TEMPLATE", "as of rubble batch"},
        {"out", CLI_TEXT, &o.out, "DIR", "default: out"},
        {"time-limit", CLI_NUMBER, &o.limit, "SECONDS", "as of rubble batch"},
        {"thumbnails", CLI_FLAG, &o.thumbnails, NULL, "as of rubble batch"},
        {"fail-on", CLI_WORD, &o.fail_on, "warning", "as of rubble batch"},
        {"cache", CLI_TEXT, &o.cache, "DIR", "as of rubble batch"},
        {"cache-bytes", CLI_TEXT, &o.cache_bytes, "BYTES", "as of rubble batch"},
        {"no-cache", CLI_FLAG, &o.no_cache, NULL, "as of rubble batch"},
        {"chunks", CLI_NUMBER, &o.chunks, "N", "tasks (default: one an asset, at most 16)", .most = 1000000},
        {"threads", CLI_NUMBER, &o.threads, "N", "cores of a task (default 1)", .least = 1,
            .most = CLI_MOST_THREADS},
        {"memory", CLI_BYTES, &o.memory, "BYTES",
            "of a task, like 8G; it is an error of an asset to need more"},
        {"program", CLI_TEXT, &o.program, "FILE",
            "rubble, as those machines find it (default: this one; in a container `rubble`)"},
        {"dry-run", CLI_FLAG, &o.dry_run, NULL, "slurm: print the scripts, submit nothing"},
        {"time", CLI_TEXT, &o.time, "TIME", "slurm: most time of a task, as D-HH:MM:SS, HH:MM:SS or minutes"},
        {"partition", CLI_TEXT, &o.partition, "NAME", "slurm: where"},
        {"sbatch", CLI_LIST, &o.extra, "OPTION",
            "slurm: any other option, like --sbatch=--account=art; may be repeated"},
        {"image", CLI_TEXT, &o.image, "IMAGE", "kubernetes: the image that has rubble"},
        {"claim", CLI_TEXT, &o.claim, "CLAIM",
            "kubernetes: the volume claim with manifest, meshes and output folder"},
        {"mount", CLI_TEXT, &o.mount, "PATH",
            "kubernetes: where it is mounted, and what paths are relative to (default /work)"},
        {"output", CLI_TEXT, &o.output, "FILE", "kubernetes: write there instead of to stdout",
            .letter = 'o'},
        {"json", CLI_FLAG, &json, NULL, "status: print it as JSON"}, {0}};
    const cli_command command = {.name = "farm",
        .usage = "slurm MANIFEST.json [options]\nkubernetes MANIFEST.json --image IMAGE --claim CLAIM "
                 "[options]\nstatus DIR [--json]",
        .text = "Makes a batch on several machines. Each makes a chunk of its assets (`rubble batch "
                "--chunk`) into one folder that all of "
                "them see. A graph with --over does instead of a manifest.\n"
                "- slurm: submits a job array, and a job that joins the summaries when it has ended; the "
                "scripts are in DIR/batch-farm, with "
                "the log of each task. A task whose machine goes down runs again and leaves out what was "
                "finished. The same command again makes "
                "what is missing.\n"
                "- kubernetes: prints an Indexed Job for `kubectl apply -f -`\n"
                "- status: tells what is done, failed, running and missing, from what the chunks note and "
                "what Slurm says; exit 1 when something "
                "failed or is missing and nothing runs any more",
        .examples = "rubble farm slurm props.json --out out --chunks 8 --threads 4 --memory 8G",
        .takes = "slurm|kubernetes|status MANIFEST.json",
        .options = options,
        .arguments = arguments,
        .least_arguments = 2,
        .most_arguments = 2};
    int code = cli_parse(&command, argc, argv);
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
