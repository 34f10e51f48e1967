/** What a statement compares: relations, and whatever names one site. Those that are compared as equal are of one group. */
export class SiteGroups {
  /** The site of the statement: a parameter, or a value. */
  static readonly SITE = 'the site'
  readonly #parents = new Map<string, string>()

  unite(one: string, other: string): void {
    this.#parents.set(this.#root(one), this.#root(other))
  }

  areOne(names: readonly string[]): boolean {
    return new Set(names.map((name) => this.#root(name))).size <= 1
  }

  #root(name: string): string {
    const parent = this.#parents.get(name)
    return parent === undefined || parent === name ? name : this.#root(parent)
  }
}
