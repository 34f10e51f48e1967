/** Bun sends the head of an answer whose body is longer than 16 KiB in some twenty pieces, where it is given outside of its handler. */
const SENT_AT_ONCE = 15_000

/**
 * The body of an answer that is made outside of the request's own handler: where it is long it leaves with its head in one
 * piece, at the price of being chunked. A text may be three times as long in bytes: a shorter one of other letters costs
 * what it always did.
 */
export function answerBody(text: string): string | ReadableStream<string> {
  if (text.length <= SENT_AT_ONCE || !('Bun' in globalThis)) return text
  const source: Bun.DirectUnderlyingSource<string> = {
    type: 'direct',
    pull(controller) {
      void controller.write(text)
      void controller.end()
    },
  }
  return new ReadableStream(source)
}
