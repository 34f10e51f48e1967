import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { AUTHORIZE_ROWS } from './refusal-table/authorize-rows.ts'
import { CODE_ROWS } from './refusal-table/code-rows.ts'
import { FORM_ROWS } from './refusal-table/form-rows.ts'
import { INVITE_ROWS } from './refusal-table/invite-rows.ts'
import { MAILED_CODE_ROWS } from './refusal-table/mailed-code-rows.ts'
import { outcomeOf } from './refusal-table/outcome.ts'
import { REFRESH_ROWS } from './refusal-table/refresh-rows.ts'
import { SESSION_ROWS } from './refusal-table/session-rows.ts'
import { TOKEN_ROWS } from './refusal-table/token-rows.ts'
import { type Row, World, changesOf } from './refusal-table/world.ts'

/** Everything that is refused on the way to a token and with it: what is sent, what is answered, what it leaves behind. */
const ROWS: readonly Row[] = [
  ...AUTHORIZE_ROWS,
  ...CODE_ROWS,
  ...REFRESH_ROWS,
  ...TOKEN_ROWS,
  ...SESSION_ROWS,
  ...FORM_ROWS,
  ...MAILED_CODE_ROWS,
  ...INVITE_ROWS,
]

let world: World
beforeAll(async () => {
  world = await World.open()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('refused', () => {
  test.each(ROWS)('is %s, with %s', async (_name, expected, prepare) => {
    const attack = await prepare(world)
    const before = await world.kept()
    expect(outcomeOf(await attack.send())).toBe(expected)
    expect(changesOf(before, await world.kept())).toEqual(attack.changes ?? [])
    await attack.afterwards?.()
  })
})
