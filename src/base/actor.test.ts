import { describe, expect, test } from 'vitest'

import { type Actor, type Role, SITE_CODE, SYSTEM, WEBHOOK, actorId, atLeast } from './actor.ts'

const origin = { address: '192.0.2.1', userAgent: '', requestId: 'r' }
const user = (role: Role): Actor => ({
  type: 'user',
  userId: 'u1',
  email: 'ann@one.test',
  role,
  signedInAt: new Date(0),
  origin,
})

describe('an actor', () => {
  test.each<[Actor, string, readonly Role[]]>([
    [user('user'), 'u1', ['user']],
    [user('admin'), 'u1', ['user', 'admin']],
    [user('super-admin'), 'u1', ['user', 'admin', 'super-admin']],
    [{ type: 'operator', origin }, 'operator', ['user', 'admin', 'super-admin']],
    [
      { type: 'deployToken', tokenId: 'dtk_1', name: 'CI', via: 'api', origin },
      'deploy-token:dtk_1',
      [],
    ],
    [WEBHOOK, 'webhook', []],
    [{ type: 'owner', origin }, 'owner', []],
    [{ type: 'known', id: 'u2' }, 'u2', []],
    [SITE_CODE, 'site-code', ['user', 'admin']],
    [SYSTEM, 'system', []],
  ])('%o is named "%s" and has the authority of %j', (actor, id, roles) => {
    expect(actorId(actor)).toBe(id)
    const all: readonly Role[] = ['user', 'admin', 'super-admin']
    expect(all.filter((role) => atLeast(actor, role))).toEqual(roles)
  })
})
