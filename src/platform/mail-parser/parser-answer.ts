import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { toStorable } from '#base/storable-text.ts'
import type { MailParserAnswer } from '#sandbox/mail/protocol.ts'

const MIB = 1024 * 1024
/** An answer without the bytes that follow it: a thousand attachments with long names. */
export const MAX_ANSWER_BYTES = 4 * MIB

const orNull = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()])
const size = (maximum: number) => Type.Integer({ minimum: 0, maximum })

const Part = Type.Object({
  filename: Type.String({ minLength: 1, maxLength: 255 }),
  contentType: Type.String({ maxLength: 255, pattern: '^[!-~]+/[!-~]+$' }),
  sizeBytes: size(64 * MIB),
  contentId: orNull(998),
  inline: Type.Boolean(),
})

const Bounce = Type.Object({
  kind: Type.Union([
    Type.Literal('failed'),
    Type.Literal('delayed'),
    Type.Literal('delivered'),
    Type.Literal('autoReply'),
  ]),
  recipient: orNull(320),
  status: orNull(20),
  action: orNull(20),
  diagnostic: orNull(1000),
  originalMessageId: orNull(998),
})

const Outline = Type.Object({
  textBytes: size(2 * MIB),
  htmlBytes: Type.Union([size(2 * MIB), Type.Null()]),
  truncated: Type.Boolean(),
  snippet: Type.String({ maxLength: 400 }),
  attachments: Type.Array(Part, { maxItems: 1000 }),
  bounce: Type.Union([Bounce, Type.Null()]),
})

const Answer = Type.Union([
  Type.Object({ ready: Type.Literal(true) }),
  Type.Object({ broken: Type.String() }),
  Type.Object({ parsed: Outline }),
])

/** The process read what a stranger sent: its answers are no more trusted than that. Throws when one is not what it must be. */
export function parserAnswer(bytes: Buffer): MailParserAnswer {
  const answer: unknown = JSON.parse(bytes.toString())
  if (!Value.Check(Answer, answer)) throw new Error('The process that parses mail gave no answer')
  return storable(answer)
}

function storable(answer: Static<typeof Answer>): MailParserAnswer {
  if (!('parsed' in answer)) return answer
  const { snippet, attachments, bounce, ...rest } = answer.parsed
  return {
    parsed: {
      ...rest,
      snippet: toStorable(snippet),
      attachments: attachments.map((part) => ({
        ...part,
        filename: toStorable(part.filename),
        contentId: storableOrNull(part.contentId),
      })),
      bounce: bounce && {
        ...bounce,
        recipient: storableOrNull(bounce.recipient),
        diagnostic: storableOrNull(bounce.diagnostic),
        originalMessageId: storableOrNull(bounce.originalMessageId),
      },
    },
  }
}

const storableOrNull = (text: string | null): string | null =>
  text === null ? null : toStorable(text)
