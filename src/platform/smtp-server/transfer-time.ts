import { SmtpReply } from './smtp-reply.ts'

const MAX_TRANSFER_MS = 10 * 60_000

/** A message as it comes. A client that sends a little now and then would hold memory for as long as it likes: it gets a 451. */
export async function* withinTransferTime(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const deadline = performance.now() + MAX_TRANSFER_MS
  for await (const chunk of content) {
    if (performance.now() > deadline) {
      throw new SmtpReply(451, '4.4.2', 'The message took too long to arrive')
    }
    yield chunk
  }
}
