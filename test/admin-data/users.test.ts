import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { connectPostgres } from '#platform/postgres/postgres.ts'
import { FormBrowser } from '#test/form-browser.ts'
import { asAdmin } from '#test/postgres.ts'
import { explaining } from '#test/query-plans.ts'
import { RelyingParty } from '#test/relying-party.ts'
import { silentLog } from '#test/silent-log.ts'
import { type Stack, startStack } from '#test/stack.ts'

const HOST = 'one.test'
const PASSWORD = 'Tr4vel-light'

let stack: Stack
let second: Stack
let visitors: RelyingParty
let admin: string
beforeAll(async () => {
  stack = await startStack()
  second = await startStack({ beside: stack })
  visitors = await RelyingParty.of(stack, HOST)
  admin = await stack.adminToken(HOST, 'admin')
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

const refusal = (status: number, code: string) => ({ status, json: { error: { code } } })
const users = (method: string, path = '', token = admin, host = HOST) =>
  stack.call(host, method, `/admin/data/users${path}`, { token })
const found = async (query: Record<string, string>): Promise<string[]> => {
  const answer = await users('GET', `?${new URLSearchParams(query).toString()}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json.items.map(({ username }: { username: string }) => username)
}
const lastEvent = async (event: string) =>
  (await stack.portal('GET', `/sites/${HOST}/audit?event=${event}&limit=1`)).json.items[0]

/** A visitor with a password, a group, and a sign-in. */
async function known(name: string) {
  const email = `${name}@visitors.test`
  const sub = await visitors.user(email)
  const { site, pool } = visitors
  const origin = { address: '192.0.2.7', userAgent: 'test', requestId: 'test' }
  await stack.context.ownPasswords.add({ site, pool, origin }, { sub, password: PASSWORD })
  const groupName = `of-${name}`
  const groups = (method: string, path: string, body: unknown) =>
    stack.call(HOST, method, `/admin/data/groups${path}`, { token: admin, body })
  expect((await groups('POST', '', { groupName })).status).toBe(200)
  expect((await groups('POST', `/${groupName}/users`, { username: email })).status).toBe(200)
  return { email, sub, groupName, signedIn: await visitors.tokens(email) }
}

/** Where the sign-in page leads, on a replica. */
async function signIn(email: string, on: Stack = stack): Promise<string> {
  const browser = new FormBrowser(on, HOST)
  const page = await browser.get(visitors.page('login'))
  const answer = await browser.submit(page, { username: email, password: PASSWORD })
  return answer.headers['location'] ?? answer.text
}

/** Whether a token is taken, on both replicas. */
const taken = async (token: string) => {
  const there = await visitors.at(second)
  return [await visitors.isTaken(token), await there.isTaken(token)]
}

describe('visitors', () => {
  beforeAll(async () => {
    for (const name of ['find_a', 'findxa', 'find%b', 'FIND-c'])
      await visitors.user(`${name}@x.test`)
    await visitors.user('umlaut@ü.test')
    await (await RelyingParty.of(stack, 'two.test')).user('find-theirs@x.test')
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['an address', { email: 'findxa@x.test' }, ['findxa@x.test']],
    ['an address in another case', { email: 'Find-C@X.test' }, ['find-c@x.test']],
    [
      'a beginning',
      { q: 'find' },
      ['find%b@x.test', 'find-c@x.test', 'find_a@x.test', 'findxa@x.test'],
    ],
    ['a beginning with what patterns have', { q: 'find_' }, ['find_a@x.test']],
    ['a substring', { q: 'ind' }, []],
    ['a domain in Unicode', { email: 'umlaut@ü.test' }, ['umlaut@xn--tda.test']],
    ['a beginning and a status', { q: 'find', status: 'DISABLED' }, []],
  ])('are found by %s', async (_what, query, usernames) => {
    expect((await found(query)).toSorted()).toEqual(usernames)
  })

  test('come in pages, whose tokens belong to the search', async () => {
    const first = await users('GET', '?q=find&limit=3')
    expect(first.json.items).toHaveLength(3)
    const next = `limit=3&nextToken=${first.json.nextToken}`
    const rest = await users('GET', `?q=find&${next}`)
    expect(rest.json).toMatchObject({ items: [{ username: 'findxa@x.test' }], nextToken: null })
    expect(await users('GET', `?q=findx&${next}`)).toMatchObject(refusal(400, 'InvalidNextToken'))
  })

  test.each(['q=', 'email=x', `q=${'a'.repeat(255)}`, 'q=a%00', 'status=GONE', 'name=a'])(
    'are not looked for by %s',
    async (query) => {
      expect(await users('GET', `?${query}`)).toMatchObject(refusal(400, 'ValidationError'))
    },
  )

  test('are found by an index, among many', async () => {
    const { url } = stack.database
    const { siteId, pool } = { siteId: visitors.site.siteId, pool: visitors.pool.userPoolId }
    await asAdmin(async (sql) => {
      await sql`insert into pool_user (site_id, user_pool_id, sub, email, status, origin)
        select ${siteId}, ${pool}, gen_random_uuid(), 'many' || n || '@x.test', 'ACTIVE', 'sign-up'
        from generate_series(1, 20000) n`
      await sql`analyze`
    }, url)
    await using resources = new AsyncDisposableStack()
    const postgres = resources.use(await connectPostgres({ url, log: silentLog, poolSize: 4 }))
    const { database, plans } = explaining(postgres.database)
    const platform = { postgres: { ...postgres, database } }
    const there = resources.use(await startStack({ beside: stack, works: false, platform }))
    for (const query of ['email=many17@x.test', 'q=many1999', 'limit=5']) {
      plans.length = 0
      const answer = await there.call(HOST, 'GET', `/admin/data/users?${query}`, { token: admin })
      expect(answer.json.items.length).toBeGreaterThan(0)
      expect(plans.join('\n')).toMatch(/pool_user_by_email/)
      expect(plans.join('\n')).not.toContain('Seq Scan on pool_user')
    }
  })
})

describe('one visitor', () => {
  test('is shown with what hangs on the account', async () => {
    const { email, sub, groupName } = await known('shown')
    const one = await users('GET', `/${sub}`)
    expect(one).toMatchObject({
      status: 200,
      json: {
        sub,
        username: email,
        emailVerified: true,
        status: 'ACTIVE',
        origin: 'operator',
        groups: [groupName],
        signInMethods: ['password'],
        secondFactor: false,
        lastSeenAt: expect.any(String),
      },
    })
    const idle = await users('GET', `/${await visitors.user('idle@visitors.test')}`)
    expect(idle.json).toMatchObject({ groups: [], signInMethods: [], lastSeenAt: null })
  })

  test('is no user of another site, of the admins, or of none', async () => {
    const theirs = await (await RelyingParty.of(stack, 'two.test')).user('theirs@x.test')
    const admins = await RelyingParty.of(stack, HOST, 'admin')
    const own = await admins.user(`admin@${HOST}`)
    for (const sub of [theirs, own, 'nobody', 'a%2Fb']) {
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/disable'],
        ['POST', '/enable'],
        ['POST', '/sign-out'],
        ['GET', '/sessions'],
        ['DELETE', '/sessions/ses_1'],
        ['DELETE', ''],
      ] as const) {
        expect(await users(method, `/${sub}${path}`)).toMatchObject(refusal(404, 'UserNotFound'))
      }
    }
    expect(
      (await stack.call('two.test', 'GET', '/admin/data/users', { token: admin })).status,
    ).toBe(401)
  })

  test('is managed by admins only', async () => {
    const { sub, signedIn } = await known('guarded')
    const user = await stack.adminToken(HOST, 'user')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${sub}`],
      ['POST', `/${sub}/disable`],
      ['DELETE', `/${sub}`],
    ] as const) {
      expect(await users(method, path, user)).toMatchObject(refusal(403, 'Forbidden'))
      expect((await users(method, path, signedIn.access_token)).status).toBe(401)
    }
    expect(await taken(signedIn.access_token)).toEqual([true, true])
  })

  test('who is disabled is out on every replica, and stays out until enabled', async () => {
    const { email, sub, signedIn } = await known('shut')
    expect(await signIn(email)).toContain('code=')
    const disabled = await users('POST', `/${sub}/disable`)
    expect(disabled).toMatchObject({ status: 200, json: { sub, status: 'DISABLED' } })
    expect(await users('POST', `/${sub}/disable`)).toMatchObject({
      status: 200,
      json: disabled.json,
    })
    expect(await lastEvent('user.disabled')).toMatchObject({ sub, email, pool: 'data' })

    expect(await taken(signedIn.access_token)).toEqual([false, false])
    expect(await visitors.refresh(signedIn.refresh_token)).toMatchObject({ status: 400 })
    expect(await signIn(email)).toContain('The email address or the password is wrong')
    expect(await signIn(email, second)).toContain('The email address or the password is wrong')
    expect(await visitors.authorize({ prompt: 'none' }, signedIn.cookie)).toMatchObject({
      headers: { location: expect.stringContaining('login_required') },
    })
    const minted = { user: email, pool: 'data', use: 'access' }
    expect(await stack.portal('POST', `/sites/${HOST}/tokens`, minted)).toMatchObject(
      refusal(409, 'UserDisabled'),
    )
    expect(await found({ status: 'DISABLED' })).toEqual([email])

    expect(await users('POST', `/${sub}/enable`)).toMatchObject({ json: { status: 'ACTIVE' } })
    expect(await lastEvent('user.enabled')).toMatchObject({ sub, email })
    expect(await signIn(email, second)).toContain('code=')
    expect(await taken(signedIn.access_token)).toEqual([false, false])
  })

  test('is signed out everywhere, or of one sign-in', async () => {
    const { email, sub, signedIn } = await known('leaves')
    const other = await visitors.tokens(email)
    const { json } = await users('GET', `/${sub}/sessions`)
    expect(json.items).toHaveLength(2)
    const [newest] = json.items
    expect((await users('DELETE', `/${sub}/sessions/${newest.sessionId}`)).status).toBe(204)
    expect(await taken(other.access_token)).toEqual([false, false])
    expect(await taken(signedIn.access_token)).toEqual([true, true])
    expect((await users('POST', `/${sub}/sign-out`)).status).toBe(204)
    expect(await taken(signedIn.access_token)).toEqual([false, false])
    expect(await signIn(email)).toContain('code=')
  })

  test('who is deleted leaves nothing but the audit trail', async () => {
    const { email, sub, signedIn } = await known('gone')
    expect((await users('DELETE', `/${sub}`)).status).toBe(204)
    expect(await users('DELETE', `/${sub}`)).toMatchObject(refusal(404, 'UserNotFound'))
    expect(await taken(signedIn.access_token)).toEqual([false, false])
    expect(await lastEvent('user.deleted')).toMatchObject({ sub, email, pool: 'data' })
    const left: string[] = []
    await asAdmin(async (sql) => {
      const tables = await sql<{ table: string }[]>`select table_name as table
        from information_schema.columns where table_schema = 'public' and column_name = 'sub'`
      for (const { table } of tables) {
        const rows = await sql`select from ${sql(table)} where sub = ${sub}`
        if (rows.length > 0) left.push(table)
      }
    }, stack.database.url)
    expect(left).toEqual(['security_event'])
    const again = await visitors.user(email)
    expect(again).not.toBe(sub)
    expect((await users('GET', `/${again}`)).json.groups).toEqual([])
  })
})
