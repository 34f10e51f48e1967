import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { AuthEmail } from '#identity/auth-emails/auth-email.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { codeIn, mailTo } from '#test/outbox.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let postgres: PostgresPlatform
beforeAll(async () => {
  stack = await startStack()
  postgres = await connectPostgres({ url: stack.database.url, log: silentLog, poolSize: 2 })
})
afterAll(async () => {
  await postgres[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

async function send(host: string, email: AuthEmail): Promise<void> {
  const site = await stack.context.sites.find(host)
  await postgres.database.withSite(site.siteId, (tx) =>
    stack.context.authEmails.send(tx, site, email),
  )
}

describe('mail about accounts', () => {
  test('is captured for the operator', async () => {
    await send('one.test', {
      kind: 'verification',
      pool: 'data',
      to: 'vic@example.org',
      code: '123456',
    })
    const message = await mailTo(stack, 'vic@example.org', 'verification')
    expect(codeIn(message)).toBe('123456')
  })
})
