import { type BatchPlaces, isBatchAction, performBatchAction } from './batch-actions.ts'
import { checkRules } from './check-rules.ts'
import { wireFault } from './fault-mapping.ts'
import { isItemAction, performItemAction } from './item-actions.ts'
import { ITEM_SHAPES } from './item-shapes.ts'
import type { WireAnswer } from './protocol.ts'
import { type Body, readFields } from './read-shape.ts'
import type { Fields } from './shape.ts'
import type { TableCatalog } from './table-catalog.ts'
import { TABLE_SHAPES } from './table-shapes.ts'
import { TagActions } from './tag-actions.ts'

const SHAPES: Readonly<Record<string, Fields>> = { ...TABLE_SHAPES, ...ITEM_SHAPES }
/** How long an endpoint may be remembered: a day. */
const CACHE_MINUTES = 1440
const LIMITS = {
  AccountMaxReadCapacityUnits: 80_000,
  AccountMaxWriteCapacityUnits: 80_000,
  TableMaxReadCapacityUnits: 40_000,
  TableMaxWriteCapacityUnits: 40_000,
}

/** `host` is what the client calls the endpoint. */
type TableAction = (body: Body, host: string) => WireAnswer | Promise<WireAnswer>

/** All actions of the endpoint, by their names on the wire. */
export class WireActions {
  readonly names: ReadonlySet<string>
  readonly #places: BatchPlaces
  readonly #tableActions: Readonly<Record<string, TableAction>>

  constructor(places: BatchPlaces, catalog: TableCatalog) {
    this.#places = places
    this.#tableActions = tableActions(catalog)
    this.names = new Set([...Object.keys(SHAPES), ...Object.keys(this.#tableActions)])
  }

  /** Fails with a WireError, or with what is a fault of ours. */
  async perform(name: string, input: object, host: string): Promise<WireAnswer> {
    const fields = SHAPES[name] ?? {}
    const body = readFields(input, fields)
    try {
      checkRules(body, fields)
      // Checked against the shape of just this action.
      if (isItemAction(name)) return await performItemAction(this.#places, name, body as never)
      if (isBatchAction(name)) return await performBatchAction(this.#places, name, body)
      const action = this.#tableActions[name]
      if (action === undefined) throw new TypeError(`"${name}" has a shape and no action`)
      return await action(body, host)
    } catch (fault) {
      throw wireFault(fault)
    }
  }
}

/** The bodies were read by the shapes of their actions, which are those of the requests. */
function tableActions(catalog: TableCatalog): Readonly<Record<string, TableAction>> {
  const tags = new TagActions(catalog)
  const nameIn = (body: Body): string => String(body['TableName'])
  return {
    CreateTable: (body) => catalog.create(body as never),
    DescribeTable: (body) => catalog.describe(nameIn(body)),
    DeleteTable: (body) => catalog.delete(nameIn(body)),
    UpdateTable: (body) => catalog.update(body as never),
    ListTables: (body) => catalog.list(body),
    DescribeTimeToLive: (body) => catalog.timeToLive(nameIn(body)),
    UpdateTimeToLive: (body) => catalog.updateTimeToLive(body as never),
    TagResource: (body) => tags.add(body),
    UntagResource: (body) => tags.remove(body),
    ListTagsOfResource: (body) => tags.list(body),
    DescribeLimits: () => LIMITS,
    DescribeEndpoints: (_body, host) => ({
      Endpoints: [{ Address: host, CachePeriodInMinutes: CACHE_MINUTES }],
    }),
  }
}
