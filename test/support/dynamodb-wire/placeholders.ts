/** Names and values put out of an expression's text, so that no name needs to be spelt in it. */
export class Placeholders {
  readonly #names: Record<string, string> = {}
  readonly #values: Record<string, unknown> = {}

  name(attribute: string): string {
    const placeholder = `#w${Object.keys(this.#names).length}`
    this.#names[placeholder] = attribute
    return placeholder
  }

  value(value: unknown): string {
    const placeholder = `:w${Object.keys(this.#values).length}`
    this.#values[placeholder] = value
    return placeholder
  }

  /** The two fields of a request; a field that would be empty is left out. */
  get fields(): Readonly<Record<string, unknown>> {
    return {
      ...(Object.keys(this.#names).length > 0 && { ExpressionAttributeNames: this.#names }),
      ...(Object.keys(this.#values).length > 0 && { ExpressionAttributeValues: this.#values }),
    }
  }
}

/** The placeholders of a field that a text mentions; the field is left out when it would be empty. */
export function mentioned(
  field: string,
  body: Readonly<Record<string, unknown>>,
  text: string,
): Readonly<Record<string, unknown>> {
  const given = body[field]
  if (typeof given !== 'object' || given === null) return {}
  const used = Object.entries(given).filter(([name]) =>
    new RegExp(`${name}(?![A-Za-z0-9_])`).test(text),
  )
  return used.length === 0 ? {} : { [field]: Object.fromEntries(used) }
}
