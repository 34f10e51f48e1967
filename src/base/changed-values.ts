type Value = string | number | boolean

/** The values that differ: each under its key, and the one before under `…Before`; an absent value is empty. */
export function changedValues(
  before: Readonly<Record<string, Value>>,
  after: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const changed: Record<string, Value> = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[key] === after[key]) continue
    changed[key] = after[key] ?? ''
    changed[`${key}Before`] = before[key] ?? ''
  }
  return changed
}
