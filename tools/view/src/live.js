// The page of `rubble view --watch`: loads itself anew when there is a new result, and keeps what was set.

import { notice, say } from './panel.js'

const KEY = 'rubble-view'

/// What an earlier load left behind, or null.
export function recall() {
    try {
        const text = sessionStorage.getItem(KEY)
        sessionStorage.removeItem(KEY)
        return text ? JSON.parse(text) : null
    } catch {
        return null
    }
}

/// Listens to the server. @param live  the result that this page shows; `state` gives what is kept over a new load
export function follow(live, state) {
    const events = new EventSource('/events')
    let lost = false
    events.addEventListener('result', (e) => {
        if (e.data === live) {
            notice('')
            say('Up to date')
            return
        }
        try {
            sessionStorage.setItem(KEY, JSON.stringify(state()))
        } catch {
            /* without storage the new page begins afresh */
        }
        events.close()
        location.reload()
    })
    events.addEventListener('problem', (e) => notice(JSON.parse(e.data).trimEnd(), true))
    events.addEventListener('running', () => say('Evaluating'))
    events.onopen = () => {
        if (lost) notice('')
        lost = false
    }
    events.onerror = () => {
        lost = true
        notice('rubble view does not answer. This page goes on with what it has, and follows again when it is back.')
    }
}
