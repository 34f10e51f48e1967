import { headerOf } from '#sandbox/guest/web/headers.ts'
import {
  apply,
  ErrorClass,
  indexOf,
  jsonParse,
  jsonStringify,
} from '#sandbox/guest/web/primordials.ts'
import { responseMessageOf } from '#sandbox/guest/web/response.ts'
import { decodeUtf8, encodeUtf8 } from '#sandbox/guest/web/utf8.ts'

import type { CallContext } from './call-context.ts'
import type { CallInput } from './calls.ts'
import { configured } from './config.ts'
import type { Target } from './modules.ts'

const { Request: RequestClass } = globalThis
const REPLACEMENT = '\ufffd'
const BYTE_ORDER_MARK = 3
const USE_HTTP =
  'which the JSON envelope cannot carry: give the operation "http": true, and it is sent unchanged'

interface FetchCall {
  readonly target: Extract<Target, { kind: 'fetch' }>
  readonly context: CallContext
}

/** JSON text, or why the response does not fit into the envelope. */
export type FetchAnswer = { readonly text: string } | { readonly unfit: string }

/**
 * Runs a call of an operation without `"http": true` through `fetch(request)`. Of its response, text and JSON are the
 * data of the envelope, whatever status from 200 to 299 it has; a status from 400 on becomes a throw.
 */
export async function answerFetch(
  input: CallInput,
  payload: unknown,
  { target, context }: FetchCall,
): Promise<FetchAnswer> {
  const { siteDomain } = configured().site
  const request = new RequestClass(`https://${siteDomain}/data/${input.operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': input.requestId },
    body: jsonStringify(payload) ?? 'null',
  })
  const handle = target.handle as (request: object, context: object) => unknown
  const message = responseMessageOf(await apply(handle, target.owner, [request, context]))
  if (message === undefined) throw new ErrorClass('fetch must answer with a Response')
  const { status, headers } = message.head
  const json = indexOf(headerOf(headers, 'content-type') ?? '', 'json') >= 0
  if (status < 200 || (status >= 300 && status < 400))
    return { unfit: `the Response has the status ${status}, ${USE_HTTP}` }
  if (headerOf(headers, 'set-cookie') !== null)
    return { unfit: `the Response sets a cookie, ${USE_HTTP}` }
  const text = textOf(await message.body.bytes())
  if (text === undefined) return { unfit: `the Response has bytes that are no text, ${USE_HTTP}` }
  if (status >= 400) {
    // oxlint-disable-next-line typescript/only-throw-error -- read back by describeThrown, never seen by site code
    throw rejection(status, text, json)
  }
  return data(text, json)
}

function data(text: string, json: boolean): FetchAnswer {
  if (text === '') return { text: 'null' }
  if (!json) return { text: jsonStringify(text) ?? 'null' }
  try {
    return { text: jsonStringify(jsonParse(text)) ?? 'null' }
  } catch {
    return { unfit: 'the Response says that it is JSON, and is not' }
  }
}

/** The text that the bytes are in UTF-8; undefined when they are none. */
function textOf(bytes: Uint8Array): string | undefined {
  const text = decodeUtf8(bytes)
  if (indexOf(text, REPLACEMENT) < 0) return text
  const again = encodeUtf8(text)
  const skipped = bytes.length - again.length
  if (skipped !== 0 && skipped !== BYTE_ORDER_MARK) return undefined
  for (let at = 0; at < again.length; at += 1)
    if (again[at] !== bytes[at + skipped]) return undefined
  return text
}

/** An error without a code of its own gets the general one: the caller still receives its status and text. */
function rejection(statusCode: number, text: string, json: boolean): object {
  const { code, message } = json ? readRefusal(text) : { code: '', message: text }
  return {
    statusCode,
    code: code === '' ? 'OperationRejected' : code,
    message: message === '' ? `Status ${statusCode}` : message,
    stack: '',
  }
}

function readRefusal(text: string): { code: string; message: string } {
  const body = parsed(text)
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const inner = fields['error']
  const refusal = (typeof inner === 'object' && inner !== null ? inner : fields) as Record<
    string,
    unknown
  >
  const { code, message } = refusal
  return {
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : text,
  }
}

function parsed(text: string): unknown {
  try {
    return jsonParse(text)
  } catch {
    return undefined
  }
}
