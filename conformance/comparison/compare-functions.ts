import type { TestSandbox } from '#test/test-sandbox.ts'

import { type Observed, readFunctionFiles } from './function-files.ts'
import { KNOWN_DIFFERENCES } from './known-differences.ts'
import { runInRealDeno } from './run-in-deno.ts'
import { runInSandbox } from './run-in-sandbox.ts'

export interface Compared {
  readonly name: string
  readonly deno: Observed
  readonly ours: Observed
  readonly isSame: boolean
  /** Why it differs, where that is known. */
  readonly reason: string | undefined
}

const NOTHING: Observed = { outcome: '', stdout: '', stderr: '' }
const PARTS = ['outcome', 'stdout', 'stderr'] as const

/** Runs the function files with `match` in their path in the real Deno and in the sandbox. */
export async function compareFunctions(sandbox: TestSandbox, match = ''): Promise<Compared[]> {
  const files = await readFunctionFiles(match)
  const [deno, ours] = await Promise.all([runInRealDeno(files), runInSandbox(sandbox, files)])
  return files.names.map((name, at) => compared(name, deno[at] ?? NOTHING, ours[at] ?? NOTHING))
}

function compared(name: string, deno: Observed, ours: Observed): Compared {
  // A file that gave nothing at all did not run: that two did not is no likeness.
  const isSame = deno.outcome !== '' && PARTS.every((part) => deno[part] === ours[part])
  return { name, deno, ours, isSame, reason: KNOWN_DIFFERENCES[name] }
}

/** What differs, as both have it. */
export function differenceText({ name, deno, ours, reason }: Compared): string {
  const parts = PARTS.filter((part) => deno[part] !== ours[part]).map(
    (part) => `  ${part}\n    deno ${indented(deno[part])}\n    ours ${indented(ours[part])}`,
  )
  const known = reason === undefined ? '' : `\n  known: ${reason}`
  return `${name}${known}\n${parts.join('\n')}`
}

const indented = (text: string): string => text.trimEnd().replaceAll('\n', '\n         ')

/** A line for each folder, the differences, and the sums. */
export function functionsReport(results: readonly Compared[]): string {
  const folders = Map.groupBy(results, ({ name }) => name.slice(0, name.indexOf('/')))
  const different = results.filter(({ isSame }) => !isSame)
  const known = different.filter(({ reason }) => reason !== undefined).length
  return [
    ...[...folders].map(([folder, of]) => {
      const same = of.filter(({ isSame }) => isSame).length
      return `${folder.padEnd(14)}${String(same).padStart(4)} of ${String(of.length).padStart(3)}`
    }),
    ...different.map((one) => `\n${differenceText(one)}`),
    `\n${results.length} function files: ${results.length - different.length} the same in Deno, ${known} known differences, ${different.length - known} others`,
  ].join('\n')
}
