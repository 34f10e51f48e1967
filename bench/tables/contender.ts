import type { Call } from './closed-loop.ts'

/** Items of the small table: `item-0` … */
export const ITEMS = 10_000
/** Items of the one partition that is queried. */
export const PARTITION_ITEMS = 1_000_000
export const PAGE_ITEMS = 100

/** A store that can do the same few things. */
export interface Contender {
  readonly name: string
  readonly get: Call
  readonly put: Call
  /** A hundred items from the middle of a million; undefined where that many cannot be loaded in reasonable time. */
  readonly query: Call | undefined
}

/** An item as a site would keep it: about 300 bytes of JSON, five attributes beside the key. */
export const itemOf = (index: number) => ({
  id: `item-${index % ITEMS}`,
  name: `Ada Lovelace the ${index % 97}th`,
  email: `ada.${index}@example.test`,
  visits: index % 1000,
  tags: ['analytical', 'engine', `t${index % 13}`],
  address: { street: 'St James’s Square 12', city: 'London', postcode: 'SW1Y 4JH' },
})

export const keyOf = (index: number) => ({ id: `item-${(index * 7919) % ITEMS}` })

/** Where a query starts: a different place each time. */
export const startOf = (index: number): string =>
  String((index * 104_729) % (PARTITION_ITEMS - PAGE_ITEMS)).padStart(7, '0')
