// Opens files in web loaders, in a real browser: loaders.mjs CHROMIUM FOLDER WORK FACTS.json
//
// FOLDER holds the files (.glb, .usda), WORK node_modules (run_loaders.py makes both). FACTS.json gets
// { FILE: { LOADER: tree } } as trees.mjs has them, or { error } in place of a tree.

import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [executablePath, folder, work, out] = process.argv.slice(2)
const need = createRequire(join(resolve(work), 'package.json'))
const here = dirname(fileURLToPath(import.meta.url))

/// What the pages of a folder ask for, on this machine alone.
function serve(read) {
    const kinds = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' }
    const server = createServer((request, response) => {
        const name = decodeURIComponent(request.url.slice(1).split('?')[0])
        try {
            const bytes = read(name)
            response.writeHead(200, { 'content-type': kinds[name.split('.').pop()] ?? 'application/octet-stream' })
            response.end(bytes)
        } catch {
            response.writeHead(404)
            response.end()
        }
    })
    return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)))
}

const bundle = await need('esbuild').build({
    entryPoints: [join(here, 'trees.mjs')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    nodePaths: [join(resolve(work), 'node_modules')],
    logLevel: 'error',
})
const fixed = {
    'page.html': '<!doctype html><meta charset="utf-8"><title>trees</title><script type="module" src="trees.js"></script>',
    'trees.js': bundle.outputFiles[0].text,
    'tinyusdz.wasm': readFileSync(join(work, 'node_modules', 'tinyusdz', 'tinyusdz.wasm')),
}
const server = await serve((name) => fixed[name] ?? readFileSync(join(folder, name)))
const url = `http://127.0.0.1:${server.address().port}/`
const browser = await need('playwright-core').chromium.launch({ executablePath, args: ['--no-sandbox'] })
const page = await browser.newPage()
page.setDefaultTimeout(180000) // also where many tests run at once
await page.goto(url + 'page.html')
await page.waitForFunction(() => window.trees)
const facts = {}
for (const name of readdirSync(folder)) {
    const loaders = { glb: ['glb'], usda: ['usda', 'tiny'] }[name.split('.').pop()] ?? []
    for (const loader of loaders) {
        const tree = await page.evaluate(
            ([l, n]) => window.trees[l](n).catch((e) => ({ error: String(e.cause ?? e) })),
            [loader, encodeURIComponent(name)],
        )
        facts[name] = { ...facts[name], [loader]: tree }
    }
}
await browser.close()
server.close()
writeFileSync(out, JSON.stringify(facts))
