/** The refusal of a request whose Content-Length is too large or not a number; undefined when it is fine. */
export function contentLengthRefusal(
  header: string | null,
  maxBytes: number,
): Response | undefined {
  if (header === null) return undefined
  if (!/^\d{1,15}$/.test(header)) return new Response(null, { status: 400 })
  return Number(header) > maxBytes ? tooLarge() : undefined
}

export const tooLarge = (): Response => new Response('Payload too large', { status: 413 })

/** Lets at most `maxBytes` through, then fails and says so through `onExceeded`. */
export function limitStream(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  onExceeded: () => void,
): ReadableStream<Uint8Array> {
  let seen = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        seen += chunk.byteLength
        if (seen <= maxBytes) return controller.enqueue(chunk)
        onExceeded()
        controller.error(new Error(`The request body is longer than ${maxBytes} bytes`))
      },
    }),
  )
}
