import { type Static, type TSchema, Type } from '@sinclair/typebox'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import { sitePath } from './service-client.ts'

/** A page of a list, as the service responds with it. */
export const itemPage = <Item extends TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    nextToken: Type.Union([Type.String(), Type.Null()]),
  })

interface SiteList<Item extends TSchema> extends Pick<CliCommand, 'name' | 'summary'> {
  /** Below the site that the word of the command names: `/aliases`. */
  readonly path: `/${string}`
  readonly item: Item
  /** What people read of one. */
  readonly row: (item: Static<Item>) => readonly string[]
  /** What they read where there is none. */
  readonly empty: string
}

/** A command that prints a list of a site, whole. */
export function listCommand<Item extends TSchema>(list: SiteList<Item>): CliCommand {
  const { name, summary, path, item, row, empty } = list
  return {
    name,
    summary,
    words: ['DOMAIN'],
    options: [],
    async run({ args, service }) {
      const items = await service.portalItems(itemPage(item), sitePath(args.word, path))
      const rows = items.map((one) => row(one).map(printable))
      return {
        json: { items, nextToken: null },
        text: rows.length === 0 ? empty : columns(rows),
      }
    },
  }
}
