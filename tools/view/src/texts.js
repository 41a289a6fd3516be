// Numbers as a person reads them.

/// Three significant digits, without an exponent where it can be read without.
export function number(x) {
    if (!Number.isFinite(x)) return '–'
    if (x === 0) return '0'
    const size = Math.abs(x)
    if (size >= 1e7 || size < 1e-5) return x.toExponential(2)
    if (size >= 1000) return Math.round(x).toLocaleString('en')
    return String(Number(x.toPrecision(3)))
}

export const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`
