import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { installRoot } from '#config/install-root.ts'
import { rawKey } from '#mail/objects/mail-keys.ts'
import { makeMailboxes } from '#test/inbound-mail.ts'
import { listen } from '#test/listener.ts'
import { type MailRow, type StoredMail, storeMail } from '#test/mail-rows.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft, program } from './croft.ts'

const shell = promisify(execFile)
const CROFT = `${process.execPath} ${join(installRoot(), 'bin/croft.js')}`
const PTY = spawnSync('script', ['--version']).status === 0
/** A colour, a title, a sequence of one character, and turned text. */
const HOSTILE = '\u001B[31mred\u001B]0;owned\u0007\u009B2J\u202Egpj.exe'
const HARMLESS = '[31mred]0;owned2Jgpj.exe'

let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
})
afterAll(() => stack[Symbol.asyncDispose]())

let made = 0
async function mailbox(): Promise<string> {
  const name = `mail-${++made}`
  await makeMailboxes(stack, 'one.test', [name])
  return `${name}@one.test`
}
const store = (address: string, row: Omit<MailRow, 'mailbox'> = {}): Promise<StoredMail> =>
  storeMail(stack, { mailbox: address, ...row })
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))

const run = (...args: string[]) => croft(['mail', ...args], env)
async function json(...args: string[]) {
  const ran = await run(...args, '--json')
  expect(ran).toMatchObject({ code: 0, err: '' })
  return JSON.parse(ran.out)
}
async function out(...args: string[]): Promise<string> {
  const ran = await run(...args)
  expect(ran).toMatchObject({ code: 0, err: '' })
  return ran.out
}

describe('croft mail list', () => {
  test('shows the newest first, a line each', async () => {
    const box = await mailbox()
    const older = await store(box, { subject: 'Older', receivedAt: at(1), seen: true })
    const file = { attachmentId: 'a', filename: 'a', contentType: 'text/plain', bytes: 'a' }
    const newer = await store(box, {
      subject: 'Newer',
      receivedAt: at(2),
      folder: 'ARCHIVE',
      attachments: [file],
    })
    const lines = (await out('list', box)).split('\n')
    expect(lines).toEqual([
      `2026-01-01T12:02:00.000Z  ${newer.messageId}  ARCHIVE  new  files  Eve <eve@else.test>  Newer`,
      `2026-01-01T12:01:00.000Z  ${older.messageId}  INBOX                Eve <eve@else.test>  Older`,
      '',
    ])
    const { items } = await json('list', box)
    expect(items).toMatchObject([
      { id: newer.messageId, mailbox: box, seen: false, hasAttachments: true },
      { id: older.messageId, mailbox: box, seen: true },
    ])
  })

  test('has what its options say', async () => {
    const box = await mailbox()
    await store(box, { subject: 'one', text: 'zebra lion', receivedAt: at(1) })
    await store(box, { subject: 'two', text: 'zebra', receivedAt: at(2), folder: 'ARCHIVE' })
    await store(box, { subject: 'three', text: 'lion', receivedAt: at(3) })
    const subjects = async (...args: string[]) =>
      (await json('list', box, ...args)).items.map(({ subject }: { subject: string }) => subject)
    expect(await subjects()).toEqual(['three', 'two', 'one'])
    expect(await subjects('--folder', 'archive')).toEqual(['two'])
    expect(await subjects('--folder', 'trash')).toEqual([])
    expect(await subjects('--since', at(2).toISOString())).toEqual(['three', 'two'])
    expect(await subjects('--search', 'zebra -lion')).toEqual(['two'])
    expect(await subjects('--limit', '2')).toEqual(['three', 'two'])
    expect(await out('list', box, '--folder', 'sent')).toBe('There is no such message\n')
  })

  test('goes on beyond a page', async () => {
    const box = await mailbox()
    for (let n = 0; n < 103; n++) await store(box, { receivedAt: at(n) })
    const ids = async (limit: string) => {
      const { items } = await json('list', box, '--limit', limit)
      return new Set(items.map(({ id }: { id: string }) => id)).size
    }
    expect(await ids('102')).toBe(102)
    expect(await ids('1000')).toBe(103)
  })
})

describe('croft mail show', () => {
  test('shows headers, verdict, files and text', async () => {
    const box = await mailbox()
    const { messageId, raw } = await store(box, {
      subject: 'Your invoice',
      text: 'Due soon.\nThanks\n',
      receivedAt: at(1),
      attachments: [
        { attachmentId: 'a', filename: '../a.pdf', contentType: 'application/pdf', bytes: 'abc' },
      ],
    })
    expect(await out('show', messageId, '--site', 'one.test')).toBe(
      [
        'from        Eve <eve@else.test>',
        `to          ${box}`,
        'subject     Your invoice',
        'received    2026-01-01T12:01:00.000Z',
        `mailbox     ${box}, INBOX, not seen`,
        'verdict     SPF pass, DKIM none, DMARC none',
        `size        ${Buffer.byteLength(raw)} bytes`,
        `id          ${messageId}`,
        `message id  ${messageId}@else.test`,
        '',
        'attachments',
        '  3 bytes  application/pdf  a.pdf',
        '',
        'Due soon.',
        'Thanks',
        '',
      ].join('\n'),
    )
    expect(await json('show', messageId, '--site', 'one.test')).toMatchObject({
      id: messageId,
      seen: false,
      text: 'Due soon.\nThanks\n',
      attachments: [{ filename: 'a.pdf', size: 3, url: expect.stringMatching(/^http/) }],
    })
  })

  test('shows the newest of a mailbox by its address', async () => {
    const box = await mailbox()
    expect(await run('show', box)).toMatchObject({
      code: 1,
      err: `croft mail show: "${box}" has no message outside the trash\n`,
    })
    await store(box, { subject: 'older', receivedAt: at(1) })
    const newer = await store(box, { subject: 'newer', receivedAt: at(2) })
    expect((await json('show', box)).id).toBe(newer.messageId)
  })

  test('waits a moment for what is not read yet', async () => {
    const { messageId } = await store(await mailbox(), { text: 'What it says' })
    const { json: detail } = await stack.portal('GET', `/sites/one.test/messages/${messageId}`)
    let reads = 0
    await using service = await listen(() => (_request, response) => {
      reads += 1
      response.end(JSON.stringify({ ...detail, parsing: reads < 3 ? 'pending' : 'parsed' }))
    })
    const show = ['show', messageId, '--site', 'one.test', '--url', service.origin]
    expect(await out(...show)).toMatch(/\n\nWhat it says\n$/)
    expect(reads).toBe(3)
  })

  test('gives the terminal nothing to act on', async () => {
    const box = await mailbox()
    const file = { attachmentId: 'a', filename: HOSTILE, contentType: 'text/plain', bytes: 'a' }
    await store(box, { subject: HOSTILE, from: HOSTILE, text: HOSTILE, attachments: [file] })
    for (const args of [
      ['list', box],
      ['show', box],
      ['list', box, '--json'],
      ['show', box, '--json'],
    ]) {
      const shown = await out(...args)
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(args.includes('--json') || shown.includes(HARMLESS)).toBe(true)
    }
    expect((await json('show', box)).text).toBe(HOSTILE)
  })

  test('streams the raw message unchanged, to a terminal only what is harmless', async () => {
    const box = await mailbox()
    const raw = `Subject: x\r\n\r\n${HOSTILE}\r\n${'0123456789\r\n'.repeat(200_000)}`
    const { messageId } = await store(box, { raw })
    const args = ['mail', 'show', messageId, '--site', 'one.test', '--raw']
    const piped = await program(args, env)
    expect(piped).toMatchObject({ code: 0, err: '' })
    expect(piped.out === raw).toBe(true)
    const options = { env: { ...process.env, ...env } }
    const cut = `set -o pipefail; ${CROFT} ${args.join(' ')} | head -c 9`
    expect(await shell('bash', ['-c', cut], options)).toEqual({ stdout: 'Subject: ', stderr: '' })
  })

  test.skipIf(!PTY)('streams to a terminal what it does not act on', async () => {
    const box = await mailbox()
    await store(box, { raw: `Subject: x\r\n\r\n${HOSTILE}\r\n` })
    const command = `${CROFT} mail show ${box} --raw`
    const options = { env: { ...process.env, ...env } }
    const { stdout } = await shell('script', ['-qec', command, '/dev/null'], options)
    expect(stdout.replaceAll('\r', '')).toBe(`Subject: x\n\n${HARMLESS}\n`)
  })

  test('finds no message by the id of one of another site', async () => {
    const { messageId } = await store(await mailbox())
    expect(await run('show', messageId, '--site', 'two.test')).toMatchObject({
      code: 1,
      err: `croft mail show: MessageNotFound: Message "${messageId}" does not exist\n`,
    })
  })

  test('fails when the bytes break off', async () => {
    const { messageId } = await store(await mailbox())
    const { json: detail } = await stack.portal('GET', `/sites/one.test/messages/${messageId}`)
    await using service = await listen((origin) => ({ url }, response) => {
      if (url !== '/raw')
        return response.end(JSON.stringify({ ...detail, rawUrl: `${origin}/raw` }))
      response.writeHead(200, { 'content-length': 100 })
      return response.write('Subject: ', () => response.destroy())
    })
    const args = ['show', messageId, '--site', 'one.test', '--raw', '--url', service.origin]
    expect(await run(...args)).toMatchObject({
      code: 1,
      err: 'croft mail show: The service broke off: not all of the bytes have come\n',
    })
  })

  test('fails where the bytes are gone', async () => {
    const box = await mailbox()
    const { rawId } = await store(box)
    const { siteId } = await stack.context.sites.find('one.test')
    await stack.context.objects.delete(rawKey(siteId, rawId))
    expect(await run('show', box, '--raw')).toEqual({
      code: 1,
      out: '',
      err: 'croft mail show: The service answered 404 ObjectNotFound instead of the bytes\n',
    })
  })
})

test.each([
  [['list'], 2, 'ADDRESS is missing'],
  [['list', 'one.test'], 2, '"one.test" is no address'],
  [['list', 'info@one.test', '--folder', 'spam'], 2, 'inbox or sent or archive or trash'],
  [['list', 'info@one.test', '--limit', '0'], 2, '--limit is a whole number from 1 to 10000'],
  [['list', 'info@one.test', '--since', 'monday'], 1, 'must be a time such as'],
  [['list', 'nobody@one.test'], 1, 'MailboxNotFound: Mailbox "nobody@one.test" does not exist'],
  [['list', 'info@none.test'], 1, 'SiteNotFound'],
  [['show'], 2, 'MESSAGE is missing'],
  [['show', 'msg_1'], 2, '--site is missing'],
  [['show', 'info@one.test', '--site', 'one.test'], 2, '--site goes with an id'],
  [['show', 'msg_1', '--site', 'one.test'], 1, 'MessageNotFound: Message "msg_1" does not exist'],
  [['show', 'info@one.test', '--raw', '--json'], 2, '--raw and --json exclude each other'],
])('croft mail %j is refused', async (args, code, words) => {
  expect(await run(...args)).toMatchObject({ code, out: '', err: expect.stringContaining(words) })
})

describe('croft mail send and reply', () => {
  test('send a message, answer it, and tell what becomes of it', async () => {
    const box = await mailbox()
    const words = ['--to', 'Vic <vic@else.test>', '--cc', 'eve@else.test', '--subject', 'Hello']
    const sent = await json('send', box, ...words, '--text', 'How are you?')
    const shown = await json('show', sent.id, '--site', 'one.test')
    expect(shown).toMatchObject({ to: ['Vic <vic@else.test>'], folder: 'SENT', subject: 'Hello' })
    await vi.waitFor(async () => {
      expect(await out('show', sent.id, '--site', 'one.test')).toMatch(
        /sent to\n {2}eve@else\.test +captured *\n {2}vic@else\.test +captured/,
      )
    })
    const answer = await json('reply', box, '--text', 'One more thing')
    expect(answer.threadId).toBe(sent.threadId)
    const toAll = ['reply', sent.id, '--site', 'one.test', '--all', '--text', 'And to all']
    const said = await out(...toAll)
    expect(said).toContain('on its way')
    const [, command = ''] = /croft mail (.*) tells/.exec(said) ?? []
    expect(await out(...command.split(' '))).toContain('Re: Hello')
    const all = await json('show', box)
    expect(all).toMatchObject({ subject: 'Re: Hello', cc: ['eve@else.test'] })
  })

  test('say what is missing', async () => {
    const box = await mailbox()
    expect(await run('send', box, '--subject', 'x')).toMatchObject({ code: 2 })
    expect((await run('reply', box, '--text', 'x')).err).toContain('has no message')
    const nobody = await run(
      'send',
      `nobody@one.test`,
      '--to',
      'a@b.test',
      '--subject',
      'x',
      '--text',
      'x',
    )
    expect(nobody.err).toContain('nobody@one.test')
  })
})

describe('croft mail suppressions', () => {
  test('shows what came back, until it is taken from the list', async () => {
    expect(await out('suppressions', 'one.test')).toContain('No address')
    await stack.inSite('one.test', (tx) =>
      stack.context.suppressions.add(tx, 'Gone@else.test', '550 \u001B[31mno'),
    )
    expect(await out('suppressions', 'one.test')).toMatch(/gone@else\.test +550 \[31mno/)
    expect(await out('suppressions', 'two.test')).toContain('No address')
    const remove = ['unsuppress', 'one.test', '--address', 'gone@else.test']
    expect(await out(...remove)).toContain('again')
    expect(await run(...remove)).toMatchObject({ code: 1 })
  })
})

describe('croft mail reparse', () => {
  const outdated = () =>
    stack.inSite('two.test', (tx) =>
      tx.db.updateTable('mail_raw').set({ parse_version: 0 }).execute(),
    )

  test('parses the messages of a site again, and reports how far it is', async () => {
    await makeMailboxes(stack, 'two.test', ['reparsed'])
    const stored = await storeMail(stack, { mailbox: 'reparsed@two.test', text: 'of the bytes' })
    await stack.inSite('two.test', (tx) =>
      tx.db.updateTable('mail_content').set({ text: 'former text' }).execute(),
    )
    await outdated()
    expect(await json('reparse', 'two.test', '--status')).toEqual({
      messages: 1,
      left: 1,
      failed: 0,
    })
    const { code, out: said, err } = await run('reparse', 'two.test')
    expect(code).toBe(0)
    expect(said).toBe(
      '1 of 1 messages of two.test are parsed and indexed as this version does it.\n',
    )
    expect(err).toMatch(/^It goes on when this command is interrupted.*\n1 of 1 messages, /)
    expect(await out('show', stored.messageId, '--site', 'two.test')).toContain('of the bytes')
  })

  test('returns at once with --detach, and does it all again with --again', async () => {
    expect(await json('reparse', 'two.test', '--again', '--detach')).toEqual({
      messages: 1,
      left: 1,
      failed: 0,
    })
    await vi.waitUntil(async () => (await json('reparse', 'two.test', '--status')).left === 0, {
      timeout: 20_000,
    })
    expect(await out('reparse', 'two.test')).toContain('1 of 1 messages')
    expect(await out('reparse', 'two.test', '--again', '--detach')).toBe(
      '1 of 1 messages of two.test are to be parsed and indexed again.\n',
    )
  })

  test.each(['--again', '--detach'])('only says how far it is, or %s', async (option) => {
    expect(await run('reparse', 'two.test', '--status', option)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--status starts nothing'),
    })
  })

  test('says of how many nothing better could be made', async () => {
    const gone = await storeMail(stack, { mailbox: 'reparsed@two.test' })
    const { siteId } = await stack.context.sites.find('two.test')
    await stack.context.objects.delete(rawKey(siteId, gone.rawId))
    await outdated()
    const { out: said } = await run('reparse', 'two.test')
    expect(said).toContain('1 of them could not be parsed again')
  })

  test('names a site that there is not', async () => {
    expect(await run('reparse', 'none.test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('SiteNotFound'),
    })
  })
})
