/** Ids of headings in the order of the page, by the rule of GitHub: lower case, no punctuation, a number where there are several. */
export class HeadingIds {
  readonly #taken = new Set<string>()

  /** `text` as it is written in Markdown. */
  idOf(text: string): string {
    const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const id = plain.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    let unique = id
    for (let at = 1; this.#taken.has(unique); at += 1) unique = `${id}-${at}`
    this.#taken.add(unique)
    return unique
  }
}
