import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, invalid } from '#base/app-error.ts'
import { checkJsonSize } from '#base/json-depth.ts'
import type { HostCall, StoreGrant } from '#platform/sandbox-host/sandbox.ts'
import { BUCKET_ACTIONS } from '#runtime/buckets/answers.ts'
import type { Buckets } from '#runtime/buckets/buckets.ts'
import type { RevisionStore } from '#runtime/published/revision-document.ts'
import type { PublishedSites } from '#runtime/published/service.ts'
import { TABLE_ACTIONS } from '#runtime/tables/api/answers.ts'
import type { KeySchema } from '#runtime/tables/items/key-schema.ts'
import type { Tables } from '#runtime/tables/tables.ts'

import { allows, neededAccess, notEnough, notGranted, type WantedStore } from './store-access.ts'

/** In UTF-16 units: an object of 6 MiB in base64 and a batch of 16 MiB fit. */
const MAX_ANSWER_LENGTH = 20 * 1024 * 1024

const literals = <const Names extends readonly string[]>(names: Names) =>
  Type.Union(names.map((name) => Type.Literal<Names[number]>(name)))

const asked = <Action extends TSchema>(action: Action) =>
  Type.Object({ name: Type.String(), action, input: Type.Unknown() })

const TableArgument = asked(literals(TABLE_ACTIONS))
const BucketArgument = asked(literals(BUCKET_ACTIONS))

type StoreOf<StoreType extends StoreGrant['type']> = Extract<RevisionStore, { type: StoreType }>

interface Asked<StoreType extends StoreGrant['type']> {
  readonly type: StoreType
  readonly name: string
  /** The access that it takes in a table of those keys; undefined for a bucket, or where there is no table. */
  readonly neededIn: (keys: KeySchema | undefined) => StoreGrant['access']
}

/** What functions do with the tables and buckets that they were granted. */
export class StoreCalls {
  readonly #deps

  constructor(deps: {
    readonly published: PublishedSites
    readonly tables: Pick<Tables, 'perform'>
    readonly buckets: Pick<Buckets, 'perform'>
  }) {
    this.#deps = deps
  }

  async table(hostCall: HostCall): Promise<string> {
    const { name, action, input } = read(TableArgument, hostCall.argument)
    const { resourceId, config } = await this.#granted(hostCall, {
      type: 'ddbTable',
      name,
      neededIn: (keys) => neededAccess(action, input, keys),
    })
    const table = { siteId: hostCall.call.site.siteId, tableId: resourceId, schema: config }
    return answerText(await this.#deps.tables.perform(table, action, input))
  }

  async bucket(hostCall: HostCall): Promise<string> {
    const { name, action, input } = read(BucketArgument, hostCall.argument)
    const { resourceId, config } = await this.#granted(hostCall, {
      type: 's3Bucket',
      name,
      neededIn: () => neededAccess(action, input),
    })
    const bucket = { siteId: hostCall.call.site.siteId, bucketId: resourceId, config }
    return answerText(await this.#deps.buckets.perform(bucket, action, input))
  }

  /**
   * A call has the grants of the revision that it began in, for as long as it runs: no more and no less. What a store
   * is like, and whether there still is one, the current revision says.
   */
  async #granted<StoreType extends StoreGrant['type']>(
    hostCall: HostCall,
    { type, name, neededIn }: Asked<StoreType>,
  ): Promise<StoreOf<StoreType>> {
    const asker = hostCall.function
    if (!asker) {
      throw new AppError(
        'Forbidden',
        'Ad-hoc code has no grants: tables and buckets are for functions',
      )
    }
    const { stores } = await this.#deps.published.current(hostCall.call.site)
    const wanted = { functionName: asker.name, type, name }
    const grant = asker.stores.get(name)
    if (grant?.type !== type) {
      const needed = neededIn(undefined)
      throw notGranted({ ...wanted, needed }, idOf(stores.values(), type, name))
    }
    const found = stores.get(grant.resourceId)
    if (isOf(type, found)) {
      checkAccess(wanted, grant, () => neededIn(keysOf(found)))
      return found
    }
    throw new AppError('ResourceNotFound', `"${name}" does not exist any more`)
  }
}

function checkAccess(
  wanted: Omit<WantedStore, 'needed'>,
  grant: StoreGrant,
  neededIn: () => StoreGrant['access'],
): void {
  // Everything is in it: no expression is read to find out.
  if (grant.access === 'readWrite') return
  const needed = neededIn()
  if (!allows(grant.access, needed)) throw notEnough({ ...wanted, needed }, grant)
}

/** Bounded in length by the sandbox; in depth here. Everything about `input` is its action's to check. */
function read<Schema extends TSchema>(schema: Schema, argument: string): Static<Schema> {
  checkJsonSize(argument)
  const value: unknown = JSON.parse(argument)
  if (Value.Check(schema, value)) return value
  throw invalid('action', 'is not one that this store has')
}

const keysOf = (store: RevisionStore): KeySchema | undefined =>
  store.type === 'ddbTable' ? store.config : undefined

const isOf = <StoreType extends StoreGrant['type']>(
  type: StoreType,
  store: RevisionStore | undefined,
): store is StoreOf<StoreType> => store?.type === type

function idOf(
  stores: Iterable<RevisionStore>,
  type: StoreGrant['type'],
  name: string,
): string | undefined {
  for (const store of stores) {
    if (store.type === type && store.name === name) return store.resourceId
  }
  return undefined
}

function answerText(answer: object): string {
  const text = JSON.stringify(answer)
  if (text.length <= MAX_ANSWER_LENGTH) return text
  throw new AppError(
    'PayloadTooLarge',
    `The answer is longer than ${MAX_ANSWER_LENGTH} characters: ask for less at once`,
    { fields: { limit: MAX_ANSWER_LENGTH } },
  )
}
