// The pages of `rubble view` in a real browser: browser.mjs CHROMIUM FOLDER URL [PICTURES]
//
// FOLDER holds wall.html, anchored.html, evil.html, many.html, bad.html and odd ones (run_view.py makes them) and node_modules.
// URL is where `rubble view FOLDER/live.json --watch` serves its page.
// PICTURES: a folder for screenshots. Prints a line a test, `N passed, N failed` last.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const [executablePath, folder, url, pictures] = process.argv.slice(2)
const { chromium } = createRequire(join(resolve(folder), 'package.json'))('playwright-core')
const browser = await chromium.launch({
    executablePath,
    args: [
        '--no-sandbox',
        '--enable-unsafe-swiftshader',
        '--use-angle=swiftshader',
        '--disable-gpu-watchdog', // a busy machine is not a hung card
        '--disable-background-networking',
        '--no-first-run',
    ],
})
let passed = 0,
    failed = 0

/// Opens a page that notes whatever the browser complains about, and every request that leaves the file.
async function open(name, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 860, height: 580 },
        reducedMotion: 'reduce',
        ...options,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(180000) // also where many tests run at once
    page.complaints = []
    page.on('console', (m) => {
        if (['error', 'warning'].includes(m.type()) && !/GPU stall|GL Driver/.test(m.text()))
            page.complaints.push(m.text())
    })
    page.on('pageerror', (e) => page.complaints.push(e.message))
    page.on('request', (r) => {
        if (!/^(file|data|blob):/.test(r.url()) && !(options.url && r.url().startsWith(options.url)))
            page.complaints.push(`asks for ${r.url()}`)
    })
    page.on('dialog', (d) => {
        page.complaints.push('opens a dialog')
        d.dismiss()
    })
    if (options.before) await page.addInitScript(options.before)
    await page.goto(options.url ?? `file://${resolve(folder, name)}`)
    return page
}

async function test(name, body) {
    try {
        await body()
        passed++
        console.log(`ok   ${name}`)
    } catch (error) {
        failed++
        console.log(`FAIL ${name}: ${String(error.message).split('\n').slice(0, 6).join(' | ')}`)
    }
}

const inspect = (page) => page.evaluate(() => window.rubbleView.inspect())
const text = (page, selector) => page.locator(selector).textContent()
const frames = (page, n = 3) =>
    page.evaluate(
        (count) =>
            new Promise((done) => {
                const next = (i) => (i ? requestAnimationFrame(() => next(i - 1)) : done())
                next(count)
            }),
        n,
    )
const apart = (a, b) => a.map((p, i) => Math.hypot(...p.map((x, k) => x - b[i][k])))

async function shot(page, name) {
    await frames(page, 2)
    const png = await page.screenshot(pictures ? { path: join(pictures, `${name}.png`) } : {})
    return png.toString('base64')
}

/// A screenshot for people.
async function picture(page, name) {
    if (pictures) await shot(page, name)
}

/// Colours of a screenshot's part: how many pixels are strongly coloured, and how many hues of twelve there are.
async function colors(png, [x, y, w, h]) {
    const helper = await browser.newPage()
    const found = await helper.evaluate(
        async ([data, box]) => {
            const image = new Image()
            image.src = `data:image/png;base64,${data}`
            await image.decode()
            const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
            const g = canvas.getContext('2d')
            g.drawImage(image, 0, 0)
            const p = g.getImageData(...box).data,
                hues = new Set()
            let colored = 0,
                sum = 0
            for (let i = 0; i < p.length; i += 4) {
                const high = Math.max(p[i], p[i + 1], p[i + 2]),
                    low = Math.min(p[i], p[i + 1], p[i + 2])
                sum += high
                if (high - low < 36) continue
                colored++
                const hue =
                    high === p[i]
                        ? (p[i + 1] - p[i + 2]) / (high - low)
                        : high === p[i + 1]
                          ? 2 + (p[i + 2] - p[i]) / (high - low)
                          : 4 + (p[i] - p[i + 1]) / (high - low)
                hues.add(Math.floor(((hue + 6) % 6) * 2))
            }
            return { part: colored / (p.length / 4), hues: hues.size, mean: sum / (p.length / 4) }
        },
        [png, [x, y, w, h]],
    )
    await helper.close()
    return found
}
const SCENE = [20, 90, 510, 420]

/// A piece whose middle can be clicked: the first one there is it.
async function clickable(page) {
    return page.evaluate(() => {
        const v = window.rubbleView,
            s = v.inspect()
        for (let i = 0; i < s.names.length; i++) {
            const [x, y] = s.screen[i]
            if (x < 60 || x > 470 || y < 110 || y > 500) continue
            const bone = v.boneAt(x, y)
            if (bone >= 0 && v.model.names[bone] === s.names[i]) return { x, y, name: s.names[i] }
        }
        return null
    })
}

let page = await open('wall.html')

await test('loads from a disk, with title and facts', async () => {
    assert.match(await page.title(), /wall\.json/)
    assert.match(await text(page, '#facts'), /[45]\d\d pieces/)
    assert.equal(await page.locator('.fatal').count(), 0)
})

await test('shows pieces in many colours, by few draw calls', async () => {
    const seen = await colors(await shot(page, 'look'), SCENE)
    assert.ok(seen.part > 0.15 && seen.hues >= 6, JSON.stringify(seen))
    assert.ok((await inspect(page)).calls <= 6)
})

await test('explodes by keyboard, and stays above the ground', async () => {
    const before = await inspect(page)
    await page.focus('#explode')
    for (let i = 0; i < 5; i++) await page.keyboard.press('PageUp')
    const after = await inspect(page),
        moved = apart(after.places, before.places)
    assert.ok(after.explosion > 0.3)
    assert.ok(moved.filter((d) => d > 0.05).length > 0.9 * moved.length)
    assert.ok(after.places.every((p, i) => p[1] >= before.places[i][1] - 1e-5))
    assert.equal(await text(page, '#explode-out'), String(after.explosion))
    const seen = await colors(await shot(page, 'explode'), SCENE)
    assert.ok(seen.part > 0.05, JSON.stringify(seen))
})

await test('tells fewer bones apart on a higher level', async () => {
    const bars = () =>
        page.$$eval('#histogram button', (all) =>
            all.reduce((n, b) => n + Number(b.title.match(/^[\d,]+/)[0].replace(',', '')), 0),
        )
    const all = await bars()
    await page.keyboard.press('[')
    await page.keyboard.press('[')
    const some = await bars()
    assert.ok(some < all && some >= 2, `${some} of ${all}`)
    assert.match(await text(page, '#size-note'), new RegExp(`${some} piece`))
    await picture(page, 'level')
    await page.keyboard.press(']')
    await page.keyboard.press(']')
    assert.equal(await bars(), all)
    await page.keyboard.press('Home')
    await page.evaluate(() => window.rubbleView.setExplode(0))
})

await test('colours by what is chosen, with a legend', async () => {
    const pictures = new Set()
    for (const mode of ['level', 'cluster', 'volume', 'material', 'bone']) {
        await page.locator(`#colors label:has(input[value="${mode}"])`).click()
        assert.equal((await inspect(page)).mode, mode)
        pictures.add(await shot(page, `color-${mode}`))
        const legend = await page.locator('#legend li').count()
        assert.ok(mode === 'bone' ? legend === 0 : legend >= 1, `${mode}: ${legend}`)
    }
    assert.equal(pictures.size, 5)
})

await test('selects the piece that is clicked, and says what it is', async () => {
    const at = await clickable(page)
    assert.ok(at)
    await page.mouse.click(at.x, at.y)
    assert.equal((await inspect(page)).selected, at.name)
    assert.equal(await text(page, '#piece-name'), at.name)
    const facts = await text(page, '#piece-facts')
    for (const word of ['Parent', 'Level', 'Volume', 'Anchored', 'Contacts', 'Hulls'])
        assert.match(facts, new RegExp(word))
    await picture(page, 'selected')
    await page.locator('#piece-facts .link').click()
    assert.match(await text(page, '#piece-facts'), /cluster of/)
    await page.keyboard.press('Escape')
    assert.equal((await inspect(page)).selected, null)
})

await test('a drag turns and selects nothing', async () => {
    const before = await page.evaluate(() => window.rubbleView.stage.orbit.azimuth)
    await page.mouse.move(200, 300)
    await page.mouse.down()
    await page.mouse.move(260, 310, { steps: 4 })
    await page.mouse.up()
    assert.notEqual(await page.evaluate(() => window.rubbleView.stage.orbit.azimuth), before)
    assert.equal((await inspect(page)).selected, null)
})

await test('shows hulls, connections and contacts', async () => {
    const calls = (await inspect(page)).calls
    for (const name of ['hulls', 'connections', 'contacts']) {
        await page.locator(`#show-${name}`).check()
        await frames(page)
        assert.ok((await inspect(page)).calls > calls, name)
        assert.ok(await page.evaluate((n) => window.rubbleView.overlays[n].count > 10, name), name)
        await picture(page, name)
        await page.locator(`#show-${name}`).uncheck()
    }
    await page.keyboard.press('v')
    const seen = await colors(await shot(page, 'nothing'), SCENE)
    assert.ok(seen.part < 0.01, JSON.stringify(seen))
    await page.keyboard.press('v')
})

await test('marks the pieces of a bar, and those that are found', async () => {
    const bar = page.locator('#histogram button:not([disabled])').nth(1)
    const count = Number((await bar.getAttribute('title')).match(/^\d+/)[0])
    await bar.click()
    assert.equal((await inspect(page)).marked, count)
    assert.equal(await bar.getAttribute('aria-pressed'), 'true')
    await picture(page, 'marked')
    await bar.click()
    assert.equal((await inspect(page)).marked, null)
    await page.keyboard.press('/')
    const name = (await inspect(page)).names[7]
    await page.keyboard.type(name)
    assert.ok((await inspect(page)).marked >= 1)
    await page.keyboard.press('Enter')
    assert.match((await inspect(page)).selected, new RegExp(name))
    await page.keyboard.press('Escape')
    assert.equal((await inspect(page)).marked, null)
})

await test('is used by the keyboard alone', async () => {
    await page.evaluate(() => document.activeElement.blur())
    const seen = []
    for (let i = 0; i < 24; i++) {
        await page.keyboard.press('Tab')
        seen.push(
            await page.evaluate(() => {
                const e = document.activeElement,
                    s = getComputedStyle(e),
                    next = e.nextElementSibling
                const ring = (st) =>
                    (st.outlineStyle !== 'none' && parseFloat(st.outlineWidth) > 0) || st.boxShadow !== 'none'
                const labelled = e.labels?.length || e.getAttribute('aria-label') || e.textContent.trim()
                return {
                    id: e.id || e.name || e.tagName,
                    ring: ring(s) || Boolean(next && ring(getComputedStyle(next))),
                    labelled: Boolean(labelled),
                }
            }),
        )
    }
    for (const id of ['canvas', 'mode', 'explode', 'level', 'color', 'show-hulls', 'search', 'frame', 'help', 'fold'])
        assert.ok(
            seen.some((s) => s.id === id),
            `${id} is not in ${seen.map((s) => s.id)}`,
        )
    for (const s of seen.filter((s) => s.id !== 'BODY')) assert.ok(s.ring && s.labelled, JSON.stringify(s))
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('n')
    const first = (await inspect(page)).selected
    await page.keyboard.press('n')
    assert.ok(first && (await inspect(page)).selected !== first)
    await page.keyboard.press('u')
    assert.match(await text(page, '#piece-facts'), /cluster of/)
    await page.keyboard.press('Escape')
    const turned = await page.evaluate(() => window.rubbleView.stage.orbit.azimuth)
    await page.keyboard.press('ArrowLeft')
    assert.notEqual(await page.evaluate(() => window.rubbleView.stage.orbit.azimuth), turned)
    await page.keyboard.press('?')
    assert.ok(await page.locator('#keys').isVisible())
    assert.match(await text(page, '#key-list'), /shoot/)
    await picture(page, 'keys')
    await page.keyboard.press('Escape')
    assert.ok(!(await page.locator('#keys').isVisible()))
})

await test('breaks where it is shot; what is held stays', async () => {
    await page.keyboard.press('f')
    await page.keyboard.press('b')
    await page.waitForFunction(() => window.rubbleView.breaking?.damage)
    assert.ok(await page.locator('#hold').isChecked())
    const before = await inspect(page)
    assert.ok(before.broken.anchored.some((a) => a) && before.broken.bodies === 1)
    const at = await clickable(page)
    await page.mouse.click(at.x, at.y)
    await page.evaluate(() => {
        for (let i = 0; i < 60; i++) window.rubbleView.breaking.step()
        window.rubbleView.breaking.placeBones(true)
        window.rubbleView.stage.draw(true)
    })
    const after = await inspect(page),
        moved = apart(after.places, before.places)
    assert.ok(after.broken.bodies > 10, `${after.broken.bodies} bodies`)
    const far = moved.filter((d) => d > 0.1).length
    assert.ok(far > 5 && far < moved.length, `${far} of ${moved.length} moved`)
    assert.ok(
        moved.every((d, i) => !after.broken.anchored[i] || d < 1e-4),
        'an anchored piece moved',
    )
    assert.ok(after.places.flat().every(Number.isFinite))
    assert.match(await text(page, '#break-facts'), /broken off/)
    await picture(page, 'break')
})

await test('drops all of it, and makes it whole again', async () => {
    const whole = await page.evaluate(() => {
        window.rubbleView.breaking.reset()
        return window.rubbleView.inspect()
    })
    assert.equal(whole.broken.bodies, 1)
    await page.keyboard.press('d')
    await page.evaluate(() => {
        for (let i = 0; i < 110; i++) window.rubbleView.breaking.step()
        window.rubbleView.breaking.placeBones(true)
    })
    const fallen = await inspect(page),
        moved = apart(fallen.places, whole.places)
    assert.ok(moved.every((d) => d > 0.01))
    assert.ok(fallen.broken.bodies > 3, `${fallen.broken.bodies} bodies`)
    const ground = await page.evaluate(() => window.rubbleView.model.all.low[1])
    assert.ok(
        fallen.places.every((p) => p[1] > ground - 0.1),
        'a piece fell through the ground',
    )
    await picture(page, 'drop')
    await page.keyboard.press('r')
    assert.ok(apart((await inspect(page)).places, whole.places).every((d) => d < 1e-5))
    await page.keyboard.press('b')
    assert.equal((await inspect(page)).broken, null)
    assert.ok(!(await page.locator('#explode').isDisabled()))
})

await test('nothing complains and nothing is asked for', () => assert.deepEqual(page.complaints, []))
await page.context().close()

await test('holds what the file anchors, by its thresholds and masses', async () => {
    page = await open('anchored.html', { colorScheme: 'dark' })
    await page.keyboard.press('b')
    await page.waitForFunction(() => window.rubbleView.breaking?.damage)
    assert.ok(!(await page.locator('#hold').isChecked()))
    const before = await inspect(page),
        held = before.broken.anchored.filter((a) => a).length
    assert.ok(held > 0 && held < before.pieces && !before.broken.guessed)
    await page.keyboard.press('Space')
    await page.evaluate(() => {
        for (let i = 0; i < 60; i++) window.rubbleView.breaking.step()
        window.rubbleView.breaking.placeBones(true)
    })
    const after = await inspect(page),
        moved = apart(after.places, before.places)
    assert.ok(
        moved.some((d) => d > 0.05),
        'nothing moved',
    )
    assert.ok(
        moved.every((d, i) => !after.broken.anchored[i] || d < 1e-4),
        'an anchored piece moved',
    )
    const seen = await colors(await shot(page, 'dark'), [400, 20, 20, 20])
    assert.ok(seen.mean < 90, 'the page is not dark')
    assert.deepEqual(page.complaints, [])
    await page.context().close()
})

await test('bars and panels leave the asset free, on wide and narrow pages', async () => {
    for (const [width, height] of [
        [860, 580],
        [400, 720],
    ]) {
        page = await open('anchored.html', { viewport: { width, height } })
        await page.keyboard.press('b')
        await page.waitForFunction(() => window.rubbleView.breaking?.damage)
        const boxes = await page.evaluate(() =>
            ['head', 'tools', 'bar', 'panel'].map((id) => document.getElementById(id).getBoundingClientRect().toJSON()),
        )
        boxes.forEach((a, i) =>
            boxes.slice(i + 1).forEach((b) => {
                const free = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
                assert.ok(free, `${width}: ${JSON.stringify([a, b])}`)
            }),
        )
        const covered = (await inspect(page)).screen.filter(([x, y]) =>
            boxes.slice(1).some((b) => x > b.left && x < b.right && y > b.top && y < b.bottom),
        )
        assert.equal(covered.length, 0, `${width}: ${covered.length} pieces are covered`)
        await picture(page, `break-${width}`)
        await page.context().close()
    }
})

await test('shows names as text, whatever they are', async () => {
    page = await open('evil.html')
    await page.keyboard.press('/')
    await page.keyboard.type('img')
    await page.keyboard.press('Enter')
    assert.match(await text(page, '#piece-name'), /<\/script><img src=x onerror=/)
    assert.match(await page.title(), /^.*evil/)
    await page.locator('#colors label:has(input[value="material"])').click()
    await page.locator('#colors label:has(input[value="cluster"])').click()
    await frames(page, 5)
    assert.equal(await page.locator('img').count(), 0)
    assert.equal(await page.evaluate(() => window.hacked), undefined)
    const blocked = await page.evaluate(
        () =>
            new Promise((done) => {
                document.addEventListener('securitypolicyviolation', () => done(true))
                document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hacked = true">')
                setTimeout(() => done(false), 2000)
            }),
    )
    assert.ok(blocked && !(await page.evaluate(() => window.hacked)), 'the policy lets markup run')
    await page.context().close()
})

await test('two thousand pieces are a few draw calls, and only those that move cost work', async () => {
    page = await open('many.html', { viewport: { width: 480, height: 360 } })
    const state = await inspect(page)
    assert.ok(state.pieces >= 1900, `${state.pieces} pieces`)
    await frames(page)
    assert.ok((await inspect(page)).calls <= 6)
    await page.evaluate(() => window.rubbleView.setExplode(0.4))
    await picture(page, 'narrow')
    await page.evaluate(() => window.rubbleView.setExplode(0))
    const { moved, awake, stepped, balls, calls } = await page.evaluate(async () => {
        const v = window.rubbleView
        await v.setBreaking(true)
        const { breaking, bones, stage } = v
        const counted = (work) => {
            let count = 0
            bones.place = function (...all) {
                count++
                Object.getPrototypeOf(this).place.apply(this, all)
            }
            work()
            delete bones.place
            return count
        }
        const stepped = counted(() => breaking.frame(1 / 60)) // nothing has moved yet
        v.shootMiddle()
        for (let i = 0; i < 30; i++) breaking.step()
        breaking.placeBones(true)
        const awake = breaking.damage.bodies
            .filter(({ rigid }) => !rigid.isFixed() && !rigid.isSleeping())
            .reduce((sum, body) => sum + body.pieces.length, 0)
        const moved = counted(() => breaking.placeBones(false))
        stage.frame(performance.now())
        return { moved, awake, stepped, balls: breaking.balls.length, calls: stage.renderer.info.render.calls }
    })
    assert.equal(stepped, 0, 'pieces at rest are moved')
    assert.ok(awake > 5 && awake < 1000 && moved === awake, `${moved} moved, ${awake} awake`)
    assert.ok(calls <= 6 + 2 * balls, `${calls} draw calls with ${balls} balls`)
    assert.deepEqual(page.complaints, [])
    await page.context().close()
})

for (const name of ['one', 'plain', 'huge'])
    await test(`shows and breaks an odd asset: ${name}`, async () => {
        page = await open(`${name}.html`, { viewport: { width: 480, height: 360 } })
        await page.evaluate(() => window.rubbleView.setExplode(0.4))
        assert.ok(await page.locator('#show-hulls').isDisabled(), 'there are hulls')
        await picture(page, `odd-${name}`)
        await page.keyboard.press('b')
        await page.waitForFunction(() => window.rubbleView.breaking?.damage)
        await page.keyboard.press('Space')
        await page.evaluate(() => {
            const { breaking } = window.rubbleView // how far it falls before a frame comes in depends on the machine
            for (let i = 0; i < 30 || (i < 600 && breaking.damage.bodies.length < 2); i++) breaking.step()
            breaking.placeBones(true)
        })
        const state = await inspect(page)
        assert.ok(state.places.flat().every(Number.isFinite), 'a place is no number')
        assert.ok(name === 'one' || state.broken.bodies > 1, `${state.broken.bodies} bodies`)
        assert.deepEqual(page.complaints, [])
        await page.context().close()
    })

await test('says that there is no WebGL', async () => {
    page = await open('wall.html', { before: 'HTMLCanvasElement.prototype.getContext = () => null' })
    assert.match(await text(page, '.fatal'), /WebGL 2/)
    await picture(page, 'no-webgl')
    assert.deepEqual(page.complaints, [])
    await page.context().close()
})

await test('says that data is damaged', async () => {
    page = await open('bad.html')
    assert.match(await text(page, '.fatal'), /no data of rubble/)
    assert.deepEqual(page.complaints, [])
    await page.context().close()
})

await test('loads itself anew when the graph changes, and stays as it was set', async () => {
    page = await open('', { url })
    await page.waitForFunction(() => window.rubbleView?.model.pieces.length === 12)
    await page.evaluate(() => window.rubbleView.setExplode(0.5))
    await page.keyboard.press('3')
    await page.keyboard.press('ArrowLeft')
    const before = await page.evaluate(() => window.rubbleView.state())
    const file = join(folder, 'live.json'),
        graph = readFileSync(file, 'utf8')
    const save = (text) => {
        writeFileSync(file + '~', text)
        renameSync(file + '~', file)
    }
    save(graph.replaceAll('12', '20'))
    await page.waitForFunction(() => window.rubbleView?.model.pieces.length === 20)
    const after = await page.evaluate(() => window.rubbleView.state())
    assert.deepEqual(after.camera, before.camera)
    assert.equal(after.explosion, 0.5)
    assert.equal(after.mode, 'cluster')
    save(graph.replace('UniformFracture', 'UniformFractur'))
    await page.locator('#notice').waitFor()
    assert.match(await text(page, '#notice p'), /did you mean "UniformFracture"/)
    assert.equal((await inspect(page)).pieces, 20)
    await picture(page, 'live-problem')
    save(graph.replaceAll('12', '20'))
    await page.locator('#notice').waitFor({ state: 'hidden' })
    assert.deepEqual(page.complaints, [])
    await page.context().close()
})

await browser.close()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
