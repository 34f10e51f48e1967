import { decodeBase64, encodeBase64 } from '#sandbox/guest/web/base64.ts'
import { blobBytes, isBlob } from '#sandbox/guest/web/blob.ts'
import {
  defineProperty,
  deleteProperty,
  freeze,
  jsonParse,
  jsonStringify,
  TypeErrorClass,
  jsonQuote,
} from '#sandbox/guest/web/primordials.ts'
import { decodeUtf8, encodeUtf8 } from '#sandbox/guest/web/utf8.ts'

import { bytesFrom } from './bytes.ts'
import { callHostFor } from './host-calls.ts'

const MAX_BODY_BYTES = 6 * 1024 * 1024

interface ObjectAnswer {
  readonly body: string
  readonly encoding: 'utf8' | 'base64'
}

/** A bucket as `ctx.bucket(name)` gives it: the inputs and answers of the routes under `…/resources/{id}/data/s3`. */
export class GuestBucket {
  readonly #call: number
  readonly #name: string

  constructor(call: number, name: string) {
    this.#call = call
    this.#name = jsonQuote(name)
  }

  listObjects(input: unknown): Promise<unknown> {
    return this.#ask('list-objects', input ?? {})
  }

  /** What the route answers, and readers of its body. */
  async getObject(input: unknown): Promise<unknown> {
    return withReaders((await this.#ask('get-object', input)) as ObjectAnswer)
  }

  /** A body of bytes or a Blob is sent as base64. */
  async putObject(input: unknown): Promise<unknown> {
    return this.#ask('put-object', encoded(input))
  }

  deleteObject(input: unknown): Promise<unknown> {
    return this.#ask('delete-object', input)
  }

  presignGetObject(input: unknown): Promise<unknown> {
    return this.#ask('presign-get-object', input)
  }

  presignPutObject(input: unknown): Promise<unknown> {
    return this.#ask('presign-put-object', input)
  }

  async #ask(action: string, input: unknown): Promise<unknown> {
    const json = jsonStringify(input) ?? 'null'
    const argument = `{"name":${this.#name},"action":"${action}","input":${json}}`
    return jsonParse(await callHostFor(this.#call, 'bucket', argument))
  }
}

deleteProperty(GuestBucket.prototype, 'constructor')
freeze(GuestBucket.prototype)

function encoded(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input
  const { body } = input as { body?: unknown }
  if (typeof body !== 'object' || body === null) return input
  const bytes = isBlob(body) ? blobBytes(body) : bytesFrom(body)
  if (!bytes) {
    throw new TypeErrorClass(
      'The body of an object is text, a Uint8Array, an ArrayBuffer or a Blob: use JSON.stringify for a value',
    )
  }
  if (bytes.length > MAX_BODY_BYTES) {
    throw new TypeErrorClass(
      `The body of an object may be ${MAX_BODY_BYTES} bytes long: use presignPutObject for more`,
    )
  }
  const type = isBlob(body) && body.type !== '' ? { contentType: body.type } : {}
  return { ...type, ...input, body: encodeBase64(bytes), encoding: 'base64' }
}

function withReaders(answer: ObjectAnswer): ObjectAnswer {
  const { body, encoding } = answer
  const bytes = () => (encoding === 'base64' ? decodeBase64(body) : undefined) ?? encodeUtf8(body)
  const text = () => (encoding === 'base64' ? decodeUtf8(bytes()) : body)
  const put = (name: string, value: () => Promise<unknown>): void => {
    defineProperty(answer, name, { value, enumerable: false })
  }
  put('text', async () => text())
  put('bytes', async () => bytes())
  put('json', async () => jsonParse(text()))
  return answer
}
