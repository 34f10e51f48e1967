import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

import { SYSTEM } from '#base/actor.ts'
import { Owner, PASSWORD } from '#test/account-owner.ts'
import {
  accountOf as visitorOf,
  deletingAccount,
  endWeek,
  holdAccount,
  sessionsWait,
  startDeletions,
} from '#test/deletion-desk.ts'
import { FormBrowser, textOf } from '#test/form-browser.ts'
import { allMailTo, linkIn, mailTo } from '#test/outbox.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { SiteTable } from '#test/site-table.ts'
import { type Stack, startStack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

const HOST = 'one.test'
const OTHER = 'two.test'
const DAY_MS = 24 * 3_600_000
const PATIENCE = { timeout: 30_000, interval: 25 }

/** It answers requests; the queues are left to the replicas beside it. */
let stack: Stack
beforeAll(async () => {
  stack = await startStack({ works: false })
})
afterAll(() => stack[Symbol.asyncDispose]())

const deleting = (host = HOST): Promise<Owner> => deletingAccount(stack, host)
const accountOf = (owner: Owner) => visitorOf(stack, owner)

const isGone = async (owner: Owner): Promise<boolean> => (await accountOf(owner)).status === 404

async function restoreLinkOf({ email }: Owner): Promise<string> {
  await using mailing = await worker()
  const url = new URL(linkIn(await mailTo(mailing, email, 'account-deleting')))
  return `${url.pathname}${url.search}`
}

const timeIsOver = (owner: Owner) => asSuperuser(stack, (sql) => endWeek(sql, owner))

const jobs = () =>
  asSuperuser(
    stack,
    (sql) => sql<{ name: string; state: string; retries: number }[]>`
      select name, state::text, retry_count::int as retries from pgboss.job
      where name like 'account-deletion%'`,
  )

/** Works the queues until it ends; `aheadMs` is how far its clock is ahead of the other's. */
const worker = (aheadMs = 0) =>
  startStack({
    beside: stack,
    platform: { clock: { now: () => new Date(Date.now() + aheadMs) } },
  })

describe('the queue of accounts that are deleted', () => {
  test('waits a week, across a restart of the service, and two replicas remove an account once', async () => {
    const owner = await (async () => {
      await using before = await worker()
      const begun = await deleting()
      await mailTo(before, begun.email, 'account-deleting')
      const [job] = await asSuperuser(
        stack,
        (sql) => sql<{ startsAt: Date; keptUntil: Date }[]>`
          select start_after as "startsAt", keep_until as "keptUntil" from pgboss.job
          where name = 'account-deletion' and state = 'created'
            and data->>'siteId' = ${begun.party.site.siteId}`,
      )
      const { deletedAt } = (await accountOf(begun)).json
      const goesMs = new Date(deletedAt).getTime()
      expect(goesMs - Date.now()).toBeGreaterThan(7 * DAY_MS - 60_000)
      expect(job?.startsAt.getTime()).toBeGreaterThanOrEqual(goesMs)
      expect(job?.startsAt.getTime()).toBeLessThan(goesMs + 60_000)
      expect(job?.keptUntil.getTime()).toBeGreaterThan(goesMs + 30 * DAY_MS)
      return begun
    })()
    const neighbour = await deleting(OTHER)
    const later = await deleting()
    await timeIsOver(owner)
    await using first = await worker()
    await using second = await worker()
    await mailTo(first, owner.email, 'account-deleted')
    expect(await isGone(owner)).toBe(true)
    for (const waiting of [later, neighbour]) {
      expect((await accountOf(waiting)).json.status).toBe('DELETING')
    }
    // The next job of the site waits for the account that goes next.
    await timeIsOver(later)
    await mailTo(second, later.email, 'account-deleted')
    await vi.waitUntil(
      async () => (await jobs()).every(({ state }) => state !== 'active'),
      PATIENCE,
    )
    expect(await allMailTo(first, owner.email, 'account-deleted')).toHaveLength(1)
    const { json } = await stack.portal(
      'GET',
      `/sites/${HOST}/audit?sub=${owner.sub}&event=user.deleted&limit=10`,
    )
    expect(json.items).toHaveLength(1)
    expect((await jobs()).filter(({ name }) => name.endsWith('.dead'))).toEqual([])
    expect((await jobs()).filter(({ retries }) => retries > 0)).toEqual([])
    expect((await accountOf(neighbour)).json.status).toBe('DELETING')
  })

  test('removes an account once where two replicas look at the same moment', async () => {
    const owner = await deleting()
    await asSuperuser(stack, async (sql) => {
      await sql`update account_deletion set expires_at = now() where sub = ${owner.sub}`
    })
    const { siteId } = owner.party.site
    await using beside = await startStack({ beside: stack, works: false })
    await Promise.all(
      [stack, beside, stack, beside].map(({ context }) => context.accountDeletions.run(siteId)),
    )
    expect(await isGone(owner)).toBe(true)
    const { json } = await stack.portal(
      'GET',
      `/sites/${HOST}/audit?sub=${owner.sub}&event=user.deleted&limit=10`,
    )
    expect(json.items).toHaveLength(1)
  })

  test('never removes an account that its owner restored', async () => {
    const owner = await deleting()
    const other = await deleting()
    const browser = new FormBrowser(stack, HOST)
    await using working = await worker()
    const restored = await browser.submit(await browser.get(await restoreLinkOf(owner)), {})
    expect(textOf(restored.text)).toContain('Your account is yours again')
    await timeIsOver(other)
    await timeIsOver(owner)
    await mailTo(working, other.email, 'account-deleted')
    expect(await owner.mayUse(PASSWORD)).toBe(true)
  })

  test.each([
    [
      'restored by its link',
      async (owner: Owner) => {
        const browser = new FormBrowser(stack, HOST)
        const page = await browser.get(await restoreLinkOf(owner))
        return async () => expect((await browser.submit(page, {})).status).toBe(200)
      },
    ],
    [
      'given back by an admin',
      async (owner: Owner) => async () => {
        const { visitorAccounts } = stack.context
        await visitorAccounts.enable(owner.party.site, owner.sub, SYSTEM)
      },
    ],
  ])('keeps an account that is %s while the job has it in hand', async (_how, prepare) => {
    const owner = await deleting()
    const other = await deleting()
    const takeBack = await prepare(owner)
    await asSuperuser(stack, async (sql) => {
      // Both wait for the account, the one who takes it back first.
      const held = await holdAccount(stack, owner)
      const taking = takeBack()
      await sessionsWait(sql, 1)
      await startDeletions(sql, owner.party.site.siteId)
      // Its clock is past the week, so to it the account is due.
      await using working = await worker(8 * DAY_MS)
      await sessionsWait(sql, 2)
      await held.release()
      await taking
      await mailTo(working, other.email, 'account-deleted')
      expect(await allMailTo(working, owner.email, 'account-deleted')).toEqual([])
    })
    expect((await accountOf(owner)).json).toMatchObject({ status: 'ACTIVE', deletedAt: null })
    expect(await owner.mayUse(PASSWORD)).toBe(true)
  })

  test('removes the others of a site where one cannot be removed, and tries that one again', async () => {
    const stuck = await deleting()
    const other = await deleting()
    await asSuperuser(stack, async (sql) => {
      await sql.unsafe(`
        create function refuse_removal() returns trigger language plpgsql as
        $$ begin raise exception 'not this one'; end $$`)
      await sql.unsafe(`
        create trigger refuse_removal before delete on pool_user for each row
        when (old.sub = '${stuck.sub}') execute function refuse_removal()`)
      await endWeek(sql, stuck)
    })
    await timeIsOver(other)
    await asSuperuser(
      stack,
      // The next error is the last one that the queue takes.
      (sql) => sql`update pgboss.job set retry_limit = 0 where name = 'account-deletion'`,
    )
    await using working = await worker()
    await mailTo(working, other.email, 'account-deleted')
    expect((await accountOf(stuck)).json.status).toBe('DELETING')
    await asSuperuser(stack, async (sql) => {
      await sql`drop trigger refuse_removal on pool_user`
      await sql`drop function refuse_removal`
    })
    await mailTo(working, stuck.email, 'account-deleted')
    expect(await isGone(stuck)).toBe(true)
  })
})

describe('the address of an account that is being deleted', () => {
  test('is reserved until the account is removed, and free then', async () => {
    const owner = await deleting()
    const { email, party } = owner
    const signUp = async () => {
      const browser = new FormBrowser(stack, HOST)
      const page = await browser.get(party.page('signup'))
      return browser.submit(page, { username: email, password: PASSWORD })
    }
    await using working = await worker()
    const first = await mailTo(working, email, 'account-deleting')
    await signUp()
    await mailTo(working, email, 'account-deleting', first)
    const mover = await Owner.of(stack, HOST)
    await mover.send('/address', { username: email })
    await mailTo(working, email, 'address-taken')
    const minted = await stack.portal('POST', `/sites/${HOST}/tokens`, {
      user: email,
      pool: 'data',
    })
    expect(minted.status, minted.text).toBe(409)
    expect((await accountOf(owner)).json.status).toBe('DELETING')

    await timeIsOver(owner)
    await mailTo(working, email, 'account-deleted')
    expect(await allMailTo(working, email, 'verification')).toEqual([])
    expect(await allMailTo(working, email, 'address-proof')).toEqual([])
    await mover.send('/address', { username: email })
    await mailTo(working, email, 'address-proof')
    await signUp()
    await mailTo(working, email, 'verification')
    expect(await party.user(email)).not.toBe(owner.sub)
  })

  test('leads to none of the items that an `owner` preset kept for the account; the site still has them', async () => {
    const site = await RuntimeSite.open(stack, HOST)
    const notes = await SiteTable.create(site, 'notes', {
      partitionKey: { name: 'who', type: 'S' },
      sortKey: { name: 'id', type: 'S' },
    })
    const preset = { owner: { attribute: 'who' }, resourceId: notes.resourceId }
    const auth = { mode: 'authenticated' }
    await site.putOperation('keep', { preset: { ...preset, preset: 'ddb.put' }, auth })
    await site.putOperation('kept', { preset: { ...preset, preset: 'ddb.query' }, auth })
    await using working = await worker()
    await site.synced()
    const owner = await Owner.of(stack, HOST)
    const call = async (operation: string, payload: object) => {
      const token = (await owner.party.tokens(owner.email)).access_token
      return stack.call(HOST, 'POST', `/data/${operation}`, { token, body: { payload } })
    }
    await call('keep', { item: { id: 'n1', text: 'mine' } })
    expect((await call('kept', {})).json.data.items).toHaveLength(1)
    await owner.send('/delete', { username: owner.email })
    await timeIsOver(owner)
    await mailTo(working, owner.email, 'account-deleted')
    const after = await call('kept', {})
    expect(after.json.data.items).toEqual([])
    expect((await notes.do('get', { key: { who: owner.sub, id: 'n1' } })).item).toMatchObject({
      text: 'mine',
    })
  })
})
