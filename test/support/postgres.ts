import { randomBytes } from 'node:crypto'

import { inject } from 'vitest'

import { createClient } from '#platform/postgres/client.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'

import { KeyPairs } from './key-pairs.ts'
import { silentLog } from './silent-log.ts'

export interface TestDatabase extends AsyncDisposable {
  readonly name: string
  /** The superuser's. Give it to `connectPostgres` as `DATABASE_URL` would be: it becomes the app role by itself. */
  readonly url: string
  /** Of the pools in it. */
  readonly keyPairs: KeyPairs
}

/** A migrated database of its own for a test file. */
export const cloneDatabase = (): Promise<TestDatabase> => createDatabase(inject('templateDatabase'))

/** One without a table, for tests of migrations. */
export const emptyDatabase = (): Promise<TestDatabase> => createDatabase('template1')

/** The production database, notifications and client on a fresh clone, as the app role. */
export async function openDatabase(
  options: { readonly poolSize?: number } = {},
): Promise<PostgresPlatform & TestDatabase> {
  const clone = await cloneDatabase()
  const platform = await connectPostgres({
    url: clone.url,
    log: silentLog,
    poolSize: options.poolSize ?? 5,
  })
  return {
    ...clone,
    ...platform,
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      await clone[Symbol.asyncDispose]()
    },
  }
}

/** Runs statements as the superuser, on the server's own database or another. */
export async function asAdmin(
  work: (admin: ReturnType<typeof createClient>) => Promise<unknown>,
  url: string = inject('postgresUrl'),
): Promise<void> {
  const admin = createClient({ url, max: 1 })
  try {
    await work(admin)
  } finally {
    await admin.end({ timeout: 5 })
  }
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const name = `croft_test_${randomBytes(6).toString('hex')}`
  const strategy = inject('cloneStrategy')
  await asAdmin(
    (admin) =>
      admin`create database ${admin(name)} template ${admin(template)} strategy ${admin(strategy)}`,
  )
  return {
    name,
    url: urlOf(name),
    keyPairs: new KeyPairs(),
    [Symbol.asyncDispose]: () =>
      asAdmin((admin) => admin`drop database if exists ${admin(name)} with (force)`),
  }
}

function urlOf(database: string): string {
  const url = new URL(inject('postgresUrl'))
  url.pathname = database
  return url.href
}
