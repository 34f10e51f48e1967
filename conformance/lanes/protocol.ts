/** What the code that is run says of itself, one subtest at a time. */
export type Finding =
  | {
      readonly name: string
      readonly outcome: 'passed' | 'failed' | 'skipped'
      readonly message: string
    }
  /** Thrown outside of any subtest. */
  | { readonly error: string }
  | { readonly done: true }

/** One run of one file in a fresh global scope, where `conformance.report` takes findings. */
export interface Job {
  readonly form: 'script' | 'module'
  readonly source: string
  /** The folder that answers what is fetched. */
  readonly root: string
}

/** Stuck is what waits and has nothing left that could wake it. */
export type Ending = 'completed' | 'stuck' | 'crashed' | 'timeout'

export type FromLane =
  | { readonly kind: 'ready' }
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] }
  | { readonly kind: 'ended'; readonly ending: Ending; readonly message: string }
