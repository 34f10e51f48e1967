import {
  isArray,
  join,
  jsonQuote,
  numberText,
  objectKeys,
  push,
  sortTexts,
} from '#sandbox/guest/web/primordials.ts'

/** Whether two values of `JSON.parse` are the same JSON: numbers by value, objects whatever the order of their keys. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (!isComposite(one) || !isComposite(other)) return false
  return canonicalText(one) === canonicalText(other)
}

/** One text for all that is the same JSON. */
export function canonicalText(value: unknown): string {
  if (typeof value === 'string') return jsonQuote(value)
  // JSON.stringify has no text for what is beyond doubles.
  if (typeof value === 'number') return numberText(value)
  if (isArray(value)) return listText(value)
  if (isComposite(value)) return objectText(value as Record<string, unknown>)
  return jsonQuote(value as string)
}

function listText(list: readonly unknown[]): string {
  const texts: string[] = []
  for (let at = 0; at < list.length; at += 1) push(texts, canonicalText(list[at]))
  return `[${join(texts, ',')}]`
}

function objectText(object: Readonly<Record<string, unknown>>): string {
  const names = sortTexts(objectKeys(object))
  const texts: string[] = []
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] as string
    push(texts, `${jsonQuote(name)}:${canonicalText(object[name])}`)
  }
  return `{${join(texts, ',')}}`
}

export const isComposite = (value: unknown): value is object =>
  typeof value === 'object' && value !== null
