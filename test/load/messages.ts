import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { startCroft } from '#bench/croft/croft-process.ts'
import { httpCall, jsonCall } from '#bench/http-call.ts'
import { columns } from '#bench/load/load-table.ts'
import { quantile } from '#bench/median.ts'
import { createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { storeCrowd } from '#test/mail-crowd.ts'
import { silentLog } from '#test/silent-log.ts'

const USAGE = `node test/load/messages.ts [--messages N] [--rounds N]

Fills one mailbox of a fresh installation with N messages (1,000,000 by default), and prints how long its
lists and searches take over HTTP, one after the other.`

const HOST = 'messages.test'
const OPERATOR_KEY = 'load-messages-operator-key-0123456789'
const WARM_UP = 5

async function main(messages: number, rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-load-messages-'))
  // As root the database runs as another user, which needs access.
  await chmod(folder, 0o755)
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: silentLog })
  try {
    await using croft = await startCroft(undefined, {
      DATABASE_URL: postgres.url,
      CROFT_OPERATOR_KEY: OPERATOR_KEY,
    })
    await croft.command('site', 'create', '--domain', HOST, '--super-admin', `ann@${HOST}`)
    const { origin } = croft
    const { token } = await jsonCall<{ token: string }>({
      origin,
      host: 'localhost',
      method: 'POST',
      path: `/portal/api/sites/${HOST}/tokens`,
      token: OPERATOR_KEY,
      body: { user: `ann@${HOST}`, pool: 'admin' },
    })
    for (const name of ['big', 'small']) {
      await jsonCall({
        origin,
        host: HOST,
        method: 'POST',
        path: '/admin/api/mailboxes',
        token,
        body: { address: `${name}@${HOST}`, owners: [`ann@${HOST}`] },
      })
      await fill(postgres.url, name, name === 'big' ? messages : Math.ceil(messages / 100))
    }
    const rows = await measureAll({ origin, token, messages, rounds })
    console.log(columns([['request', 'status', 'p50 ms', 'p99 ms', 'longest'], ...rows]))
  } finally {
    await postgres[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
}

async function fill(url: string, name: string, messages: number): Promise<void> {
  const owner = createClient({ url, max: 1 })
  try {
    const [found] = await owner<{ siteId: string; mailboxId: string }[]>`
      select site_id as "siteId", mailbox_id as "mailboxId" from mailbox where local_part = ${name}`
    if (!found) throw new Error(`There is no mailbox "${name}"`)
    await storeCrowd(owner, { ...found, messages, name })
  } finally {
    await owner.end({ timeout: 5 })
  }
}

interface Measured {
  readonly origin: string
  readonly token: string
  readonly messages: number
  readonly rounds: number
}

async function measureAll(load: Measured): Promise<string[][]> {
  const deep = new Date(Date.now() - (load.messages / 2) * 60_000).toISOString()
  const asked: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['first page', { mailbox: `big@${HOST}` }],
    ['a page in the middle', { mailbox: `big@${HOST}`, endTime: deep }],
    ['a folder', { mailbox: `big@${HOST}`, folder: 'archive' }],
    ['not seen', { mailbox: `big@${HOST}`, seen: 'false' }],
    ['a conversation', { mailbox: `big@${HOST}`, threadId: 'thr_big7' }],
    ['all mailboxes', {}],
    ['search: in every message', { mailbox: `big@${HOST}`, q: 'everywhere' }],
    ['search: in 1 of 750', { mailbox: `big@${HOST}`, q: 'w77' }],
    ['search: in 1 of 1000', { mailbox: `big@${HOST}`, q: 'rare' }],
    ['search: in one', { mailbox: `big@${HOST}`, q: '"only77777"' }],
    ['search: in none', { mailbox: `big@${HOST}`, q: 'nowhere' }],
    ['search: a beginning in 1 of 1000', { mailbox: `big@${HOST}`, q: 'seld*' }],
    ['search: a phrase in every message', { mailbox: `big@${HOST}`, q: '"eve else test"' }],
    ['search: a sender and in 1 of 1000', { mailbox: `big@${HOST}`, q: 'from:eve rare' }],
    ['search: without 1 of 750', { mailbox: `big@${HOST}`, q: 'everywhere -w77' }],
    ['search: not seen, in 1 of 1000', { mailbox: `big@${HOST}`, q: 'is:unread rare' }],
    ['search: with attachment, in none', { mailbox: `big@${HOST}`, q: 'has:attachment' }],
    ['search: in one, all mailboxes', { q: '"only77"' }],
  ]
  const rows: string[][] = []
  for (const [name, query] of asked) {
    const path = `/admin/api/messages?${new URLSearchParams({ limit: '50', ...query }).toString()}`
    rows.push([name, ...(await measure(load, path))])
  }
  return rows
}

async function measure({ origin, token, rounds }: Measured, path: string): Promise<string[]> {
  const ms: number[] = []
  let status = 0
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const answer = await httpCall({ origin, host: HOST, method: 'GET', path, token })
    status = answer.status
    if (round >= 0) ms.push(answer.ms)
  }
  return [String(status), ...[0.5, 0.99, 1].map((share) => quantile(ms, share).toFixed(1))]
}

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '100' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else await main(Number(values.messages), Number(values.rounds))
