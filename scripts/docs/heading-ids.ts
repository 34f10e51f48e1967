/** The id of a heading by the rule of GitHub: lower case, no punctuation. `text` as it is written in Markdown. */
export const headingId = (text: string): string =>
  text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Ids of headings in the order of the page, with a number where there are several. */
export class HeadingIds {
  readonly #taken = new Set<string>()

  idOf(text: string): string {
    const id = headingId(text)
    let unique = id
    for (let at = 1; this.#taken.has(unique); at += 1) unique = `${id}-${at}`
    this.#taken.add(unique)
    return unique
  }
}
