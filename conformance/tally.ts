import type { JobOutcome } from './lanes/lane.ts'

/** The name of the one subtest of a file that says nothing of any. */
const WHOLE_FILE = '(the whole file)'

export interface Subtest {
  readonly file: string
  readonly name: string
}

export interface Failure extends Subtest {
  readonly message: string
}

/** What became of the subtests of several files in one runtime, by file and name. */
export class Tally {
  readonly passed = new Map<string, Subtest>()
  readonly failed = new Map<string, Failure>()
  readonly skipped = new Map<string, Failure>()

  /** A file that threw or did not end as it should has failed as a whole too, beside what it said of itself. */
  add(file: string, { findings, ending, message }: JobOutcome): void {
    let fault: string | undefined = ending === 'completed' ? undefined : `${ending}: ${message}`
    let named = 0
    for (const finding of findings) {
      if ('done' in finding) continue
      if ('error' in finding) {
        fault = finding.error
        continue
      }
      named += 1
      const { name, outcome } = finding
      this[outcome].set(keyOf({ file, name }), { file, name, message: finding.message })
    }
    if (named === 0) fault ??= 'It has no subtests'
    if (fault === undefined) return
    const whole = { file, name: WHOLE_FILE, message: fault }
    this.failed.set(keyOf(whole), whole)
  }

  /** Failures in place of subtests that another runtime knows and this one never came to. */
  addMissing(other: Tally): void {
    for (const known of [other.passed, other.failed]) {
      for (const [key, { file, name }] of known) {
        if (
          name === WHOLE_FILE ||
          this.passed.has(key) ||
          this.failed.has(key) ||
          this.skipped.has(key)
        )
          continue
        this.failed.set(key, { file, name, message: 'Never came to its end' })
      }
    }
  }

  /** How many of the other's passes pass here too. */
  sharedWith(other: Tally): number {
    let shared = 0
    for (const key of other.passed.keys()) if (this.passed.has(key)) shared += 1
    return shared
  }

  /** Failures, or only those that the other runtime passes. */
  failures(other: Tally | undefined): Failure[] {
    return [...this.failed].flatMap(([key, failure]) =>
      !other || other.passed.has(key) ? [failure] : [],
    )
  }
}

const keyOf = ({ file, name }: Subtest): string => `${file}\n${name}`
