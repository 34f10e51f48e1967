import { invalid } from './app-error.ts'

/** An ISO 8601 time of a query. */
export function parseTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  const year = time.getUTCFullYear()
  // Also out of the years that PostgreSQL spells like this; NaN is out of every range.
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || !(year >= 1 && year <= 9999)) {
    throw invalid(field, 'must be a time such as 2026-01-31T12:00:00Z')
  }
  return time
}
