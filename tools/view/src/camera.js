// The camera: turns around a target, by mouse, fingers and keys.

import * as THREE from 'three'

const HALF_PI = Math.PI / 2 - 0.02

export class OrbitCamera {
    /// @param element  gets the pointer; `changed` is called after every move
    constructor(element, changed) {
        this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100)
        this.target = new THREE.Vector3()
        this.distance = 5
        this.azimuth = 0.6
        this.elevation = 0.32
        this.size = 1
        this.wide = this.tall = 1 // parts of the picture's width and height that nothing covers
        this.changed = changed
        this.pointers = new Map()
        this.glide = null
        this.listen(element)
    }

    listen(element) {
        element.addEventListener('pointerdown', (e) => {
            this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY })
            element.setPointerCapture(e.pointerId)
            this.glide = null
        })
        for (const name of ['pointerup', 'pointercancel'])
            element.addEventListener(name, (e) => this.pointers.delete(e.pointerId))
        element.addEventListener('pointermove', (e) => this.drag(element, e))
        element.addEventListener('contextmenu', (e) => e.preventDefault())
        element.addEventListener(
            'wheel',
            (e) => {
                e.preventDefault()
                const lines = e.deltaMode === 1 ? 16 : 1
                this.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * lines * 0.0015))))
            },
            { passive: false },
        )
    }

    drag(element, e) {
        const before = this.pointers.get(e.pointerId)
        if (!before) return
        const dx = e.clientX - before.x,
            dy = e.clientY - before.y,
            height = element.clientHeight || 1
        if (this.pointers.size === 2) {
            const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1]
            const apart = (p) => Math.hypot(p.x - other.x, p.y - other.y) || 1
            this.zoom(apart(before) / apart({ x: e.clientX, y: e.clientY }))
            this.pan(dx / 2 / height, dy / 2 / height)
        } else if (e.buttons & 6 || e.shiftKey || e.ctrlKey) {
            this.pan(dx / height, dy / height)
        } else {
            this.turn((-dx / height) * 3.2, (dy / height) * 3.2)
        }
        before.x = e.clientX
        before.y = e.clientY
    }

    turn(azimuth, elevation) {
        this.azimuth += azimuth
        this.elevation = Math.max(-HALF_PI, Math.min(HALF_PI, this.elevation + elevation))
        this.changed()
    }

    zoom(factor) {
        this.distance = Math.max(this.size * 0.02, Math.min(this.size * 40, this.distance * factor))
        this.changed()
    }

    /// Moves by parts of the picture's height.
    pan(right, down) {
        const reach = 2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360)
        const m = this.camera.matrixWorld.elements
        for (let k = 0; k < 3; k++) {
            const move = reach * (-right * m[k] + down * m[4 + k])
            this.target.setComponent(k, this.target.getComponent(k) + move)
        }
        this.changed()
    }

    /// Shows a sphere, at once or gliding there.
    frame(center, radius, smooth = false) {
        const { fov, aspect } = this.camera
        const half = Math.min(fov * this.tall, fov * aspect * this.wide) * (Math.PI / 360)
        const to = { target: new THREE.Vector3(...center), distance: Math.max(radius, 1e-9) / Math.sin(half) }
        if (smooth && !matchMedia('(prefers-reduced-motion: reduce)').matches)
            this.glide = {
                from: { target: this.target.clone(), distance: this.distance },
                to,
                start: performance.now(),
            }
        else {
            this.target.copy(to.target)
            this.distance = to.distance
        }
        this.changed()
    }

    /// Places the camera. @return whether it is still gliding
    update() {
        if (this.glide) {
            const t = Math.min(1, (performance.now() - this.glide.start) / 320),
                s = t * t * (3 - 2 * t)
            this.target.lerpVectors(this.glide.from.target, this.glide.to.target, s)
            this.distance = this.glide.from.distance + s * (this.glide.to.distance - this.glide.from.distance)
            if (t >= 1) this.glide = null
        }
        const flat = Math.cos(this.elevation) * this.distance
        this.camera.position.set(
            this.target.x + flat * Math.sin(this.azimuth),
            this.target.y + Math.sin(this.elevation) * this.distance,
            this.target.z + flat * Math.cos(this.azimuth),
        )
        this.camera.near = Math.max(this.distance * 0.01, this.size * 1e-4)
        this.camera.far = this.distance + this.size * 60
        this.camera.lookAt(this.target)
        this.camera.updateProjectionMatrix()
        this.camera.updateMatrixWorld()
        return this.glide !== null
    }

    state() {
        return {
            target: this.target.toArray(),
            distance: this.distance,
            azimuth: this.azimuth,
            elevation: this.elevation,
        }
    }

    restore(state) {
        this.target.fromArray(state.target)
        this.distance = state.distance
        this.azimuth = state.azimuth
        this.elevation = state.elevation
        this.changed()
    }
}
