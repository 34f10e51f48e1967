const KIB = 1024
const MIB = 1024 * KIB

/** What one exchange of an operation that answers HTTP may take, besides the time and memory of its function. */
export const HTTP_LIMITS = {
  /** The body of a request. Up to `wholeRequestBytes` it reaches the function at once, beyond as the function reads it. */
  requestBytes: 100 * MIB,
  wholeRequestBytes: 64 * KIB,
  /** The body of a response. */
  responseBytes: 256 * MIB,
  /** Of a response, what the client has not taken: then the function waits. */
  bufferedBytes: 256 * KIB,
  /** Status line and headers of a response, as JSON. */
  headLength: 64 * KIB,
  headers: 200,
  /** How long a response that has begun may be silent. */
  silenceMs: 120_000,
  /** How long a client may leave what is there for it. */
  unreadMs: 60_000,
} as const
