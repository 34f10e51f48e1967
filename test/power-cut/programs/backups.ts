import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { Chunks, chunkName } from '#platform/backup/chunks.ts'
import { FolderPlace } from '#platform/backup/folder-place.ts'
import { deleteBackups } from '#platform/backup/manifest.ts'
import { acknowledge, contentOf } from '#test/power-cut/history.ts'

// Makes backups of a few parts each in a new folder, deletes one, and says when each is complete.

const [folder = ''] = process.argv.slice(2)
const place = await FolderPlace.open(folder, 'write')
const nameOf = (content: Uint8Array): string =>
  chunkName({ sha256: createHash('sha256').update(content).digest('hex'), form: 'plain' })
const idOf = (number: number) => `20260101T00000${number}Z-aaaaaa`

async function backUp(number: number, contents: readonly Buffer[]): Promise<void> {
  const chunks = await Chunks.open(place)
  const parts: string[] = []
  for (const content of contents) parts.push(await chunks.put(content, 'plain'))
  const id = idOf(number)
  await place.write(`manifests/${id}.json`, Buffer.from(JSON.stringify(parts)))
  acknowledge(id, 1)
}

const parts = ['a', 'b', 'c', 'd', 'e'].map((name) => contentOf(name, '1'))
await backUp(1, parts.slice(0, 3))

// What a backup leaves that is killed when it has just given a part its name.
const killed = contentOf('d', '1')
const path = join(folder, nameOf(killed))
writeFileSync(join(folder, 'incoming/killed'), killed, { flush: true })
mkdirSync(dirname(path), { recursive: true })
renameSync(join(folder, 'incoming/killed'), path)

await backUp(2, parts.slice(2))

// As a prune does.
await deleteBackups(place, [idOf(1)])
acknowledge(idOf(1), '-')
for (const content of parts.slice(0, 2)) await place.delete(nameOf(content))
