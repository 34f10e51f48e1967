import { randomBytes } from 'node:crypto'
import { chown, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { hasCode, ifMissing } from '#base/error-code.ts'
import { syncFolder, writeFileAtomically } from '#config/atomic-file.ts'
import { SetupError } from '#config/setup-error.ts'

import { runAs } from './account.ts'
import { program } from './binaries.ts'
import type { Placement } from './placement.ts'

/** Creates the cluster when there is none, and gives the superuser's password. */
export async function openCluster(placement: Placement): Promise<string> {
  const versionFile = join(placement.cluster, 'PG_VERSION')
  const major = await readFile(versionFile, 'utf8').catch(ifMissing(undefined))
  if (major === undefined) {
    await assertNothingLost(placement)
    return initCluster(placement)
  }
  const ours = placement.binaries.version.split('.')[0]
  if (major.trim() !== ours) {
    throw new SetupError(
      `The database in "${placement.cluster}" is of PostgreSQL ${major.trim()}, the installed binaries are of ${ours}: ` +
        `start it with a Croft that brings PostgreSQL ${major.trim()}; to move it, dump it there (pg_dump) and restore it into a server that DATABASE_URL names`,
    )
  }
  const password = await readFile(placement.passwordFile, 'utf8').catch(ifMissing(undefined))
  if (password === undefined) {
    throw new SetupError(
      `The password of the database in "${placement.cluster}" is missing: put "${placement.passwordFile}" back from a backup`,
    )
  }
  return password.trim()
}

/** A database that was here is not replaced by an empty one. */
async function assertNothingLost({ cluster, passwordFile }: Placement): Promise<void> {
  const inside = await readdir(cluster).catch(ifMissing<string[]>([]))
  if (inside.length > 0) {
    throw new SetupError(
      `The database in "${cluster}" is not whole, its file "PG_VERSION" is missing: put the folder back from a backup, ` +
        'or move it away to start with an empty one',
    )
  }
  // A first start that was killed has written the password, and has its unfinished folder beside.
  const beside = await readdir(dirname(cluster)).catch(ifMissing<string[]>([]))
  if (beside.some((name) => name.startsWith(`${basename(cluster)}.new.`))) return
  const password = await readFile(passwordFile, 'utf8').catch(ifMissing(undefined))
  if (password === undefined) return
  throw new SetupError(
    `The database of this data folder is missing: put "${cluster}" back from a backup, or remove "${passwordFile}" to start with an empty one`,
  )
}

/** Works in a folder beside and renames it when it is complete: a crash leaves nothing that looks like a cluster. */
async function initCluster({
  account,
  binaries,
  cluster,
  passwordFile,
}: Placement): Promise<string> {
  // A name of its own: the initdb of a start that was killed may still be at work.
  const unfinished = `${cluster}.new.${randomBytes(6).toString('hex')}`
  const handover = `${unfinished}.password`
  const password = randomBytes(24).toString('base64url')
  await removeUnfinished(cluster)
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(handover, `${password}\n`, { mode: 0o600, flag: 'wx' })
  try {
    if (account)
      await Promise.all([unfinished, handover].map((it) => chown(it, account.uid, account.gid)))
    const { exitCode, output } = await runAs(account, program(binaries, 'initdb'), [
      `--pgdata=${unfinished}`,
      '--username=postgres',
      `--pwfile=${handover}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      // Otherwise initdb empties the folder when it fails, and another start may have made it since.
      '--no-clean',
    ])
    if (exitCode !== 0) {
      const hint = output.includes('could not look up')
        ? '; give that user a line in /etc/passwd, or set DATABASE_URL'
        : ''
      await removeUnfinished(cluster)
      throw new SetupError(
        `PostgreSQL could not create its data folder "${cluster}": ${output.trim()}${hint}`,
      )
    }
  } finally {
    await rm(handover, { force: true })
  }
  await writeFileAtomically(passwordFile, `${password}\n`)
  await rename(unfinished, cluster)
  // Without its name the database of a first start would be taken for what a killed one has left.
  await syncFolder(dirname(cluster))
  return password
}

/** What killed starts left beside. Another one may still write into it: what remains is for the next start. */
async function removeUnfinished(cluster: string): Promise<void> {
  const parent = dirname(cluster)
  for (const name of await readdir(parent)) {
    if (!name.startsWith(`${basename(cluster)}.`)) continue
    await rm(join(parent, name), { recursive: true, force: true }).catch((error: unknown) => {
      if (!hasCode(error, 'ENOTEMPTY', 'ENOENT')) throw error
    })
  }
}
