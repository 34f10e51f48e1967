import { SessionError } from '#app/session/session.ts'

import { CroftError } from '../../../sdk/error.ts'

/** A call that failed, as a screen shows it. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly status: number
  /** What is wrong with each field, by the name the API gives it: `externalEmail`, `schedule.cron`. */
  readonly fields: Readonly<Record<string, string>>
  readonly requestId: string | undefined
}

export function problemOf(error: unknown): Problem {
  if (error instanceof CroftError) {
    const { code, message, status, requestId } = error
    return { code, message, status, requestId, fields: fieldsOf(error.details) }
  }
  const code = error instanceof SessionError ? 'SessionEnded' : 'InternalError'
  const message = error instanceof Error ? error.message : String(error)
  return { code, message, status: 0, requestId: undefined, fields: {} }
}

function fieldsOf(details: unknown): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {}
  for (const detail of Array.isArray(details) ? details : []) {
    const field: unknown = Reflect.get(Object(detail), 'field')
    const message: unknown = Reflect.get(Object(detail), 'message')
    if (typeof field === 'string' && typeof message === 'string') {
      fields[field.replace(/^body\./, '')] ??= message
    }
  }
  return fields
}
