import { type Static, Type } from '@sinclair/typebox'

import type { Command } from './command.ts'
import { UsageError } from './faults.ts'
import { expectShape } from './shape.ts'
import { sitePath } from './site-show.ts'
import { columns, printable } from './table.ts'
import { oneOf } from './token.ts'

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

export const sessions: Command = {
  name: 'sessions',
  summary: 'Where a user of a site is signed in; ends one of these sign-ins, or all',
  usage: 'DOMAIN --user EMAIL [--pool admin|data] [--end SESSION | --end-all]',
  options: {
    user: { type: 'string' },
    pool: { type: 'string' },
    end: { type: 'string' },
    'end-all': { type: 'boolean' },
  },
  maxPositionals: 1,
  async run({ args, service }) {
    const user = args.required('user')
    const pool = oneOf('pool', args.text('pool'), ['admin', 'data']) ?? 'data'
    const base = sitePath(args.word(0, 'DOMAIN'), '/sessions')
    const query = new URLSearchParams({ user, pool }).toString()
    const one = args.text('end')
    if (one !== undefined && args.flag('end-all')) {
      throw new UsageError('--end and --end-all exclude each other')
    }
    if (one === undefined && !args.flag('end-all')) {
      const list = expectShape(SessionList, await service.portal('GET', `${base}?${query}`))
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
