/** A message as what looks for bounces sees it. */
export interface ReadMessage {
  /** Of the fields with that name the first; empty when there is none. */
  readonly header: (name: string) => string
  readonly subject: string
  /** Of the author, in lower case; empty when there is none. */
  readonly author: string
  /** The text that is shown. */
  readonly text: string
  readonly parts: readonly ReadPart[]
}

/** A part that is given as a file. */
interface ReadPart {
  readonly type: string
  /** The beginning of its content. */
  readonly text: () => string
}
