import { Buffer } from 'node:buffer'

import { Delimiters } from './delimiters.ts'
import { type OctetRange, HeaderFields } from './header-fields.ts'
import { type ParameterizedValue, parseParameters } from './parameters.ts'

const MAX_DEPTH = 50
const MAX_HEADER_BYTES = 1024 * 1024
/** A message may have four million of them; each takes memory. */
const MAX_ENTITIES = 10_000
/** Of a field that says what the body is. */
const MAX_FIELD_BYTES = 64 * 1024
const MAX_BOUNDARY = 256
const TYPE = /^[^\s/]{1,127}\/[^\s/]{1,127}$/
const HTML = /^(?:text\/)?html?$/
const ENCODED = /^\s*(?:base64|x?-?uu)/i

/** A message or a part of one (RFC 2045 §2.4). Its body is a range of the message: nothing is copied. */
export interface Entity {
  readonly fields: HeaderFields
  /** In lower case; what is no type is `text/plain`, RFC 2045 §5.2. */
  readonly type: string
  /** The type that was sent, with its parameters. */
  readonly contentType: ParameterizedValue
  readonly disposition: ParameterizedValue
  readonly transferEncoding: string
  readonly body: OctetRange
  /** Of a multipart. */
  readonly children: readonly Entity[]
  /** Of a multipart with parts: what is before its first delimiter. */
  readonly preamble: OctetRange | undefined
  /** Of a multipart that is closed: what is behind its last delimiter. */
  readonly epilogue: OctetRange | undefined
}

interface OpenEntity extends Entity {
  body: OctetRange
  preamble: OctetRange | undefined
  epilogue: OctetRange | undefined
  children: OpenEntity[]
  type: string
}

export interface EntityTree {
  readonly root: Entity
  /** Whether there are more parts. */
  readonly isCut: boolean
}

/**
 * Finds the parts of a message (RFC 2046 §5.1) in one walk over its bytes. A delimiter of an outer multipart ends the inner
 * ones; a multipart that is not closed ends with the message; one without a delimiter is text. Throws for one that is nested
 * more than 50 deep or has a header of more than 1 MiB.
 */
export function readEntities(message: Buffer): EntityTree {
  return new EntityReader(message).read()
}

class EntityReader {
  readonly #bytes: Buffer
  readonly #delimiters: Delimiters
  /** The multiparts that are open, outermost first, with the part that is read last. */
  readonly #open: { readonly entity: OpenEntity; last?: OpenEntity }[] = []
  #count = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#delimiters = new Delimiters(bytes)
  }

  read(): EntityTree {
    const root = this.#entity(0, 'text/plain')
    let at = root.body.start
    while (this.#open.length > 0) {
      const delimiter = this.#delimiters.next(at)
      if (!delimiter) break
      this.#closeAbove(delimiter.depth, delimiter.start)
      const parent = this.#open.at(-1)
      at = delimiter.end
      if (delimiter.isClosing || !parent) {
        this.#close(delimiter.start)
        if (parent) parent.entity.epilogue = { start: at, end: this.#bytes.length }
      } else if (this.#count >= MAX_ENTITIES) return this.#finish(root, true)
      else {
        parent.entity.preamble ??= this.#before(delimiter.start, parent.entity.body)
        const defaultType =
          parent.entity.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
        const child = this.#entity(at, defaultType, parent)
        at = child.body.start
      }
    }
    return this.#finish(root, false)
  }

  #finish(root: OpenEntity, isCut: boolean): EntityTree {
    this.#closeAbove(-1, this.#bytes.length)
    return { root, isCut }
  }

  #entity(
    start: number,
    defaultType: string,
    parent?: { entity: OpenEntity; last?: OpenEntity },
  ): OpenEntity {
    this.#count += 1
    const fields = new HeaderFields(this.#bytes, {
      start,
      end: Math.min(this.#bytes.length, start + MAX_HEADER_BYTES + 1),
      isDelimiter: (at) => this.#delimiters.at(at) !== undefined,
    })
    if (!fields.isEmpty && fields.bodyStart - start > MAX_HEADER_BYTES) {
      throw new Error(`A header is longer than ${MAX_HEADER_BYTES} bytes`)
    }
    const entity = this.#entityOf(fields, defaultType, start)
    if (parent) {
      parent.entity.children.push(entity)
      parent.last = entity
    }
    const boundary = entity.type.startsWith('multipart/') ? this.#boundaryOf(entity) : undefined
    if (boundary === undefined) return entity
    if (this.#open.length >= MAX_DEPTH)
      throw new Error(`Parts are nested more than ${MAX_DEPTH} deep`)
    this.#open.push({ entity })
    this.#delimiters.open(boundary)
    return entity
  }

  #entityOf(fields: HeaderFields, defaultType: string, start: number): OpenEntity {
    const options = { maxBytes: MAX_FIELD_BYTES }
    const contentType = parseParameters(fields.text('content-type', options))
    const type = typeOf(contentType.value, defaultType)
    const transferEncoding = fields.text('content-transfer-encoding', { maxBytes: 200 }).trim()
    // Without an empty line, the body begins where the fields end; without a field, at once.
    const isEncoded = !type.startsWith('multipart/') && ENCODED.test(transferEncoding)
    const missing = fields.isEmpty ? start : fields.unreadable
    const hasEmptyLine = fields.isEmpty && fields.unreadable === undefined
    const bodyStart = !isEncoded && !hasEmptyLine ? (missing ?? fields.bodyStart) : fields.bodyStart
    return {
      fields,
      type,
      contentType,
      disposition: parseParameters(fields.text('content-disposition', options)),
      transferEncoding,
      body: { start: bodyStart, end: this.#bytes.length },
      children: [],
      preamble: undefined,
      epilogue: undefined,
    }
  }

  /** The one that was declared, or the one that is used where none was. */
  #boundaryOf({ contentType, fields, body }: OpenEntity): Buffer | undefined {
    const declared = contentType.parameters.get('boundary') ?? ''
    // In the bytes that were sent, which may be of no charset.
    const raw = /^[ -~]*$/.test(declared)
      ? declared
      : (parseParameters(fields.latin1('content-type')).parameters.get('boundary') ?? '')
    const boundary = withoutComment(raw).slice(0, MAX_BOUNDARY)
    return this.#delimiters.used(Buffer.from(boundary, 'latin1'), body.start)
  }

  /** Ends the multiparts inside the one at that depth, and what was read of it last. */
  #closeAbove(depth: number, at: number): void {
    while (this.#open.length > depth + 1) this.#close(at)
    const last = this.#open.at(-1)?.last
    if (last) this.#end(last, at)
  }

  #close(at: number): void {
    const closed = this.#open.pop()
    if (!closed) return
    this.#delimiters.close()
    if (closed.last) this.#end(closed.last, at)
    this.#end(closed.entity, at)
  }

  /** What has ended before stays as it is. */
  #end(entity: OpenEntity, at: number): void {
    if (at === this.#bytes.length) return
    const { body, epilogue } = entity
    if (body.end === this.#bytes.length) entity.body = this.#before(at, body)
    if (epilogue?.end === this.#bytes.length) entity.epilogue = this.#before(at, epilogue)
  }

  /** The line break before a delimiter is of the delimiter. */
  #before(delimiter: number, { start }: OctetRange): OctetRange {
    let end = delimiter
    if (end > start && this.#bytes[end - 1] === 0x0a) end -= 1
    if (end > start && this.#bytes[end - 1] === 0x0d) end -= 1
    return { start, end: Math.max(start, end) }
  }
}

/** Without blanks and a comment at its end. By hand: a pattern would look through a long run of blanks from each of them. */
function withoutComment(value: string): string {
  const trimmed = value.trimEnd()
  if (!trimmed.endsWith(')')) return trimmed
  const start = trimmed.lastIndexOf('(')
  const isOne = start > 0 && trimmed.indexOf(')', start) === trimmed.length - 1
  const before = isOne ? trimmed.slice(0, start) : ''
  const stem = before.trimEnd()
  return stem.length < before.length ? stem : trimmed
}

function typeOf(value: string, defaultType: string): string {
  if (HTML.test(value)) return 'text/html'
  return TYPE.test(value) ? value : defaultType
}
