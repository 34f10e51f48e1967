/** The word that was probably meant: at most three letters away, and less than half of it. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  if (!best || best.distance > 3 || best.distance * 2 > word.length) return undefined
  return best.candidate
}

/** Letters that are added, removed or replaced (Levenshtein). Words longer than 64 letters are cut. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [row, letter] of a.slice(0, 64).split('').entries()) {
    const current = [row + 1]
    for (const [column, other] of b.slice(0, 64).split('').entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
