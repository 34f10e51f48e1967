const MAX_HEAD_BYTES = 64 * 1024
const MAX_LINE_BYTES = 4 * 1024
const HEAD_END = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |\r|$)/
const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*(?:\r|$)/i
const CHUNKED = /\r\ntransfer-encoding:[^\r]*\bchunked[ \t]*(?:\r|$)/i
const CLOSES = /\r\nconnection:[^\r]*\bclose\b/i
const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i
const NOTHING = Buffer.alloc(0)

export interface ParsedResponse {
  readonly status: number
  readonly bodyBytes: number
  /** Undefined unless the parser keeps bodies. */
  readonly body: string | undefined
  /** The server closes the connection after this response. */
  readonly closes: boolean
}

/** The bytes are not a response that this client can read. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse'
}

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer'

/**
 * HTTP/1.1 responses (RFC 9112) from a stream that may be cut anywhere. Bodies have a length or are chunked;
 * one that ends with the connection is malformed here, as keep-alive is the point.
 */
export class ResponseParser {
  /** Whether the body of the response that is being read is kept as text. */
  keepBody = false
  readonly #onResponse: (response: ParsedResponse) => void
  #state: State = 'head'
  #rest: Buffer = NOTHING
  #kept: Buffer[] = []
  #status = 0
  #closes = false
  #bodyBytes = 0
  /** Bytes of the body, or of the chunk, that have not come yet. */
  #missing = 0

  constructor(onResponse: (response: ParsedResponse) => void) {
    this.#onResponse = onResponse
  }

  /** Throws `MalformedResponse`; the parser is of no use afterwards. */
  push(bytes: Buffer): void {
    let left = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    this.#rest = NOTHING
    while (left.length > 0) {
      const used = this.#step(left)
      if (used === 0) {
        this.#rest = left
        return
      }
      left = left.subarray(used)
    }
  }

  /** How many bytes it used; 0 when it needs more to go on. */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes)
      case 'length':
      case 'chunk':
        return this.#content(bytes)
      case 'chunk-size':
      case 'chunk-end':
      case 'trailer':
        return this.#line(bytes, this.#state)
    }
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1) return requireWithin(bytes, MAX_HEAD_BYTES)
    const head = bytes.toString('latin1', 0, end)
    const used = end + HEAD_END.length
    const status = Number(STATUS_LINE.exec(head)?.[1] ?? fail('no HTTP/1.1 status line'))
    if (status < 200) return used

    this.#status = status
    this.#closes = CLOSES.test(head)
    this.#bodyBytes = 0
    if (CHUNKED.test(head)) this.#state = 'chunk-size'
    else {
      this.#missing = lengthOf(head, status)
      this.#state = 'length'
      if (this.#missing === 0) this.#finish()
    }
    return used
  }

  #content(bytes: Buffer): number {
    const used = Math.min(bytes.length, this.#missing)
    if (this.keepBody) this.#kept.push(bytes.subarray(0, used))
    this.#missing -= used
    this.#bodyBytes += used
    if (this.#missing === 0) {
      if (this.#state === 'length') this.#finish()
      else this.#state = 'chunk-end'
    }
    return used
  }

  #line(bytes: Buffer, state: 'chunk-size' | 'chunk-end' | 'trailer'): number {
    const end = bytes.indexOf('\r\n')
    if (end === -1) return requireWithin(bytes, MAX_LINE_BYTES)
    const line = bytes.toString('latin1', 0, end)
    if (state === 'chunk-end') {
      if (line !== '') fail('a chunk is longer than it says')
      this.#state = 'chunk-size'
    } else if (state === 'trailer') {
      if (line === '') this.#finish()
    } else {
      this.#missing = Number.parseInt(CHUNK_SIZE.exec(line)?.[1] ?? fail('no chunk size'), 16)
      this.#state = this.#missing === 0 ? 'trailer' : 'chunk'
    }
    return end + 2
  }

  #finish(): void {
    const body = this.keepBody ? Buffer.concat(this.#kept).toString('utf8') : undefined
    this.#kept = []
    this.#state = 'head'
    this.#onResponse({
      status: this.#status,
      bodyBytes: this.#bodyBytes,
      body,
      closes: this.#closes,
    })
  }
}

function lengthOf(head: string, status: number): number {
  if (status === 204 || status === 304) return 0
  return Number(CONTENT_LENGTH.exec(head)?.[1] ?? fail('a body without a length'))
}

function requireWithin(bytes: Buffer, limit: number): 0 {
  if (bytes.length > limit) fail(`a head or line of more than ${limit} bytes`)
  return 0
}

function fail(message: string): never {
  throw new MalformedResponse(message)
}
