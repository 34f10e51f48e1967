import type { Answer } from './answer.ts'

/** A text that is the same for answers that mean the same: sets have no order, objects neither, scans neither. */
export function comparable(answer: Answer, order: 'given' | 'any'): string {
  if (!answer.ok) return `${answer.type}: ${answer.message}`
  const body = sorted(answer.body, '')
  const { Items: items } = answer.body
  if (order === 'given' || !Array.isArray(items)) return JSON.stringify(body)
  const texts = items.map((item) => JSON.stringify(sorted(item, '')))
  return JSON.stringify([texts.toSorted(), answer.body['Count'], answer.body['ScannedCount']])
}

function sorted(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    const isSet = name === 'SS' || name === 'NS' || name === 'BS'
    return isSet ? value.map(String).toSorted() : value.map((each) => sorted(each, ''))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return entries.map(([key, each]) => [key, sorted(each, key)])
}
