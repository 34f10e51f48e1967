import { MAX_SERVICE_PUT_BYTES } from '#platform/objects/object-rules.ts'
import { bodyTooLarge } from '#runtime/calls/request-body.ts'
import { parseDefinitionBody } from '#runtime/definitions/definition-json.ts'
import { withExactNumbers } from '#runtime/tables/items/exact-numbers.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** One file of an artifact, or one stored object through a signed URL. */
export const MAX_UPLOAD_BYTES = MAX_SERVICE_PUT_BYTES
const MAX_SHORT_BYTES = 16 * KIB

/**
 * `json` and `optional-json` are read and parsed between admission and validation; with `optional-json` no body means `{}`.
 * A `form` and a `text` are read by their route, which refuses them in its own words; an `upload` is passed on as it comes.
 */
type Kind = 'json' | 'optional-json' | 'form' | 'text' | 'upload'

const parseJson = (json: string): unknown => JSON.parse(json)

/** What a route takes for its body. Every route that can have one declares it, beside its authority. */
export class RequestBody {
  readonly kind: Kind
  /** A longer body is refused (413): by its declared length, or where it passes this. */
  readonly limitBytes: number
  /** Throws a `SyntaxError`. */
  readonly parse: (json: string) => unknown

  constructor(kind: Kind, limitBytes: number, parse: (json: string) => unknown = parseJson) {
    this.kind = kind
    this.limitBytes = limitBytes
    this.parse = parse
  }

  get isJson(): boolean {
    return this.kind === 'json' || this.kind === 'optional-json'
  }

  /** Refuses what the headers alone show to be too long (413). */
  checkDeclaredLength({ headers }: Request): void {
    const declared = headers.get('content-length')
    if (declared === null || isShort(declared)) return
    if (!/^\d+$/.test(declared) || Number(declared) > this.limitBytes) {
      throw bodyTooLarge(this.limitBytes)
    }
  }
}

/** The payload of an operation (6 MiB) and its envelope; as much for definitions, items of tables, and operators. */
const JSON_BYTES = 6 * MIB + 64 * KIB

export const jsonBody = (limitBytes = JSON_BYTES): RequestBody =>
  new RequestBody('json', limitBytes)

export const optionalJsonBody = (limitBytes = JSON_BYTES): RequestBody =>
  new RequestBody('optional-json', limitBytes)

/** Fields with values of items in them, whose numbers keep all of their digits. */
export const itemsBody = (kind: 'json' | 'optional-json'): RequestBody =>
  new RequestBody(kind, JSON_BYTES, (json) => JSON.parse(withExactNumbers(json)))

export const definitionBody = (): RequestBody =>
  new RequestBody('json', JSON_BYTES, parseDefinitionBody)

/** For routes that take a few fields. */
export const SHORT_JSON_BYTES = 256 * KIB

/** Routes refuse a form or text of more than 64 KiB in their own words; this is what is refused unread. */
export const formBody = (): RequestBody => new RequestBody('form', 256 * KIB)
export const textBody = (): RequestBody => new RequestBody('text', 256 * KIB)

export const uploadBody = (): RequestBody => new RequestBody('upload', MAX_UPLOAD_BYTES)

/** Marks a route in the table. For a route that reads its body itself; the others name a `requestBody`. */
export const requestBodyDetail = (body: RequestBody) => ({ 'x-request-body': body })

/** Whether the runtime may read such a body whole: it holds no more than this until its end. No limit is lower. */
export const isShort = (declared: string): boolean =>
  /^\d{1,5}$/.test(declared) && Number(declared) <= MAX_SHORT_BYTES
