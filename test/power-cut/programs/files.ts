import { linkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { NewFile } from '#cli/site-export.ts'
import { createFileAtomically, writeFileAtomically } from '#config/atomic-file.ts'
import { lockDataDir } from '#config/data-dir-lock.ts'
import { openKeys } from '#config/keys.ts'
import { Outbox } from '#platform/smtp/outbox.ts'
import { acknowledge, contentOf } from '#test/power-cut/history.ts'

// Writes what a service keeps in its data folder beside its objects, and the archive of an export, and says when each is safe.

const [dataDir = ''] = process.argv.slice(2)
await using _lock = await lockDataDir(dataDir)
const text = (name: string, version: string) => contentOf(name, version).toString()

const { operatorKey, masterKey } = await openKeys(dataDir, {
  operatorKey: undefined,
  masterKey: undefined,
})
acknowledge(`key:operator.key:${operatorKey}`, 1)
acknowledge(`key:master.key:${masterKey.toString('base64url')}`, 1)

await writeFileAtomically(join(dataDir, 'replaced'), text('replaced', '1'))
acknowledge('replaced', 1)
await writeFileAtomically(join(dataDir, 'replaced'), text('replaced', '2'))
acknowledge('replaced', 2)
await createFileAtomically(join(dataDir, 'created'), text('created', '1'))
acknowledge('created', 1)

// What a process leaves that is killed when it has just given its file the name.
const left = join(dataDir, 'left.new')
writeFileSync(left, text('left', '1'), { flush: true })
linkSync(left, join(dataDir, 'left'))
await createFileAtomically(join(dataDir, 'left'), text('left', '2'))
acknowledge('left', 1)

await new Outbox(join(dataDir, 'outbox')).send({
  messageId: 'msg_a',
  siteId: 'site_a',
  siteDomain: 'one.test',
  kind: 'invite',
  to: 'ann@one.test',
  from: 'no-reply@one.test',
  subject: 'Hello',
  text: 'Hello',
  html: '',
  mime: contentOf('outbox/000000000000001-msg_a.eml', '1'),
  createdAt: new Date(1),
})
acknowledge('outbox/000000000000001-msg_a.eml', 1)

{
  await using archive = await NewFile.create(join(dataDir, 'archive'))
  await archive.append(contentOf('archive', '1').subarray(0, 100))
  await archive.append(contentOf('archive', '1').subarray(100))
  await archive.keep()
  acknowledge('archive', 1)
}
