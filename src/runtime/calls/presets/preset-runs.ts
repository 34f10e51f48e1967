import { AppError, notFound } from '#base/app-error.ts'
import { networkOf } from '#base/network-of.ts'
import type { Bucket, BucketAction } from '#runtime/buckets/bucket.ts'
import type { AdmittedCall } from '#runtime/calls/admitted-call.ts'
import { failureOf } from '#runtime/calls/failures.ts'
import { boundBytes, payloadOf } from '#runtime/calls/request-body.ts'
import type { PresetBinding } from '#runtime/operations/preset-binding.ts'
import {
  type BucketPreset,
  type Preset,
  type TablePreset,
  presetOf,
} from '#runtime/operations/presets.ts'
import type { RevisionStore } from '#runtime/published/revision-document.ts'
import type { RequestFields } from '#runtime/tables/plain/request-fields.ts'
import type { Table } from '#runtime/tables/table.ts'

import { insideFolder, outsideFolder, ownFolder } from './bucket-owner.ts'
import { SealedPageTokens } from './page-token.ts'
import { presetRequest } from './request.ts'
import { SiteGate } from './site-gate.ts'
import { type OwnRequest, ownRequest } from './table-owner.ts'

/** What callers send is read by the service itself, beside all other sites: an item has 400 KiB at most. */
const MAX_PAYLOAD_BYTES = 1024 * 1024
const PAYLOAD_BOUNDS = { values: 50_000, fields: 10_000 }
/** Whose payload brings a whole object. */
const BRINGS_OBJECT = 's3.put-object'

export interface PresetStores {
  readonly tables: {
    perform(table: Table, action: TablePreset['action'], input: unknown): Promise<object>
  }
  readonly buckets: {
    perform(bucket: Bucket, action: BucketAction, input: unknown, holder?: string): Promise<object>
  }
}

/** A call of an operation that is bound to an action of a table or bucket. */
interface PresetCall {
  readonly call: AdmittedCall
  readonly binding: PresetBinding
  readonly store: RevisionStore
}

/** Performs presets: on the service, with what the revision says of them, as the caller where they are the caller's. */
export class PresetRuns {
  readonly #stores: PresetStores
  readonly #tokens: SealedPageTokens
  readonly #gate = new SiteGate()

  constructor(
    deps: PresetStores & { /** 32 bytes, for page tokens. */ readonly tokenKey: Buffer },
  ) {
    this.#stores = deps
    this.#tokens = new SealedPageTokens(deps.tokenKey)
  }

  /** The data of the answer. Throws what the action throws, `Forbidden`, `OperationOverloaded` and `OperationInterrupted`. */
  async perform(call: AdmittedCall, binding: PresetBinding): Promise<unknown> {
    const payload = boundedPayload(call.body, binding)
    const preset = presetOf(binding.preset)
    if (!preset) return payload ?? null
    const store = call.site.stores.get(binding.resourceId ?? '')
    if (store?.type !== preset.store) throw notFound('Resource', binding.resourceId ?? '')
    const request = presetRequest(binding, preset, payload)
    const { limits } = call.site.program
    const { siteId, signal } = call
    const done = await this.#gate.run({ siteId, limits, signal }, () =>
      this.#act({ call, binding, store }, preset, request),
    )
    if ('result' in done) return done.result
    throw failureOf(done.met, { operation: call.operation.name, requestId: call.requestId })
  }

  #act(on: PresetCall, preset: Preset, request: RequestFields): Promise<object> {
    return preset.store === 'ddbTable'
      ? this.#onTable(on, preset, request)
      : this.#onBucket(on, preset, request)
  }

  async #onBucket(
    { call, binding, store }: PresetCall,
    { action }: BucketPreset,
    request: RequestFields,
  ): Promise<object> {
    if (store.type !== 's3Bucket') throw notFound('Resource', store.resourceId)
    const bucket = { siteId: call.siteId, bucketId: store.resourceId, config: store.config }
    const { owner } = binding
    const { buckets } = this.#stores
    const holder = holderOf(call)
    if (!owner || !('prefix' in owner)) return buckets.perform(bucket, action, request, holder)
    const folder = ownFolder(owner, subOf(call))
    const input = insideFolder(folder, action, request)
    return outsideFolder(folder, await buckets.perform(bucket, action, input, holder))
  }

  async #onTable(
    { call, binding, store }: PresetCall,
    { action }: TablePreset,
    request: RequestFields,
  ): Promise<object> {
    if (store.type !== 'ddbTable') throw notFound('Resource', store.resourceId)
    const table = { siteId: call.siteId, tableId: store.resourceId, schema: store.config }
    const { owner } = binding
    if (!owner || !('attribute' in owner)) {
      return this.#stores.tables.perform(table, action, request)
    }
    const sub = subOf(call)
    const scope = [call.siteId, call.operation.name, store.resourceId, sub]
    const opened = this.#opened(scope, request)
    const own = ownRequest(store.config, action, opened, { attribute: owner.attribute, sub })
    const answer = await this.#stores.tables.perform(table, own.action, own.input)
    return this.#shown(scope, own, answer)
  }

  #opened(scope: readonly string[], request: RequestFields): RequestFields {
    const { nextToken } = request
    if (typeof nextToken !== 'string') return request
    return { ...request, nextToken: this.#tokens.open(scope, nextToken) }
  }

  /** Without what tells of others' items: their keys, and how many of them were passed over. */
  #shown(scope: readonly string[], own: OwnRequest, answer: object): object {
    if (!('items' in answer) || !Array.isArray(answer.items)) return answer
    if (own.first) return { item: answer.items[0] ?? null }
    const { lastEvaluatedKey: _place, ...page } = Object.fromEntries(Object.entries(answer))
    const token: unknown = page['nextToken']
    return {
      ...page,
      ...(own.filtered ? { scannedCount: page['count'] } : {}),
      nextToken: typeof token === 'string' ? this.#tokens.seal(scope, token) : null,
    }
  }
}

/** Whose open uploads are counted together: a user's, or those of strangers in one network. The site's own are not. */
function holderOf({ visitor, authority, address }: AdmittedCall): string | undefined {
  if (visitor) return `user ${visitor.sub}`
  return authority === 'system' ? undefined : `network ${networkOf(address ?? '')}`
}

/** Who calls. A job of the system and a stranger are nobody. */
function subOf({ visitor, operation }: AdmittedCall): string {
  if (visitor) return visitor.sub
  throw new AppError(
    'Forbidden',
    `Operation "${operation.name}" works on what is its caller’s own: call it as a user`,
  )
}

function boundedPayload(body: string, { preset }: PresetBinding): unknown {
  if (preset !== BRINGS_OBJECT) boundBytes(body, MAX_PAYLOAD_BYTES)
  return payloadOf(body, PAYLOAD_BOUNDS)
}
