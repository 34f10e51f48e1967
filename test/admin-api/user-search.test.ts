import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { connectPostgres } from '#platform/postgres/postgres.ts'
import { AdminPool, type Member } from '#test/admin-api.ts'
import { linkIn, mailTo } from '#test/outbox.ts'
import { asAdmin } from '#test/postgres.ts'
import { explaining } from '#test/query-plans.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

let stack: Stack
let pool: AdminPool
let ann: Member
let adam: Member
let ursula: Member
let theirs: Member
beforeAll(async () => {
  stack = await startStack()
  pool = new AdminPool(stack, 'one.test')
  ann = await pool.first()
  adam = await pool.joined('admin')
  ursula = await pool.joined('user')
  theirs = await new AdminPool(stack, 'two.test').first()
})
afterAll(() => stack[Symbol.asyncDispose]())

const refusal = (status: number, code: string) => ({ status, json: { error: { code } } })
const search = async (query: Record<string, string>, by = adam) => {
  const answer = await by.call('GET', `/users?${new URLSearchParams(query).toString()}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}
const found = async (query: Record<string, string>): Promise<string[]> =>
  (await search(query)).items.map(({ email }: { email: string }) => email)

describe('one user', () => {
  test('is shown to admins as the list shows them', async () => {
    const { userId, email } = await pool.invited({ role: 'admin', externalEmail: 'x@out.test' })
    const one = await adam.call('GET', `/users/${userId}`)
    expect(one).toMatchObject({
      status: 200,
      json: { userId, email, role: 'admin', externalEmail: 'x@out.test', status: 'INVITED' },
    })
    expect((await search({ email })).items).toEqual([one.json])
  })

  test('of another site, or of none, is not there', async () => {
    for (const userId of [theirs.userId, 'nobody', 'a%2Fb']) {
      expect(await adam.call('GET', `/users/${userId}`)).toMatchObject(refusal(404, 'UserNotFound'))
    }
  })

  test('is not shown to a user', async () => {
    expect(await ursula.call('GET', `/users/${ursula.userId}`)).toMatchObject(
      refusal(403, 'Forbidden'),
    )
    expect((await stack.call('one.test', 'GET', `/admin/api/users/${ann.userId}`)).status).toBe(401)
  })
})

describe('users', () => {
  beforeAll(async () => {
    for (const email of ['find_a@x.test', 'findxa@x.test', 'find%b@x.test', 'FIND-c@x.test']) {
      await pool.invited({ email })
    }
    await pool.invited({ email: 'other@x.test', externalEmail: 'find-external@y.test' })
    await pool.invited({ email: 'umlaut@ü.test' })
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['an address', { email: 'findxa@x.test' }, ['findxa@x.test']],
    ['an address in another case', { email: ' Find-C@X.test ' }, ['find-c@x.test']],
    ['an external address', { email: 'find-external@y.test' }, ['other@x.test']],
    ['a part of an address, as a whole one', { email: 'find' }, []],
    [
      'a beginning',
      { q: 'find' },
      ['find%b@x.test', 'find-c@x.test', 'find_a@x.test', 'findxa@x.test', 'other@x.test'],
    ],
    ['a beginning in another case', { q: 'FINDX' }, ['findxa@x.test']],
    ['a beginning with what patterns have', { q: 'find_' }, ['find_a@x.test']],
    ['a beginning with a per cent sign', { q: 'find%' }, ['find%b@x.test']],
    ['a beginning of an external address', { q: 'find-ext' }, ['other@x.test']],
    ['a backslash', { q: 'find\\' }, []],
    ['a substring', { q: 'ind' }, []],
    ['a domain in Unicode', { email: 'umlaut@ü.test' }, ['umlaut@xn--tda.test']],
    ['a domain in ASCII', { email: 'umlaut@xn--tda.test' }, ['umlaut@xn--tda.test']],
    ['a beginning with a domain in Unicode', { q: 'umlaut@Ü.test' }, ['umlaut@xn--tda.test']],
    ['both', { q: 'find', email: 'findxa@x.test' }, ['findxa@x.test']],
    ['both, of different people', { q: 'umlaut', email: 'findxa@x.test' }, []],
  ])('are found by %s', async (_what, query, emails) => {
    expect((await found(query)).toSorted()).toEqual(emails)
  })

  test('that are found come in pages, whose tokens belong to the search', async () => {
    const seen: string[] = []
    let nextToken = ''
    do {
      const page = await search({ q: 'find', limit: '2', ...(nextToken && { nextToken }) })
      seen.push(...page.items.map(({ email }: { email: string }) => email))
      nextToken = page.nextToken ?? ''
    } while (nextToken !== '')
    expect(seen).toHaveLength(5)
    expect(new Set(seen).size).toBe(5)
    const { nextToken: token } = await search({ q: 'find', limit: '2' })
    for (const query of [{}, { q: 'findx' }, { email: 'find' }]) {
      const text = new URLSearchParams({ ...query, nextToken: token }).toString()
      expect(await adam.call('GET', `/users?${text}`)).toMatchObject(
        refusal(400, 'InvalidNextToken'),
      )
    }
  })

  test.each(['q=', 'email=', `q=${'a'.repeat(255)}`, 'q=a%00', 'query=a'])(
    'are not looked for by %s',
    async (query) => {
      expect(await adam.call('GET', `/users?${query}`)).toMatchObject(
        refusal(400, 'ValidationError'),
      )
    },
  )

  test('are found by an index, among many', async () => {
    const { url } = stack.database
    const { siteId } = await stack.context.sites.find('one.test')
    await asAdmin(async (admin) => {
      await admin`insert into pool_user (site_id, user_pool_id, sub, email, role, status, origin, external_email)
        select site_id, user_pool_id, gen_random_uuid(), 'many' || n || '@x.test', 'user', 'ACTIVE', 'invite', 'more' || n || '@y.test'
        from generate_series(1, 20000) n, user_pool where kind = 'admin' and site_id = ${siteId}`
      await admin`analyze`
    }, url)
    await using resources = new AsyncDisposableStack()
    const postgres = resources.use(await connectPostgres({ url, log: silentLog, poolSize: 4 }))
    const { database, plans } = explaining(postgres.database)
    const platform = { postgres: { ...postgres, database } }
    const there = resources.use(await startStack({ beside: stack, works: false, platform }))
    const reader = await pool.named(adam.email, there)
    for (const query of [{ email: 'many17@x.test' }, { q: 'many1999' }, { q: 'more1999' }]) {
      plans.length = 0
      expect((await search(query, reader)).items.length).toBeGreaterThan(0)
      expect(plans.join('\n')).toMatch(/pool_user_by_/)
      expect(plans.join('\n')).not.toContain('Seq Scan on pool_user')
    }
  })
})

describe('an invite', () => {
  const resend = (userId: string, by = adam) => by.call('POST', `/users/${userId}/invite/resend`)

  test('is sent again to a user who has not come, and the link before is dead', async () => {
    const { userId, email } = await pool.invited()
    const before = await mailTo(stack, email, 'invite')
    const answer = await resend(userId)
    expect(answer).toMatchObject({
      status: 200,
      json: { userId, email, status: 'INVITED', inviteSent: false, inviteRecipient: email },
    })
    const after = await mailTo(stack, email, 'invite', before)
    const pages = [await pool.pageStatus(linkIn(before)), await pool.pageStatus(linkIn(after))]
    expect(pages).toEqual([410, 200])
    const { json } = await stack.portal('GET', `/sites/one.test/audit?sub=${userId}`)
    expect(json.items[0]).toMatchObject({ event: 'invite.sent', actor: adam.userId })
  })

  test('goes to the external address when there is one', async () => {
    const { userId } = await pool.invited({ externalEmail: 'again@out.test' })
    expect((await resend(userId)).json.inviteRecipient).toBe('again@out.test')
  })

  test('is not sent to a user who has come', async () => {
    expect(await resend(ursula.userId)).toMatchObject(refusal(409, 'UserAlreadyActive'))
  })

  test('of a super-admin is a matter of super-admins', async () => {
    const { userId } = await pool.invited({ role: 'super-admin' })
    expect(await resend(userId)).toMatchObject(refusal(403, 'Forbidden'))
    expect((await resend(userId, ann)).status).toBe(200)
  })

  test('is not sent for a user, for strangers, or across sites', async () => {
    const { userId } = await pool.invited()
    expect(await resend(userId, ursula)).toMatchObject(refusal(403, 'Forbidden'))
    expect(await resend(userId, theirs)).toMatchObject(refusal(404, 'UserNotFound'))
    expect(await resend('nobody')).toMatchObject(refusal(404, 'UserNotFound'))
    const path = `/admin/api/users/${userId}/invite/resend`
    expect((await stack.call('one.test', 'POST', path)).status).toBe(401)
  })

  test('is sent a few times an hour to one address', async () => {
    const { userId } = await pool.invited()
    const statuses: number[] = []
    for (let time = 0; time < 6; time++) statuses.push((await resend(userId)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    const refused = await resend(userId)
    expect(refused.headers['retry-after']).toMatch(/^\d+$/)
  })

  test('of which two are asked for at once leaves one link', async () => {
    const { userId, email } = await pool.invited()
    const answers = await Promise.all([resend(userId), resend(userId), resend(userId)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const live = await stack.inSite('one.test', (tx, { siteId }) =>
      tx.db
        .selectFrom('user_invite')
        .select('sub')
        .where('site_id', '=', siteId)
        .where('sub', '=', userId)
        .where('used_at', 'is', null)
        .execute(),
    )
    expect(live).toHaveLength(1)
    expect(email).toContain('@one.test')
  })
})
