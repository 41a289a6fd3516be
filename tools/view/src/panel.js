// The panel's elements: text from files goes into them as text, never as markup.

import { css } from './colors.js'
import { number, plural } from './texts.js'

export const $ = (id) => document.getElementById(id)

export function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties)
    made.append(...children)
    return made
}

/// Shows a message until it is closed; "" closes it. `code`: its columns stand one below the other.
export function notice(text, code = false) {
    $('notice').classList.toggle('code', code)
    $('notice').querySelector('p').textContent = text
    $('notice').hidden = !text
}

/// Says something to those who do not see the picture.
export const say = (text) => {
    $('status').textContent = text
}

const SIMULATION = ['none', 'static', 'kinematic', 'dynamic']
const COLLIDERS = ['none', 'convex hull', 'box', 'sphere']

/// What is known of a bone: [what, text or bone], the second a number of a bone only for 'Parent'.
function pieceFacts(model, bone) {
    const { data } = model,
        facts = []
    const cluster = !(model.geometryOf[bone] >= 0)
    const say = (what, text) => facts.push([what, text])
    say(
        'Kind',
        data.sheet?.[bone] ? 'sheet' : cluster ? `cluster of ${plural(model.pieceCount[bone], 'piece')}` : 'piece',
    )
    if (model.parent[bone] >= 0) say('Parent', { bone: model.parent[bone] })
    say('Level', String(model.level[bone]))
    const whole = model.roots.reduce((sum, b) => sum + model.volume[b], 0)
    say('Volume', number(model.volume[bone]))
    if (whole > 0) say('Part of the whole', `${number((100 * model.volume[bone]) / whole)} %`)
    if (model.pieceCount[bone]) {
        const b = model.bounds.subarray(6 * bone, 6 * bone + 6)
        say('Bounds', [0, 1, 2].map((k) => number(b[3 + k] - b[k])).join(' × '))
    }
    say('Triangles', number(model.triangles[bone]))
    if (data.mass) say('Mass', `${number(data.mass[bone])} kg`)
    if (data.threshold) say('Threshold', `${number(data.threshold[bone])} N·s`)
    say('Anchored', data.anchored?.[bone] ? 'yes' : 'no')
    if (data.simulation_type) say('Simulation', SIMULATION[data.simulation_type[bone]] ?? '–')
    say('Contacts', data.contact ? String(model.contacts[bone]) : 'not computed')
    const hulls = model.hulls[bone]
    say(
        'Hulls',
        hulls.length && data.hull_volume && model.volume[bone] > 0
            ? `${hulls.length}, ${number((100 * hulls.reduce((sum, h) => sum + data.hull_volume[h], 0)) / model.volume[bone])} % of the volume`
            : String(hulls.length),
    )
    if (data.collider) say('Collider', COLLIDERS[data.collider[bone]] ?? '–')
    if (data.site && data.site[bone] >= 0) say('Site', String(data.site[bone]))
    return facts
}

/// Fills the section of the selected bone; −1: none.
export function showPiece(model, bone, select) {
    const link = (b) =>
        element('button', { type: 'button', className: 'link', textContent: model.names[b], onclick: () => select(b) })
    $('piece-hint').hidden = bone >= 0
    $('piece-name').textContent = bone >= 0 ? model.names[bone] : ''
    const facts = bone >= 0 ? pieceFacts(model, bone) : []
    $('piece-facts').replaceChildren(
        ...facts.flatMap(([what, text]) => [
            element('dt', { textContent: what }),
            element('dd', {}, typeof text === 'string' ? text : link(text.bone)),
        ]),
    )
    const children = bone >= 0 ? model.children[bone] : []
    $('piece-children').replaceChildren(
        ...children.slice(0, 30).map(link),
        ...(children.length > 30
            ? [element('span', { className: 'hint', textContent: `… ${children.length - 30} more` })]
            : []),
    )
}

const MOST_LEGEND = 14

export function showLegend(entries) {
    const rows = entries.slice(0, MOST_LEGEND).map((entry) => {
        const swatch = element('span', { className: 'swatch' })
        swatch.style.background = css(entry.color)
        return element('li', {}, swatch, entry.text ?? number(entry.volume))
    })
    if (entries.length > MOST_LEGEND)
        rows.push(element('li', { textContent: `… ${entries.length - MOST_LEGEND} more` }))
    $('legend').replaceChildren(...rows)
}

const MOST_FOUND = 60

/// Bones whose names hold a text, in any case.
export function search(model, text) {
    const wanted = text.trim().toLowerCase()
    if (!wanted) return []
    return [...model.names.keys()].filter((b) => model.names[b].toLowerCase().includes(wanted))
}

export function showFound(model, found, asked, select) {
    const rows = found
        .slice(0, MOST_FOUND)
        .map((b) =>
            element(
                'li',
                {},
                element('button', { type: 'button', textContent: model.names[b], onclick: () => select(b) }),
            ),
        )
    if (asked && !found.length) rows.push(element('li', {}, element('p', { textContent: 'No name has this in it.' })))
    if (found.length > MOST_FOUND)
        rows.push(element('li', {}, element('p', { textContent: `… ${found.length - MOST_FOUND} more` })))
    $('found').replaceChildren(...rows)
}

const KEYS = [
    ['← ↑ → ↓', 'turn; with Shift move along'],
    ['+ −', 'zoom'],
    ['F', 'fit to the selection, or to everything'],
    ['N  P', 'next, previous piece'],
    ['U', 'up to the parent'],
    ['Esc', 'let go of selection and marks'],
    ['X  Shift X', 'explode more, less'],
    ['[  ]', 'level up, down'],
    ['1 … 5', 'colours'],
    ['H  C  T  V', 'hulls, connections, contacts, pieces'],
    ['/', 'find by name'],
    ['B', 'look or break'],
    ['Space', 'break mode: shoot at the middle'],
    ['D  K  R', 'break mode: drop, pause, reset'],
    ['\\', 'panel'],
    ['?', 'these keys'],
]

export function fillKeys() {
    $('key-list').replaceChildren(
        ...KEYS.flatMap(([key, text]) => [
            element('dt', {}, element('kbd', { textContent: key })),
            element('dd', { textContent: text }),
        ]),
    )
}
