import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { mailTo } from '#test/outbox.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { croft } from './croft.ts'

let stack: Stack
let env: Record<string, string>
beforeAll(async () => {
  stack = await startStack()
  env = { CROFT_BASE_URL: stack.baseUrl('127.0.0.1'), CROFT_OPERATOR_KEY: stack.operatorKey }
  for (const [to, host] of [
    ['vic@example.org', 'one.test'],
    ['vic@example.org', 'two.test'],
    ['eve@example.org', 'two.test'],
  ] as const) {
    await stack.inSite(host, (tx, site) =>
      stack.context.authEmails.send(tx, site, {
        kind: 'verification',
        pool: 'data',
        code: '123456',
        to,
      }),
    )
    const arrived = async () =>
      (await stack.portal('GET', `/outbox?to=${to}&site=${host}`)).json.items.length > 0
    await vi.waitUntil(arrived, { timeout: 20_000 })
  }
})
afterAll(() => stack[Symbol.asyncDispose]())

const outbox = (...args: string[]) => croft(['outbox', ...args], env)

describe('croft outbox', () => {
  test('prints what a person needs: the recipient, the site, and the code', async () => {
    const { code, out } = await outbox('--to', 'vic@example.org')
    expect(code).toBe(0)
    expect(out.indexOf('one.test  verification  to vic@example.org')).toBeLessThan(
      out.indexOf('two.test  verification  to vic@example.org'),
    )
    expect(out).toContain('  123456 is your code for one.test\n')
    expect(out).not.toContain('eve@example.org')
  })

  test('prints what a program came for', async () => {
    const { code, out } = await outbox('--site', 'two.test', '--to', 'eve@example.org', '--json')
    expect(code).toBe(0)
    const message = await mailTo(stack, 'eve@example.org')
    expect(JSON.parse(out)).toEqual({ items: [message], nextToken: null })
  })

  test('says that there is nothing, and what is wrong', async () => {
    expect((await outbox('--to', 'nobody@example.org')).out).toBe('No such message is kept here\n')
    expect(await outbox('--site', 'nowhere.test')).toMatchObject({
      code: 1,
      err: expect.stringContaining('SiteNotFound'),
    })
    expect((await outbox('vic@example.org')).code).toBe(2)
  })

  test('sends nothing to the terminal that it would obey', async () => {
    await stack.inSite('one.test', (tx, site) =>
      stack.context.authEmails.send(tx, site, {
        kind: 'provider-linked',
        to: 'term@example.org',
        provider: '\u001b]0;owned\u0007\u202eX',
      }),
    )
    await mailTo(stack, 'term@example.org')
    const { out } = await outbox('--to', 'term@example.org')
    expect(out).toContain(']0;ownedX')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})
