const PARTS = ['PutRequest', 'DeleteRequest'] as const

/** The requests of a BatchWriteItem as DynamoDB repeats them in a fault, which is how Java writes objects. */
export function javaText(given: unknown): string {
  if (Array.isArray(given)) return `[${given.map(writeRequestText).join(', ')}]`
  return isFields(given) ? mapText(given, javaText) : String(given)
}

function writeRequestText(given: unknown): string {
  if (!isFields(given)) return String(given)
  const parts = PARTS.map((name) => `${lowerFirst(name)}=${partText(name, given[name])}`)
  return `WriteRequest(${parts.join(', ')})`
}

function partText(name: string, given: unknown): string {
  if (!isFields(given)) return 'null'
  const fields = Object.entries(given).map(
    ([field, value]) =>
      `${lowerFirst(field)}=${isFields(value) ? mapText(value, attributeText) : 'null'}`,
  )
  return `${name}(${fields.join(', ')})`
}

function attributeText(given: unknown): string {
  if (!isFields(given)) return String(given)
  const types = Object.entries(given).map(([type, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value)
    return `${type.toLowerCase()}=${shown}`
  })
  return `AttributeValue(${types.join(', ')})`
}

const mapText = (
  fields: Readonly<Record<string, unknown>>,
  text: (value: unknown) => string,
): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `${name}=${text(value)}`)
    .join(', ')}}`

const isFields = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)
