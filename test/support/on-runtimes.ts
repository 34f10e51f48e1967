import { describe, test } from 'vitest'

import { denoMissing } from '#sandbox/guest/testing/deno.ts'

import type { Runtime } from './runtimes.ts'

/** Those that this machine can start. In CI it must be all of them. */
export const installed = <R extends Runtime>(runtimes: readonly R[]): R[] =>
  runtimes.filter((runtime) => missing(runtime) === undefined)

/** Describes the same on each runtime, whose name is the `%s` of `name`; skipped on those that are not installed. */
export function describeOn<R extends Runtime>(
  runtimes: readonly R[],
  name: string,
  body: (runtime: R) => void,
): void {
  for (const runtime of runtimes) {
    describe.skipIf(missing(runtime))(`${nameOn(runtime, name)}`, () => {
      body(runtime)
    })
  }
}

/** One test on each runtime, in the same way. */
export function testOn<R extends Runtime>(
  runtimes: readonly R[],
  name: string,
  body: (runtime: R) => Promise<void>,
): void {
  for (const runtime of runtimes) {
    // oxlint-disable-next-line vitest/expect-expect -- it is in the body
    test.skipIf(missing(runtime))(`${nameOn(runtime, name)}`, () => body(runtime))
  }
}

const missing = (runtime: Runtime): string | undefined =>
  runtime === 'deno' ? denoMissing() : undefined

/** A test that is skipped says why. */
const nameOn = (runtime: Runtime, name: string): string => {
  const why = missing(runtime)
  return `${name.replace('%s', runtime)}${why === undefined ? '' : ` (${why})`}`
}
