// The scene: light, ground, camera, and drawing when something has changed.

import * as THREE from 'three'

import { OrbitCamera } from './camera.js'

const THEMES = {
    light: {
        sky: 0xffffff,
        ground: 0xb9b2a8,
        hemi: 1.55,
        key: 2.35,
        fill: 0.5,
        shadow: 0.26,
        dim: 0xb9bcc2,
        inside: [0.86, 0.82, 0.76],
        line: 0x1d4ed8,
        contact: 0xb45309,
        hull: 0x111827,
        accent: 0xf2600c,
        outline: 0x7c2500,
    },
    dark: {
        sky: 0xbfd0ee,
        ground: 0x2b2723,
        hemi: 1.0,
        key: 2.3,
        fill: 0.42,
        shadow: 0.5,
        dim: 0x3c4048,
        inside: [0.62, 0.58, 0.53],
        line: 0x7dd3fc,
        contact: 0xfbbf24,
        hull: 0xf8fafc,
        accent: 0xff7a1f,
        outline: 0xffffff,
    },
}

export class Stage {
    /// Throws when the browser cannot draw.
    constructor(canvas) {
        this.canvas = canvas
        this.renderer = new THREE.WebGLRenderer({
            canvas,
            antialias: true,
            alpha: true,
            powerPreference: 'high-performance',
        })
        this.renderer.setPixelRatio(Math.min(devicePixelRatio || 1, 2))
        this.renderer.toneMapping = THREE.ACESFilmicToneMapping
        this.renderer.toneMappingExposure = 1.12
        this.renderer.shadowMap.enabled = true
        this.renderer.shadowMap.type = THREE.PCFShadowMap
        this.renderer.shadowMap.autoUpdate = false
        this.scene = new THREE.Scene()
        this.colors = Object.fromEntries(
            ['line', 'contact', 'hull', 'accent', 'dim', 'outline'].map((n) => [n, { value: new THREE.Color() }]),
        )
        this.orbit = new OrbitCamera(canvas, () => this.draw())
        this.makeLights()
        this.size = 1
        this.covered = { right: 0, top: 0, bottom: 0 }
        this.wanted = false
        this.quality = 2
        this.slow = 0
        this.everyFrame = null // called before each frame with seconds since the last; true: go on
        this.last = 0
        new ResizeObserver(() => this.resize()).observe(canvas)
        this.dark = matchMedia('(prefers-color-scheme: dark)')
        this.dark.addEventListener('change', () => this.theme())
        this.onTheme = () => {}
        this.resize()
    }

    makeLights() {
        this.hemi = new THREE.HemisphereLight(0xffffff, 0x888888, 1.4)
        this.key = new THREE.DirectionalLight(0xfff4e6, 2.4)
        this.fill = new THREE.DirectionalLight(0xdde8ff, 0.5)
        this.key.castShadow = true
        this.key.shadow.radius = 3
        this.ground = new THREE.Mesh(new THREE.CircleGeometry(1, 96), new THREE.ShadowMaterial({ opacity: 0.25 }))
        this.ground.rotation.x = -Math.PI / 2
        this.ground.receiveShadow = true
        this.ground.renderOrder = -1
        this.scene.add(this.hemi, this.key, this.key.target, this.fill, this.ground)
    }

    theme() {
        const t = this.dark.matches ? THEMES.dark : THEMES.light
        this.hemi.color.setHex(t.sky)
        this.hemi.groundColor.setHex(t.ground)
        this.hemi.intensity = t.hemi
        this.key.intensity = t.key
        this.fill.intensity = t.fill
        this.ground.material.opacity = t.shadow
        for (const [name, uniform] of Object.entries(this.colors)) uniform.value.setHex(t[name])
        this.inside = t.inside
        this.onTheme(t)
        this.draw(true)
    }

    /// Sets light and ground to the asset's size.
    fit(all) {
        const { size, center, low } = all
        this.orbit.size = size
        this.size = size
        this.ground.position.set(center[0], low[1] - size * 1e-4, center[2])
        this.ground.scale.setScalar(size * 12)
        this.key.position.set(center[0] - size * 0.95, low[1] + size * 1.75, center[2] + size * 0.95)
        this.key.target.position.set(...center)
        this.fill.position.set(center[0] + size * 1.4, center[1] + size * 0.4, center[2] - size * 0.4)
        const c = this.key.shadow.camera,
            reach = size * 1.7
        Object.assign(c, { left: -reach, right: reach, top: reach, bottom: -reach, near: size * 0.05, far: size * 6 })
        c.updateProjectionMatrix()
        this.key.shadow.bias = -0.0004
        this.setQuality(2)
    }

    resize() {
        const width = this.canvas.clientWidth || 1,
            height = this.canvas.clientHeight || 1
        this.renderer.setSize(width, height, false)
        const camera = this.orbit.camera
        const { right, top, bottom } = this.covered
        this.orbit.wide = 1 - right / width
        this.orbit.tall = 1 - (top + bottom) / height
        camera.aspect = width / height
        if (right || top || bottom) camera.setViewOffset(width, height, right / 2, (bottom - top) / 2, width, height)
        else camera.clearViewOffset()
        this.draw()
    }

    /// Keeps the middle of the picture clear of what covers its sides, in pixels; at most a half and 70 % are taken.
    clear({ right = 0, top = 0, bottom = 0 }) {
        const width = this.canvas.clientWidth || 1,
            height = this.canvas.clientHeight || 1,
            part = Math.min(1, (0.7 * height) / Math.max(1, top + bottom))
        this.covered = { right: Math.min(right, width / 2), top: part * top, bottom: part * bottom }
        this.resize()
    }

    /// The middle of what is seen of the picture, in pixels.
    middle() {
        const { right, top, bottom } = this.covered
        return [(this.canvas.clientWidth - right) / 2, (this.canvas.clientHeight + top - bottom) / 2]
    }

    /// Draws in the next frame. `moved`: pieces have other places, so shadows have, too.
    draw(moved = false) {
        if (moved) this.renderer.shadowMap.needsUpdate = true
        if (this.wanted) return
        this.wanted = true
        requestAnimationFrame((now) => this.frame(now))
    }

    frame(now) {
        this.wanted = false
        const seconds = Math.min(0.1, Math.max(0, (now - this.last) / 1000))
        this.last = now
        const running = this.everyFrame ? this.everyFrame(seconds) : false
        const gliding = this.orbit.update()
        if (running) this.renderer.shadowMap.needsUpdate = true
        if (running) this.adapt(seconds)
        this.renderer.render(this.scene, this.orbit.camera)
        if (running || gliding) this.draw()
        else if (this.quality < 2) this.setQuality(2)
    }

    /// Draws less finely where frames take long while things move.
    adapt(seconds) {
        this.slow = seconds > 0.055 ? this.slow + 1 : 0
        if (this.slow >= 6 && this.quality > 0) this.setQuality(this.quality - 1)
    }

    /// 2: as finely as the screen can show it, 1 and 0: quicker.
    setQuality(quality) {
        this.slow = 0
        this.quality = quality
        this.renderer.setPixelRatio(quality === 2 ? Math.min(devicePixelRatio || 1, 2) : quality === 1 ? 1 : 0.75)
        const { shadow } = this.key
        shadow.mapSize.setScalar([512, 1024, 2048][quality])
        shadow.normalBias = (this.size * 7.5) / shadow.mapSize.x // a little more than two texels
        shadow.map?.dispose()
        shadow.map = null
        this.renderer.shadowMap.needsUpdate = true
        this.resize()
    }

    /// The ray through a point of the canvas, in pixels from its corner.
    ray(x, y) {
        const camera = this.orbit.camera
        this.orbit.update()
        const ndc = new THREE.Vector3(
            (2 * x) / this.canvas.clientWidth - 1,
            1 - (2 * y) / this.canvas.clientHeight,
            0.5,
        )
        const direction = ndc.unproject(camera).sub(camera.position).normalize()
        return { origin: camera.position.toArray(), direction: direction.toArray() }
    }

    /// Where a point of the world is on the canvas, in pixels from its corner.
    project(point) {
        this.orbit.update()
        const v = new THREE.Vector3(...point).project(this.orbit.camera)
        return [((v.x + 1) / 2) * this.canvas.clientWidth, ((1 - v.y) / 2) * this.canvas.clientHeight]
    }
}
