// Plays the page of docs/tutorial.md in a browser: tutorial_page.mjs CHROMIUM FOLDER [PICTURES]
//
// FOLDER holds index.html, wall.glb and node_modules (run_tutorial.py makes them). Prints `ok` and `FAIL` lines.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const [executablePath, folder, pictures] = process.argv.slice(2)
const { chromium } = createRequire(join(resolve(folder), 'package.json'))('playwright-core')
const kinds = { html: 'text/html', mjs: 'text/javascript', js: 'text/javascript' }
const server = createServer((request, response) => {
    try {
        const name = request.url.slice(1)
        const bytes = name === 'favicon.ico' ? '' : readFileSync(join(folder, name))
        response.writeHead(200, { 'content-type': kinds[name.split('.').pop()] ?? 'application/octet-stream' })
        response.end(bytes)
    } catch {
        response.writeHead(404)
        response.end()
    }
})
await new Promise((done) => server.listen(0, '127.0.0.1', done))
const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--use-angle=swiftshader', '--disable-gpu-watchdog'],
})
const page = await browser.newPage({ viewport: { width: 400, height: 260 } })
const complaints = []
page.on('console', (m) => {
    if (m.type() === 'error') complaints.push(m.text())
})
page.on('pageerror', (e) => complaints.push(e.message))

/// { bodies, standing, pieces } as the page tells.
async function facts() {
    const text = await page.textContent('#facts')
    const [bodies, standing, pieces] = text.match(/\d+/g).map(Number)
    return { bodies, standing, pieces }
}

async function test(name, body) {
    try {
        console.log(`ok   ${name}: ${await body()}`)
    } catch (error) {
        console.log(`FAIL ${name}: ${String(error.message).split('\n').slice(0, 4).join(' | ')}`)
    }
}

const frames = (count) =>
    page.evaluate(
        (n) => new Promise((done) => {
            const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done())
            next(n)
        }),
        count,
    )
const picture = (name) => pictures && page.screenshot({ path: join(pictures, `tutorial-${name}.png`) })

page.setDefaultTimeout(180000) // also where many tests run at once
await page.goto(`http://127.0.0.1:${server.address().port}/index.html`)
await page.waitForFunction(() => /stand/.test(document.querySelector('#facts').textContent))
let whole
await test('the page stands in one body', async () => {
    await frames(20)
    whole = await facts()
    assert.equal(whole.bodies, 1)
    assert.ok(whole.pieces > 80 && whole.standing === whole.pieces, JSON.stringify(whole))
    await picture('whole')
    return JSON.stringify(whole)
})
await test('a ball breaks off what it hits; the rest stands', async () => {
    await page.mouse.click(200, 105)
    await page.waitForFunction(() => parseInt(document.querySelector('#facts').textContent) > 3)
    await frames(60)
    const broken = await facts()
    assert.ok(broken.bodies > 5, JSON.stringify(broken))
    assert.ok(broken.standing > whole.pieces / 4 && broken.standing < whole.pieces - 5, JSON.stringify(broken))
    await picture('broken')
    return JSON.stringify(broken)
})
await test('nothing complains', () => assert.deepEqual(complaints, []))
await browser.close()
server.close()
