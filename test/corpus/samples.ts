import { BOMBS } from './bombs.ts'
import { BOUNCES } from './bounces.ts'
import { BROKEN } from './broken.ts'
import { CHARSETS } from './charsets.ts'
import type { Sample } from './sample.ts'
import { STRUCTURES } from './structures.ts'

/** Everything that mail may be, each with what is to be found in it. */
export const SAMPLES: readonly Sample[] = [
  ...CHARSETS,
  ...STRUCTURES,
  ...BROKEN,
  ...BOUNCES,
  ...BOMBS,
]
