// How many pieces there are of each volume. Bars are buttons: one of them is in the order of Tab, arrow keys go on.

import { css, ramp } from './colors.js'
import { number, plural } from './texts.js'

const BARS = 24

/// Bins of volumes, even in the logarithm. @return {low, high, bins: [{low, high, bones}]}
export function makeBins(model, bones) {
    const volumes = bones.map((b) => model.volume[b]).filter((v) => v > 0)
    if (!volumes.length) return { low: 0, high: 0, bins: [] }
    const low = volumes.reduce((a, b) => Math.min(a, b)),
        high = volumes.reduce((a, b) => Math.max(a, b))
    const span = Math.log(high / low),
        count = span > 1e-6 ? BARS : 1
    const bins = Array.from({ length: count }, (_, i) => ({
        low: low * Math.exp((span * i) / count),
        high: low * Math.exp((span * (i + 1)) / count),
        bones: [],
    }))
    for (const b of bones) {
        if (!(model.volume[b] > 0)) continue
        const i = count > 1 ? Math.floor((Math.log(model.volume[b] / low) / span) * count) : 0
        bins[Math.min(count - 1, Math.max(0, i))].bones.push(b)
    }
    return { low, high, bins }
}

/// Fills `element`; `choose` gets the bones of a bar, or null when it is let go.
export function showHistogram(element, model, bones, choose) {
    const { low, high, bins } = makeBins(model, bones)
    const most = bins.reduce((n, bin) => Math.max(n, bin.bones.length), 1)
    const buttons = bins.map((bin, i) => {
        const button = document.createElement('button'),
            bar = document.createElement('span')
        const text = `${plural(bin.bones.length, 'piece')}, volume ${number(bin.low)} to ${number(bin.high)}`
        button.type = 'button'
        button.title = text
        button.setAttribute('aria-label', text)
        button.setAttribute('aria-pressed', 'false')
        button.disabled = !bin.bones.length
        bar.style.height = `${(100 * bin.bones.length) / most}%`
        bar.style.background = css(ramp(bins.length > 1 ? i / (bins.length - 1) : 0.5))
        button.append(bar)
        button.addEventListener('click', () => {
            const pressed = button.getAttribute('aria-pressed') !== 'true'
            for (const other of buttons) other.setAttribute('aria-pressed', String(other === button && pressed))
            choose(pressed ? bin.bones : null)
        })
        return button
    })
    const enabled = buttons.filter((b) => !b.disabled)
    const focusable = (button) => {
        for (const b of buttons) b.tabIndex = b === button ? 0 : -1
    }
    focusable(enabled[0])
    element.replaceChildren(...buttons)
    element.onkeydown = (e) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key],
            at = enabled.indexOf(document.activeElement)
        if (!step || at < 0) return
        e.preventDefault()
        e.stopPropagation()
        const next = enabled[(at + step + enabled.length) % enabled.length]
        focusable(next)
        next.focus()
    }
    return {
        low,
        high,
        release: () => {
            for (const b of buttons) b.setAttribute('aria-pressed', 'false')
        },
    }
}
