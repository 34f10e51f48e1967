import { type Static, Type } from '@sinclair/typebox'

import { columns, printable } from './columns.ts'
import { type CliCommand, type Invocation, textOption } from './command.ts'
import { LIMIT_OPTION, limitOf } from './limit-option.ts'
import { sitePath } from './service-client.ts'

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
  summary: 'List the audit events of a site’s accounts, newest first',
  words: ['DOMAIN'],
  options: [
    textOption('--event <event>', 'only events of this kind'),
    textOption('--user <email>', 'only of this account'),
    textOption('--sub <sub>', 'only of the account with this subject'),
    textOption('--since <time>', 'not before'),
    textOption('--until <time>', 'not after'),
    LIMIT_OPTION,
  ],
  async run(call) {
    const items = await read(call)
    return {
      json: { items },
      text: items.length === 0 ? 'Nothing of that kind has happened.' : columns(items.map(rowOf)),
    }
  },
}

async function read({ args, service }: Invocation): Promise<AuditItem[]> {
  const filters: Record<string, string> = {}
  for (const [name, option] of FILTERS) {
    const value = args.text(option)
    if (value !== undefined) filters[name] = value
  }
  const path = sitePath(args.word, '/audit')
  return service.portalItems(AuditPage, path, { filters, atMost: limitOf(args) })
}

const FILTERS = [
  ['event', 'event'],
  ['email', 'user'],
  ['sub', 'sub'],
  ['since', 'since'],
  ['until', 'until'],
] as const

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
