/** Keys by which the service knows a message that is sent again: the same for the same message, another for another. */
export class SendingKeys {
  readonly #newKey: () => string
  #last: { readonly content: string; readonly key: string } | undefined

  constructor(newKey: () => string = () => crypto.randomUUID()) {
    this.#newKey = newKey
  }

  of(message: unknown): string {
    const content = JSON.stringify(message)
    if (this.#last?.content !== content) this.#last = { content, key: this.#newKey() }
    return this.#last.key
  }
}
