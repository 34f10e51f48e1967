import type { Bounce, MailPart } from '#sandbox/mail/protocol.ts'

export type MailBounce = Bounce
export type ParsedPart = MailPart

/** A message whose bytes are read as they are needed. */
export interface MailSource {
  readonly sizeBytes: number
  readonly body: ReadableStream<Uint8Array>
}

/** What is shown of a message. Everything can be stored as it is. */
export interface ParsedMail {
  readonly text: string
  /** Sanitised; null when the message has none. */
  readonly html: string | null
  /** Whether text, HTML or the list of attachments was cut at its bound. */
  readonly truncated: boolean
  readonly snippet: string
  readonly attachments: readonly ParsedPart[]
  readonly bounce: MailBounce | null
}

/** Why a message has no parsed form: it is broken beyond repair, or takes what no message may take. */
export type ParseFault = 'broken' | 'cpu' | 'memory' | 'crash'

export type ParseOutcome =
  | { readonly mail: ParsedMail }
  | { readonly fault: ParseFault; readonly reason: string }

/** Takes the bytes of an attachment, of which there are so many; rejects when they cannot be kept. */
export type PartSink = (
  part: ParsedPart & { readonly place: number },
  body: ReadableStream<Uint8Array>,
) => Promise<void>

/** Parses messages of strangers in a process of its own, where they can do no harm. */
export interface MailParser extends AsyncDisposable {
  /**
   * Gives the attachments to `takePart`, one after the other, in their order. Asks for the message again when the process
   * was lost through no fault of the message; rejects with `ServiceUnavailable` when that happens again and again.
   */
  parse(open: () => Promise<MailSource>, takePart: PartSink): Promise<ParseOutcome>
}
