import { Buffer } from 'node:buffer'

import { decodeText } from './charsets.ts'
import { decodeEncodedWords } from './encoded-words.ts'

const MAX_PARAMETERS = 100
const NAME = /[^\s;=,]+\s*=?|[;\s,]+|=/y
/** `filename*0*`: RFC 2231 §3 and §4. */
const SECTION = /^([^*]+)(?:\*(\d{1,3}))?(\*)?$/
const COMMENT = /\([^()]*\)/g

interface Section {
  readonly name: string
  readonly place: number
  readonly isExtended: boolean
  readonly value: string
}

/** A value with parameters, such as that of Content-Type (RFC 2045 §5.1), as far as it can be read. */
export interface ParameterizedValue {
  /** In lower case, without comments. */
  readonly value: string
  /** By name in lower case, decoded. Of two with the same name the first. */
  readonly parameters: ReadonlyMap<string, string>
}

export function parseParameters(field: string): ParameterizedValue {
  // `Content-Disposition: filename="a.pdf"` has parameters and no value.
  const head = /^(?!\s*[\w*-]+\s*=)[^;]*/.exec(field)?.[0] ?? ''
  const [value = '', ...rest] = head
    .replaceAll(COMMENT, ' ')
    .trim()
    .split(/[\s,]+/)
  const behind = rest.some((word) => word.includes('=')) ? rest.join(' ') : ''
  const sections = sectionsOf(`${behind}${field.slice(head.length)}`)
  return { value: value.toLowerCase().replaceAll(/["'<>]/g, ''), parameters: joined(sections) }
}

/** The name of the file in a parameter, where programs write encoded words, too. */
export const decodeFileName = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : decodeEncodedWords(value)

function sectionsOf(text: string): Section[] {
  const sections: Section[] = []
  let at = 0
  let values = 0
  while (at < text.length && values < MAX_PARAMETERS) {
    NAME.lastIndex = at
    const [found = ''] = NAME.exec(text) ?? []
    at += Math.max(found.length, 1)
    if (!/^[^;\s,=].*=$/s.test(found)) continue
    const { value, next } = valueAt(text, at)
    at = next
    // Also of those without a name: each may be looked for up to the end.
    values += 1
    const [, name, place, star] = SECTION.exec(found.slice(0, -1).trim().toLowerCase()) ?? []
    if (name === undefined) continue
    // `filename*` says more than `filename` and `filename*0`, wherever it comes.
    const isWhole = place === undefined
    sections.push({
      name,
      place: isWhole ? (star === undefined ? 1000 : -1) : Number(place),
      isExtended: star !== undefined,
      value,
    })
  }
  return sections
}

/** A quoted string, in which a backslash hides quotes and itself alone: paths of Windows are not escaped. */
function valueAt(text: string, from: number): { readonly value: string; readonly next: number } {
  const start = from + (/^\s*/.exec(text.slice(from, from + 1000))?.[0].length ?? 0)
  const quoted = /"((?:[^"\\]|\\.)*)"/sy
  quoted.lastIndex = start
  const content = quoted.exec(text)?.[1]
  if (content !== undefined) {
    return { value: content.replaceAll(/\\(["\\])/g, '$1'), next: quoted.lastIndex }
  }
  const end = text.indexOf(';', start)
  const next = end < 0 ? text.length : end
  return { value: text.slice(start, next).trim().replace(/^"/, ''), next }
}

function joined(sections: readonly Section[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, all] of Map.groupBy(sections, (section) => section.name)) {
    const ordered = all.toSorted((one, other) => one.place - other.place)
    const [first] = ordered
    const isWhole = first !== undefined && (first.place < 0 || first.place === 1000)
    const used = isWhole ? [first] : ordered.filter(({ place }) => place < 1000)
    const unique = used.filter(({ place }, at) => place !== used[at - 1]?.place)
    parameters.set(name, valueOf(unique))
  }
  return parameters
}

/** The charset is named by the first section; bytes of a character may be in two. */
function valueOf(sections: readonly Section[]): string {
  const [first] = sections
  if (!first) return ''
  const [, charset, , rest] =
    (first.isExtended && /^([^']{0,100})'([^']{0,100})'(.*)$/s.exec(first.value)) || []
  const values: string[] = []
  let bytes: Buffer[] = []
  const flush = (): void => {
    if (bytes.length > 0) values.push(decodeText(Buffer.concat(bytes), { declared: charset }))
    bytes = []
  }
  for (const [at, { isExtended, value }] of sections.entries()) {
    const text = at === 0 ? (rest ?? value) : value
    if (isExtended) bytes.push(percentDecoded(text))
    else {
      flush()
      values.push(text)
    }
  }
  flush()
  return values.join('')
}

function percentDecoded(text: string): Buffer {
  const pieces = text.split(/(%[0-9a-f]{2})/i)
  return Buffer.concat(
    pieces.map((piece) =>
      /^%[0-9a-f]{2}$/i.test(piece) ? Buffer.from(piece.slice(1), 'hex') : Buffer.from(piece),
    ),
  )
}
