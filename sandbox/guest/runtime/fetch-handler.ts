import { apply, ErrorClass, jsonParse, jsonStringify } from '#sandbox/guest/web/primordials.ts'

import type { CallContext } from './call-context.ts'
import type { CallInput } from './calls.ts'
import { configured } from './config.ts'
import type { Target } from './modules.ts'

const { Request: RequestClass, Response: ResponseClass } = globalThis

interface FetchCall {
  readonly target: Extract<Target, { kind: 'fetch' }>
  readonly context: CallContext
}

/** Runs a call through `fetch(request)` and gives the JSON text of its answer. A status from 400 on becomes a throw. */
export async function answerFetch(
  input: CallInput,
  payload: unknown,
  { target, context }: FetchCall,
): Promise<string> {
  const { siteDomain } = configured().site
  const request = new RequestClass(`https://${siteDomain}/data/${input.operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': input.requestId },
    body: jsonStringify(payload) ?? 'null',
  })
  const handle = target.handle as (request: object, context: object) => unknown
  const response = await apply(handle, target.owner, [request, context])
  if (!(response instanceof ResponseClass)) {
    throw new ErrorClass('fetch must answer with a Response')
  }
  const text = await response.text()
  const json = (response.headers.get('content-type') ?? '').includes('json')
  if (response.status >= 400) {
    // oxlint-disable-next-line typescript/only-throw-error -- read back by describeThrown, never seen by site code
    throw rejection(response.status, text, json)
  }
  if (text === '') return 'null'
  return (json ? jsonStringify(jsonParse(text)) : jsonStringify(text)) ?? 'null'
}

function rejection(statusCode: number, text: string, json: boolean): object {
  const { code, message } = json ? readRefusal(text) : { code: '', message: text }
  return { statusCode, code, message: message === '' ? `Status ${statusCode}` : message, stack: '' }
}

function readRefusal(text: string): { code: string; message: string } {
  const body = jsonParse(text)
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
