import { type ErrorCode, statusOf } from '#base/error-status.ts'

import type { ComponentSchemas } from './component-schemas.ts'
import type { ResponseObject } from './document.ts'
import type { JsonSchema } from './json-schema.ts'

const FIELDS: JsonSchema = {
  type: 'object',
  required: ['code', 'message', 'requestId'],
  properties: {
    code: { type: 'string', description: 'What went wrong, in PascalCase. It never changes.' },
    message: { type: 'string', description: 'What happened and what to do, for people.' },
    requestId: { type: 'string', description: 'The `x-request-id` of the response.' },
    details: {
      type: 'array',
      description: 'One entry for each field that is not valid.',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const ERROR: JsonSchema = {
  type: 'object',
  description: 'Some errors have more fields.',
  required: ['error'],
  properties: { error: FIELDS },
}

/** What `/data` responds with. */
const FAILED: JsonSchema = {
  type: 'object',
  description: 'Some errors have more fields.',
  required: ['ok', 'error'],
  properties: { ok: { type: 'boolean', const: false }, error: FIELDS },
}

/** The two forms of an error: `envelope` is that of routes that respond with `{ ok, data }`. */
type ErrorForm = 'plain' | 'envelope'

/** The responses with one of these codes, by status, and `default` for those that any request may get. */
export function errorResponses(
  schemas: ComponentSchemas,
  codes: readonly ErrorCode[],
  form: ErrorForm = 'plain',
): Readonly<Record<string, ResponseObject>> {
  const schema = form === 'plain' ? schemas.add('Error', ERROR) : schemas.add('FailedCall', FAILED)
  const content = { 'application/json': { schema } }
  const byStatus = new Map<number, Set<ErrorCode>>()
  for (const code of codes) {
    const status = statusOf({ code, thrown: undefined })
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code))
  }
  const listed = [...byStatus].map(([status, found]) => [
    String(status),
    {
      description: [...found]
        .toSorted()
        .map((code) => `\`${code}\``)
        .join(', '),
      content,
    },
  ])
  return { ...Object.fromEntries(listed), default: { description: 'Any other error.', content } }
}
