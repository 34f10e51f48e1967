import { type Static, Type } from '@sinclair/typebox'

const FindingCode = Type.Union([
  /** A mailbox or the site counts other than its messages are. */
  Type.Literal('CountsDiffer'),
  Type.Literal('MessageWithoutRaw'),
  /** A message counts other bytes than it has. */
  Type.Literal('MessageSizeDiffers'),
  /** In no mailbox: nothing will ever remove it. */
  Type.Literal('RawWithoutMessage'),
  /** Parsed, and nothing of it is there to be shown. */
  Type.Literal('ContentMissing'),
  Type.Literal('RawObjectMissing'),
  Type.Literal('RawObjectDiffers'),
  Type.Literal('AttachmentObjectsMissing'),
  Type.Literal('AttachmentObjectsDiffer'),
  /** Bytes of no message, a day old: the next sweep removes them. */
  Type.Literal('OrphanedObjects'),
])

/** Something about stored mail that is not as it should be. */
export const MailFinding = Type.Object(
  {
    code: FindingCode,
    /** An address, the id of a message, or that of what came (`raw_…`). */
    id: Type.String(),
    detail: Type.String(),
  },
  { title: 'MailFinding' },
)
export type MailFinding = Static<typeof MailFinding>

/** What was found among so many mailboxes, messages or objects. */
export interface MailFindings {
  readonly checked: number
  readonly findings: MailFinding[]
}

/** One page of a look at all; `lastKey` is where the next one starts. */
export interface MailFindingsPage extends MailFindings {
  readonly lastKey: string | undefined
}
