import { afterAll, beforeAll, expect, test } from 'vitest'

import { SmtpGateway } from '#platform/smtp/smtp-gateway.ts'
import { AdminPool } from '#test/admin-api.ts'
import { SmtpServer } from '#test/smtp-server.ts'
import { type Stack, startStack } from '#test/stack.ts'

let server: SmtpServer
let stack: Stack
const resources = new AsyncDisposableStack()
beforeAll(async () => {
  server = resources.use(await SmtpServer.start())
  const mailTransport = resources.use(new SmtpGateway(`smtp://127.0.0.1:${server.port}`))
  stack = resources.use(await startStack({ platform: { mailTransport } }))
})
afterAll(() => resources.disposeAsync())

test('an invitation leaves through the gateway, and the answer says so', async () => {
  const ann = await new AdminPool(stack, 'one.test').first()
  const answer = await ann.call('POST', '/users', {
    body: { email: 'bob@one.test', externalEmail: 'bob@out.test' },
  })
  expect(answer.json).toMatchObject({ inviteSent: true, inviteRecipient: 'bob@out.test' })
  const recipients = () => server.messages.flatMap(({ to }) => to)
  await expect.poll(recipients, { timeout: 20_000 }).toContain('bob@out.test')
  expect(recipients()).not.toContain('bob@one.test')
})
