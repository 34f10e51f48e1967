import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Config } from '#config/config.ts'
import { SmtpListener } from '#platform/smtp-server/smtp-listener.ts'
import { RawSmtp, keptMessages, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { LazySandbox } from '#test/lazy-sandbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

const cleanUp = new AsyncDisposableStack()
let first: Stack
beforeAll(async () => {
  first = cleanUp.use(await startStack({ config: { mail: mailSettings() } }))
  for (const host of ['one.test', 'two.test']) await makeMailboxes(first, host, ['info'])
})
afterAll(() => cleanUp.disposeAsync())

/** A mail server of its own on the same database, with those limits. */
async function limited(
  limits: Partial<Config['mail']['smtpLimits']>,
): Promise<{ port: number; stack: Stack } & AsyncDisposable> {
  const config = { mail: mailSettings({ smtpLimits: limits }) }
  const openSandbox = async () => new LazySandbox(() => Promise.reject(new Error('no code runs')))
  const stack = await startStack({ beside: first, works: false, config, platform: { openSandbox } })
  const port = await stack.context.smtp.start()
  return {
    port,
    stack,
    async [Symbol.asyncDispose]() {
      await stack.context.smtp.drain(1000)
      await stack[Symbol.asyncDispose]()
    },
  }
}

let made = 0
const unique = (): string => `Subject: Number ${++made}\r\n\r\nText\r\n`
const accepted = '250 2.6.0 accepted'

describe('a client is turned away', () => {
  test('when its network has too many connections, until one of them ends', async () => {
    await using server = await limited({ connectionsPerNetwork: 2 })
    const one = await RawSmtp.greeted(server.port)
    await using two = await RawSmtp.greeted(server.port)
    await using three = await RawSmtp.connect(server.port)
    expect(await three.reply()).toBe('421 4.7.0 Too many connections from your network')
    await three.closed()
    expect(await one.command('QUIT')).toBe('221 2.0.0 Bye')
    await one.closed()
    expect(await two.command('NOOP')).toBe('250 2.0.0 OK')
    await expect
      .poll(async () => {
        await using four = await RawSmtp.connect(server.port)
        return (await four.reply()).slice(0, 3)
      })
      .toBe('220')
  })

  test('when the server has too many connections', async () => {
    await using server = await limited({ connections: 1 })
    await using one = await RawSmtp.greeted(server.port)
    await using two = await RawSmtp.connect(server.port)
    expect(await two.reply()).toBe(
      '421 mx.croft.test Too many connected clients, try again in a moment',
    )
    expect(await one.command('NOOP')).toBe('250 2.0.0 OK')
  })

  test('after too many commands without a message', async () => {
    await using server = await limited({})
    await using client = await RawSmtp.greeted(server.port)
    const replies = await client.commands(...Array.from({ length: 299 }, () => 'NOOP'))
    expect(replies).toBe('250 2.0.0 OK')
    expect(await client.command('NOOP')).toMatch(/^421 4\.7\.0 Too many commands/)
    await client.closed()
  })

  test('after guessing too many addresses', async () => {
    await using server = await limited({})
    await using client = await RawSmtp.greeted(server.port)
    await client.command('MAIL FROM:<a@a.test>')
    const guesses = Array.from({ length: 51 }, (_, index) => `RCPT TO:<guess${index}@one.test>`)
    expect(await client.commands(...guesses)).toMatch(/^550 5\.1\.1 /)
    expect(await client.command('RCPT TO:<info@one.test>')).toMatch(/^421 4\.7\.0 Too many refused/)
    await client.closed()
  })

  test('when a command is too long', async () => {
    await using server = await limited({})
    await using client = await RawSmtp.greeted(server.port)
    expect(await client.command(`NOOP ${'x'.repeat(5000)}`)).toMatch(/^421 4\.\d\.\d /)
    await client.closed()
  })

  test('when its network sends too many messages in a minute', async () => {
    await using server = await limited({ messagesPerMinutePerNetwork: 2 })
    await using client = await RawSmtp.greeted(server.port)
    for (const reply of [
      accepted,
      accepted,
      '450 4.7.1 Too much mail from your network: try again later',
    ]) {
      expect(await client.message('a@a.test', ['info@one.test'], unique())).toBe(reply)
    }
  })

  test('when a site gets too many messages in a minute, and the other site is not', async () => {
    await using server = await limited({ messagesPerMinutePerSite: 2 })
    await using client = await RawSmtp.greeted(server.port)
    for (const reply of [
      accepted,
      accepted,
      '450 4.7.1 Too much mail for this domain: try again later',
    ]) {
      expect(await client.message('a@a.test', ['info@one.test'], unique())).toBe(reply)
    }
    await client.command('RSET')
    expect(await client.message('a@a.test', ['info@two.test'], unique())).toBe(accepted)
  })

  test('when its network sends too many bytes in a minute', async () => {
    await using server = await limited({ messageBytes: 1000 })
    await using client = await RawSmtp.greeted(server.port)
    const large = (): string => `${unique()}${'x'.repeat(940)}\r\n`
    const replies: string[] = []
    for (let sent = 0; sent < 22; sent++) {
      replies.push(await client.message('a@a.test', ['info@two.test'], large()))
    }
    expect(replies.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => accepted))
    expect(replies.at(-1)).toBe('450 4.7.1 Too much mail from your network: try again later')
  })
})

test('a server that drains finishes the message that it receives, and tells all others', async () => {
  await using server = await limited({})
  await using busy = await RawSmtp.greeted(server.port)
  await using idle = await RawSmtp.greeted(server.port)
  const message = unique()
  await busy.commands('MAIL FROM:<a@a.test>', 'RCPT TO:<info@one.test>', 'DATA')
  busy.write(message)
  const drained = server.stack.context.smtp.drain(20_000)
  expect(await idle.reply()).toBe('421 4.3.2 The server shuts down: try again in a moment')
  expect(server.stack.context.smtp.isListening).toBe(false)
  expect(await busy.command('.')).toBe(accepted)
  expect(await busy.reply()).toBe('421 4.3.2 The server shuts down: try again in a moment')
  await drained
  await expect(RawSmtp.connect(server.port)).rejects.toThrow('ECONNREFUSED')
  const kept = await keptMessages(first, 'one.test')
  expect(kept.map(({ raw }) => raw)).toContain(message)
})

test('a port that is taken keeps the server from starting', async () => {
  await using server = await limited({})
  const { config, clock, logger } = server.stack.context
  const policy = { ...idlePolicy }
  const at = { name: 'smtp', port: server.port, messageBytes: 1000 } as const
  const dataDir = server.stack.dataDir
  const second = new SmtpListener({ ...at, config: config.mail, dataDir, clock, logger, policy })
  await expect(second.start()).rejects.toThrow(`Port ${server.port} on 127.0.0.1 is in use`)
})

const idlePolicy = {
  connected() {},
  mail: () => Promise.resolve(),
  recipient: () => Promise.resolve(),
  message: () => Promise.resolve(''),
  closed() {},
  failed() {},
}
