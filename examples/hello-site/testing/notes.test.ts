import notes from '../site/functions/notes.ts'
import { shimContext } from './croft-shim.ts'

const SITE = { siteId: 'site_test', siteDomain: 'shop.test' }

const ctx = shimContext({ tables: { notes: { partitionKey: 'owner', sortKey: 'at' } } })
let request = 0

function ask(sub: string | null, payload: { text?: string } | null = null) {
  const auth = sub === null ? null : { sub, username: `${sub}@shop.test`, groups: [] }
  request += 1
  return notes({ payload, auth, operation: 'notes', requestId: `req_${request}`, site: SITE }, ctx)
}

function equal(actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${is} is not ${should}`)
}

const codeOf = (error: { code?: unknown }) => error.code

Deno.test('notes are kept for their author, the latest first', async () => {
  equal(await ask('ada'), { notes: [] })
  await ask('ada', { text: 'one' })
  await new Promise((go) => setTimeout(go, 2))
  equal(await ask('ada', { text: 'two' }), { notes: ['two', 'one'] })
  equal(await ask('bob'), { notes: [] })
})

Deno.test('notes are refused without a visitor, and without text', async () => {
  equal(await Promise.resolve(ask(null)).catch(codeOf), 'SignInNeeded')
  equal(await Promise.resolve(ask('ada', { text: '' })).catch(codeOf), 'InvalidNote')
})

Deno.test('the shim refuses what it does not do', async () => {
  const table = ctx.table('notes')
  const query = { keyConditionExpression: 'owner = :o AND at > :a' }
  equal(
    await table.query(query).catch((error: Error) => error.message),
    'The test shim does not do keyConditionExpression "owner = :o AND at > :a": test it against a site',
  )
})
