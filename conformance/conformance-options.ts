import { parseArgs } from 'node:util'

import { AREA_NAMES } from './wpt/areas.ts'

export const USAGE = `usage: npm run conformance -- --wpt FOLDER [options]
       npm run conformance -- --deno FOLDER [options]
       npm run conformance -- --functions [--match TEXT]
  --wpt FOLDER     runs the Web Platform Tests that need no document and no server, from a folder of them
  --deno FOLDER    runs Deno's unit tests, the *_test.ts of a folder
  --functions      runs the function files of this project in the sandbox and in the real Deno, and shows what differs
  --only A[,B…]    areas of the Web Platform Tests, of ${AREA_NAMES.join(', ')};
                   or file names of Deno's, without _test.ts
  --match TEXT     only files with that text in their path
  --beside NAME    node beside --wpt, deno beside --deno: runs the same there, and says what share of its passes is ours
  --list-failures  a line for each failure; beside another runtime, for each that passes there
  --json FILE      writes the figures and all failures there`

/** The runtime that each suite can be run in beside us. */
export const BESIDE = { wpt: 'node', deno: 'deno' } as const

export type ConformanceOptions = SuiteOptions | FunctionsOptions

interface FunctionsOptions {
  readonly suite: 'functions'
  readonly match: string
}

export interface SuiteOptions {
  readonly suite: 'wpt' | 'deno'
  readonly folder: string
  /** Undefined for all. */
  readonly only: readonly string[] | undefined
  readonly match: string
  readonly isBeside: boolean
  readonly listsFailures: boolean
  readonly jsonPath: string | undefined
}

/** Throws an Error that says what to do about the arguments. */
export function parseConformanceOptions(args: readonly string[]): ConformanceOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      wpt: { type: 'string' },
      deno: { type: 'string' },
      functions: { type: 'boolean', default: false },
      only: { type: 'string' },
      match: { type: 'string', default: '' },
      beside: { type: 'string' },
      'list-failures': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  })
  if (values.functions) return functionsOptions(values)
  const suite = values.wpt === undefined ? 'deno' : 'wpt'
  const folder = values[suite]
  if (folder === undefined || (values.wpt !== undefined && values.deno !== undefined))
    throw new Error('Give one folder: --wpt FOLDER or --deno FOLDER')
  const only = values.only?.split(',').map((name) => name.trim())
  const unknown = suite === 'wpt' && only?.find((name) => !AREA_NAMES.includes(name))
  if (typeof unknown === 'string')
    throw new Error(`--only: there is no "${unknown}"; there are ${AREA_NAMES.join(', ')}`)
  requireBeside(suite, values.beside)
  return {
    suite,
    folder,
    only,
    match: values.match,
    isBeside: values.beside !== undefined,
    listsFailures: values['list-failures'],
    jsonPath: values.json,
  }
}

/** What is said of folders and of the runtime beside has no meaning here. */
function functionsOptions(values: Readonly<Record<string, unknown>>): FunctionsOptions {
  const { functions: _functions, match, ...others } = values
  const given = Object.keys(others).find(
    (name) => others[name] !== undefined && others[name] !== false,
  )
  if (given !== undefined)
    throw new Error(`--${given}: --functions is given alone, or with --match TEXT`)
  return { suite: 'functions', match: String(match) }
}

function requireBeside(suite: 'wpt' | 'deno', beside: string | undefined): void {
  const known = BESIDE[suite]
  if (beside !== undefined && beside !== known)
    throw new Error(`--beside: with --${suite} it is "${known}", not "${beside}"`)
}
