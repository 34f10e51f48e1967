import { type Static, Type } from '@sinclair/typebox'

import { columns, printable } from './columns.ts'
import { type CliCommand, type Invocation, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000
const PAGE = 100

const OrNull = Type.Union([Type.String(), Type.Null()])

const AuditPage = Type.Object({
  items: Type.Array(
    Type.Object({
      at: Type.String(),
      event: Type.String(),
      pool: OrNull,
      sub: OrNull,
      email: OrNull,
      actor: OrNull,
      address: OrNull,
      detail: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
  nextToken: OrNull,
})
type AuditItem = Static<typeof AuditPage>['items'][number]

export const audit: CliCommand = {
  name: 'audit',
  summary: 'What happened to a site’s accounts, newest first',
  argument: 'DOMAIN',
  options: [
    textOption('--event <event>', 'only events of this kind'),
    textOption('--user <email>', 'only of this account'),
    textOption('--sub <sub>', 'only of the account with this subject'),
    textOption('--since <time>', 'not before'),
    textOption('--until <time>', 'not after'),
    textOption('--limit <number>', `at most so many, ${DEFAULT_LIMIT} unless told otherwise`),
  ],
  async run(call) {
    const items = await read(call, limitOf(call.args.text('limit')))
    return {
      json: { items },
      text: items.length === 0 ? 'Nothing of that kind has happened.' : columns(items.map(rowOf)),
    }
  },
}

async function read({ args, service }: Invocation, limit: number): Promise<AuditItem[]> {
  const path = sitePath(args.word, '/audit')
  const filters = new URLSearchParams()
  for (const [name, option] of FILTERS) {
    const value = args.text(option)
    if (value !== undefined) filters.set(name, value)
  }
  const items: AuditItem[] = []
  for (let next: string | null = ''; next !== null && items.length < limit;) {
    const query = new URLSearchParams(filters)
    query.set('limit', String(Math.min(PAGE, limit - items.length)))
    if (next !== '') query.set('nextToken', next)
    const page = await service.portalAs(AuditPage, 'GET', `${path}?${query.toString()}`)
    items.push(...page.items)
    next = page.nextToken
  }
  return items
}

const FILTERS = [
  ['event', 'event'],
  ['email', 'user'],
  ['sub', 'sub'],
  ['since', 'since'],
  ['until', 'until'],
] as const

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? DEFAULT_LIMIT : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit is a whole number from 1 to ${MAX_LIMIT}, not "${text}"`)
}

const rowOf = ({ at, event, pool, sub, email, actor, address, detail }: AuditItem): string[] =>
  [
    at,
    event,
    pool ?? '',
    email ?? sub ?? '',
    actor === null ? '' : `by ${actor}`,
    address ?? '',
    Object.entries(detail)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' '),
  ].map(printable)
