/** Checked by `tsc`: what may be called through the SDK, and what may not. */
import { CroftError, createClient, paginate } from '#sdk/client.ts'
import { createServerClient } from '#sdk/server.ts'

const client = createClient({ baseUrl: 'https://shop.test', token: async () => 'token' })

export async function mailboxes(): Promise<string[]> {
  const { admin } = client
  const made = await admin.post('/admin/api/mailboxes', { body: { address: 'a', owners: ['u'] } })
  const status: 'ACTIVE' | 'DISABLED' = made.status
  // @ts-expect-error: an answer has only what its route declares
  void [status, made.password]
  // @ts-expect-error: the body lacks its owners
  await admin.post('/admin/api/mailboxes', { body: { address: 'a' } })
  // @ts-expect-error: the body is missing
  await admin.post('/admin/api/mailboxes')
  // @ts-expect-error: owners are a list
  await admin.post('/admin/api/mailboxes', { body: { address: 'a', owners: 'u' } })
  // @ts-expect-error: there is no such path
  await admin.get('/admin/api/mailbox')
  // @ts-expect-error: the path has no such method
  await admin.patch('/admin/api/mailboxes')
  // @ts-expect-error: the parameter is missing
  await admin.get('/admin/api/mailboxes/{address}/settings')
  // @ts-expect-error: the parameter has another name
  await admin.get('/admin/api/mailboxes/{address}/settings', { params: { mailbox: 'a' } })
  // @ts-expect-error: the query has no such field
  await admin.get('/admin/api/mailboxes', { query: { page: 2 } })
  const all = paginate((nextToken) =>
    admin.get('/admin/api/mailboxes', { query: { limit: 100, nextToken } }),
  )
  return Array.fromAsync(all, ({ address }) => address)
}

export async function operations(signal: AbortSignal): Promise<number> {
  try {
    return await client.data<number>('total', { since: 1 }, { signal, idempotencyKey: 'k' })
  } catch (error) {
    if (error instanceof CroftError && error.status === 404) return 0
    throw error
  }
}

export async function mail(): Promise<string> {
  const server = createServerClient({ baseUrl: 'https://shop.test', token: 'token' })
  // @ts-expect-error: the subject is missing
  await server.sendEmail({ mailbox: 'a@shop.test', to: 'b@c.test', text: 'Hi' })
  const email = { mailbox: 'a@shop.test', to: ['b@c.test'], subject: 'Hi', text: 'Hi' }
  // @ts-expect-error: a client for pages sends no mail
  await client.sendEmail(email)
  const { threadId } = await server.sendEmail(email)
  return threadId
}
