// Break mode: the asset as rigid bodies with its own hulls (Rapier); damage.js says what comes off.

import RAPIER from '@dimforge/rapier3d-compat'
import * as THREE from 'three'

import { Damage, makeThresholds } from './damage.js'
import { $, say } from './panel.js'
import { number, plural } from './texts.js'

const STEP = 1 / 60 // seconds
const GRAVITY = 9.81
const DENSITY = 2400 // kg/m³, where the file gives no masses
const SHRINK = 0.985 // hulls, so that neighbours do not push each other away
const REST_SPEED = 0.8 // m/s; slower contacts are weight, not a blow
const MOST_BALLS = 12
const BUDGET_MS = 24 // of a frame, for steps

/// Strain of a blow at `point`: full there, none at `radius`, by the distance to each piece's bounds.
function blow(model, pieces, pointOf, point, radius, impulse) {
    const strain = new Map()
    for (const b of pieces) {
        const p = pointOf(b, point)
        let square = 0
        for (let k = 0; k < 3; k++) {
            const low = model.bounds[6 * b + k] - p[k],
                high = p[k] - model.bounds[6 * b + 3 + k]
            square += Math.max(low, high, 0) ** 2
        }
        const x = 1 - Math.sqrt(square) / radius
        if (x > 0) strain.set(b, impulse * x)
    }
    return strain
}

/// Masses of bones, kg; `scale`: metres in a unit. What has no volume (a sheet) counts for a hundredth of its extent.
function masses(model, scale) {
    if (model.data.mass) return model.data.mass
    const mass = new Float64Array(model.count)
    for (let b = model.count; b-- > 0; ) {
        const [x0, y0, z0, x1, y1, z1] = model.bounds.subarray(6 * b, 6 * b + 6)
        if (model.geometryOf[b] >= 0)
            mass[b] += DENSITY * scale ** 3 * (model.volume[b] || 0.01 * Math.hypot(x1 - x0, y1 - y0, z1 - z0) ** 3)
        if (model.parent[b] >= 0) mass[model.parent[b]] += mass[b]
    }
    return mass
}

/// Where pieces stay: anchored, or below an anchored bone, or (hold) on the ground.
function anchoredPieces(model, hold) {
    const { data } = model,
        anchored = new Uint8Array(model.count)
    const foot = model.all.low[1] + 0.01 * (model.all.high[1] - model.all.low[1])
    for (let b = 0; b < model.count; b++) {
        const kind = data.simulation_type?.[b]
        const parent = model.parent[b]
        if (data.anchored?.[b] || kind === 1 || kind === 2 || (parent >= 0 && anchored[parent] === 1)) anchored[b] = 1
        else if (hold && model.geometryOf[b] >= 0 && model.bounds[6 * b + 1] <= foot) anchored[b] = 2
    }
    return anchored
}

export class BreakMode {
    constructor(model, bones, stage) {
        this.model = model
        this.bones = bones
        this.stage = stage
        this.onBreak = () => {}
        const { size } = model.all
        this.scale = size >= 0.2 && size <= 60 ? 1 : 4 / size // others are taken for other units than metres
        this.size = size * this.scale
        this.mass = masses(model, this.scale)
        this.leastMass = Math.max(1e-9 * this.mass.reduce((a, b) => Math.max(a, b), 0), 1e-9)
        this.balls = []
        this.world = null
        this.running = true
        this.rest = 0
        this.ballGeometry = new THREE.SphereGeometry(1, 24, 16)
        this.ballMaterial = new THREE.MeshStandardMaterial({ color: 0x30343c, roughness: 0.35, metalness: 0.6 })
    }

    async begin() {
        await RAPIER.init()
        const given = anchoredPieces(this.model, false).some((a) => a)
        $('hold').checked = !given
        this.reset()
        this.stage.everyFrame = (seconds) => this.frame(seconds)
    }

    end() {
        this.stage.everyFrame = null
        this.clear()
        this.ballGeometry.dispose()
        this.ballMaterial.dispose()
        for (let b = 0; b < this.model.count; b++) this.bones.move(b, 0, 0, 0)
        this.stage.draw(true)
    }

    clear() {
        for (const ball of this.balls) this.stage.scene.remove(ball.mesh)
        this.balls = []
        this.events?.free()
        this.world?.free()
        this.world = this.events = null
    }

    /* ---- Bodies ---- */

    reset() {
        this.build(anchoredPieces(this.model, $('hold').checked), null)
        say('Whole again')
    }

    /// Lets the whole asset fall from above; anchors are let go.
    drop() {
        const lift = 0.55 * this.size
        const turn = new THREE.Quaternion().setFromEuler(new THREE.Euler(0.16, 0, 0.22))
        this.build(new Uint8Array(this.model.count), { lift, turn })
        say('Dropped')
    }

    build(anchored, fall) {
        this.clear()
        this.anchored = anchored
        this.damage = new Damage(this.model, anchored)
        const { thresholds, guessed } = makeThresholds(this.model, this.mass, GRAVITY * this.scale)
        this.damage.thresholds = thresholds
        const first = this.damage.bodies
            .flatMap((b) => b.targets)
            .map((t) => thresholds[t])
            .sort((a, b) => a - b)
        this.firstThreshold = first[first.length >> 1] || thresholds[this.model.roots[0]] || 1
        this.guessed = guessed
        this.world = new RAPIER.World({ x: 0, y: -GRAVITY, z: 0 })
        this.world.timestep = STEP
        this.world.lengthUnit = Math.max(0.05, this.size / 4)
        this.events = new RAPIER.EventQueue(true)
        this.pieceOf = new Map() // collider handle → piece
        this.strain = new Map()
        this.steps = 0
        const ground = RAPIER.ColliderDesc.cuboid(400 * this.size, this.size, 400 * this.size)
            .setFriction(0.85)
            .setTranslation(0, this.model.all.low[1] * this.scale - this.size, 0)
        this.world.createCollider(ground)
        for (const body of this.damage.bodies) this.addBody(body, fall && this.fallOf(body, fall))
        this.running = true
        this.settled = false
        $('pause').setAttribute('aria-pressed', 'false')
        this.placeBones(true)
        this.showFacts()
        this.showStrength()
        this.stage.draw(true)
    }

    /// Place of a body in a fall: turned around the asset's middle, raised.
    fallOf(body, { lift, turn }) {
        const middle = new THREE.Vector3(...this.model.all.center).multiplyScalar(this.scale)
        const c = this.centerOf(body)
        return {
            rotation: turn,
            translation: c
                .clone()
                .sub(middle)
                .applyQuaternion(turn)
                .add(middle)
                .add(new THREE.Vector3(0, lift, 0)),
        }
    }

    centerOf(body) {
        const c = new THREE.Vector3()
        for (const b of body.pieces)
            for (let k = 0; k < 3; k++)
                c.setComponent(k, c.getComponent(k) + (this.model.center[3 * b + k] * this.scale) / body.pieces.length)
        return c
    }

    /// @param place  {translation, rotation, linvel, angvel}; null: at rest where the asset is
    addBody(body, place) {
        body.center = this.centerOf(body)
        const t = place?.translation ?? body.center,
            q = place?.rotation ?? { x: 0, y: 0, z: 0, w: 1 }
        const desc = (body.fixed ? RAPIER.RigidBodyDesc.fixed() : RAPIER.RigidBodyDesc.dynamic())
            .setTranslation(t.x, t.y, t.z)
            .setRotation(q)
            .setAngularDamping(0.15)
            .setLinearDamping(0.02)
        if (place?.linvel && !body.fixed)
            desc.setLinvel(place.linvel.x, place.linvel.y, place.linvel.z).setAngvel(place.angvel)
        body.rigid = this.world.createRigidBody(desc)
        body.rigid.userData = body
        body.colliders = new Map()
        for (const b of body.pieces) this.addColliders(body, b)
    }

    addColliders(body, b) {
        const made = this.shapesOf(b).map((shape) => {
            const at = shape.center.clone().sub(body.center)
            shape.desc.setTranslation(at.x, at.y, at.z)
            const collider = this.world.createCollider(shape.desc, body.rigid)
            this.pieceOf.set(collider.handle, b)
            return collider
        })
        body.colliders.set(b, made)
    }

    /// Shapes of a piece, made once: its hulls, else the hull of its vertices, else a box.
    shapesOf(b) {
        this.shapes ??= new Map()
        if (!this.shapes.has(b)) this.shapes.set(b, this.makeShapes(b))
        return this.shapes.get(b)
    }

    makeShapes(b) {
        const { data, hulls, geometryOf } = this.model,
            g = geometryOf[b],
            clouds = []
        for (const h of hulls[b])
            clouds.push({
                points: data.hull_points.subarray(3 * data.hull_point_start[h], 3 * data.hull_point_start[h + 1]),
                faces: data.hull_faces.subarray(3 * data.hull_face_start[h], 3 * data.hull_face_start[h + 1]),
                volume: data.hull_volume?.[h] || 1,
            })
        if (!clouds.length)
            clouds.push({
                points: data.positions.subarray(
                    3 * data.vertex_start[g],
                    3 * (data.vertex_start[g] + data.vertex_count[g]),
                ),
                volume: 1,
            })
        const whole = clouds.reduce((sum, c) => sum + c.volume, 0)
        const mass = Math.max(this.mass[b], this.leastMass)
        return clouds.map((cloud) => this.makeShape(cloud, (mass * cloud.volume) / whole))
    }

    makeShape({ points, faces }, mass) {
        const box = new THREE.Box3().setFromArray(points),
            center = box.getCenter(new THREE.Vector3())
        const own = new Float32Array(points.length)
        for (let i = 0; i < points.length; i++) own[i] = (points[i] - center.getComponent(i % 3)) * this.scale * SHRINK
        const least = 0.002 * this.size
        const half = box
            .getSize(new THREE.Vector3())
            .multiplyScalar(this.scale / 2)
            .max(new THREE.Vector3(least, least, least))
        const desc =
            (faces && RAPIER.ColliderDesc.convexMesh(own, new Uint32Array(faces))) ||
            RAPIER.ColliderDesc.convexHull(own) ||
            RAPIER.ColliderDesc.cuboid(half.x, half.y, half.z)
        desc.setMass(mass)
            .setFriction(0.75)
            .setRestitution(0.03)
            .setActiveEvents(RAPIER.ActiveEvents.CONTACT_FORCE_EVENTS)
            .setContactForceEventThreshold(0)
        return { desc, center: center.multiplyScalar(this.scale) }
    }

    /// Divides the bodies of Damage.step; the largest part keeps the rigid body.
    applyChanges(changes) {
        for (const { body, parts } of changes) {
            const old = body.rigid,
                t = old.translation(),
                q = old.rotation()
            const rotation = new THREE.Quaternion(q.x, q.y, q.z, q.w)
            const v = new THREE.Vector3().copy(old.linvel()),
                w = new THREE.Vector3().copy(old.angvel())
            const com = new THREE.Vector3().copy(old.worldCom())
            const keeper = parts.reduce((a, b) => (b.pieces.length > a.pieces.length ? b : a))
            for (const part of parts) {
                if (part === keeper) continue
                for (const b of part.pieces) {
                    for (const collider of body.colliders.get(b)) {
                        this.pieceOf.delete(collider.handle)
                        this.world.removeCollider(collider, false)
                    }
                    body.colliders.delete(b)
                }
                const translation = this.centerOf(part)
                    .sub(body.center)
                    .applyQuaternion(rotation)
                    .add(new THREE.Vector3(t.x, t.y, t.z))
                const linvel = translation.clone().sub(com).cross(w).negate().add(v) // v + ω × r
                this.addBody(part, { translation, rotation: q, linvel, angvel: w })
            }
            Object.assign(keeper, { rigid: old, center: body.center, colliders: body.colliders })
            old.userData = keeper
            if (!keeper.fixed) old.setBodyType(RAPIER.RigidBodyType.Dynamic, true)
            old.recomputeMassPropertiesFromColliders()
        }
        if (!changes.length) return
        this.onBreak()
        this.showFacts()
    }

    /* ---- Shots ---- */

    strength() {
        return 2 * this.firstThreshold * 10 ** Number($('strength').value)
    }

    showStrength() {
        $('strength-out').textContent = `${number(this.strength())} N·s`
        $('strength').title =
            `Impulse of a shot; what comes off first holds ${number(this.firstThreshold)} N·s in the middle` +
            (this.guessed ? ', guessed from the weight: the file has no thresholds' : '')
    }

    /// @param ray  {origin, direction} in the asset's units
    shoot({ origin, direction }) {
        if (!this.world) return
        const s = this.scale,
            speed = 9 * this.size,
            radius = 0.03 * this.size
        const from = new THREE.Vector3(...origin).multiplyScalar(s),
            to = new THREE.Vector3(...direction)
        const hit = this.world.castRay(new RAPIER.Ray(from, to), 1e4 * this.size, true)
        if (hit) from.addScaledVector(to, Math.max(0, hit.timeOfImpact - 2 * this.size))
        const desc = RAPIER.RigidBodyDesc.dynamic()
            .setTranslation(from.x, from.y, from.z)
            .setCcdEnabled(true)
            .setGravityScale(0)
            .setLinvel(to.x * speed, to.y * speed, to.z * speed)
        const rigid = this.world.createRigidBody(desc)
        this.world.createCollider(
            RAPIER.ColliderDesc.ball(radius)
                .setMass(this.strength() / speed)
                .setFriction(0.6)
                .setRestitution(0.1),
            rigid,
        )
        const mesh = new THREE.Mesh(this.ballGeometry, this.ballMaterial)
        mesh.scale.setScalar(radius / s)
        mesh.castShadow = true
        this.stage.scene.add(mesh)
        this.balls.push({ rigid, mesh, radius, impulse: this.strength(), flying: true, age: 0 })
        if (this.balls.length > MOST_BALLS) this.removeBall(this.balls[0])
        this.wake()
        say('Shot')
    }

    removeBall(ball) {
        this.world.removeRigidBody(ball.rigid)
        this.stage.scene.remove(ball.mesh)
        this.balls.splice(this.balls.indexOf(ball), 1)
    }

    /// What a flying ball is about to meet breaks first, so that the ball goes through what has come off.
    strike(ball) {
        const v = ball.rigid.linvel(),
            speed = Math.hypot(v.x, v.y, v.z)
        if (++ball.age > 240) ball.flying = false
        if (speed < 0.2 * this.size) return
        const hit = this.world.castShape(
            ball.rigid.translation(),
            { x: 0, y: 0, z: 0, w: 1 },
            v,
            new RAPIER.Ball(ball.radius),
            0,
            STEP * 1.5,
            true,
            undefined,
            undefined,
            undefined,
            ball.rigid,
        )
        if (!hit) return
        ball.flying = false
        ball.rigid.setGravityScale(1, true)
        ball.rigid.setAngularDamping(1.5)
        ball.rigid.setLinearDamping(0.4)
        if (!this.pieceOf.has(hit.collider.handle)) return
        const at = ball.rigid.translation(),
            t = hit.time_of_impact,
            s = this.scale
        const direction = new THREE.Vector3(v.x, v.y, v.z).divideScalar(speed)
        const point = new THREE.Vector3(at.x + v.x * t, at.y + v.y * t, at.z + v.z * t).addScaledVector(
            direction,
            ball.radius,
        )
        const radius = 0.15 * this.model.all.size
        const rest = (b, p) => this.bones.applyInverse(b, p, 1)
        const strain = blow(
            this.model,
            this.model.pieces,
            rest,
            [point.x / s, point.y / s, point.z / s],
            radius,
            ball.impulse,
        )
        for (let level = 0; level <= this.model.levels; level++) this.applyChanges(this.damage.step(strain))
        this.push(strain, direction, point, ball.impulse)
    }

    /// Gives what came off a part of the shot's impulse, along it and away from it.
    push(strain, direction, point, impulse) {
        const loose = [...strain.keys()].filter(
            (b) => !this.damage.bodyOf[b].fixed && this.damage.bodyOf[b].pieces.length === 1,
        )
        const whole = loose.reduce((sum, b) => sum + this.damage.bodyOf[b].rigid.mass(), 0)
        const speed = Math.min((0.5 * impulse) / Math.max(whole, 1e-9), 1.6 * this.size + 2)
        for (const b of loose) {
            const rigid = this.damage.bodyOf[b].rigid,
                x = strain.get(b) / impulse
            const away = new THREE.Vector3().copy(rigid.worldCom()).sub(point).normalize()
            const move = away
                .multiplyScalar(0.45)
                .add(direction)
                .multiplyScalar(speed * x)
            const v = rigid.linvel()
            rigid.setLinvel({ x: v.x + move.x, y: v.y + move.y, z: v.z + move.z }, true)
        }
    }

    /* ---- Time ---- */

    wake() {
        this.settled = false
        this.stage.draw()
    }

    pause() {
        this.running = !this.running
        $('pause').setAttribute('aria-pressed', String(!this.running))
        this.wake()
    }

    /// @return whether there is more to come
    frame(seconds) {
        if (!this.world || !this.running || this.settled) return false
        this.rest = Math.min(this.rest + seconds, 6 * STEP)
        const begin = performance.now()
        while (this.rest >= STEP && performance.now() - begin < BUDGET_MS) {
            this.step()
            this.rest -= STEP
        }
        this.placeBones(false)
        return !this.settled
    }

    step() {
        for (const ball of this.balls) if (ball.flying) this.strike(ball)
        const before = new Map()
        for (const { rigid } of this.damage.bodies)
            if (!rigid.isFixed()) before.set(rigid.handle, [rigid.linvel(), rigid.angvel(), rigid.worldCom()])
        for (const { rigid } of this.balls) before.set(rigid.handle, [rigid.linvel(), rigid.angvel(), rigid.worldCom()])
        this.world.step(this.events)
        this.steps++
        this.strain.clear()
        this.events.drainContactForceEvents((event) => this.hear(event, before))
        const carrying = this.damage.carried.size
        if (this.strain.size || carrying) this.applyChanges(this.damage.step(this.strain))
        for (const ball of [...this.balls]) if (ball.rigid.translation().y < -50 * this.size) this.removeBall(ball)
        const awake = this.damage.bodies.some(({ rigid }) => !rigid.isFixed() && !rigid.isSleeping())
        this.settled = !awake && !this.damage.carried.size && !this.balls.some((b) => b.flying || !b.rigid.isSleeping())
    }

    /// A contact counts as a blow unless both sides moved along together: weight at rest breaks nothing.
    hear(event, before) {
        const colliders = [this.world.getCollider(event.collider1()), this.world.getCollider(event.collider2())]
        if (!colliders[0] || !colliders[1]) return
        const pieces = colliders.map((c) => this.pieceOf.get(c.handle))
        if (!pieces.some((b) => b !== undefined && this.damage.bodyOf[b].targets.length)) return
        const known = pieces[0] !== undefined ? colliders[0] : colliders[1],
            at = known.translation()
        const [a, b] = colliders.map((c) => velocityAt(before.get(c.parent()?.handle), at))
        if (Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < REST_SPEED * Math.sqrt(this.size / 4)) return
        const impulse = event.totalForceMagnitude() * STEP
        for (const piece of pieces)
            if (piece !== undefined) this.strain.set(piece, Math.max(this.strain.get(piece) ?? 0, impulse))
    }

    placeBones(all) {
        const s = this.scale,
            q = new THREE.Quaternion(),
            p = new THREE.Vector3()
        for (const body of this.damage.bodies) {
            const { rigid } = body
            if (!all && (rigid.isFixed() || rigid.isSleeping()) && body.placed) continue
            q.copy(rigid.rotation())
            p.copy(body.center).negate().applyQuaternion(q).add(rigid.translation()).divideScalar(s)
            for (const b of body.pieces) this.bones.place(b, q, p)
            body.placed = true
        }
        for (const { rigid, mesh } of this.balls) mesh.position.copy(rigid.translation()).divideScalar(s)
    }

    showFacts() {
        const { damage } = this
        $('break-facts').textContent =
            `${plural(damage.bodies.length, 'body').replace('bodys', 'bodies')} · ${damage.broken.toLocaleString('en')} broken off`
    }

    /// Tells whether two pieces are still of one body.
    holds() {
        return (a, b) => !this.damage || this.damage.bodyOf[a] === this.damage.bodyOf[b]
    }

    inspect() {
        return {
            bodies: this.damage.bodies.length,
            broken: this.damage.broken,
            steps: this.steps,
            settled: this.settled,
            anchored: this.model.pieces.map((b) => this.anchored[b] !== 0),
            guessed: this.guessed,
        }
    }
}

/// Velocity of a body (as noted before a step) at a point; bodies that are not noted stand still.
function velocityAt(noted, at) {
    if (!noted) return [0, 0, 0]
    const [v, w, c] = noted,
        x = at.x - c.x,
        y = at.y - c.y,
        z = at.z - c.z
    return [v.x + w.y * z - w.z * y, v.y + w.z * x - w.x * z, v.z + w.x * y - w.y * x]
}
