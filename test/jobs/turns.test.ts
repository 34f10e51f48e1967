import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { asAdmin } from '#test/postgres.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

const MINUTE_MS = 60_000
const SITES = ['one.test', 'two.test', 'three.test']
/** More than a site gets in one turn. */
const MANY = 30

let now = Date.parse('2026-05-04T10:00:30Z')
const clock = { now: () => new Date(now) }
let stack: Stack
let beside: Stack
let sites: RuntimeSite[]
beforeAll(async () => {
  // Runs are not carried out: the queue is read as it is.
  stack = await startStack({ sites: SITES, works: false, platform: { clock } })
  beside = await startStack({ beside: stack, works: false, platform: { clock } })
  sites = await Promise.all(SITES.map((host) => RuntimeSite.open(stack, host)))
  for (const site of sites) await site.putOperation('echo', { preset: { preset: 'echo' } })
})
afterAll(async () => {
  await beside[Symbol.asyncDispose]()
  await stack[Symbol.asyncDispose]()
})

async function schedule(site: RuntimeSite | undefined, jobId: string): Promise<void> {
  const body = { operation: 'echo', schedule: { cron: '* * * * *' } }
  const answer = await site?.admin('PUT', `/jobs/${jobId}`, body)
  expect(answer, answer?.text).toMatchObject({ status: 200 })
}

/** The sites of the runs that wait, in the order in which they were queued. */
async function queued(): Promise<string[]> {
  const found: string[] = []
  await asAdmin(async (admin) => {
    const rows = await admin<{ domain: string }[]>`
      select site.domain from pgboss.job join site on site.site_id = job.data ->> 'siteId'
      where job.name = 'job-tick' and job.state < 'active'
      order by job.created_on`
    found.push(...rows.map(({ domain }) => domain))
  }, stack.database.url)
  return found
}

const statuses = (host: string) =>
  stack.inSite(host, async ({ db }) => {
    const runs = await db.selectFrom('data_job_run').select(['job_id', 'status']).execute()
    return runs.map(({ job_id, status }) => `${job_id} ${status}`).toSorted()
  })

describe('the ticks of a minute', () => {
  test('are recorded once by two replicas, the sites in turns', async () => {
    for (let job = 0; job < MANY; job += 1) await schedule(sites[0], `many${job}`)
    for (const site of sites.slice(1)) {
      await schedule(site, 'first')
      await schedule(site, 'second')
    }
    now += MINUTE_MS
    await Promise.all([stack.context.jobScheduler.tick(), beside.context.jobScheduler.tick()])
    const order = await queued()
    expect(order).toHaveLength(MANY + 4)
    // What a site has beyond its turn comes after the turns of the others.
    expect(order.slice(-5)).toEqual(Array.from({ length: 5 }, () => 'one.test'))
    expect(await statuses('two.test')).toEqual(['first queued', 'second queued'])
    expect(await statuses('one.test')).toHaveLength(MANY)
  })

  test('skip and record what still waits, and queue what does not', async () => {
    await schedule(sites[2], 'later')
    now += MINUTE_MS
    await stack.context.jobScheduler.tick()
    expect(await queued()).toHaveLength(MANY + 5)
    expect(await statuses('three.test')).toEqual([
      'first queued',
      'first skipped',
      'later queued',
      'second queued',
      'second skipped',
    ])
  })

  test('that cannot be recorded do not keep the others of their site', async () => {
    const [, two] = sites
    await schedule(two, 'broken')
    await asAdmin(async (admin) => {
      await admin.unsafe(`
        create function refuse_broken() returns trigger language plpgsql as
          $$ begin raise exception 'broken'; end $$;
        create trigger refuse_broken before insert on data_job_run for each row
          when (new.job_id = 'broken') execute function refuse_broken()`)
    }, stack.database.url)
    await schedule(two, 'whole')
    now += MINUTE_MS
    await stack.context.jobScheduler.tick()
    const found = await statuses('two.test')
    expect(found).toContain('whole queued')
    expect(found.filter((run) => run.startsWith('broken'))).toEqual([])
  })
})
