import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError } from '#base/app-error.ts'

import { Deployer } from './deployer.ts'
import { GitState } from './git-state.ts'

export const storedDeployer = (value: unknown): Deployer | null =>
  value === null ? null : stored(Deployer, value, 'actor')

export const storedGitState = (value: unknown): GitState | null =>
  value === null ? null : stored(GitState, value, 'commit')

/** JSON as a row of a deployment keeps it. */
export function stored<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): Static<Schema> {
  if (Value.Check(schema, value)) return value
  throw new AppError('InternalError', `The deployment’s stored ${what} cannot be read`)
}
