export class BreakMode {
    async begin() { throw new Error('not yet') }
    end() {}
}
