import type { AttributeValue } from '#runtime/tables/items/attribute-value.ts'

/** As DynamoDB writes the bounds of BETWEEN in its messages: `{N:5}`. */
export function valueText(value: AttributeValue): string {
  const [[type, content] = []] = Object.entries(value)
  return `{${type}:${String(content)}}`
}
