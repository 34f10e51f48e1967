import { createHash, randomBytes } from 'node:crypto'

import { waitUntil } from '#bench/wait-until.ts'

import { type Case, FLOOD, type Installation, QUIET, repeated } from './installation.ts'
import { receive } from './mail-cases.ts'

const CHANGES = 300
/** Compressed with the highest effort, which takes seconds. */
const FILES = 40
const FILE_BYTES = 64 * 1024
/** What the archive of the site that floods has. */
const MESSAGES = 300
/** One more than wait of a site would be refused. */
const EXPORTS = 4
const IMPORTS = 3

export const SITE_CASES: readonly Case[] = [
  {
    name: 'syncs',
    async flood(installation) {
      let isOver = false
      const change = async (): Promise<void> => {
        for (let at = 0; at < CHANGES && !isOver; at += 1) {
          await setVariable(installation, FLOOD, at)
        }
      }
      const changing = Promise.all([change(), change(), change(), change()])
      return () => {
        isOver = true
        return changing
      }
    },
    async single(installation, at) {
      await setVariable(installation, QUIET, at)
      await waitUntil('sync', async () => {
        const path = `/${QUIET}/runtime`
        const { permissionsSync } = await installation.call<{
          permissionsSync: { status: string }
        }>('GET', path)
        return permissionsSync.status === 'succeeded'
      })
    },
  },
  {
    name: 'compression',
    flood: async (installation) =>
      repeated(2, () => installation.publish(FLOOD, Array.from({ length: FILES }, newFile))),
    single: (installation) => installation.publish(QUIET, [newFile()]),
  },
  {
    name: 'exports',
    async flood(installation) {
      await receive(installation, FLOOD, { count: MESSAGES })
      return repeated(EXPORTS, async () => void (await installation.export(FLOOD)))
    },
    single: async (installation) => void (await installation.export(QUIET)),
  },
  {
    name: 'imports',
    async flood(installation) {
      await receive(installation, FLOOD, { count: MESSAGES })
      const archive = await installation.archive(FLOOD)
      let count = 0
      return repeated(IMPORTS, () => installation.import(archive, `flood-${(count += 1)}.test`))
    },
    async single(installation, at) {
      await installation.import(await installation.archive(QUIET), `quiet-${at}.test`)
    },
  },
]

const setVariable = (installation: Installation, site: string, at: number) =>
  installation.call('PUT', `/${site}/env-vars`, { variables: { AT: { value: String(at) } } })

/** Text that no deployment had before. */
function newFile(): { path: string; sha256: string; text: string } {
  const words = Array.from({ length: 500 }, () => randomBytes(4).toString('hex'))
  const lines = Array.from(
    { length: FILE_BYTES / 64 },
    (_, at) => `${words[(at * at) % 500]} ${words[(at * 7) % 500]} ${words[at % 500]}`,
  )
  const text = lines.join(' and what else is written here, ').slice(0, FILE_BYTES)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { path: `public/${sha256.slice(0, 12)}.txt`, sha256, text }
}
