import { columns } from '#cli/columns.ts'
import { MAX_CODE_BYTES, isCode } from '#sites/deployments/model.ts'

import type { FunctionBundle } from './bundle-function.ts'
import { packageOf } from './import-chain.ts'

const LISTED_PACKAGES = 4
const LISTED_BUNDLES = 5

/** What a bundle weighs, as `--json` has it. */
export interface BundleSize {
  /** The path that the function is bound to. */
  readonly artifact: string
  /** Without its source map, which is no code. */
  readonly sizeBytes: number
  /** The largest first. */
  readonly packages: readonly { readonly name: string; readonly sizeBytes: number }[]
  readonly warnings: readonly string[]
}

export function bundleSize({ path, files, inputs, warnings }: FunctionBundle): BundleSize {
  const packages = new Map<string, number>()
  for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
    const name = packageOf(input)
    if (name !== undefined) packages.set(name, (packages.get(name) ?? 0) + bytesInOutput)
  }
  return {
    artifact: path,
    sizeBytes: [...files].reduce(
      (sum, [name, { byteLength }]) => sum + (isCode(name) ? byteLength : 0),
      0,
    ),
    packages: [...packages]
      .map(([name, sizeBytes]) => ({ name, sizeBytes }))
      .toSorted((one, other) => other.sizeBytes - one.sizeBytes),
    warnings,
  }
}

/** What was bundled, in lines that end; empty when nothing was. */
export const bundledText = (sizes: readonly BundleSize[]): string =>
  sizes.length === 0 ? '' : `Functions with their packages:\n${sizeLines(sizes)}\n`

/** One line a function: `functions/save.ts  61.2 kB  zod 55.0 kB`. */
const sizeLines = (sizes: readonly BundleSize[]): string =>
  columns(sizes.map((size) => [`  ${size.artifact}`, kilobytes(size.sizeBytes), partsOf(size)]))

/** Why the functions are too large together, with what they are large of; undefined when they are not. */
export function sizeFault(codeBytes: number, sizes: readonly BundleSize[]): string | undefined {
  if (codeBytes <= MAX_CODE_BYTES) return undefined
  const largest = sizes.toSorted((one, other) => other.sizeBytes - one.sizeBytes)
  return [
    `the scripts and JSON of the artifact have ${codeBytes} bytes together with what is bundled: ${MAX_CODE_BYTES} are allowed. The largest functions:`,
    sizeLines(largest.slice(0, LISTED_BUNDLES)),
  ].join('\n')
}

function partsOf({ packages }: BundleSize): string {
  const listed = packages.slice(0, LISTED_PACKAGES)
  const parts = listed.map(({ name, sizeBytes }) => `${name} ${kilobytes(sizeBytes)}`)
  const rest = packages.length - listed.length
  return [...parts, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`
