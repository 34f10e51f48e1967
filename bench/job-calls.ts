import { readFile } from 'node:fs/promises'

import type { Tenant } from './load/load-plan.ts'

interface Target {
  readonly host: string
  readonly path: string
  readonly token?: string
}

/** Sent in turn. */
const BODIES = ['Ada', 'Bob', 'Cleo', 'Dan'].map((name, at) =>
  JSON.stringify({ payload: { name, n: 38 + at } }),
)
/** What the host calls ask for. */
export const ITEM_IDS = ['one', 'two', 'three', 'four'] as const

/** Calls of the job on one host, with what is expected of the answers. */
export const jobTenant = (target: Target): Tenant => ({
  ...target,
  bodies: BODIES,
  expect: { status: 200, includes: '"greeting":"Hello, ' },
})

/** Calls that send a text of that length and get it back. */
export const echoTenant = (target: Target, textLength: number): Tenant => ({
  ...target,
  bodies: [JSON.stringify({ payload: { text: textOf(textLength) } })],
  expect: { status: 200, includes: `"text":"${textOf(60)}` },
})

/** Calls that are answered with an item, which the code has to ask its host for. */
export const itemTenant = (target: Target): Tenant => ({
  ...target,
  bodies: ITEM_IDS.map((id) => JSON.stringify({ payload: { id } })),
  expect: { status: 200, includes: '"title":"The item ' },
})

export const itemOf = (id: string) => ({ id, title: `The item ${id}`, tags: ['a', 'b'], stock: 7 })

/** TypeScript that exports `answer`. */
export const readJobSource = (): Promise<string> =>
  readFile(new URL('json-job.ts', import.meta.url), 'utf8')

const textOf = (length: number): string =>
  'All that is sent comes back as it was, letter by letter. '
    .repeat(Math.ceil(length / 57))
    .slice(0, length)
