import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { compose } from '#mail/outbound/compose.ts'
import { MailRefused, type RawMail } from '#platform/smtp/mail-transport.ts'
import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Certificate, testCertificate } from '#test/test-certificate.ts'

const never = new AbortController().signal

const mail = (more: Partial<RawMail> = {}): Promise<RawMail> =>
  compose({
    messageId: 'msg_0123456789abcdef',
    siteId: 'site_aaaaaaaaaaaa',
    siteDomain: 'one.test',
    kind: 'verification',
    from: 'no-reply@one.test',
    to: 'vic@example.org',
    subject: 'Your code',
    text: 'It is 123456.\n.\n..dots',
    html: '<p>It is 123456.</p>',
    createdAt: new Date('2026-11-20T12:00:00Z'),
    ...more,
  })

let resources: AsyncDisposableStack
beforeEach(() => {
  resources = new AsyncDisposableStack()
})
afterEach(() => resources.disposeAsync())

const serverWith = async (options = {}) => resources.use(await SmtpServer.start(options))
const gatewayTo = (url: string, tls = {}) => resources.use(new SmtpGateway(url, tls))
const plainGateway = async () => {
  const server = await serverWith()
  return { server, gateway: gatewayTo(`smtp://127.0.0.1:${server.port}`) }
}

const failureOf = async (sending: Promise<void>): Promise<Error> => {
  const [{ reason }] = (await Promise.allSettled([sending])) as [PromiseRejectedResult]
  expect(reason).toBeInstanceOf(Error)
  return reason as Error
}

describe('the mail gateway', () => {
  test('gets the message as it was composed, under a bare envelope', async () => {
    const { server, gateway } = await plainGateway()
    const message = await mail()
    await gateway.send(message, never)
    expect(server.messages).toEqual([
      {
        from: 'no-reply@one.test',
        to: ['vic@example.org'],
        data: Buffer.from(message.mime).toString().replace(/\r\n$/, ''),
        secure: false,
        login: undefined,
      },
    ])
  })

  test('gets many messages over few connections', async () => {
    const { server, gateway } = await plainGateway()
    const messages = await Promise.all(
      Array.from({ length: 40 }, (_, at) => mail({ messageId: `msg_${at}` })),
    )
    await Promise.all(messages.map((message) => gateway.send(message, never)))
    expect(server.messages).toHaveLength(40)
    expect(server.connections).toBeLessThanOrEqual(6)
  })

  test.each([
    ['ann@bücher.example', 'RCPT TO:<ann@xn--bcher-kva.example>'],
    ['jürgen@example.org', 'MAIL FROM:<no-reply@one.test> SMTPUTF8'],
  ])('gets %s as its protocol has it', async (to, command) => {
    const { server, gateway } = await plainGateway()
    await gateway.send(await mail({ to }), never)
    expect(server.commands.join('\n')).toContain(command)
    expect(server.messages).toHaveLength(1)
  })

  test.each([
    ['a sender it refuses', 'MAIL', '550 5.1.0 no such sender'],
    ['a recipient it does not know', 'RCPT', '550 5.1.1 no such user'],
    ['a recipient it will not relay to', 'RCPT', '554 5.7.1 relay denied'],
    ['a refused DATA', 'DATA', '554 5.5.1 no valid recipients'],
    ['a message it refuses', 'MESSAGE', '552 5.3.4 too big'],
  ] as const)('ends the matter with %s', async (_what, at, reply) => {
    const { server, gateway } = await plainGateway()
    server.answer = (verb) => (verb === at ? reply : undefined)
    const failure = await failureOf(gateway.send(await mail(), never))
    expect(failure).toBeInstanceOf(MailRefused)
    expect(failure.message).toContain(reply)
    expect(server.messages).toEqual([])
  })

  test.each([
    ['a busy greeting', 'CONNECT', '421 4.3.2 too busy'],
    ['a closed house', 'CONNECT', '554 5.3.2 no service here today'],
    ['a sender it defers', 'MAIL', '451 4.7.1 greylisted'],
    ['a login it wants first', 'MAIL', '530 5.7.0 authentication required'],
    ['a full mailbox', 'RCPT', '452 4.2.2 mailbox full'],
    ['a DATA it defers', 'DATA', '451 4.3.0 not now'],
    ['a message it defers', 'MESSAGE', '451 4.3.0 disk trouble'],
    ['a connection that dies before the envelope', 'EHLO', 'hang up'],
    ['a connection that dies before the message', 'DATA', 'hang up'],
    ['a connection that dies after the message', 'MESSAGE', 'hang up'],
  ] as const)('may be asked again after %s', async (_what, at, reply) => {
    const { server, gateway } = await plainGateway()
    server.answer = (verb) => (verb === at ? reply : undefined)
    const failure = await failureOf(gateway.send(await mail(), never))
    expect(failure).not.toBeInstanceOf(MailRefused)
    server.answer = () => undefined
    await gateway.send(await mail(), never)
    expect(server.messages).toHaveLength(1)
  })

  test('may be asked again when no server listens', async () => {
    const server = await serverWith()
    const { port } = server
    await server[Symbol.asyncDispose]()
    const failure = await failureOf(gatewayTo(`smtp://127.0.0.1:${port}`).send(await mail(), never))
    expect(failure).not.toBeInstanceOf(MailRefused)
    expect(failure.message).toContain('ECONNREFUSED')
  })

  test('is not asked again within a send for what it has answered', async () => {
    const { server, gateway } = await plainGateway()
    server.answer = (verb) => (verb === 'RCPT' ? '451 4.7.1 later' : undefined)
    await failureOf(gateway.send(await mail(), never))
    expect(server.commands.filter((line) => line.startsWith('RCPT'))).toHaveLength(1)
  })

  test('is left when the caller’s time is up', async () => {
    const { server, gateway } = await plainGateway()
    const late = new AbortController()
    server.answer = (verb) => {
      if (verb !== 'MESSAGE') return undefined
      late.abort(new Error('time is up'))
      return 'stay silent'
    }
    await expect(gateway.send(await mail(), late.signal)).rejects.toThrow('time is up')
  })

  test('has its replies kept without what they quote of a message', async () => {
    const { server, gateway } = await plainGateway()
    server.answer = (verb) =>
      verb === 'MESSAGE'
        ? '554 5.7.1 spam: 123456 https://one.test/x?token=s3cret to <vic@example.org>'
        : undefined
    const { message } = await failureOf(gateway.send(await mail(), never))
    expect(message).toContain('554 5.7.1 spam: … … to …')
    expect(message).not.toMatch(/123456|s3cret|vic/)
  })

  test.each([
    ['two recipients', 'vic,eve@example.org'],
    ['a second command', 'vic>\r\nRCPT TO:<eve@example.org'],
    ['a parameter', 'vic> SIZE=1@example.org'],
  ])('never sees %s in an address', async (_what, to) => {
    const { server, gateway } = await plainGateway()
    const failure = await failureOf(gateway.send({ ...(await mail()), to }, never))
    expect(failure).toBeInstanceOf(MailRefused)
    expect(server.commands).toEqual([])
  })
})

describe('the connection to the gateway', () => {
  let certificate: Certificate
  beforeEach(async () => {
    certificate ??= await testCertificate()
  })
  const trusting = () => ({ ca: certificate.authority })

  test.each([
    ['smtps', { implicitTls: true }],
    ['smtp', {}],
  ] as const)('logs in over verified TLS with %s:', async (scheme, options) => {
    const server = await serverWith({ certificate, ...options })
    const url = `${scheme}://us%40er:p%3Ass@localhost:${server.port}?starttls=required`
    await gatewayTo(url, trusting()).send(await mail(), never)
    expect(server.messages).toMatchObject([{ secure: true, login: '\0us@er\0p:ss' }])
  })

  test.each([
    ['smtps', { implicitTls: true }],
    ['smtp', {}],
  ] as const)('is not made to an untrusted certificate with %s:', async (scheme, options) => {
    const server = await serverWith({ certificate, ...options })
    const url = `${scheme}://user:secret@localhost:${server.port}?starttls=required`
    const failure = await failureOf(gatewayTo(url).send(await mail(), never))
    expect(failure).not.toBeInstanceOf(MailRefused)
    expect(server.messages).toEqual([])
    expect(server.commands.filter((line) => line.startsWith('AUTH'))).toEqual([])
  })

  test('keeps the password to itself when TLS is required and not offered', async () => {
    const server = await serverWith()
    const url = `smtp://user:secret@localhost:${server.port}?starttls=required`
    await failureOf(gatewayTo(url).send(await mail(), never))
    expect(server.commands.filter((line) => /AUTH|MAIL/.test(line))).toEqual([])
  })

  test('may be asked again when the password is wrong', async () => {
    const server = await serverWith()
    server.answer = (verb) => (verb === 'AUTH' ? '535 5.7.8 wrong' : undefined)
    const url = `smtp://user:secret@localhost:${server.port}`
    const failure = await failureOf(gatewayTo(url).send(await mail(), never))
    expect(failure).not.toBeInstanceOf(MailRefused)
    expect(failure.message).toContain('535 5.7.8 wrong')
    expect(failure.message).not.toContain('secret')
  })
})
