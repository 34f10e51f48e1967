/** A place in a text: both count from 1, columns in UTF-16 units. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

export function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset).split(/\r\n|[\n\r]/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
