/** Checked by `tsc`: what site code may write against `types/croft.d.ts`, and what it may not. */
import type { Context, FetchHandler, Handler, HostError, Input } from 'croft'

interface Note {
  readonly owner: string
  readonly at: number
  readonly text: string
}

export const notes: Handler<{ text: string }, Note[]> = async ({ payload, auth }, ctx) => {
  const table = ctx.table<Note>('notes')
  const owner = auth?.sub ?? 'nobody'
  await table.put({ item: { owner, at: Date.now(), text: payload.text } })
  // @ts-expect-error: the item lacks its text
  await table.put({ item: { owner, at: 1 } })
  const { item } = await table.get({ key: { owner, at: 1 } })
  // @ts-expect-error: there may be no item
  ctx.log(item.text)
  const found: Note[] = []
  const query = {
    keyConditionExpression: '#owner = :owner',
    expressionAttributeNames: { '#owner': 'owner' },
    expressionAttributeValues: { ':owner': owner },
  }
  for await (const note of table.queryItems(query)) found.push(note)
  return found
}

export const files = async (input: Input, { bucket, sendEmail, operation, env, log }: Context) => {
  await bucket('files').putObject({ key: 'a', body: new Uint8Array([1]) })
  // @ts-expect-error: a value has to be written as text first
  await bucket('files').putObject({ key: 'a', body: { n: 1 } })
  const settings = await (await bucket('files').getObject({ key: 'a' })).json<{ n: number }>()
  const { messageId } = await sendEmail({ to: ['a@b.test'], subject: 'Hi', text: 'Hi' })
  const { threadId } = await sendEmail({
    mailbox: 'c@d.test',
    to: 'a@b.test',
    subject: 'Hi',
    cc: [],
  })
  log(threadId)
  // @ts-expect-error: mail leaves from the site's own address
  await sendEmail({ from: 'c@d.test', to: 'a@b.test', subject: 'Hi', text: 'Hi' })
  const total = await operation<number>('total', { since: settings.n })
  log.warn(messageId, env['REGION'], total + 1)
  try {
    await ctx(input)
      .table('notes')
      .delete({ key: { id: '1' } })
  } catch (error) {
    if ((error as HostError).code !== 'ConditionalCheckFailed') throw error
  }
}

export const site: FetchHandler = {
  fetch: async (request, { table }) =>
    Response.json(await table('notes').scan({ limit: Number(new URL(request.url).hash) })),
}

declare const ctx: (input: Input) => Context
