import { type Static, Type } from '@sinclair/typebox'

/** Who deploys. */
export const DeploymentActor = Type.Object({
  type: Type.Union([
    /** Whoever holds the operator key. */
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
export type DeploymentActor = Static<typeof DeploymentActor>

export const OPERATOR_DEPLOYS: DeploymentActor = { type: 'operator', name: null }
export const SERVICE_DEPLOYS: DeploymentActor = { type: 'service', name: null }
