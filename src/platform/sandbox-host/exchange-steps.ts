import {
  HTTP_CHUNK,
  HTTP_CHUNK_BYTES,
  HTTP_END,
  HTTP_HEAD,
  HTTP_READ,
  type ServedRequest,
} from '#sandbox/protocol/protocol.ts'

/** What a function does with the request and the response of its call while it runs. */
export type ExchangeStep =
  /** Begins a response that is streamed: JSON of its head. */
  | { readonly kind: 'begin'; readonly head: string }
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Wants the next bytes of the request. */
  | { readonly kind: 'read' }

/** The head of a request, as isolates read it. */
export type RequestHead = ServedRequest

/** The longest chunk that a function is given. */
export const REQUEST_CHUNK_BYTES = HTTP_CHUNK_BYTES

/** Reads the argument of an `http` host call; undefined for what the guest runtime would not send. */
export function parseExchangeStep(argument: string): ExchangeStep | undefined {
  switch (argument.slice(0, 1)) {
    case HTTP_HEAD:
      return { kind: 'begin', head: argument.slice(1).trimEnd() }
    case HTTP_CHUNK:
      return argument.length > HTTP_CHUNK_BYTES + 1
        ? undefined
        : { kind: 'chunk', bytes: Buffer.from(argument.slice(1), 'latin1') }
    case HTTP_READ:
      return { kind: 'read' }
    default:
      return undefined
  }
}

/** The answer to `read`: the next bytes, or undefined for the end. */
export const requestChunkText = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? HTTP_END : HTTP_CHUNK + latin1Text(bytes)

/** The body of a call that answers HTTP. */
export const servedRequestText = (head: RequestHead, body: string): string =>
  `${JSON.stringify(head)}\n${body}`

/** One character for each byte. */
export const latin1Text = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
