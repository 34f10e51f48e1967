import { encodeBase64, latin1FromBytes } from './base64.ts'
import { type Blob, blobBytes, blobType, isBlob } from './blob.ts'
import { DOMException } from './dom-exception.ts'
import { decodeAll, TextDecoder } from './encoding.ts'
import { defineHandler } from './event-handlers.ts'
import { ProgressEvent } from './event-kinds.ts'
import { EventTarget, fireEvent } from './event-target.ts'
import { host } from './host.ts'
import { defineConstants, defineInterface, defineLengths } from './interface.ts'
import { extractMediaType } from './media-type.ts'
import { mapGet, sliceBytes } from './primordials.ts'
import { requireArguments } from './webidl.ts'

const EMPTY = 0
const LOADING = 1
const DONE = 2
const EVENTS = ['loadstart', 'progress', 'load', 'abort', 'error', 'loadend']
/** What begins a text of one of these encodings, whatever its label says. */
const MARKS = [
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
]

type Package = (bytes: Uint8Array<ArrayBuffer>) => string | ArrayBuffer

/** https://w3c.github.io/FileAPI/#APIASynch: what there is in newer words as `await blob.text()` and its like. */
class FileReader extends EventTarget {
  #readyState = EMPTY
  #result: string | ArrayBuffer | null = null
  #error: DOMException | null = null
  /** The reading that runs; another number when it was given up. */
  #reading = 0

  get readyState(): number {
    return this.#readyState
  }

  get result(): string | ArrayBuffer | null {
    return this.#result
  }

  get error(): DOMException | null {
    return this.#error
  }

  readAsArrayBuffer(blob: Blob): void {
    requireBlob(arguments.length, blob, 'readAsArrayBuffer')
    this.#read(blob, (bytes) => sliceBytes(bytes, 0, bytes.length).buffer)
  }

  readAsBinaryString(blob: Blob): void {
    requireBlob(arguments.length, blob, 'readAsBinaryString')
    this.#read(blob, latin1FromBytes)
  }

  readAsText(blob: Blob, encoding?: string): void {
    requireBlob(arguments.length, blob, 'readAsText')
    const label = encoding === undefined ? undefined : `${encoding}`
    this.#read(blob, (bytes) => textOf(bytes, [label, charsetOf(blob)]))
  }

  readAsDataURL(blob: Blob): void {
    requireBlob(arguments.length, blob, 'readAsDataURL')
    const type = blobType(blob) || 'application/octet-stream'
    this.#read(blob, (bytes) => `data:${type};base64,${encodeBase64(bytes)}`)
  }

  abort(): void {
    this.#result = null
    if (this.#readyState !== LOADING) return
    this.#readyState = DONE
    this.#reading += 1
    this.#fire('abort')
    // A listener may have started another read.
    if (this.#isOver()) this.#fire('loadend')
  }

  #read(blob: Blob, pack: Package): void {
    if (this.#readyState === LOADING)
      throw new DOMException('Invalid FileReader state: it is reading.', 'InvalidStateError')
    this.#readyState = LOADING
    this.#result = null
    this.#error = null
    this.#reading += 1
    const reading = this.#reading
    const bytes = blobBytes(blob)
    const isGivenUp = (): boolean => reading !== this.#reading
    const inTurn = (work: () => void): void => {
      host.setTimer(0, false, () => {
        if (!isGivenUp()) work()
      })
    }
    inTurn(() => {
      this.#fire('loadstart', bytes.length)
      if (bytes.length > 0) inTurn(() => this.#fire('progress', bytes.length))
      inTurn(() => this.#end(bytes, pack))
    })
  }

  #end(bytes: Uint8Array<ArrayBuffer>, pack: Package): void {
    this.#readyState = DONE
    try {
      this.#result = pack(bytes)
    } catch {
      // Its bytes are in memory: only a result that is too large can fail.
      this.#error = new DOMException('The blob could not be read.', 'NotReadableError')
    }
    this.#fire(this.#error === null ? 'load' : 'error', bytes.length)
    if (this.#isOver()) this.#fire('loadend', bytes.length)
  }

  #isOver(): boolean {
    return this.#readyState !== LOADING
  }

  /** Without a length for what was given up. */
  #fire(type: string, length?: number): void {
    const loaded = type === 'loadstart' ? 0 : length
    const init = { lengthComputable: length !== undefined, loaded, total: length }
    fireEvent(this, new ProgressEvent(type, init))
  }
}

for (const type of EVENTS) defineHandler(FileReader.prototype, type)
defineInterface('FileReader', FileReader)
defineConstants(FileReader, { EMPTY, LOADING, DONE })
defineLengths(FileReader, { readAsText: 1 })

function requireBlob(given: number, blob: unknown, method: string): asserts blob is Blob {
  const failure = `Failed to execute '${method}' on 'FileReader'`
  requireArguments(given, 1, failure)
  if (!isBlob(blob)) throw new TypeError(`${failure}: parameter 1 is not of type 'Blob'.`)
}

function charsetOf(blob: Blob): string | undefined {
  const type = extractMediaType(blobType(blob))
  return type && (mapGet(type.parameters, 'charset') as string | undefined)
}

/** By its mark, else by the first label that names an encoding, else as UTF-8. */
function textOf(bytes: Uint8Array, labels: readonly (string | undefined)[]): string {
  const decoder = markedDecoder(bytes) ?? namedDecoder(labels[0]) ?? namedDecoder(labels[1])
  return decodeAll(decoder ?? new TextDecoder(), bytes)
}

function markedDecoder(bytes: Uint8Array): TextDecoder | undefined {
  for (let at = 0; at < MARKS.length; at += 1) {
    const { encoding, bytes: mark } = MARKS[at] as (typeof MARKS)[number]
    let same = 0
    while (same < mark.length && bytes[same] === mark[same]) same += 1
    if (same === mark.length) return new TextDecoder(encoding)
  }
  return undefined
}

function namedDecoder(label: string | undefined): TextDecoder | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label)
  } catch {
    return undefined
  }
}
