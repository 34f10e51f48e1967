import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, cpus, release, totalmem, type as systemName } from 'node:os'

import { workerdVersion } from './subjects/workerd.ts'

const require = createRequire(import.meta.url)

/** The machine that this runs on. */
export const machineLine = (): string => {
  const model = cpus()[0]?.model.replaceAll(/\s+/g, ' ').trim() ?? 'unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${availableParallelism()} cores (${model}), ${memory} GiB of memory, ${systemName()} ${release().split('-')[0]}`
}

/** What is compared. */
export const versionsLine = (): string =>
  [
    `Croft ${packageVersion('../package.json')} on Bun ${packageVersion('bun/package.json')} and Node ${process.versions.node}`,
    `workerd ${workerdVersion()}`,
    `Deno ${packageVersion('../peers/node_modules/deno/package.json')}`,
    `Elysia ${packageVersion('elysia/package.json')}`,
  ].join(', ')

function packageVersion(path: string): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(require.resolve(path), 'utf8'),
  )
  return manifest.version
}
