// The page of `rubble view`: puts scene, panel and keys together.

import { BoneTable, PieceMesh, STATE } from './batch.js'
import { BreakMode } from './break.js'
import { MODES, materialColors } from './colors.js'
import { fromBase64, readData } from './data.js'
import { showHistogram } from './histogram.js'
import { follow, recall } from './live.js'
import { explode, isBelow, makeModel, piecesBelow, shownBones } from './model.js'
import { Hulls, Links, Outline } from './overlays.js'
import { $, element, fillKeys, notice, say, search, showFound, showLegend, showPiece } from './panel.js'
import { pick } from './pick.js'
import { Stage } from './stage.js'
import { number, plural } from './texts.js'

const OVERLAYS = ['hulls', 'connections', 'contacts']

class Viewer {
    constructor(data) {
        this.model = makeModel(data)
        this.stage = new Stage($('canvas'))
        this.bones = new BoneTable(this.model.count)
        this.pieces = new PieceMesh(this.model, this.bones, materialColors(this.model))
        this.outline = new Outline(this.model, this.bones, this.stage.colors.outline)
        this.stage.scene.add(this.pieces.mesh, this.outline.group)
        this.level = this.model.levels
        this.explosion = 0
        this.mode = 'bone'
        this.selected = -1
        this.hovered = -1
        this.marked = null // pieces that stand out; null: all
        this.overlays = {}
        this.breaking = null
        this.stage.onTheme = (theme) => this.theme(theme)
        this.fillPage()
        this.listen()
        this.stage.fit(this.model.all)
        this.stage.theme()
        this.clearPanel()
        this.setLevel(this.level)
        this.frameAll(false)
    }

    /* ---- The page ---- */

    fillPage() {
        const { model } = this,
            { data } = model
        document.title = `${data.title} – rubble`
        $('title').textContent = data.title
        const hulls = data.hull_bone?.length ?? 0
        $('facts').textContent = [
            plural(model.pieces.length, 'piece'),
            plural(model.count - model.pieces.length, 'cluster'),
            plural(model.levels + 1, 'level'),
            plural(data.faces.length / 3, 'triangle'),
            plural(hulls, 'hull'),
        ].join(' · ')
        $('level').max = $('level').value = String(model.levels)
        $('level').disabled = model.levels < 1
        const counts = {
            hulls,
            connections: (data.connection?.length ?? 0) / 2,
            contacts: (data.contact?.length ?? 0) / 2,
        }
        for (const [name, id] of [
            ['hulls', 'hull'],
            ['connections', 'connection'],
            ['contacts', 'contact'],
        ]) {
            $(`${id}-count`).textContent = counts[name].toLocaleString('en')
            $(`show-${name}`).disabled = !counts[name]
        }
        const modes = this.pieces.painted ? { ...MODES, painted: { label: 'Painted' } } : MODES
        $('colors').replaceChildren(
            ...Object.entries(modes).map(([value, { label }]) =>
                element(
                    'label',
                    {},
                    element('input', { type: 'radio', name: 'color', value, checked: value === this.mode }),
                    element('span', { textContent: label }),
                ),
            ),
        )
        if (!model.pieces.length && !data.live)
            notice(data.live === '' ? 'Waiting for the first result …' : 'There is no piece in this file.')
        fillKeys()
    }

    listen() {
        const on = (id, event, action) => $(id).addEventListener(event, action)
        on('explode', 'input', () => this.setExplode(Number($('explode').value)))
        on('level', 'input', () => this.setLevel(Number($('level').value)))
        on('colors', 'change', (e) => this.setMode(e.target.value))
        on('show-pieces', 'change', () => this.setOverlays())
        for (const name of OVERLAYS) on(`show-${name}`, 'change', () => this.setOverlays())
        on('search', 'input', () => this.find($('search').value))
        on('search', 'keydown', (e) => {
            if (e.key === 'Enter') $('found').querySelector('button')?.click()
        })
        on('frame', 'click', () => this.frame())
        on('help', 'click', () => $('keys').showModal())
        on('fold', 'click', () => this.fold())
        document.querySelector('#notice button').addEventListener('click', () => notice(''))
        for (const radio of document.querySelectorAll('input[name="mode"]'))
            radio.addEventListener('change', () => this.setBreaking(radio.value === 'break'))
        on('drop', 'click', () => this.breaking?.drop())
        on('pause', 'click', () => this.breaking?.pause())
        on('reset', 'click', () => this.breaking?.reset())
        on('strength', 'input', () => this.breaking?.showStrength())
        on('hold', 'change', () => this.breaking?.reset())
        this.listenToCanvas($('canvas'))
        addEventListener('keydown', (e) => this.key(e))
        addEventListener('resize', () => this.clearPanel())
    }

    listenToCanvas(canvas) {
        let down = null
        canvas.addEventListener('pointerdown', (e) => {
            down = { x: e.clientX, y: e.clientY, button: e.button }
        })
        canvas.addEventListener('pointerup', (e) => {
            if (!down || down.button !== 0 || Math.hypot(e.clientX - down.x, e.clientY - down.y) > 5) return
            down = null
            if (this.breaking) this.breaking.shoot(this.stage.ray(e.offsetX, e.offsetY))
            else this.select(this.boneAt(e.offsetX, e.offsetY))
        })
        canvas.addEventListener('dblclick', (e) => {
            if (!this.breaking && this.boneAt(e.offsetX, e.offsetY) >= 0) this.frame()
        })
        let waiting = false
        canvas.addEventListener('pointermove', (e) => {
            if (e.buttons || waiting || this.breaking || e.pointerType === 'touch') return
            waiting = true
            setTimeout(() => {
                waiting = false
                this.hover(this.breaking ? -1 : this.boneAt(e.offsetX, e.offsetY))
            }, 40)
        })
        canvas.addEventListener('pointerleave', () => this.hover(-1))
        canvas.addEventListener('webglcontextlost', (e) => {
            e.preventDefault()
            notice(
                'The graphics card has let go of this page. It goes on when the card is back; else load the page again.',
            )
        })
        canvas.addEventListener('webglcontextrestored', () => {
            notice('')
            this.stage.draw(true)
        })
    }

    key(e) {
        const typing = e.target.matches?.('input[type="search"]')
        if (e.key === 'Escape' && !$('keys').open) {
            if (typing) $('search').value = ''
            this.release()
            return
        }
        if (typing || e.ctrlKey || e.metaKey || e.altKey || $('keys').open) return
        const own = e.target.matches?.('input[type="range"], input[type="radio"]') && e.key.startsWith('Arrow')
        const pressing = e.key === ' ' && e.target.matches?.('button, input')
        const action = own || pressing ? null : this.actionOf(e)
        if (!action) return
        e.preventDefault()
        action()
    }

    actionOf(e) {
        const { orbit } = this.stage,
            step = 0.12
        const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key]
        if (arrows)
            return () =>
                e.shiftKey
                    ? orbit.pan((-arrows[0] * step) / 2, (arrows[1] * step) / 2)
                    : orbit.turn(arrows[0] * step, arrows[1] * step)
        const toggle = (id) => () => $(id).click()
        const actions = {
            '+': () => orbit.zoom(0.88),
            '=': () => orbit.zoom(0.88),
            '-': () => orbit.zoom(1.14),
            f: () => this.frame(),
            n: () => this.step(1),
            p: () => this.step(-1),
            u: () => this.select(this.model.parent[this.selected] ?? -1),
            x: () => this.setExplode(this.explosion + (e.shiftKey ? -0.1 : 0.1)),
            '[': () => this.setLevel(this.level - 1),
            ']': () => this.setLevel(this.level + 1),
            h: toggle('show-hulls'),
            c: toggle('show-connections'),
            t: toggle('show-contacts'),
            v: toggle('show-pieces'),
            '/': () => $('search').focus(),
            '?': () => $('keys').showModal(),
            '\\': () => this.fold(),
            b: () => document.querySelector(`input[value="${this.breaking ? 'look' : 'break'}"]`).click(),
        }
        if (this.breaking)
            Object.assign(actions, {
                ' ': () => this.shootMiddle(),
                d: () => this.breaking.drop(),
                k: () => this.breaking.pause(),
                r: () => this.breaking.reset(),
            })
        const mode = $('colors').querySelectorAll('input')[Number(e.key) - 1]
        return mode ? () => mode.click() : actions[e.key.toLowerCase()]
    }

    shootMiddle() {
        this.breaking.shoot(this.stage.ray(...this.stage.middle()))
    }

    theme(theme) {
        const { uniforms } = this.pieces
        uniforms.uInside.value.setRGB(...theme.inside.map((x) => x ** 2.2))
        uniforms.uDim.value.setHex(theme.dim)
        uniforms.uAccent.value.setHex(theme.accent)
    }

    fold() {
        const folded = document.body.classList.toggle('folded')
        $('fold').setAttribute('aria-expanded', String(!folded))
        this.clearPanel()
    }

    /// The asset is shown in the middle of what panel and bar leave free.
    clearPanel() {
        const panel = $('panel').getBoundingClientRect(),
            bar = $('bar').getBoundingClientRect()
        const covered = {}
        if (panel.width && panel.left > innerWidth / 2) covered.right = innerWidth - panel.left
        else if (panel.width) covered.bottom = innerHeight - panel.top
        if (bar.top < innerHeight / 2) covered.top = bar.bottom
        else if (this.breaking)
            Object.assign(covered, { top: $('head').getBoundingClientRect().bottom, bottom: innerHeight - bar.top })
        this.stage.clear(covered)
        const [x, y] = this.stage.middle()
        $('crosshair').style.left = `${x}px`
        $('crosshair').style.top = `${y}px`
    }

    /* ---- View ---- */

    setExplode(amount) {
        if (this.breaking) return
        this.explosion = Math.min(2, Math.max(0, Math.round(amount * 100) / 100))
        $('explode').value = String(this.explosion)
        $('explode-out').textContent = number(this.explosion)
        const offsets = explode(this.model, this.explosion, this.level)
        for (let b = 0; b < this.model.count; b++) this.bones.move(b, ...offsets.subarray(3 * b, 3 * b + 3))
        this.stage.draw(true)
    }

    setLevel(level) {
        if (this.breaking) return
        this.level = Math.min(this.model.levels, Math.max(0, level))
        $('level').value = String(this.level)
        $('level-out').textContent = this.level === this.model.levels ? 'all' : String(this.level)
        this.shown = shownBones(this.model, this.level)
        const told = [...new Set(this.model.pieces.map((b) => this.shown[b]))]
        this.histogram = showHistogram($('histogram'), this.model, told, (bones) => this.mark(bones))
        $('size-low').textContent = number(this.histogram.low)
        $('size-high').textContent = number(this.histogram.high)
        $('size-note').textContent = `volume of ${plural(told.length, 'piece')}`
        this.marked = null
        this.setMode(this.mode)
        this.setOverlays()
        this.setExplode(this.explosion)
    }

    setMode(mode) {
        this.mode = mode
        const painted = mode === 'painted'
        const { color, legend, perFace } = painted
            ? { color: () => [0.6, 0.6, 0.6], legend: [] }
            : MODES[mode].colors(this.model, this.shown)
        for (let b = 0; b < this.model.count; b++) this.bones.paint(b, color(b))
        this.pieces.uniforms.uPerFace.value = painted ? 2 : perFace ? 1 : 0
        showLegend(legend)
        this.applyMarks()
    }

    setOverlays() {
        const { model, stage } = this,
            { data } = model
        this.pieces.mesh.visible = $('show-pieces').checked
        const make = {
            hulls: () => new Hulls(model, this.bones, stage.colors.hull),
            connections: () => new Links(model, this.bones, data.connection, data.connection_area, stage.colors.line),
            contacts: () => new Links(model, this.bones, data.contact, data.contact_area, stage.colors.contact),
        }
        for (const name of OVERLAYS) {
            const wanted = $(`show-${name}`).checked
            if (wanted && !this.overlays[name]) stage.scene.add((this.overlays[name] = make[name]()).group)
            if (!this.overlays[name]) continue
            this.overlays[name].group.visible = wanted
            if (wanted) this.overlays[name].show(this.shown, this.breaking?.holds())
        }
        stage.draw(true)
    }

    /// Shows all pieces where they are now.
    frameAll(smooth) {
        const { model, bones } = this,
            low = [Infinity, Infinity, Infinity],
            high = [-Infinity, -Infinity, -Infinity]
        for (const b of model.pieces) {
            const i = 6 * b
            for (let corner = 0; corner < 8; corner++) {
                const p = bones.apply(
                    b,
                    [0, 1, 2].map((k) => model.bounds[i + k + ((corner >> k) & 1 ? 3 : 0)]),
                )
                for (let k = 0; k < 3; k++) {
                    low[k] = Math.min(low[k], p[k])
                    high[k] = Math.max(high[k], p[k])
                }
            }
        }
        if (!model.pieces.length) return
        const size = Math.hypot(...low.map((x, k) => high[k] - x))
        this.stage.orbit.frame(
            low.map((x, k) => (x + high[k]) / 2),
            size * 0.54,
            smooth,
        )
    }

    frame() {
        const b = this.selected
        if (b < 0 || !this.model.pieceCount[b]) return this.frameAll(true)
        const i = 6 * b,
            bounds = this.model.bounds
        const radius =
            Math.hypot(bounds[i + 3] - bounds[i], bounds[i + 4] - bounds[i + 1], bounds[i + 5] - bounds[i + 2]) / 2
        this.stage.orbit.frame(
            this.bones.apply(b, [...this.model.center.subarray(3 * b, 3 * b + 3)]),
            radius * 2.2,
            true,
        )
    }

    /* ---- Selection ---- */

    boneAt(x, y) {
        if (!this.pieces.mesh.visible) return -1
        const { origin, direction } = this.stage.ray(x, y)
        const hit = pick(this.model, this.bones, origin, direction)
        return hit ? this.shown[hit.bone] : -1
    }

    select(bone) {
        this.selected = bone ?? -1
        this.outline.show(this.selected >= 0 ? piecesBelow(this.model, this.selected) : [])
        showPiece(this.model, this.selected, (b) => this.select(b))
        this.applyMarks()
        say(this.selected >= 0 ? `Selected ${this.model.names[this.selected]}` : 'Nothing selected')
    }

    hover(bone) {
        if (bone === this.hovered) return
        this.hovered = bone
        this.applyMarks()
    }

    /// Lets these bones stand out; null: none.
    mark(bones) {
        this.marked = bones && bones.length ? new Set(bones) : null
        this.applyMarks()
        if (this.marked) say(`${plural(bones.length, 'piece')} marked`)
    }

    release() {
        this.histogram.release()
        showFound(this.model, [], false, () => {})
        this.mark(null)
        this.select(-1)
    }

    /// The next or previous of the bones that are told apart.
    step(by) {
        const told = [...new Set(this.model.pieces.map((b) => this.shown[b]))]
        if (!told.length) return
        const at = told.indexOf(this.selected)
        this.select(told[at < 0 ? (by > 0 ? 0 : told.length - 1) : (at + by + told.length) % told.length])
    }

    find(text) {
        const found = search(this.model, text)
        showFound(this.model, found, text.trim() !== '', (b) => {
            this.select(b)
            this.frame()
        })
        this.histogram.release()
        this.mark(found)
        if (text.trim()) say(`${found.length} found`)
    }

    applyMarks() {
        const { model, bones, marked, selected, hovered } = this
        const standsOut = new Uint8Array(model.count)
        for (let b = 0; b < model.count; b++) {
            const parent = model.parent[b]
            if (marked) standsOut[b] = marked.has(b) || (parent >= 0 && standsOut[parent]) ? 1 : 0
        }
        for (const b of model.pieces) {
            const chosen = selected >= 0 && isBelow(model, b, selected)
            const near = hovered >= 0 && isBelow(model, b, hovered)
            bones.mark(
                b,
                chosen ? STATE.selected : near ? STATE.hovered : marked && !standsOut[b] ? STATE.dim : STATE.normal,
            )
        }
        this.stage.draw()
    }

    /* ---- Break mode ---- */

    async setBreaking(wanted) {
        if (wanted === Boolean(this.breaking)) return
        if (!wanted) {
            this.breaking.end()
            this.breaking = null
        } else {
            this.setExplode(0)
            this.setLevel(this.model.levels)
            this.select(-1)
            this.hover(-1)
            const breaking = new BreakMode(this.model, this.bones, this.stage)
            try {
                this.breaking = breaking
                breaking.onBreak = () => {
                    if (OVERLAYS.some((name) => $(`show-${name}`).checked)) this.setOverlays()
                }
                await breaking.begin()
            } catch (error) {
                breaking.end()
                this.breaking = null
                document.querySelector('input[value="look"]').checked = true
                notice(`Break mode cannot begin: ${error.message ?? error}`)
            }
        }
        const on = Boolean(this.breaking)
        document.body.classList.toggle('breaking', on)
        $('break-tools').hidden = !on
        $('crosshair').hidden = $('break-facts').hidden = !on
        $('explode').disabled = on
        $('level').disabled = on || this.model.levels < 1
        this.clearPanel()
        if (!on) this.setLevel(this.level)
    }

    /* ---- Over a new load ---- */

    state() {
        return {
            title: this.model.data.title,
            camera: this.stage.orbit.state(),
            explosion: this.explosion,
            mode: this.mode,
            level: this.level === this.model.levels ? null : this.level,
            folded: document.body.classList.contains('folded'),
            selected: this.model.names[this.selected] ?? null,
            show: Object.fromEntries(['pieces', ...OVERLAYS].map((n) => [n, $(`show-${n}`).checked])),
        }
    }

    restore(state) {
        if (!state || state.title !== this.model.data.title) return
        for (const [name, checked] of Object.entries(state.show))
            $(`show-${name}`).checked = checked && !$(`show-${name}`).disabled
        const mode = document.querySelector(`#colors input[value="${CSS.escape(state.mode)}"]`)
        if (mode) {
            mode.checked = true
            this.mode = state.mode
        }
        this.explosion = state.explosion
        this.setLevel(state.level ?? this.model.levels)
        if (state.folded) this.fold()
        this.stage.orbit.restore(state.camera)
        const selected = this.model.names.indexOf(state.selected)
        if (selected >= 0) this.select(selected)
    }

    /// For tests and the console.
    inspect() {
        const { model } = this
        return {
            pieces: model.pieces.length,
            level: this.level,
            explosion: this.explosion,
            mode: this.mode,
            selected: model.names[this.selected] ?? null,
            marked: this.marked ? this.marked.size : null,
            places: model.pieces.map((b) => this.bones.apply(b, [...model.center.subarray(3 * b, 3 * b + 3)])),
            screen: model.pieces.map((b) =>
                this.stage.project(this.bones.apply(b, [...model.center.subarray(3 * b, 3 * b + 3)])),
            ),
            names: model.pieces.map((b) => model.names[b]),
            calls: this.stage.renderer.info.render.calls,
            broken: this.breaking ? this.breaking.inspect() : null,
        }
    }
}

function fatal(text) {
    document.body.append(element('p', { className: 'fatal', role: 'alert', textContent: text }))
    for (const id of ['panel', 'bar', 'tools', 'canvas']) $(id).hidden = true
}

function begin() {
    addEventListener('error', (e) => notice(`Something went wrong in this page: ${e.message}`))
    addEventListener('unhandledrejection', (e) =>
        notice(`Something went wrong in this page: ${e.reason?.message ?? e.reason}`),
    )
    try {
        if (!document.createElement('canvas').getContext('webgl2'))
            throw new Error(
                'This browser shows no 3D graphics (WebGL 2). It may be switched off, or the graphics driver may be too old.',
            )
        const data = readData(fromBase64($('data').textContent.trim()))
        $('data').remove()
        const viewer = new Viewer(data)
        window.rubbleView = viewer
        if (data.live !== undefined) {
            viewer.restore(recall())
            follow(data.live, () => viewer.state())
        }
    } catch (error) {
        fatal(error.message ?? String(error))
    }
}

begin()
