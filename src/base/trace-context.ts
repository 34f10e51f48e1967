/** W3C Trace Context, level 1. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits: the sender's span. */
  readonly spanId: string
  readonly isSampled: boolean
  /** `tracestate`, which is passed on unchanged. */
  readonly state: string | undefined
}

const HEADER =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/
/** Of version 00; later ones may be longer. */
const HEADER_LENGTH = 55
const MAX_HEADER = 256
const STATE = /^[\x20-\x7e]{1,512}$/
const SAMPLED = 1

/** Undefined for what is not a trace context: then there is none. */
export function parseTraceContext(
  traceparent: string,
  tracestate: string | null,
): TraceContext | undefined {
  const isLonger = traceparent.length > HEADER_LENGTH
  if (traceparent.length > MAX_HEADER || (isLonger && traceparent.startsWith('00')))
    return undefined
  const found = HEADER.exec(traceparent)
  if (found === null) return undefined
  const [, , traceId = '', spanId = '', flags = ''] = found
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED
  // The rest of it means nothing without the other.
  const state = tracestate !== null && STATE.test(tracestate) ? tracestate : undefined
  return { traceId, spanId, isSampled, state }
}

/** The two headers for the next service. */
export function traceHeaders({
  traceId,
  spanId,
  isSampled,
  state,
}: TraceContext): [string, string][] {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
  return state === undefined
    ? [['traceparent', traceparent]]
    : [
        ['traceparent', traceparent],
        ['tracestate', state],
      ]
}
