import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { SiteTx } from '#platform/postgres/database.ts'
import type { PostgresPlatform } from '#platform/postgres/postgres.ts'
import { IdempotentAnswers } from '#sites/idempotency/idempotent-answers.ts'
import { type TestDatabase, openDatabase } from '#test/postgres.ts'

const DAY_MS = 24 * 3_600_000

let postgres: PostgresPlatform & TestDatabase
let nowMs = Date.parse('2026-11-20T12:00:00Z')
const answers = new IdempotentAnswers({ clock: { now: () => new Date(nowMs) } })
beforeAll(async () => {
  postgres = await openDatabase()
  for (const siteId of ['one', 'two']) {
    await postgres.database.withSite(siteId, ({ db }) =>
      db
        .insertInto('site')
        .values({
          site_id: siteId,
          domain: `${siteId}.test`,
          region: 'eu-local-1',
          source_mode: 'SITE_GIT',
          repo_binding: '{}',
          deployment_settings: '{}',
        })
        .execute(),
    )
  }
})
afterAll(() => postgres[Symbol.asyncDispose]())

let keys = 0
const newKey = () => `key-${++keys}`

/** Answers with the number of the run, so that a second run shows. */
let runs = 0
const ask = (
  key: string,
  request: { site?: string; scope?: string; body?: string; work?: (tx: SiteTx) => unknown } = {},
) =>
  postgres.database.withSite(request.site ?? 'one', (tx) =>
    answers.once(
      tx,
      {
        scope: request.scope ?? 'POST /things ann',
        key,
        digest: Buffer.from((request.body ?? 'a').padEnd(32)),
      },
      async () => {
        const given = await request.work?.(tx)
        return given ?? { run: ++runs }
      },
    ),
  )

const rows = () =>
  postgres.database.withSite('one', ({ db }) =>
    db.selectFrom('idempotent_answer').selectAll().execute(),
  )

describe('a request with an idempotency key', () => {
  test('gets the first answer again, as it was', async () => {
    const key = newKey()
    const answer = { z: 1, a: ['\0', '\ud800', null, 1e21], nested: { deep: true } }
    await ask(key, { work: () => answer })
    const again = await ask(key, { work: () => expect.unreachable() })
    expect(JSON.stringify(again)).toBe(JSON.stringify(answer))
  })

  test('waits for the one that came a moment before', async () => {
    const key = newKey()
    const given = await Promise.all(Array.from({ length: 5 }, () => ask(key)))
    expect(new Set(given.map((answer) => JSON.stringify(answer))).size).toBe(1)
  })

  test('is done again when the first one failed', async () => {
    const key = newKey()
    const failed = ask(key, { work: () => Promise.reject(new Error('no')) })
    await expect(failed).rejects.toThrow('no')
    expect(await ask(key)).toEqual({ run: runs })
  })

  test('takes the place of one that fails while it waits', async () => {
    const key = newKey()
    const held = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const first = ask(key, {
      work: async () => {
        started.resolve()
        await held.promise
        throw new Error('too late')
      },
    })
    await started.promise
    const second = ask(key)
    held.resolve()
    await expect(first).rejects.toThrow('too late')
    expect(await second).toEqual({ run: runs })
  })

  test('is refused when it asks for something else', async () => {
    const key = newKey()
    await ask(key)
    await expect(ask(key, { body: 'b' })).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
  })

  test.each([
    ['caller', { scope: 'POST /things bob' }],
    ['site', { site: 'two' }],
  ])('shares nothing with the same key of another %s', async (_what, other) => {
    const key = newKey()
    const [own, others] = [await ask(key), await ask(key, other)]
    expect(others).not.toEqual(own)
  })

  test('is forgotten after a day, and swept by those that follow', async () => {
    const key = newKey()
    const first = await ask(key)
    nowMs += DAY_MS - 1
    expect(await ask(key)).toEqual(first)
    nowMs += 1
    const second = await ask(key, { body: 'b' })
    expect(second).not.toEqual(first)
    expect(await ask(key, { body: 'b' })).toEqual(second)
    nowMs += DAY_MS + 1
    await ask(newKey())
    expect(await rows()).toHaveLength(1)
  })

  test('leaves the key as a hash only', async () => {
    const key = newKey()
    await ask(key)
    expect(JSON.stringify(await rows())).not.toContain(key)
  })
})
