import type { SourceFault } from '#sandbox/protocol/protocol.ts'

/** Code is refused for what it is. */
export class Refusal extends Error {
  readonly fault: SourceFault

  constructor(fault: SourceFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** A parser of TypeScript trapped: its WebAssembly refuses whatever comes afterwards. */
export class BrokenParser extends Refusal {}

export const tooDeep = (path: string): SourceFault => ({
  message: `"${path}" cannot be read: it is nested too deeply, or too large`,
  path,
})
