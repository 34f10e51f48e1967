import { type Static, Type } from '@sinclair/typebox'

import { columns, printable } from './columns.ts'
import { type CliCommand, POOL_OPTION, flagOption, requiredOption, textOption } from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'

const SessionList = Type.Object({
  items: Type.Array(
    Type.Object({
      sessionId: Type.String(),
      method: Type.Union([Type.String(), Type.Null()]),
      userAgent: Type.String(),
      address: Type.String(),
      createdAt: Type.String(),
      lastSeenAt: Type.String(),
      expiresAt: Type.String(),
    }),
  ),
})
type Item = Static<typeof SessionList>['items'][number]

export const sessions: CliCommand = {
  name: 'sessions',
  summary: 'List the sessions of a user of a site; end one of them, or all',
  words: ['DOMAIN'],
  options: [
    requiredOption('--user <email>', 'whose'),
    POOL_OPTION,
    textOption('--end <session>', 'end this one'),
    flagOption('--end-all', 'end all of them'),
  ],
  async run({ args, service }) {
    const user = args.required('user')
    const pool = args.text('pool') ?? 'data'
    const base = sitePath(args.word, '/sessions')
    const query = new URLSearchParams({ user, pool }).toString()
    const one = args.text('end')
    if (one !== undefined && args.flag('endAll')) {
      throw new UsageError('--end and --end-all exclude each other')
    }
    if (one === undefined && !args.flag('endAll')) {
      const list = await service.portalAs(SessionList, 'GET', `${base}?${query}&limit=100`)
      return { json: list, text: textOf(list.items, user) }
    }
    const path = one === undefined ? base : `${base}/${encodeURIComponent(one)}`
    await service.portal('DELETE', `${path}?${query}`)
    return {
      json: { user, pool, ended: one ?? 'all' },
      text: one === undefined ? `${user} is signed out everywhere.` : `Ended ${one}.`,
    }
  },
}

const textOf = (items: readonly Item[], user: string): string =>
  items.length === 0 ? `${user} is not signed in anywhere.` : columns(items.map(rowOf))

const rowOf = (item: Item): string[] =>
  [
    item.sessionId,
    item.method ?? 'a client',
    `since ${item.createdAt}`,
    `seen ${item.lastSeenAt}`,
    item.address,
    item.userAgent,
  ].map(printable)
