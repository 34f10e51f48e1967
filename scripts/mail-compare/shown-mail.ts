/** What a reader shows of a message, in a form that can be compared. */
export interface ShownMail {
  /** Why it shows none of its parts; undefined when it does. */
  readonly failed: string | undefined
  readonly subject: string
  readonly from: NamedAddress | undefined
  readonly to: readonly string[]
  readonly cc: readonly string[]
  /** Runs of blanks count as one, here and in all texts. */
  readonly text: string
  /** The words of its HTML; null when there is none. */
  readonly html: string | null
  /** Whether text or HTML were cut. */
  readonly isTruncated: boolean
  readonly attachments: readonly ShownAttachment[]
}

export interface NamedAddress {
  readonly name: string
  readonly address: string
}

export interface ShownAttachment {
  readonly filename: string
  readonly contentType: string
  readonly sizeBytes: number
  readonly sha256: string
}

/** Without differences of blanks, of line ends, and of signs that have no width. */
export const evenBlanks = (text: string): string =>
  text
    .replaceAll(/[\u200B-\u200D\u2060\uFEFF\u00AD]/g, '')
    .replaceAll(/[\s\u00A0]+/g, ' ')
    .trim()

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

/** The words of sanitised HTML, which has no other entities than these. */
export const wordsOf = (html: string): string =>
  evenBlanks(
    html
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/&(amp|lt|gt|quot);/g, (whole: string, name: string) => ENTITIES[name] ?? whole),
  )

/** `Ann Lee <ann@shop.test>`, as headers are shown. */
export function addressIn(text: string): NamedAddress {
  const [, quoted, plain = '', address] =
    /^(?:"((?:[^"\\]|\\.)*)"|(.*?))\s*<([^<>]*)>$/s.exec(text) ?? []
  if (address === undefined) return { name: '', address: text.toLowerCase() }
  return {
    name: quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain,
    address: address.toLowerCase(),
  }
}
