import { blobOf, blobBytes, isBlob } from './blob.ts'
import type { Blob } from './blob.ts'
import { FormData, isFormData } from './form-data.ts'
import { headerOf, Headers } from './headers.ts'
import { defineAttributes, defineMethods } from './interface.ts'
import type { Constructor, StateOf } from './interface.ts'
import { extractMediaType, serializeMediaType } from './media-type.ts'
import { encodeMultipart, parseMultipart } from './multipart.ts'
import { charCodeAt, isView, jsonParse, reflectGet, slice } from './primordials.ts'
import { isDisturbed, readAll, ReadableStream, streamOf, TransformStream } from './streams.ts'
import { URLSearchParams } from './url.ts'
import { decodeUtf8, encodeUtf8, readUtf8 } from './utf8.ts'
import { isWebIdlObject, shownBytes, usvString } from './webidl.ts'

const TEXT = 'text/plain;charset=UTF-8'
const FORM = 'application/x-www-form-urlencoded;charset=UTF-8'

type Source = string | Uint8Array<ArrayBuffer>
type ByteStream = ReadableStream<Uint8Array>

/** What a Request or a Response carries. Text stays text, and a stream is made only when someone asks for it. */
export class Body {
  readonly #source: Source | undefined
  #stream: ByteStream | null
  #used = false

  constructor(source?: Source, stream: ByteStream | null = null) {
    this.#source = source
    this.#stream = stream
  }

  get empty(): boolean {
    return this.#source === undefined && this.#stream === null
  }

  get stream(): ByteStream | null {
    if (this.#source !== undefined)
      this.#stream ??= this.#used ? spentStream() : streamOf(sourceBytes(this.#source))
    return this.#stream
  }

  get used(): boolean {
    return this.#used || (this.#stream !== null && isDisturbed(this.#stream))
  }

  get unusable(): boolean {
    return this.used || this.#stream?.locked === true
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const taken = this.take()
    if (taken === undefined) return new Uint8Array()
    return typeof taken === 'string' || isView(taken) ? sourceBytes(taken) : await readAll(taken)
  }

  async text(): Promise<string> {
    const source = this.#source
    if (typeof source !== 'string' || this.#stream !== null) return decodeUtf8(await this.bytes())
    this.take()
    return withoutMark(source)
  }

  async json(): Promise<unknown> {
    return jsonParse(await this.text())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer
  }

  async blob(contentType: string | null): Promise<Blob> {
    const type = extractMediaType(contentType)
    const text = type === undefined ? '' : serializeMediaType(type)
    return blobOf(await this.bytes(), text.toLowerCase())
  }

  async formData(contentType: string | null): Promise<FormData> {
    const bytes = await this.bytes()
    const type = extractMediaType(contentType)
    const boundary = type?.parameters.get('boundary')
    if (type?.essence === 'multipart/form-data' && boundary !== undefined)
      return parseMultipart(bytes, boundary)
    if (type?.essence !== 'application/x-www-form-urlencoded')
      throw new TypeError('Body can not be decoded as form data')
    const form = new FormData()
    for (const [name, value] of new URLSearchParams(pairsText(readUtf8(bytes))))
      form.append(name, value)
    return form
  }

  /** A second body with the same content; a stream is teed. */
  clone(): Body {
    if (this.unusable) throw new TypeError('Body is unusable')
    if (this.#stream === null) return new Body(this.#source)
    const [mine, other] = this.#stream.tee()
    this.#stream = mine
    return new Body(undefined, other)
  }

  /** Hands the content to a new body; this one counts as used from now on. */
  move(): Body {
    if (this.unusable) throw new TypeError('Body is unusable')
    if (this.empty) return new Body()
    this.#used = true
    return new Body(this.#source, this.#stream?.pipeThrough(passThrough()) ?? null)
  }

  /** The current content, which counts as used from now on; undefined where there is none. */
  take(): Source | ByteStream | undefined {
    if (this.empty) return undefined
    if (this.unusable) throw new TypeError('Body already consumed')
    if (this.#stream !== null) return this.#stream
    this.#used = true
    return this.#source
  }
}

/** All there is to a Request or a Response; also what makes one from a head that is known to be right. */
export class Message<Head extends { readonly headers: Headers }> {
  readonly head: Head
  readonly body: Body

  constructor(head: Head, body = new Body()) {
    this.head = head
    this.body = body
  }

  clone(): Message<Head> {
    const body = this.body.clone()
    return new Message({ ...this.head, headers: new Headers(this.head.headers) }, body)
  }
}

/** The members that Request and Response share. */
export function defineMessage<Head extends { readonly headers: Headers }>(
  constructor: Constructor & (new (message: Message<Head>) => object),
  stateOf: StateOf<Message<Head>>,
): void {
  defineAttributes(constructor, stateOf, {
    headers: ({ head }) => head.headers,
    body: ({ body }) => body.stream,
    bodyUsed: ({ body }) => body.used,
  })
  defineMethods(constructor, stateOf, {
    clone: (message) => new constructor(message.clone()),
    arrayBuffer: ({ body }) => body.arrayBuffer(),
    blob: ({ body, head }) => body.blob(headerOf(head.headers, 'content-type')),
    bytes: ({ body }) => body.bytes(),
    formData: ({ body, head }) => body.formData(headerOf(head.headers, 'content-type')),
    json: ({ body }) => body.json(),
    text: ({ body }) => body.text(),
  })
}

/** "Extract a body", with the content type that goes with it. */
export function extractBody(value: unknown): { body: Body; type: string | null } {
  if (value === null || value === undefined) return { body: new Body(), type: null }
  if (!isWebIdlObject(value)) return wholly(usvString(value), TEXT)
  const whole = wholeBody(value)
  if (whole !== undefined) return whole
  if (value instanceof URLSearchParams) return wholly(`${value as unknown as string}`, FORM)
  if (value instanceof ReadableStream) return streamBody(value)
  if (typeof reflectGet(value, Symbol.asyncIterator) === 'function')
    return streamBody(ReadableStream.from(value as AsyncIterable<Uint8Array>))
  return wholly(usvString(value), TEXT)
}

function wholeBody(value: object): { body: Body; type: string | null } | undefined {
  if (isBlob(value)) return wholly(blobBytes(value), value.type === '' ? null : value.type)
  const shown = shownBytes(value)
  if (shown !== undefined) return wholly(new Uint8Array(shown), null)
  if (!isFormData(value)) return undefined
  const { bytes, type } = encodeMultipart(value)
  return wholly(bytes, type)
}

const wholly = (source: Source, type: string | null) => ({ body: new Body(source), type })

function streamBody(stream: ByteStream) {
  if (stream.locked || isDisturbed(stream))
    throw new TypeError('Response body object should not be disturbed or locked')
  return { body: new Body(undefined, stream), type: null }
}

const sourceBytes = (source: Source): Uint8Array<ArrayBuffer> =>
  typeof source === 'string' ? encodeUtf8(source) : new Uint8Array(source)

/** Its constructor drops a question mark at the start. */
const pairsText = (text: string): string => (charCodeAt(text, 0) === 0x3f ? `&${text}` : text)

/** What decoding the encoded text would give: no byte order mark. */
const withoutMark = (text: string): string =>
  charCodeAt(text, 0) === 0xfeff ? slice(text, 1) : text

const passThrough = () => new TransformStream<Uint8Array, Uint8Array>()

/** A closed stream, locked by its reader. */
function spentStream(): ByteStream {
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  stream.getReader()
  return stream
}
