import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AdminPool, type Member } from '#test/admin-api.ts'
import { RawSmtp, mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOSTS = ['one.test', 'two.test']
/** Far less than an address is remembered. */
const SOON = { timeout: 500, interval: 10 }

const resources = new AsyncDisposableStack()
let stack: Stack
const ports: number[] = []
const admins = new Map<string, Member>()
beforeAll(async () => {
  stack = resources.use(await startStack({ config: { mail: mailSettings() } }))
  const second = resources.use(
    await startStack({ beside: stack, works: false, config: { mail: mailSettings() } }),
  )
  for (const { context } of [stack, second]) {
    ports.push(await context.smtp.start())
    resources.defer(() => context.smtp.drain(1000))
  }
  for (const host of HOSTS) {
    await makeMailboxes(stack, host, ['info', 'sales'])
    admins.set(host, await new AdminPool(stack, host).first())
  }
})
afterAll(() => resources.disposeAsync())

async function change(host: string, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = (await admins.get(host)?.call(method, path, { body })) ?? {}
  if (status === undefined || status >= 300) throw new Error(`${method} ${path}: ${text}`)
}

/** What the server answers to a recipient, on one connection. */
async function asking(
  port: number,
): Promise<AsyncDisposable & { of(to: string): Promise<string> }> {
  const client = await RawSmtp.greeted(port)
  return {
    async of(to) {
      await client.command('RSET')
      await client.command('MAIL FROM:<bob@example.org>')
      return (await client.command(`RCPT TO:<${to}>`)).slice(0, 9)
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}

describe.each(HOSTS)('an address of %s takes no mail once', (host) => {
  test.each<[string, string, readonly [string, string, object?][], string]>([
    ['its alias is deleted', 'gone', [['DELETE', `/aliases/gone@${host}`]], '550 5.1.1'],
    ['its mailbox is disabled', 'sales', [['DELETE', `/mailboxes/sales@${host}`]], '550 5.2.1'],
  ])('%s, on every replica', async (_what, name, changes, refusal) => {
    const to = `${name}@${host}`
    if (name === 'gone') {
      await change(host, 'PUT', `/aliases/${to}`, { targets: [`info@${host}`] })
    }
    await using first = await asking(ports[0] ?? 0)
    await using second = await asking(ports[1] ?? 0)
    for (const client of [first, second]) expect(await client.of(to)).toBe('250 2.1.5')
    for (const [method, path, body] of changes) await change(host, method, path, body)
    for (const client of [first, second]) {
      await expect.poll(() => client.of(to), SOON).toBe(refusal)
      expect(await client.of(`info@${host}`)).toBe('250 2.1.5')
    }
  })
})
