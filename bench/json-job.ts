export interface JobPayload {
  readonly name: string
  readonly n: number
}

export interface JobAnswer {
  readonly greeting: string
  readonly sum: number
  readonly letters: readonly string[]
}

/** The one job that every subject does. Each gets the text of this file, so it imports nothing. */
export function answer({ name, n }: JobPayload): JobAnswer {
  let sum = 0
  for (let at = 1; at <= n; at += 1) sum += at
  return { greeting: `Hello, ${name}!`, sum, letters: name.toUpperCase().split('') }
}
