import { AppError, notFound, invalid } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'
import { isJsonObject } from '#base/json-object.ts'
import { Limiter, type LimiterRefusal } from '#base/limiter.ts'
import { type Call, callerOf } from '#platform/sandbox-host/call.ts'
import type { SandboxFailure } from '#platform/sandbox-host/sandbox.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'
import type { BucketAction } from '#runtime/buckets/answers.ts'
import type { Bucket } from '#runtime/buckets/bucket.ts'
import { insideFolder, outsideFolder, ownFolder } from '#runtime/buckets/owned-folder.ts'
import type { AdmittedCall } from '#runtime/calls/admission.ts'
import { operationError } from '#runtime/calls/failures.ts'
import { boundBytes, itemPayloadOf, payloadOf } from '#runtime/calls/request-body.ts'
import {
  type PresetBinding,
  allowedFields,
  isMapField,
} from '#runtime/operations/preset-binding.ts'
import {
  type BucketPreset,
  type Preset,
  type TablePreset,
  presetOf,
} from '#runtime/operations/presets.ts'
import type { RevisionStore } from '#runtime/published/revision-document.ts'
import { type OwnRequest, ownRequest } from '#runtime/tables/api/owned-request.ts'
import {
  type RequestFields,
  camelCase,
  readRequestFields,
} from '#runtime/tables/api/request-fields.ts'
import type { Table } from '#runtime/tables/table.ts'

/** What callers send is read by the service itself, beside all other sites: an item has 400 KiB at most. */
const MAX_PAYLOAD_BYTES = 1024 * 1024
const PAYLOAD_BOUNDS = { values: 50_000, fields: 10_000 }

/** Presets of one site that run at once: each holds a connection of the database or the object store. */
const MAX_RUNNING = 16

/** The preset whose payload holds a whole object. */
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
  readonly call: Call
  readonly binding: PresetBinding
  readonly store: RevisionStore
}

/** Performs presets: on the service, with what the revision says of them, as the caller where they are the caller's. */
export class PresetRunner {
  readonly #stores: PresetStores
  readonly #tokens: SealedPageTokens
  readonly #limiter = new Limiter({ refuse: (refusal) => new Error(refusal.reason) })

  constructor(
    deps: PresetStores & { /** 32 bytes, for page tokens. */ readonly tokenKey: Buffer },
  ) {
    this.#stores = deps
    this.#tokens = new SealedPageTokens(deps.tokenKey)
  }

  /** The data of the answer. Throws what the action throws, `Forbidden`, `OperationOverloaded` and `OperationInterrupted`. */
  async perform({ call, site }: AdmittedCall, binding: PresetBinding): Promise<unknown> {
    const preset = presetOf(binding.preset)
    const payload = boundedPayload(call.body, binding, preset)
    if (!preset) return payload ?? null
    const store = site.stores.get(binding.resourceId ?? '')
    if (store?.type !== preset.store) throw notFound('Resource', binding.resourceId ?? '')
    const request = presetRequest(binding, preset, payload)
    const { concurrency, queueLength, queueMs } = site.program.limits
    return this.#limiter.run(() => this.#act({ call, binding, store }, preset, request), {
      key: site.siteId,
      permitsPerKey: Math.min(MAX_RUNNING, concurrency),
      maxQueued: queueLength,
      maxWaitMs: queueMs,
      signal: call.signal,
      refuse: (refusal) => operationError(failureOf(refusal), call),
    })
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
    const bucket = { siteId: call.site.siteId, bucketId: store.resourceId, config: store.config }
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
    const table = { siteId: call.site.siteId, tableId: store.resourceId, schema: store.config }
    const { owner } = binding
    if (!owner || !('attribute' in owner)) {
      return this.#stores.tables.perform(table, action, request)
    }
    const sub = subOf(call)
    const scope = [call.site.siteId, call.operation, store.resourceId, sub]
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

  /** Leaves out what reveals others' items: their keys, and how many of them were skipped. */
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

/** Names those whose open uploads are counted together: a user, or the strangers of one network. The site's own are not counted. */
function holderOf({ authority, address }: Call): string | undefined {
  if (authority === 'system') return undefined
  return authority ? `user ${authority.sub}` : `network ${ipPrefix(address ?? '')}`
}

/** Who calls. A job of the system and an anonymous caller have no user. */
function subOf(call: Call): string {
  const caller = callerOf(call)
  if (caller) return caller.sub
  throw new AppError(
    'Forbidden',
    `Operation "${call.operation}" works on what is its caller’s own: call it as a user`,
  )
}

function boundedPayload(body: string, binding: PresetBinding, preset: Preset | undefined): unknown {
  if (binding.preset !== BRINGS_OBJECT) boundBytes(body, MAX_PAYLOAD_BYTES)
  const read = preset?.store === 'ddbTable' ? itemPayloadOf : payloadOf
  return read(body, PAYLOAD_BOUNDS)
}

/** The error of a caller that the limiter refused. */
export function failureOf(refusal: LimiterRefusal): SandboxFailure {
  switch (refusal.reason) {
    case 'queue-full': {
      const limit = refusal.maxQueued
      return { kind: 'limit', what: 'queueLength', limit, used: limit + 1 }
    }
    case 'timeout': {
      const limit = refusal.maxWaitMs
      return { kind: 'limit', what: 'queueMs', limit, used: limit }
    }
    case 'aborted':
      return { kind: 'interrupted', message: 'No caller waits for it any more' }
  }
}

/** Page tokens that tell their holder nothing: a place in a list may be the key of another caller's item. */
export class SealedPageTokens {
  readonly #key: Buffer

  /** 32 bytes. */
  constructor(key: Buffer) {
    this.#key = key
  }

  /** `scope` says whose list it is; the same words open it. */
  seal(scope: readonly string[], token: string): string {
    return encrypt(this.#key, JSON.stringify(scope), Buffer.from(token)).toString('base64url')
  }

  open(scope: readonly string[], sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64url')
    const token = decrypt(this.#key, JSON.stringify(scope), bytes)
    if (token) return token.toString()
    throw new AppError(
      'InvalidNextToken',
      'nextToken does not belong to this list: start again without it',
    )
  }
}

/**
 * The action's input: what the caller may send, under what is fixed. Of the fields that are maps the fixed entries win;
 * any other field that the caller may not send is refused by name.
 */
export function presetRequest(
  binding: PresetBinding,
  { fields }: Preset,
  payload: unknown,
): RequestFields {
  const { fixed = {} } = binding
  const sent = payload ?? {}
  if (!isJsonObject(sent)) throw invalid('payload', 'must be a JSON object')
  const allowed = allowedFields(binding)
  for (const name of Object.keys(sent)) {
    const field = camelCase(name)
    if (Object.hasOwn(fixed, field) && !allowed.includes(field)) {
      throw invalid(`payload.${field}`, 'is fixed by this operation: leave it out')
    }
  }
  const rules = allowed.flatMap((name) => {
    const rule = fields.get(name)
    return rule ? [[name, rule] as const] : []
  })
  const read = readRequestFields(
    { required: {}, optional: Object.fromEntries(rules) },
    sent,
    'payload',
  )
  return merged(read, fixed)
}

function merged(sent: RequestFields, fixed: RequestFields): RequestFields {
  const all = new Map(Object.entries(sent))
  for (const [name, value] of Object.entries(fixed)) {
    const own = all.get(name)
    all.set(
      name,
      isMapField(name) && isJsonObject(own) && isJsonObject(value) ? { ...own, ...value } : value,
    )
  }
  return Object.fromEntries(all)
}
