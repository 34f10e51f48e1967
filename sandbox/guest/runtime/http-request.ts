import { bytesFromLatin1 } from '#sandbox/guest/web/base64.ts'
import { Body, Message } from '#sandbox/guest/web/body.ts'
import type { AbortState } from '#sandbox/guest/web/event-target.ts'
import { received } from '#sandbox/guest/web/headers.ts'
import { indexOf, jsonParse, slice } from '#sandbox/guest/web/primordials.ts'
import { servedParts } from '#sandbox/guest/web/request-parts.ts'
import { Request } from '#sandbox/guest/web/request.ts'
import { ReadableStream } from '#sandbox/guest/web/streams.ts'
import { HTTP_END, HTTP_READ, type ServedRequest } from '#sandbox/protocol/protocol.ts'

import { callHostFor } from './host-calls.ts'

/** The request of a call that answers HTTP, with its body as text. */
export interface IncomingRequest extends ServedRequest {
  readonly text: string
}

/** Reads the text that the service wrote. */
export function parseServed(text: string): IncomingRequest {
  const headEnd = indexOf(text, '\n')
  const head = jsonParse(slice(text, 0, headEnd)) as ServedRequest
  return { ...head, text: slice(text, headEnd + 1) }
}

/** As site code sees it: its bytes are those that came, its headers cannot be changed. */
export function servedRequest(
  call: number,
  incoming: IncomingRequest,
  follows: AbortState,
): object {
  const { method, url } = incoming
  const parts = servedParts({ method, url, headers: received(incoming.headers), follows })
  return new Request(new Message(parts, bodyOf(call, incoming)))
}

function bodyOf(call: number, { body, text }: IncomingRequest): Body {
  if (body === 'none') return new Body()
  if (body === 'streamed') return new Body(undefined, bodyStream(call))
  return new Body(body === 'text' ? text : bytesFromLatin1(text))
}

/** Requests the next bytes when the stream is read. */
const bodyStream = (call: number): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const answer = await callHostFor(call, 'http', HTTP_READ)
        if (answer === HTTP_END) controller.close()
        else controller.enqueue(bytesFromLatin1(slice(answer, 1)))
      },
    },
    { highWaterMark: 0 },
  )
