import type { BenchOptions } from './bench-options.ts'

export interface Occasion {
  readonly day: string
  readonly machine: string
  readonly versions: string
}

/** The results file: what was measured, on what, and how. The page of the documentation is made from it. */
export const resultsFile = (text: string, options: BenchOptions, occasion: Occasion): string =>
  `# Results of \`npm run bench\`

- Day: ${occasion.day}
- Machine: ${occasion.machine}
- Versions: ${occasion.versions}
- Rounds: ${options.rounds} of ${options.durationMs / 1000} s after ${options.warmupMs / 1000} s of warm-up, interleaved; medians, and ratios within a round

${text}
`
