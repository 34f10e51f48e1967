import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import { RawSmtp, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

const cleanUp = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'croft-small-disk-'))
cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
/** Root alone may mount one, and not in every container. */
const hasSmallDisk = ((): boolean => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'none', folder], { stdio: 'ignore' })
    cleanUp.defer(() => void execFileSync('umount', [folder]))
    return true
  } catch {
    return false
  }
})()

let stack: Stack
let port: number
beforeAll(async () => {
  if (!hasSmallDisk) return
  stack = cleanUp.use(
    await startStack({
      sites: ['one.test'],
      config: { mail: mailSettings() },
      platform: {
        openObjects: (urls) =>
          new FileObjectStore({ dir: folder, urls, clock: systemClock }).open(),
      },
    }),
  )
  port = await stack.context.smtp.start()
  cleanUp.defer(() => stack.context.smtp.drain(1000))
  await makeMailboxes(stack, 'one.test', ['info'])
})
afterAll(() => cleanUp.disposeAsync())

/** All its length is before its first part, where the parser keeps nothing of it. */
const messageOf = (name: string, lines: number): string =>
  [
    `From: a@a.test\r\nSubject: ${name}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`,
    `${'x'.repeat(98)}\r\n`.repeat(lines),
    '--b\r\n\r\nHello\r\n--b--\r\n',
  ].join('')

async function send(name: string, lines: number): Promise<string> {
  await using client = await RawSmtp.greeted(port)
  return await client.message('a@a.test', ['info@one.test'], messageOf(name, lines))
}

describe.skipIf(!hasSmallDisk)('a message for which the disk has no room', () => {
  test('is put off, and leaves nothing: what is smaller still fits', async () => {
    expect(await send('first', 15_000)).toBe('250 2.6.0 accepted')
    const full = '452 4.3.1 The server has no room left: try again later'
    // One that is held in one piece, and one that is not.
    for (const lines of [40_000, 25_000]) expect(await send('second', lines)).toBe(full)
    expect(await send('third', 2000)).toBe('250 2.6.0 accepted')
    const fills = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((n) => send(n, 2500)),
    )
    expect(fills).toContain(full)
    const kept = await keptMessages(stack, 'one.test')
    const accepted = fills.filter((reply) => reply.startsWith('250')).length
    expect(kept).toHaveLength(2 + accepted)
    expect(kept.every(({ raw, subject }) => raw.includes(`Subject: ${subject}\r\n`))).toBe(true)
    const { siteId } = await stack.context.sites.find('one.test')
    const prefix = `sites/${siteId}/mail/`
    const { objects } = await stack.context.objects.list({ prefix, maxKeys: 100 })
    expect(objects).toHaveLength(kept.length)
  })
})
