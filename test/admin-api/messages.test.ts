import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import type { Answer } from '#test/http-client.ts'
import { type MailRow, type StoredMail, storeMail } from '#test/mail-rows.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let ann: Member
let ursula: Member
let uwe: Member
beforeAll(async () => {
  stack = await startStack()
  const pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  ursula = await pool.joined('user')
  uwe = await pool.joined('user')
})
afterAll(() => stack[Symbol.asyncDispose]())

let made = 0
/** A mailbox of its own for a test. */
async function mailbox(owners: readonly Member[] = [ursula]): Promise<string> {
  const address = `mail-${++made}@one.test`
  const body = { address, owners: owners.map(({ userId }) => userId) }
  const answer = await ann.call('POST', '/mailboxes', { body })
  if (answer.status !== 200) throw new Error(answer.text)
  return address
}
const store = (address: string, row: Omit<MailRow, 'mailbox'> = {}): Promise<StoredMail> =>
  storeMail(stack, { mailbox: address, ...row })
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))
const list = (query: Readonly<Record<string, string>>, by = ursula) =>
  by.call('GET', `/messages?${new URLSearchParams(query).toString()}`)
const subjects = ({ json }: Answer): string[] =>
  json.items.map(({ subject }: { subject: string }) => subject)
/** What a signed URL leads to. */
const open = (url: string): Promise<Answer> => {
  const { hostname, pathname, search } = new URL(url)
  return stack.call(hostname, 'GET', pathname + search)
}
const codeOf = ({ status, json }: Answer) => [status, json?.error?.code]
const post = (path: string, body?: unknown, by = ursula) =>
  by.call('POST', `/messages/${path}`, { ...(body !== undefined && { body }) })

describe('a list of messages', () => {
  test('shows the newest first, each as it is', async () => {
    const box = await mailbox()
    const older = await store(box, { subject: 'Older', receivedAt: at(1), seen: true })
    const newer = await store(box, {
      subject: 'Newer',
      receivedAt: at(2),
      text: 'What it says',
      attachments: [
        { attachmentId: 'a1', filename: 'a.pdf', contentType: 'application/pdf', bytes: 'x' },
      ],
    })
    const answer = await list({ mailbox: box })
    expect(answer.json.items[0]).toEqual({
      id: newer.messageId,
      mailbox: box,
      folder: 'INBOX',
      subject: 'Newer',
      hasAttachments: true,
      seen: false,
      from: 'Eve <eve@else.test>',
      to: [box],
      threadId: `thr_${newer.messageId}`,
      snippet: 'What it says',
      receivedAt: at(2).toISOString(),
      deleted: false,
    })
    expect(answer.json.items[1]).toMatchObject({ id: older.messageId, seen: true })
    expect(answer.json.nextToken).toBeNull()
  })

  test('goes on page by page, also through messages of one moment', async () => {
    const box = await mailbox()
    for (let n = 0; n < 7; n++) await store(box, { subject: `${n}`, receivedAt: at(n < 5 ? 1 : n) })
    const seen: string[] = []
    for (let next: string | null = ''; next !== null;) {
      const answer = await list({
        mailbox: box,
        limit: '2',
        ...(next !== '' && { nextToken: next }),
      })
      seen.push(...subjects(answer))
      next = answer.json.nextToken
    }
    expect(seen).toHaveLength(7)
    expect(seen.slice(0, 2)).toEqual(['6', '5'])
    expect(new Set(seen).size).toBe(7)
  })

  test('takes a token for the list alone that it was made for', async () => {
    const box = await mailbox()
    for (let n = 0; n < 2; n++) await store(box)
    const { json } = await list({ mailbox: box, limit: '1' })
    const again = { limit: '1', nextToken: json.nextToken }
    expect((await list({ mailbox: box, ...again })).status).toBe(200)
    expect(codeOf(await list(again))).toEqual([400, 'InvalidNextToken'])
    expect(codeOf(await list({ mailbox: box, folder: 'inbox', ...again }))).toEqual([
      400,
      'InvalidNextToken',
    ])
    expect(codeOf(await list({ mailbox: box, ...again }, ann))).toEqual([400, 'InvalidNextToken'])
  })

  test('has a folder of each name in any letters, and without one all but the trash', async () => {
    const box = await mailbox()
    await store(box, { subject: 'in' })
    await store(box, { subject: 'sent', folder: 'SENT' })
    await store(box, { subject: 'archive', folder: 'ARCHIVE' })
    const trashed = await store(box, { subject: 'trash' })
    const deleted = await store(box, { subject: 'deleted' })
    await ursula.call('DELETE', `/messages/${trashed.messageId}`)
    for (let n = 0; n < 2; n++) await ursula.call('DELETE', `/messages/${deleted.messageId}`)
    const shown = async (query: Record<string, string>) =>
      subjects(await list({ mailbox: box, ...query })).toSorted()
    expect(await shown({})).toEqual(['archive', 'in', 'sent'])
    expect(await shown({ folder: 'Inbox' })).toEqual(['in'])
    expect(await shown({ folder: 'SENT' })).toEqual(['sent'])
    expect(await shown({ folder: 'archive' })).toEqual(['archive'])
    expect(await shown({ folder: 'Trash' })).toEqual(['trash'])
    expect(await shown({ folder: 'Trash', includeDeleted: 'true' })).toEqual(['deleted', 'trash'])
    expect(await shown({ folder: 'INBOX', includeDeleted: 'true' })).toEqual(['in'])
    expect(await shown({ includeDeleted: 'true' })).toEqual([
      'archive',
      'deleted',
      'in',
      'sent',
      'trash',
    ])
  })

  test.each([
    ['startTime', 'endTime'],
    ['from', 'to'],
    ['since', 'until'],
    ['after', 'before'],
  ])('has those from %s, and none from %s on', async (from, to) => {
    const box = await mailbox()
    for (let n = 1; n <= 4; n++) await store(box, { subject: `${n}`, receivedAt: at(n) })
    const query = { mailbox: box, [from]: at(2).toISOString(), [to]: at(4).toISOString() }
    expect(subjects(await list(query))).toEqual(['3', '2'])
  })

  test('has what was seen, what was not, and one conversation', async () => {
    const box = await mailbox()
    await store(box, { subject: 'new', threadId: 'thr_a' })
    await store(box, { subject: 'read', seen: true, threadId: 'thr_a', folder: 'SENT' })
    await store(box, { subject: 'other', seen: true })
    expect(subjects(await list({ mailbox: box, seen: 'false' }))).toEqual(['new'])
    expect(subjects(await list({ mailbox: box, seen: 'true' })).toSorted()).toEqual([
      'other',
      'read',
    ])
    expect(subjects(await list({ mailbox: box, threadId: 'thr_a' })).toSorted()).toEqual([
      'new',
      'read',
    ])
  })

  test('without a mailbox has all that the reader may read', async () => {
    const [hers, his, both] = [await mailbox(), await mailbox([uwe]), await mailbox([ursula, uwe])]
    await store(hers, { subject: 'hers', threadId: 'thr_all' })
    await store(his, { subject: 'his', threadId: 'thr_all' })
    await store(both, { subject: 'both', threadId: 'thr_all' })
    const shown = async (by: Member) => subjects(await list({ threadId: 'thr_all' }, by)).toSorted()
    expect(await shown(ursula)).toEqual(['both', 'hers'])
    expect(await shown(uwe)).toEqual(['both', 'his'])
    expect(await shown(ann)).toEqual(['both', 'hers', 'his'])
  })

  test('of a mailbox that is disabled stays readable to its owners', async () => {
    const box = await mailbox()
    await store(box, { subject: 'kept' })
    await ann.call('DELETE', `/mailboxes/${box}`)
    expect(subjects(await list({ mailbox: box }))).toEqual(['kept'])
    expect(subjects(await list({ mailbox: box }, ann))).toEqual(['kept'])
    expect(codeOf(await list({ mailbox: box }, uwe))).toEqual([404, 'MailboxNotFound'])
  })

  test.each([
    ['folder', 'spam'],
    ['includeDeleted', 'yes'],
    ['seen', '1'],
    ['startTime', 'yesterday'],
    ['before', '12'],
    ['limit', '0'],
    ['q', '!!'],
    ['q', 'word '.repeat(100)],
  ])('is refused with %s=%s', async (name, value) => {
    expect(codeOf(await list({ [name]: value }))).toEqual([400, 'ValidationError'])
  })

  test.each(['nobody@one.test', 'info@two.test', 'x', ''])(
    'of the mailbox "%s" is not there',
    async (address) => {
      expect(codeOf(await list({ mailbox: address }, ann))).toEqual([404, 'MailboxNotFound'])
    },
  )
})

describe('a search', () => {
  test.each([
    ['one word', 'invoice', ['paid', 'open']],
    ['all of several', 'invoice march', ['open']],
    ['a word in other letters', 'INVOICE March', ['open']],
    ['a phrase', '"due soon"', ['open']],
    ['a phrase in another order', '"soon due"', []],
    ['the beginning of a word', 'invo*', ['paid', 'open']],
    ['what must not be there', 'invoice -march', ['paid']],
    ['only what must not be there', '-invoice', ['else']],
    ['a word outside ASCII', 'größe', ['else']],
    ['an address', 'eve@else.test', ['else', 'paid', 'open']],
    ['words around a quote of SQL', "in'voice", ['else']],
    ['words around an operator of Postgres', 'invoice|of', ['open']],
  ])('finds %s', async (_what, q, found) => {
    const box = await mailbox()
    await store(box, {
      subject: 'open',
      text: 'Your invoice of March, due soon',
      receivedAt: at(1),
    })
    await store(box, { subject: 'paid', text: 'An invoice that was paid', receivedAt: at(2) })
    await store(box, { subject: 'else', text: 'In voice: Größe passt', receivedAt: at(3) })
    expect(subjects(await list({ mailbox: box, q }))).toEqual(found)
  })

  test('looks through all mailboxes of the reader, and no other', async () => {
    const [hers, his] = [await mailbox(), await mailbox([uwe])]
    await store(hers, { subject: 'hers', text: 'zebra one' })
    await store(his, { subject: 'his', text: 'zebra two' })
    expect(subjects(await list({ q: 'zebra' }))).toEqual(['hers'])
    expect(subjects(await list({ q: 'zebra' }, uwe))).toEqual(['his'])
    expect(subjects(await list({ q: 'zebra' }, ann)).toSorted()).toEqual(['hers', 'his'])
  })

  test('is not led to another mailbox by its id', async () => {
    const [hers, his] = [await mailbox(), await mailbox([uwe])]
    await store(hers, { subject: 'hers' })
    await store(his, { subject: 'his' })
    const id = await stack.inSite('one.test', async (tx, { siteId }) => {
      const rows = await tx.db
        .selectFrom('mailbox')
        .select('mailbox_id as id')
        .where('site_id', '=', siteId)
        .where('local_part', '=', his.split('@')[0] ?? '')
        .execute()
      return rows[0]?.id ?? ''
    })
    expect(subjects(await list({ q: id }))).toEqual([])
    expect(subjects(await list({ q: `"${id}"` }))).toEqual([])
  })

  test('goes with folders, times and pages', async () => {
    const box = await mailbox()
    for (let n = 1; n <= 5; n++) {
      await store(box, {
        subject: `${n}`,
        text: 'lion',
        receivedAt: at(n),
        folder: n === 3 ? 'ARCHIVE' : 'INBOX',
      })
    }
    const query = { mailbox: box, q: 'lion', folder: 'inbox', endTime: at(5).toISOString() }
    const first = await list({ ...query, limit: '2' })
    expect(subjects(first)).toEqual(['4', '2'])
    const { nextToken } = first.json
    expect(subjects(await list({ ...query, limit: '2', nextToken }))).toEqual(['1'])
  })
})

describe('a message', () => {
  test('is shown whole, with URLs that lead to its bytes', async () => {
    const box = await mailbox()
    const stored = await store(box, {
      subject: 'Hello',
      text: 'Hello there',
      html: '<p>Hello</p>',
      receivedAt: at(1),
      attachments: [
        { attachmentId: 'a1', filename: '../r.html', contentType: 'text/html', bytes: '<b>' },
      ],
    })
    const { json } = await ursula.call('GET', `/messages/${stored.messageId}`)
    expect(json).toMatchObject({
      id: stored.messageId,
      mailbox: box,
      folder: 'INBOX',
      from: 'Eve <eve@else.test>',
      to: [box],
      cc: [],
      replyTo: [],
      text: 'Hello there',
      html: '<p>Hello</p>',
      messageId: `${stored.messageId}@else.test`,
      inReplyTo: null,
      references: [],
      authentication: { spf: 'pass', dkim: 'none', dmarc: 'none' },
      parsing: 'parsed',
      truncated: false,
      size: Buffer.byteLength(stored.raw),
    })
    const raw = await open(json.rawUrl)
    expect(raw.text).toBe(stored.raw)
    const [attachment] = json.attachments
    expect(attachment).toMatchObject({ filename: 'r.html', size: 3, inline: false })
    const expiresIn = Date.parse(attachment.expiresAt) - Date.now()
    expect(Math.round(expiresIn / 60_000)).toBe(15)
    const part = await open(attachment.url)
    expect(part.text).toBe('<b>')
    for (const answer of [raw, part]) {
      expect(answer.headers['content-disposition']).toMatch(/^attachment; filename=/)
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
      expect(answer.headers['content-security-policy']).toBe('sandbox')
    }
  })

  test('shows its own images, and no others', async () => {
    const png = { contentType: 'image/png', filename: 'i.png', inline: true, bytes: 'png' }
    const svg = { contentType: 'image/svg+xml', filename: 'i.svg', inline: true, bytes: '<svg/>' }
    const { messageId } = await store(await mailbox(), {
      html: '<img src="cid:one@x"><img src="cid:a%26b"><img src="cid:two@x"><img src="cid:no">',
      attachments: [
        { attachmentId: 'p1', contentId: 'one@x', ...png },
        { attachmentId: 'p2', contentId: 'a&b', ...png },
        { attachmentId: 's1', contentId: 'two@x', ...svg },
      ],
    })
    const { json } = await ursula.call('GET', `/messages/${messageId}`)
    const sources = [...json.html.matchAll(/src="([^"]*)"/g)].map(([, src]) =>
      src.replaceAll('&amp;', '&'),
    )
    expect(sources.slice(2)).toEqual(['', ''])
    for (const src of sources.slice(0, 2)) {
      const answer = await open(src)
      expect(answer.text).toBe('png')
      expect(answer.headers['content-type']).toBe('image/png')
      expect(answer.headers['content-disposition']).toBeUndefined()
    }
  })

  test('that is not parsed yet, or never, is shown by its headers and its raw bytes', async () => {
    for (const parseStatus of ['pending', 'failed'] as const) {
      const stored = await store(await mailbox(), { subject: 'Early', parseStatus })
      const { json } = await ursula.call('GET', `/messages/${stored.messageId}`)
      expect(json).toMatchObject({ subject: 'Early', parsing: parseStatus, text: '', html: null })
      expect((await open(json.rawUrl)).text).toBe(stored.raw)
    }
  })

  test('is not given out by a URL that was changed', async () => {
    const stored = await store(await mailbox())
    const other = await store(await mailbox([uwe]))
    const { json } = await ursula.call('GET', `/messages/${stored.messageId}`)
    const url = new URL(json.rawUrl)
    const changed = [
      url.href.replace(/expires=\d+/, 'expires=99999999999'),
      url.href.replace(/name=[^&]+/, 'name=x.html'),
      url.href.replace(/&name=[^&]+/, ''),
      url.href.replace(/signature=../, 'signature=xx'),
      url.href.replace('one.test', 'two.test'),
      url.href.replace(
        url.pathname,
        `/objects/${Buffer.from(
          Buffer.from(url.pathname.split('/').at(-1) ?? '', 'base64url')
            .toString()
            .replace(stored.rawId, other.rawId),
        ).toString('base64url')}`,
      ),
    ]
    for (const each of changed) {
      expect(each).not.toBe(url.href)
      expect((await open(each)).status, each).toBe(403)
    }
  })
})

describe('a change of a message', () => {
  const folderOf = async (messageId: string) => {
    const { json } = await ursula.call('GET', `/messages/${messageId}`)
    return [json.folder, json.deleted]
  }

  test('marks it as seen, and as not seen', async () => {
    const { messageId } = await store(await mailbox())
    for (const seen of [true, true, false]) {
      const { json } = await post(`${messageId}/seen`, { seen })
      expect(json).toEqual({ id: messageId, seen })
      expect((await ursula.call('GET', `/messages/${messageId}`)).json.seen).toBe(seen)
    }
  })

  test.each(['INBOX', 'SENT', 'ARCHIVE'] as const)(
    'deletes it from %s to the trash, from there permanently, and restores it',
    async (folder) => {
      const { messageId } = await store(await mailbox(), { folder })
      const remove = () => ursula.call('DELETE', `/messages/${messageId}`)
      for (const [expected, deleted] of [
        ['TRASH', false],
        ['TRASH', true],
        ['TRASH', true],
      ]) {
        expect((await remove()).status).toBe(204)
        expect(await folderOf(messageId)).toEqual([expected, deleted])
      }
      for (let n = 0; n < 2; n++) {
        const { json } = await post(`${messageId}/restore`, { messageId })
        expect(json).toEqual({ id: messageId, deleted: false, folder })
      }
      expect(await folderOf(messageId)).toEqual([folder, false])
    },
  )

  test('archives it, also out of the trash', async () => {
    const { messageId } = await store(await mailbox())
    for (let n = 0; n < 2; n++) expect((await post(`${messageId}/archive`)).status).toBe(204)
    await ursula.call('DELETE', `/messages/${messageId}`)
    await post(`${messageId}/archive`)
    expect(await folderOf(messageId)).toEqual(['ARCHIVE', false])
  })

  test('restores no other message than the path names', async () => {
    const { messageId } = await store(await mailbox())
    const answer = await post(`${messageId}/restore`, { messageId: 'another' })
    expect(codeOf(answer)).toEqual([400, 'ValidationError'])
  })
})

describe('to others', () => {
  const routes = (id: string): readonly (readonly [string, string, unknown?])[] => [
    ['GET', `/messages/${id}`],
    ['DELETE', `/messages/${id}`],
    ['POST', `/messages/${id}/seen`, { seen: true }],
    ['POST', `/messages/${id}/archive`],
    ['POST', `/messages/${id}/restore`, {}],
  ]

  test('a message is as little there as one that is none', async () => {
    const box = await mailbox()
    const { messageId } = await store(box)
    const stranger = await new AdminPool(stack, 'two.test').first()
    const bodyOf = ({ json }: Answer) => ({ ...json.error, requestId: '' })
    for (const by of [uwe, stranger]) {
      for (const [method, path, body] of routes(messageId)) {
        const answer = await by.call(method, path, { body })
        expect(codeOf(answer), path).toEqual([404, 'MessageNotFound'])
        const none = await by.call(method, path.replace(messageId, 'msg_none'), { body })
        expect(JSON.stringify(bodyOf(answer)).replaceAll(messageId, 'msg_none')).toBe(
          JSON.stringify(bodyOf(none)),
        )
      }
      expect(codeOf(await list({ mailbox: box }, by))).toEqual([404, 'MailboxNotFound'])
      const stream = await by.call('GET', `/messages/stream?mailbox=${box}`)
      expect(codeOf(stream)).toEqual([404, 'MailboxNotFound'])
    }
    const { json } = await ursula.call('GET', `/messages/${messageId}`)
    expect(json).toMatchObject({ seen: false, folder: 'INBOX' })
  })

  test('no route is open without a token, or with a token of another site', async () => {
    const { messageId } = await store(await mailbox())
    const purges = [
      ['POST', `/messages/${messageId}/purge`],
      ['POST', '/messages/purge', { messageIds: [messageId], force: true }],
      ['POST', '/messages/purge-deleted', { confirm: true }],
      ['POST', '/messages/purge-all', { confirm: true }],
    ] as const
    const lists = [['GET', '/messages'] as const, ['GET', '/messages/stream'] as const]
    for (const [method, path, body] of [...routes(messageId), ...lists, ...purges]) {
      const foreign = await stack.adminToken('two.test')
      for (const token of [undefined, foreign, await stack.dataToken('one.test')]) {
        const answer = await stack.call('one.test', method, `/admin/api${path}`, { token, body })
        expect(answer.status, path).toBe(401)
      }
    }
    const admin = await new AdminPool(stack, 'one.test').joined('admin')
    for (const [method, path, body] of purges) {
      for (const by of [ursula, admin]) {
        expect(codeOf(await by.call(method, path, { body })), path).toEqual([403, 'Forbidden'])
      }
    }
    expect((await ursula.call('GET', `/messages/${messageId}`)).status).toBe(200)
  })
})
