import { type SpawnOptions, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The uid of the user `nobody` on nearly every system: PostgreSQL refuses to run as root. */
const NOBODY = 65534

/** The user that runs the database; undefined means the user of this process. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** As root, the owner of the cluster runs the database, or the user `nobody` a new one. */
export function accountFor(owner: Account | undefined): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  return owner && owner.uid !== 0 ? owner : { uid: NOBODY, gid: NOBODY }
}

/** What a database process gets: its account, and an environment without our secrets. */
export const spawnOptions = (account: Account | undefined): SpawnOptions => ({
  ...account,
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
})

/** Runs a program to its end. */
export function runAs(
  account: Account | undefined,
  command: string,
  args: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const child = spawn(command, args, {
    ...spawnOptions(account),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: unknown) => {
    output = `${output}${String(chunk)}`.slice(-4000)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
}

/** Whether every folder on the way to `folder`, itself included, lets the account through. */
export async function canReach(account: Account | undefined, folder: string): Promise<boolean> {
  if (account === undefined) return true
  for (let path = folder; ; path = dirname(path)) {
    const { mode, uid, gid } = await stat(path)
    const through =
      uid === account.uid ? mode & 0o100 : gid === account.gid ? mode & 0o010 : mode & 0o001
    if (!through) return false
    if (dirname(path) === path) return true
  }
}
