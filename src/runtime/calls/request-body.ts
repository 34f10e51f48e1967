import { AppError, invalid } from '#base/app-error.ts'
import { type ValueBounds, checkDepth, checkValueCount } from '#base/json-depth.ts'
import { isJsonObject } from '#base/json-object.ts'
import { withExactNumbers } from '#runtime/tables/items/exact-numbers.ts'

const MAX_BODY_BYTES = 6 * 1024 * 1024
const MAX_SHOWN_NAME = 64

/** The body of a call that came without one. */
export const NO_PAYLOAD = '{"payload":null}'

/** Refuses a body that an isolate must not parse: one that is too long or nested too deep. */
export function checkBody(body: string): void {
  boundBytes(body, MAX_BODY_BYTES)
  checkDepth(body)
}

/** Refuses a body that is longer in UTF-8. */
export function boundBytes(body: string, limitBytes: number): void {
  // UTF-8 takes at most three bytes for a UTF-16 unit: most bodies need no counting.
  if (body.length * 3 <= limitBytes || Buffer.byteLength(body) <= limitBytes) return
  throw bodyTooLarge(limitBytes)
}

export const bodyTooLarge = (limitBytes: number): AppError =>
  new AppError('PayloadTooLarge', `The request body is longer than ${limitBytes} bytes`, {
    fields: { limitBytes },
  })

/** The payload of a bounded body; null when it names none. */
export const payloadOf = (body: string, bounds?: ValueBounds): unknown =>
  readPayload(body, parseJson, bounds)

/** The same, where it goes to a table: its numbers keep all of their digits. */
export const itemPayloadOf = (body: string, bounds?: ValueBounds): unknown =>
  readPayload(body, (json) => JSON.parse(withExactNumbers(json)), bounds)

function readPayload(
  body: string,
  parse: (json: string) => unknown,
  bounds?: ValueBounds,
): unknown {
  checkValueCount(body, bounds)
  const parsed = valid(body, parse)
  if (!isJsonObject(parsed)) {
    throw invalid('body', 'must be a JSON object such as {"payload": …}')
  }
  const other = Object.keys(parsed).find((name) => name !== 'payload')
  if (other !== undefined) throw besidePayload(other)
  return parsed['payload'] ?? null
}

function besidePayload(field: string): AppError {
  const name = field.length > MAX_SHOWN_NAME ? `${field.slice(0, MAX_SHOWN_NAME)}…` : field
  const shown = JSON.stringify(name)
  return invalid(name, `is beside "payload", where no field is read: send {"payload":{${shown}:…}}`)
}

const parseJson = (json: string): unknown => JSON.parse(json)

function valid(body: string, parse: (json: string) => unknown): unknown {
  try {
    return parse(body)
  } catch (cause) {
    throw new AppError('InvalidJson', 'The request body is not valid JSON', { cause })
  }
}
