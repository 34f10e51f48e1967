import { type Static, Type } from '@sinclair/typebox'

import type { Actor } from '#base/actor.ts'

/** Who deployed, as the records of deployments name them. */
export const Deployer = Type.Object({
  type: Type.Union([
    /** The holder of the operator key. */
    Type.Literal('operator'),
    /** Someone of the site's admin pool; the name is their address. */
    Type.Literal('user'),
    /** The name is the token's. */
    Type.Literal('deployToken'),
    /** A push to the site's repository; the name is that of the token it came with. */
    Type.Literal('gitPush'),
    Type.Literal('webhook'),
    /** The service by itself. */
    Type.Literal('service'),
  ]),
  name: Type.Union([Type.String(), Type.Null()]),
})
export type Deployer = Static<typeof Deployer>

export function deployerOf(actor: Actor): Deployer {
  switch (actor.type) {
    case 'operator':
    case 'webhook':
      return { type: actor.type, name: null }
    case 'user':
      return { type: 'user', name: actor.email }
    case 'deployToken':
      return { type: actor.via === 'git' ? 'gitPush' : 'deployToken', name: actor.name }
    case 'owner':
    case 'known':
    case 'siteCode':
    case 'system':
      return { type: 'service', name: null }
  }
}
