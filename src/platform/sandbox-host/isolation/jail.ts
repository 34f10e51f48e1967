import { chownSync } from 'node:fs'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'

import type { IsolationLayer, LayerState } from './isolation-layers.ts'
import { jailCommand, type JailParts, type SandboxProgram } from './jail-command.ts'

/** The walls around every process of the sandbox, as far as this machine has them. */
export class Jail {
  readonly #parts: JailParts
  readonly #active: ReadonlySet<IsolationLayer>
  readonly walls: readonly LayerState[]

  constructor(parts: JailParts, layers: readonly LayerState[]) {
    this.#parts = parts
    this.walls = layers
    this.#active = new Set(layers.filter(({ stands }) => stands).map(({ wall: layer }) => layer))
  }

  /** Absolute path of the Node that runs inside. */
  get node(): string {
    return this.#parts.node
  }

  has(layer: IsolationLayer): boolean {
    return this.#active.has(layer)
  }

  command(program: SandboxProgram): HostCommand {
    return jailCommand(this.#parts, this.#active, program)
  }

  /** Lets the sandbox's user have a file of this service: to write it, or to connect to it. */
  give(path: string): void {
    if (this.has('user')) chownSync(path, this.#parts.uid, this.#parts.uid)
  }
}
