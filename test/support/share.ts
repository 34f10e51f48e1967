const asked = process.env['CROFT_TEST_SHARE'] ?? '0.1'

/** How much of the journeys that take minutes a run goes: a tenth, and all of it in the project `nightly`. */
export const SHARE = Number(asked)
if (!(SHARE > 0 && SHARE <= 1)) {
  throw new Error(`CROFT_TEST_SHARE is "${asked}": give a number above 0 and up to 1`)
}

export const isWhole = SHARE === 1

/** That many of all, at least one. */
export const shareOf = (all: number): number => Math.max(1, Math.round(all * SHARE))
