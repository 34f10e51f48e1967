import { chownSync } from 'node:fs'

import type { HostCommand } from '#platform/sandbox-host/host-command.ts'

import { jailCommand, type JailParts, type SandboxProgram } from './jail-command.ts'
import type { Wall, WallState } from './walls.ts'

/** The walls around every process of the sandbox, as far as this machine has them. */
export class Jail {
  readonly #parts: JailParts
  readonly #standing: ReadonlySet<Wall>
  readonly walls: readonly WallState[]

  constructor(parts: JailParts, walls: readonly WallState[]) {
    this.#parts = parts
    this.walls = walls
    this.#standing = new Set(walls.filter(({ stands }) => stands).map(({ wall }) => wall))
  }

  /** Absolute path of the Node that runs inside. */
  get node(): string {
    return this.#parts.node
  }

  has(wall: Wall): boolean {
    return this.#standing.has(wall)
  }

  command(program: SandboxProgram): HostCommand {
    return jailCommand(this.#parts, this.#standing, program)
  }

  /** Lets the sandbox's user have a file of this service: to write it, or to connect to it. */
  give(path: string): void {
    if (this.has('user')) chownSync(path, this.#parts.uid, this.#parts.uid)
  }
}
