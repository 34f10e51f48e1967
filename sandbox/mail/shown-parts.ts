import type { Entity } from './mime/entities.ts'
import type { HeaderFields } from './mime/header-fields.ts'
import { decodeFileName, type ParameterizedValue, parseParameters } from './mime/parameters.ts'
import { isBinaryText, isMimeNotice, isReadableHtml, isReadableText } from './readable-text.ts'

/** What a reader sees of a part, in the order of the message; `isReadable` when a person sees anything of it. */
export type Shown = { readonly isReadable: boolean } & (
  | { readonly kind: 'plain' | 'html'; readonly text: string }
  | { readonly kind: 'all'; readonly items: readonly Shown[] }
  /** The same twice (RFC 2046 §5.1.4): as text and as HTML. */
  | { readonly kind: 'either'; readonly plain: Shown; readonly html: Shown }
)

/** A part that is given as a file. */
export interface FilePart {
  readonly entity: Entity
  readonly filename: string | undefined
  readonly disposition: string
  readonly contentId: string
}

export interface ShownMail {
  readonly shown: Shown
  readonly files: readonly FilePart[]
}

/** Where a part is. */
interface Place {
  /** Whether it is the text of its message, or of one of its alternatives, and not beside others. */
  readonly isBody: boolean
}

const NOTHING: Shown = { kind: 'all', items: [], isReadable: false }
/** Made for one program, beside the same as HTML. */
const OTHER_VIEWS = new Set(['text/x-amp-html', 'text/watch-html'])
/** Text that is made for programs. */
const FOR_PROGRAMS =
  /^text\/(?:calendar|csv|directory|(?:x-)?vcard|rfc822-headers|css|javascript|xml)$/
const MAX_FIELD_BYTES = 64 * 1024
const BEYOND_ASCII = /[^ -~\t]/
/** The names of so many files may be guessed. */
const MAX_GUESSES = 20

export interface PartReader {
  readonly textOf: (entity: Entity) => string
  /** The charset of raw bytes in fields. */
  readonly fieldCharset: () => string | undefined
}

/** Sorts the parts of a message into what is shown and what is a file. Whatever can be read is one of them, or both. */
export function shownParts(root: Entity, reader: PartReader): ShownMail {
  const sorting = new Sorting(reader)
  const shown = sorting.sort(root, { isBody: true })
  sorting.list(root)
  const { files } = sorting
  if (shown.isReadable) return { shown, files }
  const instead = sorting.instead(root, shown)
  const isEmpty = !instead.isReadable && files.length === 0
  return { shown: (isEmpty ? outsideParts(root, reader) : undefined) ?? instead, files }
}

class Sorting {
  readonly #textOf: (entity: Entity) => string
  readonly #fieldCharset: () => string | undefined
  #charset: { readonly label: string | undefined } | undefined
  /** Texts of alternatives that are not shown. */
  readonly #hidden = new Set<Entity>()
  readonly files: FilePart[] = []

  constructor({ textOf, fieldCharset }: PartReader) {
    this.#textOf = textOf
    this.#fieldCharset = fieldCharset
  }

  sort(entity: Entity, place: Place): Shown {
    const { type, children } = entity
    if (!type.startsWith('multipart/')) return this.#leaf(entity, place)
    // Of a multipart without parts there is the text that it has.
    if (children.length === 0) return shownText(entity, this.#textOf(entity))
    if (type === 'multipart/alternative') return this.#alternative(children)
    const isRoot = type === 'multipart/related' || type === 'multipart/signed'
    const items = children.map((child, at) => this.sort(child, { isBody: isRoot && at === 0 }))
    return { kind: 'all', items, isReadable: items.some(({ isReadable }) => isReadable) }
  }

  /** Of several texts the first, of several kinds of HTML the last, which its sender likes most. */
  #alternative(children: readonly Entity[]): Shown {
    const views = children.filter(({ type }) => !OTHER_VIEWS.has(type))
    const shown = views.length > 0 ? views : children
    const items = shown.map((child) => this.sort(child, { isBody: true }))
    const readable = items.filter(({ isReadable }) => isReadable)
    if (shown === views) this.#hideNamed(children)
    const plain = readable.find((item) => !hasHtml(item))
    const html = readable.findLast(hasHtml)
    shown.forEach((entity, at) => this.#hideUnless([plain, html], items[at], entity))
    if (plain && html) return { kind: 'either', plain, html, isReadable: true }
    return plain ?? html ?? items[0] ?? NOTHING
  }

  #hideUnless(
    chosen: readonly (Shown | undefined)[],
    item: Shown | undefined,
    entity: Entity,
  ): void {
    const isChosen = item && chosen.some((one) => one && isSame(one, item))
    if (item?.isReadable && !isChosen) this.#hide(entity)
  }

  #hide(entity: Entity): void {
    for (const child of entity.children) this.#hide(child)
    if (isShownText(entity)) this.#hidden.add(entity)
  }

  /** What is made for one program, if its sender gave it the name of a file. */
  #hideNamed(children: readonly Entity[]): void {
    for (const entity of children) {
      const isOther = OTHER_VIEWS.has(entity.type)
      if (isOther && this.#fileOf(entity).filename !== undefined) this.#hidden.add(entity)
    }
  }

  #leaf(entity: Entity, { isBody }: Place): Shown {
    const file = this.#fileOf(entity)
    const isText = isShownText(entity) && file.disposition !== 'attachment'
    if (isText && (isBody || file.filename === undefined)) {
      const text = this.#textOf(entity)
      if (isDeclared(entity) || !isBinaryText(text)) return shownText(entity, text)
    }
    this.files.push(file)
    return NOTHING
  }

  /** A text that is all there is, and that its sender gave the name of a file, is shown and a file. So is what no alternative shows. */
  list(root: Entity): void {
    const isNamed = root.children.length === 0 && root.disposition.parameters.has('filename')
    if (isNamed && this.files.length === 0) this.files.push(this.#fileOf(root))
    this.#listHidden()
  }

  /** Texts beside those that are shown, where they are in the message. */
  #listHidden(): void {
    if (this.#hidden.size === 0) return
    for (const { entity } of this.files) this.#hidden.delete(entity)
    for (const entity of this.#hidden) this.files.push(this.#fileOf(entity))
    this.files.sort((one, other) => one.entity.body.start - other.entity.body.start)
  }

  /** Where nothing else can be read: a text that is a file, too, or of a kind that is unknown. */
  instead(root: Entity, shown: Shown): Shown {
    const texts = this.files.filter(
      ({ entity, disposition }) =>
        entity.type.startsWith('text/') &&
        !FOR_PROGRAMS.test(entity.type) &&
        (disposition !== 'attachment' || entity === root),
    )
    for (const file of texts) {
      const text = this.#textOf(file.entity)
      const found = shownText(file.entity, text)
      if (isBinaryText(text) || !found.isReadable) continue
      const isNamed = file.filename !== undefined || file.disposition === 'attachment'
      if (!isNamed) this.files.splice(this.files.indexOf(file), 1)
      return found
    }
    return shown
  }

  #fileOf(entity: Entity): FilePart {
    const { fields } = entity
    const parameter = (field: string, read: ParameterizedValue, name: string) =>
      BEYOND_ASCII.test(fields.latin1(field))
        ? parseParameters(this.#rawText(fields, field)).parameters.get(name)
        : read.parameters.get(name)
    const filename =
      parameter('content-disposition', entity.disposition, 'filename') ||
      parameter('content-type', entity.contentType, 'name') ||
      undefined
    return {
      entity,
      filename: decodeFileName(filename),
      disposition: entity.disposition.value,
      contentId: fields.text('content-id', { maxBytes: MAX_FIELD_BYTES }),
    }
  }

  /** A field that is not of ASCII. */
  #rawText(fields: HeaderFields, field: string): string {
    this.#charset ??= { label: this.#fieldCharset() }
    const guesses = this.files.length < MAX_GUESSES
    return fields.text(field, { maxBytes: MAX_FIELD_BYTES, charset: this.#charset.label, guesses })
  }
}

/** The preambles of a message that has nothing else to show, or else its epilogues (RFC 2046 §5.1.1). */
function outsideParts(root: Entity, { textOf }: PartReader): Shown | undefined {
  const multiparts = multipartsOf(root)
  for (const place of ['preamble', 'epilogue'] as const) {
    const items = multiparts
      .flatMap((entity) => {
        const body = entity[place]
        const isEmpty = !body || body.start === body.end
        return isEmpty ? [] : [{ ...entity, body, type: 'text/plain', transferEncoding: '' }]
      })
      .toSorted((one, other) => one.body.start - other.body.start)
      .map((entity) => shownText(entity, textOf(entity)))
      .filter(({ isReadable, text }) => isReadable && !isBinaryText(text) && !isMimeNotice(text))
    if (items.length > 0) return { kind: 'all', items, isReadable: true }
  }
  return undefined
}

const multipartsOf = (entity: Entity): readonly Entity[] =>
  entity.type.startsWith('multipart/') ? [entity, ...entity.children.flatMap(multipartsOf)] : []

const isShownText = ({ type }: Entity): boolean => type === 'text/plain' || type === 'text/html'

/** Whether it says that it is text, or says nothing. */
const isDeclared = ({ type, contentType }: Entity): boolean =>
  contentType.value === type || contentType.value === '' || contentType.value.startsWith('text')

const shownText = ({ type }: Entity, text: string): Shown & { readonly text: string } => {
  const isHtml = type === 'text/html'
  return {
    kind: isHtml ? 'html' : 'plain',
    text,
    isReadable: isHtml ? isReadableHtml(text) : isReadableText(text),
  }
}

const isSame = (one: Shown, other: Shown): boolean =>
  one === other || ('text' in one && 'text' in other && one.text === other.text)

export function hasHtml(shown: Shown): boolean {
  if (shown.kind === 'all') return shown.items.some(hasHtml)
  return shown.kind === 'html' || shown.kind === 'either'
}
