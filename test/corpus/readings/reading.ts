/** What a reader is shown of a message. What is left out is not looked at. */
export interface ExpectedReading {
  readonly subject?: string
  /** Its author: the name, which may be empty, or null where it is a matter of taste, and the address. */
  readonly from?: readonly [name: string | null, address: string]
  /** Addresses alone. */
  readonly to?: readonly string[]
  readonly cc?: readonly string[]
  /** All of its text; runs of blanks count as one. */
  readonly text?: string
  /** What its text contains, in that order. */
  readonly contains?: readonly string[]
  /** What neither text nor HTML contains. */
  readonly lacks?: readonly string[]
  /** What the words of its HTML contain; null: that it has none. */
  readonly html?: string | null
  /** Its attachments, all of them. */
  readonly attachments?: readonly ExpectedAttachment[]
}

export interface ExpectedAttachment {
  readonly filename: string
  readonly contentType?: string
  readonly content?: Buffer
}

/** A message as a file, with what a reader has to be shown of it. */
export interface Reading {
  /** Of the file, without `.eml`. */
  readonly name: string
  /** The group that it is counted in. */
  readonly kind: string
  readonly raw: Buffer
  readonly expected: ExpectedReading
}

/** Makes readings of one kind, and their names of what is special about them. */
export const readingsOf =
  (kind: string) =>
  (what: string, raw: Buffer, expected: ExpectedReading): Reading => ({
    name: `${kind}-${what.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '')}`.toLowerCase(),
    kind,
    raw,
    expected,
  })
