import process from 'node:process'

/** What the program runs on, with its version. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions
  if (bun !== undefined) return `Bun ${bun}`
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}
