// Builds the page of `rubble view`: build.mjs OUT.html WORK [NPM]
//
// WORK is a folder for the packages of package-lock.json, which npm fetches when they are not there yet; without NPM they
// must be there, and nothing is fetched. Everything goes into one file: scripts and styles with their hashes in a content
// security policy, so that nothing else runs.

import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const [out, work, npm] = process.argv.slice(2).map((path, i) => (i < 2 ? resolve(path) : path))

function fail(text) {
    console.error(`error: ${text}`)
    process.exit(1)
}

/// Fetches the locked packages, unless they are there from an earlier build.
function fetchPackages() {
    const lock = readFileSync(join(here, 'package-lock.json'), 'utf8')
    const stamp = join(work, 'fetched-lock.json')
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
    if (!npm) fail(`${work} does not have the packages of tools/view/package-lock.json`)
    mkdirSync(work, { recursive: true })
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(here, name), join(work, name))
    try {
        execFileSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
            cwd: work,
            stdio: ['ignore', 'inherit', 'inherit'],
        })
    } catch {
        fail('npm cannot fetch the packages of tools/view/package-lock.json; is its registry reachable?')
    }
    writeFileSync(stamp, lock)
}

const sha = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/// Text that is the same JavaScript and cannot end or confuse the element that it stands in.
function safeScript(text) {
    const safe = text.replaceAll('<!--', '<\\!--').replace(/<(\/?script)/gi, '\\x3C$1')
    return safe.replaceAll('@RUBBLE_', '@\\x52UBBLE_')
}

async function build() {
    if (Number(process.versions.node.split('.')[0]) < 18) fail(`node 18 or newer is needed, this is ${process.version}`)
    if (!out || !work) fail('usage: build.mjs OUT.html WORK [NPM]')
    fetchPackages()
    const esbuild = createRequire(join(work, 'package.json'))('esbuild')
    const common = { bundle: true, minify: true, write: false, logLevel: 'warning', legalComments: 'none' }
    const script = await esbuild.build({
        ...common,
        entryPoints: [join(here, 'src', 'main.js')],
        format: 'iife',
        target: 'es2020',
        nodePaths: [join(work, 'node_modules')],
        define: { 'import.meta.url': '""' },
    })
    const style = await esbuild.build({ ...common, entryPoints: [join(here, 'src', 'style.css')] })
    const js = safeScript(script.outputFiles[0].text.trim())
    const css = style.outputFiles[0].text.trim()
    if (/<\/style/i.test(css)) fail('the style ends its element')
    const policy =
        `default-src 'none'; script-src ${sha(js)} 'wasm-unsafe-eval'; style-src ${sha(css)}; ` +
        "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
    const licences = ['three', '@dimforge/rapier3d-compat']
        .map(
            (name) =>
                `${name} ${JSON.parse(readFileSync(join(work, 'node_modules', name, 'package.json'), 'utf8')).version}\n\n` +
                readFileSync(join(work, 'node_modules', name, 'LICENSE'), 'utf8'),
        )
        .join('\n\n')
    if (licences.includes('-->')) fail('a licence ends its comment')
    const parts = { POLICY: policy, STYLE: css, SCRIPT: js, LICENCES: licences }
    const page = readFileSync(join(here, 'src', 'page.html'), 'utf8').replace(
        /@RUBBLE_(POLICY|STYLE|SCRIPT|LICENCES)@/g,
        (_, name) => parts[name],
    )
    if (page.split('@RUBBLE_DATA@').length !== 2) fail('the page must have the mark of its data once')
    writeFileSync(out, page)
}

await build()
