import { type Client, createClient } from './client.ts'
import { attachedBytes, rawBytes } from './email-limits.ts'
import type { Email, SentEmail } from './email.ts'
import { CroftError } from './error.ts'
import { type CallOptions, type ClientOptions, send } from './request.ts'
import { stageAttachments, stageRaw } from './stage-attachments.ts'

/** Of files beside a message, or of a whole one: with a text and HTML of full length they fit into one call. What is longer is uploaded first. */
const MAX_INLINE_BYTES = 1024 * 1024

// What a package exports is what its entry exports.
export { CroftError } from './error.ts'
export { paginate } from './paginate.ts'
export type { Attachment, Email, SentEmail } from './email.ts'

export interface ServerClient extends Client {
  /**
   * Sends mail from a mailbox of the site, as the admin whose token it is. It is repeated if the service asks for that, under a
   * key made for this call, so that it is sent once; to repeat it yourself, pass an `idempotencyKey` of your own each time.
   */
  sendEmail(email: Email, options?: CallOptions): Promise<SentEmail>
}

/** A client of one site for programs that hold an admin's token: none for a page that strangers can read. */
export function createServerClient(options: ClientOptions): ServerClient {
  return {
    ...createClient(options),
    async sendEmail({ text, to, attachments = [], raw, ...email }, rest = {}) {
      const isLong = attachedBytes(attachments) > MAX_INLINE_BYTES
      const isLongRaw = raw !== undefined && rawBytes(raw) > MAX_INLINE_BYTES
      const { mailbox } = email
      const files = {
        ...(isLong
          ? { attachmentRefs: await stageAttachments(options, mailbox, attachments, rest) }
          : { attachments }),
        ...(isLongRaw ? { rawRef: await stageRaw(options, mailbox, raw, rest) } : { raw }),
      }
      const response = await send(options, {
        idempotencyKey: crypto.randomUUID(),
        ...rest,
        method: 'POST',
        path: '/admin/api/messages/send',
        body: { ...email, ...files, to: typeof to === 'string' ? [to] : to, body: text },
      })
      return sentEmail(await response.json().catch(() => undefined), response)
    },
  }
}

function sentEmail(answer: unknown, { status }: Response): SentEmail {
  const { id, threadId }: Partial<Record<keyof SentEmail, unknown>> = Object(answer)
  if (typeof id === 'string' && typeof threadId === 'string') return { id, threadId }
  throw new CroftError('The answer does not name the message that was sent', {
    code: 'UnexpectedResponse',
    status,
  })
}
