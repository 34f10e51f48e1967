import { AppError } from '#base/app-error.ts'
import { checkJsonSize } from '#base/json-depth.ts'
import { receivedText } from '#http/bodies/receive.ts'

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

/** Routes have bounds of their own for what may be deep, and say which. */
const MAX_BODY_DEPTH = 256

const texts = new WeakMap<Request, Promise<string>>()

/** Whether a body was sent as something else than JSON, or without a word of what it is. */
export function isOtherThanJson({ headers, body }: Request): boolean {
  const type = headers.get('content-type')
  return type === null ? body !== null : !JSON_TYPE.test(type)
}

/** The body of a request, as often as it is asked for. */
export function textOf(request: Request): Promise<string> {
  const known = texts.get(request)
  if (known) return known
  const text = receivedText(request)
  texts.set(request, text)
  return text
}

/** Throws `InvalidJson`, and `ValidationError` for what is nested too deep or holds too much. */
export function parseJson(text: string, depth?: number): unknown {
  checkJsonSize(text, depth)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError('InvalidJson', 'The request body is not valid JSON', { cause: error })
  }
}

/**
 * For a `parse` hook: Elysia's own parser knows no bounds, and recurses over what it refuses. Undefined leaves the body to
 * whoever is next: one of another type, and one that is empty.
 */
export async function jsonBody(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')
  if (type === null || !JSON_TYPE.test(type)) return undefined
  const text = await textOf(request)
  return text.trim() === '' ? undefined : parseJson(text, MAX_BODY_DEPTH)
}
