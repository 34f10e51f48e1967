import { CroftError } from '../../../../sdk/error.ts'

/** An error about one recipient of a list, `to[1]`, becomes one about the field where the person wrote all of them, and names the recipient. */
export function atFields(
  error: unknown,
  lists: Readonly<Record<string, readonly string[]>>,
): unknown {
  if (!(error instanceof CroftError) || !Array.isArray(error.details)) return error
  const { code, status, requestId } = error
  const details = error.details.map((detail: unknown) => {
    const { field, message } = Object(detail) as Record<string, unknown>
    const [, list = '', at = ''] = /^(?:body\.)?(\w+)[[./](\d+)\]?$/.exec(String(field)) ?? []
    const recipient = lists[list]?.[Number(at)]
    if (recipient === undefined) return detail
    const text = String(message)
    // Some say themselves which one is meant.
    return { field: list, message: text.includes(recipient) ? text : `“${recipient}”: ${text}` }
  })
  return new CroftError(error.message, { code, status, requestId, details, cause: error })
}
