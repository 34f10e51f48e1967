import { editDistance } from '#base/did-you-mean.ts'

const MOST_SUGGESTED = 3

/**
 * The commands and groups that a call of none may mean: those that end with its first word, like "site logs" for "logs", else those that
 * differ from its words in the fewest letters, two at most.
 */
export function similarCommands(
  words: readonly string[],
  commands: readonly string[],
): readonly string[] {
  const longer = commands.filter((name) => name.endsWith(` ${words[0]}`))
  if (longer.length > 0 && longer.length <= MOST_SUGGESTED) return longer
  const rated = [...new Set([...groupsOf(commands), ...commands])].map((name) => {
    const length = name.split(' ').length
    const call = words.slice(0, length).join(' ')
    return { name, length, distance: editDistance(call, name), limit: Math.min(2, call.length / 2) }
  })
  const near = rated.filter(({ distance, limit }) => distance > 0 && distance <= limit)
  const least = Math.min(...near.map(({ distance }) => distance))
  const nearest = near.filter(({ distance }) => distance === least)
  const longest = Math.max(...nearest.map(({ length }) => length))
  return nearest.filter(({ length }) => length === longest).map(({ name }) => name)
}

const groupsOf = (commands: readonly string[]): string[] =>
  commands.flatMap((name) => {
    const words = name.split(' ').slice(0, -1)
    return words.map((_, at) => words.slice(0, at + 1).join(' '))
  })
