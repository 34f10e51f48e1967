import { TextDecoderStream } from './encoding-streams.ts'
import { host } from './host.ts'
import { defineInterface, takeInternals } from './interface.ts'
import { apply, map, push, reflectGet, testPattern, toLowerCase, trunc } from './primordials.ts'
import { concatenate, streamOf } from './streams.ts'
import type { ReadableStream } from './streams.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'
import { dictionary, isWebIdlObject, requireArguments, shownBytes, usvString } from './webidl.ts'

const PRINTABLE = /^[\x20-\x7E]*$/

/** https://w3c.github.io/FileAPI/#blob-section, in memory. */
export class Blob {
  #bytes: Uint8Array<ArrayBuffer>
  #type: string

  constructor(parts?: unknown, options?: unknown) {
    const pieces = parts === undefined ? [] : sequence(parts)
    const { endings, type } = dictionary(options, "Failed to construct 'Blob'")
    const convert = lineEndings(endings)
    this.#type = mediaType(type)
    this.#bytes = concatenate(map(pieces, (piece) => pieceBytes(piece, convert)))
  }

  get size(): number {
    return this.#bytes.length
  }

  get type(): string {
    return this.#type
  }

  slice(start?: number, end?: number, type?: string): Blob {
    const bytes = this.#bytes.subarray(start ?? 0, end ?? this.#bytes.length)
    return blobOf(bytes, mediaType(type))
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice()
  }

  async text(): Promise<string> {
    return decodeUtf8(this.#bytes)
  }

  stream(): ReadableStream<Uint8Array> {
    return streamOf(this.#bytes)
  }

  textStream(): ReadableStream<string> {
    return streamOf(this.#bytes).pipeThrough(new TextDecoderStream())
  }

  /** A blob over these very bytes, which are not changed any more. */
  static readonly own = (bytes: Uint8Array<ArrayBuffer>, type: string): Blob => {
    const blob = new Blob()
    blob.#bytes = bytes
    blob.#type = type
    return blob
  }

  static readonly typeOf = (blob: Blob): string => {
    return blob.#type
  }

  static readonly bytesOf = (blob: Blob): Uint8Array<ArrayBuffer> => {
    return blob.#bytes
  }

  static readonly isBlob = (value: unknown): value is Blob => {
    return isWebIdlObject(value) && #bytes in value
  }
}

/** https://w3c.github.io/FileAPI/#file-section */
export class File extends Blob {
  readonly #name: string
  readonly #lastModified: number

  constructor(parts: unknown, name: string, options?: unknown) {
    requireArguments(arguments.length, 2, "Failed to construct 'File'")
    super(parts, options)
    const { lastModified } = dictionary(options, "Failed to construct 'File'")
    this.#name = usvString(name)
    this.#lastModified = lastModified === undefined ? host.now() : trunc(Number(lastModified)) || 0
  }

  get name(): string {
    return this.#name
  }

  get lastModified(): number {
    return this.#lastModified
  }

  get webkitRelativePath(): string {
    void this.#name
    return ''
  }

  static readonly isFile = (value: unknown): value is File => {
    return isWebIdlObject(value) && #name in value
  }
}

export const { bytesOf: blobBytes, isBlob, own: blobOf, typeOf: blobType } = takeInternals(Blob)
export const { isFile } = takeInternals(File)
defineInterface('Blob', Blob)
defineInterface('File', File, 2)

type Piece = string | Uint8Array

/** Each part is converted as soon as it is there, so that what its conversion does to the list shows. */
function sequence(parts: unknown): readonly Piece[] {
  const begin: unknown = isWebIdlObject(parts) ? reflectGet(parts, Symbol.iterator) : undefined
  if (typeof begin !== 'function')
    throw new TypeError("Failed to construct 'Blob': the parts must be a sequence.")
  const iterator = apply(begin, parts, []) as Iterator<unknown>
  const next: unknown = reflectGet(iterator, 'next')
  const pieces: Piece[] = []
  for (;;) {
    const { done, value } = apply(next as () => IteratorResult<unknown>, iterator, [])
    if (done === true) return pieces
    push(pieces, isBlob(value) ? blobBytes(value) : (shownBytes(value) ?? usvString(value)))
  }
}

const pieceBytes = (piece: Piece, convert: (text: string) => string): Uint8Array =>
  typeof piece === 'string' ? encodeUtf8(convert(piece)) : piece

function lineEndings(endings: unknown): (text: string) => string {
  const mode = endings === undefined ? 'transparent' : `${endings as string}`
  if (mode === 'transparent') return (text) => text
  if (mode === 'native') return (text) => text.replaceAll(/\r\n?|\n/g, '\n')
  throw new TypeError(`"${mode}" is not a valid value for endings.`)
}

function mediaType(type: unknown): string {
  if (type === undefined) return ''
  const text = `${type as string}`
  return testPattern(PRINTABLE, text) ? toLowerCase(text) : ''
}
