import type { OperationAnswer } from '#runtime/calls/operation-calls.ts'

/** What the answer to a visitor's call says in its headers, beside what every answer says. */
export function answerHeaders({ cache, ageSeconds }: OperationAnswer): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (cache !== undefined) headers['x-cache'] = cache
  if (ageSeconds !== undefined) headers['age'] = String(ageSeconds)
  return headers
}
