/** Names and values of an expression, each written once. */
export class Expression {
  readonly #names = new Map<string, string>()
  readonly #values: [string, unknown][] = []

  /** The placeholder of an attribute. */
  name(attribute: string): string {
    const known = this.#names.get(attribute)
    const placeholder = known ?? `#n${this.#names.size}`
    this.#names.set(attribute, placeholder)
    return placeholder
  }

  /** The placeholder of a value. */
  value(value: unknown): string {
    const placeholder = `:v${this.#values.length}`
    this.#values.push([placeholder, value])
    return placeholder
  }

  /** The fields of a request that give them. */
  fields(): Readonly<Record<string, unknown>> {
    const names = [...this.#names].map(([attribute, placeholder]) => [placeholder, attribute])
    return {
      ...(names.length > 0 && { expressionAttributeNames: Object.fromEntries(names) }),
      ...(this.#values.length > 0 && {
        expressionAttributeValues: Object.fromEntries(this.#values),
      }),
    }
  }
}
