import { describe, expect, test } from 'vitest'

import { randomIds } from './ids.ts'

describe('ids', () => {
  test.each([
    ['site id', () => randomIds.siteId(), /^site_[a-z0-9]{12}$/],
    ['user pool id', () => randomIds.userPoolId('eu-central-1'), /^eu-central-1_[A-Za-z0-9]{9}$/],
    ['client id', () => randomIds.clientId(), /^[a-z0-9]{26}$/],
    ['named id', () => randomIds.named('res'), /^res_[a-z0-9]{16}$/],
    ['uuid', () => randomIds.uuid(), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    ['secret', () => randomIds.secret(), /^[\w-]{43}$/],
  ])('have the shape of a %s, and differ', (_what, make, shape) => {
    const made = new Set(Array.from({ length: 500 }, make))
    expect(made.size).toBe(500)
    for (const id of made) expect(id).toMatch(shape)
  })
})
