// Measures frames of pages of `rubble view`: view_frames.mjs CHROMIUM FOLDER COUNT… (view_frames.py calls it)

import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [executablePath, folder, ...counts] = process.argv.slice(2)
const { chromium } = createRequire(join(resolve(folder), 'package.json'))('playwright-core')
const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader', '--use-angle=swiftshader', '--disable-gpu-watchdog', '--no-first-run'],
})

/// In the page: frames of one kind. One in ten is drawn, and finished by the driver before the next begins.
function measure({ kind, frames }) {
    const viewer = window.rubbleView,
        { stage, breaking } = viewer,
        gl = stage.renderer.getContext(),
        pixel = new Uint8Array(4),
        middle = stage.middle(),
        wait = stage.everyFrame
    const step = () => breaking.frame(1 / 60) && stage.draw(true)
    const before = {
        turn: () => stage.orbit.turn(0.02, 0),
        explode: (i) => viewer.setExplode(0.01 * i),
        hover: (i) => viewer.hover(viewer.boneAt(middle[0] + i - frames / 2, middle[1])),
        rest: step,
        shot(i) {
            if (i % 20 === 0) viewer.shootMiddle()
            step()
        },
        fall(i) {
            if (i === 0) breaking.drop()
            step()
        },
    }[kind]
    const prototype = breaking && Object.getPrototypeOf(breaking.world),
        worldStep = prototype?.step
    let engine = 0
    if (prototype)
        prototype.step = function (...all) {
            const start = performance.now()
            worldStep.apply(this, all)
            engine += performance.now() - start
        }
    stage.everyFrame = null // steps are counted with what is before drawing
    const rows = { own: [], engine: [], drawing: [], driver: [] }
    let calls = 0
    for (let i = 0; i < frames; i++) {
        engine = 0
        const start = performance.now()
        before(i)
        const done = performance.now()
        rows.own.push(done - start - engine)
        rows.engine.push(engine)
        if (i % 10) continue
        stage.frame(done)
        const drawn = performance.now()
        gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel)
        if (i > 0) rows.drawing.push(drawn - done)
        if (i > 0) rows.driver.push(performance.now() - drawn)
        calls = Math.max(calls, stage.renderer.info.render.calls)
    }
    stage.everyFrame = wait
    if (prototype) prototype.step = worldStep
    return { rows, calls, bodies: breaking?.damage.bodies.length }
}

function summary(values) {
    const sorted = [...values].sort((a, b) => a - b)
    const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1)
    return `${at(0.5)} / ${at(0.95)}`
}

console.log(
    '| pieces | what moves | bodies | draw calls | own | Rapier | drawing | driver |\n' + '| --- '.repeat(8) + '|',
)
for (const count of counts) {
    const page = await browser.newPage({ viewport: { width: 300, height: 200 }, reducedMotion: 'reduce' })
    page.on('pageerror', (e) => console.error(e.message))
    page.setDefaultTimeout(600000)
    await page.goto(`file://${resolve(folder, count)}.html`)
    await page.waitForFunction(() => window.rubbleView)
    const tell = async (kind, name, frames = 60) => {
        const { rows, calls, bodies } = await page.evaluate(measure, { kind, frames })
        const columns = [rows.own, bodies ? rows.engine : null, rows.drawing, rows.driver].map((r) => (r ? summary(r) : ''))
        console.log(`| ${count} | ${name} | ${bodies ?? ''} | ${calls} | ${columns.join(' | ')} |`)
    }
    if (!process.env.ONLY_BREAK) {
        await tell('turn', 'camera')
        await tell('explode', 'explosion')
        await page.evaluate(() => window.rubbleView.setExplode(0))
        await tell('hover', 'pointer')
    }
    if (Number(count) <= 2000) {
        await page.evaluate(() => window.rubbleView.setBreaking(true))
        await tell('rest', 'break mode, at rest')
        await tell('shot', 'break mode, shots')
        await tell('fall', 'break mode, fall', 100)
    }
    await page.close()
}
await browser.close()
