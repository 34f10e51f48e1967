/**
 * One text for all texts that mean the same JSON value: keys sorted by code unit, no white space, numbers as JavaScript
 * writes them, which may be infinite. The value came from `JSON.parse` and its depth is bounded.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  // A function can tell -0 from 0, and what is beyond doubles from null; JSON.stringify cannot.
  if (Object.is(value, -0)) return '-0'
  if (value === Infinity || value === -Infinity) return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
  return `{${fields.join(',')}}`
}
