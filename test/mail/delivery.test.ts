import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

/** The queue waits five seconds before it tries again. */
const PATIENCE = { timeout: 40_000, interval: 50 }

let server: SmtpServer
let stack: Stack
let second: Stack
const resources = new AsyncDisposableStack()
beforeAll(async () => {
  server = resources.use(await SmtpServer.start())
  const replica = async (beside?: Stack) => {
    const mailTransport = resources.use(new SmtpGateway(`smtp://127.0.0.1:${server.port}`))
    const options = { platform: { mailTransport }, ...(beside && { beside }) }
    return resources.use(await startStack(options))
  }
  stack = await replica()
  second = await replica(stack)
})
afterAll(() => resources.disposeAsync())
beforeEach(() => {
  server.answer = () => undefined
})

const send = (email: AuthEmail, from = stack, host = 'one.test') =>
  from.inSite(host, (tx, site) => from.context.authEmails.send(tx, site, email))
const notice = (to: string): AuthEmail => ({ kind: 'password-changed', pool: 'data', to })
const takenFor = (to: string) => server.messages.filter((message) => message.to.includes(to))
const messageIdIn = (data: string) => /^Message-ID: (<\S+>)$/im.exec(data)?.[1]

const rowFor = (recipient: string, host = 'one.test') =>
  stack.inSite(host, (tx, { siteId }) =>
    tx.db
      .selectFrom('outbound_message')
      .select(['message_id', 'status', 'sealed', 'attempts', 'error'])
      .where('site_id', '=', siteId)
      .where('recipient', '=', recipient)
      .executeTakeFirstOrThrow(),
  )

/** The final dots of messages to that address, in order; each is answered so. */
function answerMessagesTo(to: string, answers: readonly (string | undefined)[]): string[] {
  const seen: string[] = []
  server.answer = (verb, line) => {
    if (verb !== 'MESSAGE' || !line.includes(`To: ${to}`)) return undefined
    seen.push(line)
    return answers[seen.length - 1]
  }
  return seen
}

describe('a message for the gateway', () => {
  test('leaves in its site’s name, and is marked as sent and forgotten', async () => {
    for (const host of ['one.test', 'two.test']) {
      await send(notice(`vic@${host}`), stack, host)
      await expect.poll(() => takenFor(`vic@${host}`), PATIENCE).toHaveLength(1)
      const [message] = takenFor(`vic@${host}`)
      expect(message?.from).toBe(`no-reply@${host}`)
      expect(message?.data).toContain(`From: "${host}" <no-reply@${host}>`)
      await expect
        .poll(() => rowFor(`vic@${host}`, host), PATIENCE)
        .toMatchObject({ status: 'sent', sealed: null, attempts: 1 })
    }
    expect(stack.context.authEmails.delivers).toBe(true)
    expect((await stack.portal('GET', '/outbox')).json.items).toEqual([])
  })

  test.each([
    ['is deferred', 'later@retry.test', ['451 4.7.1 greylisted']],
    ['loses its connection', 'lost@retry.test', ['hang up']],
  ])('comes again as the same message when it %s', async (_what, to, answers) => {
    const seen = answerMessagesTo(to, answers)
    await send(notice(to))
    await expect.poll(() => takenFor(to), PATIENCE).toHaveLength(1)
    expect(seen).toHaveLength(answers.length + 1)
    // Not only its id: all of it, so that a recipient who got it twice sees that it is one.
    expect(new Set(seen).size).toBe(1)
    const row = await rowFor(to)
    expect(messageIdIn(takenFor(to)[0]?.data ?? '')).toBe(`<${row.message_id}@one.test>`)
    await expect
      .poll(() => rowFor(to), PATIENCE)
      .toMatchObject({ status: 'sent', sealed: null, attempts: 2 })
  })

  test('keeps the name that its site had when it was written', async () => {
    await stack.createSite({ domain: 'before.test', superAdmins: [] })
    const seen = answerMessagesTo('mover@retry.test', ['451 4.3.0 later'])
    await send(notice('mover@retry.test'), stack, 'before.test')
    await expect.poll(() => seen, PATIENCE).toHaveLength(1)
    await stack.portal('PATCH', '/sites/before.test', { domain: 'after.test' })
    await expect.poll(() => takenFor('mover@retry.test'), PATIENCE).toHaveLength(1)
    expect(seen[1]).toBe(seen[0])
    expect(seen[1]).toContain('no-reply@before.test')
  })

  test('is given up at once when it is refused', async () => {
    const to = 'nobody@refused.test'
    server.answer = (verb, line) =>
      verb === 'RCPT' && line.includes(to) ? '550 5.1.1 no such user' : undefined
    await send(notice(to))
    await expect
      .poll(() => rowFor(to), PATIENCE)
      .toMatchObject({
        status: 'failed',
        sealed: null,
        attempts: 1,
        error: expect.stringContaining('550 5.1.1 no such user'),
      })
    expect(takenFor(to)).toEqual([])
  })

  test('is given up at once when mail cannot be sent to its address', async () => {
    const to = 'vic,eve@example.org'
    await send(notice(to))
    await expect
      .poll(() => rowFor(to), PATIENCE)
      .toMatchObject({ status: 'failed', sealed: null, attempts: 1 })
    expect(server.commands.filter((line) => line.includes('eve@'))).toEqual([])
  })

  test('is given up after its last try', async () => {
    const to = 'never@retry.test'
    server.answer = (verb, line) =>
      verb === 'RCPT' && line.includes(to) ? '452 4.2.2 full' : undefined
    await stack.inSite('one.test', async (tx, site) => {
      await stack.context.authEmails.send(tx, site, notice(to))
      await tx.db
        .updateTable('outbound_message')
        .set({ attempts: 24 })
        .where('site_id', '=', site.siteId)
        .where('recipient', '=', to)
        .execute()
    })
    await expect
      .poll(() => rowFor(to), PATIENCE)
      .toMatchObject({
        status: 'failed',
        sealed: null,
        attempts: 25,
        error: expect.stringContaining('452 4.2.2 full'),
      })
  })

  test('does not hold up those behind it', async () => {
    const to = 'slow@retry.test'
    server.answer = (verb, line) =>
      verb === 'RCPT' && line.includes(to) ? '451 4.3.0 later' : undefined
    await send(notice(to))
    await send(notice('quick@retry.test'))
    await expect.poll(() => takenFor('quick@retry.test'), PATIENCE).toHaveLength(1)
    expect(takenFor(to)).toEqual([])
    server.answer = () => undefined
    await expect.poll(() => takenFor(to), PATIENCE).toHaveLength(1)
  })

  test('is sent once, whichever of two replicas takes it', async () => {
    const addresses = Array.from({ length: 60 }, (_, at) => `many-${at}@example.org`)
    await Promise.all(
      addresses.map((to, at) =>
        send(notice(to), at % 2 ? stack : second, at % 3 ? 'one.test' : 'two.test'),
      ),
    )
    const taken = () => server.messages.filter(({ to }) => to[0]?.startsWith('many-'))
    await expect.poll(() => taken().length, PATIENCE).toBeGreaterThanOrEqual(60)
    const queued = async (host: string) =>
      stack.inSite(host, (tx, { siteId }) =>
        tx.db
          .selectFrom('outbound_message')
          .select('message_id')
          .where('site_id', '=', siteId)
          .where('status', '=', 'queued')
          .execute(),
      )
    for (const host of ['one.test', 'two.test']) {
      await expect.poll(() => queued(host), PATIENCE).toEqual([])
    }
    const recipients = taken().flatMap(({ to }) => to)
    expect(recipients).toHaveLength(60)
    expect(new Set(recipients)).toEqual(new Set(addresses))
  })
})
