import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { codeOf } from '#base/error-code.ts'

import type { Jail } from './isolation/jail.ts'

const PREFIX = 'croft-run-'
const SOCKET = 'hosts.sock'
/** Others may pass a folder on the way to a host's files, but not look into it. */
const PASSABLE = 0o711

/** What the hosts of one service share with it: the socket, and two files for each. */
export class RunFolder {
  readonly #jail: Jail
  readonly #path = mkdtempSync(join(tmpdir(), PREFIX))
  readonly socketPath = join(this.#path, SOCKET)

  constructor(jail: Jail) {
    this.#jail = jail
    chmodSync(this.#path, PASSABLE)
  }

  /** Call it once the socket is there: its hosts may connect then. */
  openSocket(): void {
    chmodSync(this.socketPath, 0o600)
    this.#jail.give(this.socketPath)
  }

  /** What a host may write: where it is in its work, and a snapshot when it finds none. Both are there already, and empty. */
  filesOfHost(index: number): { readonly progressPath: string; readonly draftPath: string } {
    const folder = join(this.#path, String(index))
    mkdirSync(folder)
    chmodSync(folder, PASSABLE)
    const [progressPath, draftPath] = [join(folder, 'progress'), join(folder, 'snapshot')]
    for (const path of [progressPath, draftPath]) {
      writeFileSync(path, '', { mode: 0o600 })
      this.#jail.give(path)
    }
    return { progressPath, draftPath }
  }

  async remove(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true })
  }
}

/** Removes the folders of services that were killed: no process listens at their sockets. */
export async function removeAbandonedRunFolders(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names.filter((entry) => entry.startsWith(PREFIX))) {
    const path = join(tmpdir(), name)
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  const owner = await stat(folder).catch(() => undefined)
  if (owner === undefined || owner.uid !== process.getuid?.()) return false
  return new Promise((resolve) => {
    const socket = connect(join(folder, SOCKET))
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', (error) => resolve(codeOf(error) === 'ECONNREFUSED'))
  })
}
