import { isDeepStrictEqual } from 'node:util'

import type { FunctionToCheck } from '#runtime/functions/function-checks.ts'

import type { TypedConfig } from './model.ts'

/** The function that a resource is, if it is one, to be checked; `field` is the one that has its config. */
export const functionsIn = (
  name: string,
  typed: TypedConfig,
  field = 'config',
): FunctionToCheck[] =>
  typed.type === 'lambdaFunction' ? [{ name, field, config: typed.config }] : []

export const inlineCodeOf = (typed: TypedConfig): string | undefined =>
  typed.type === 'lambdaFunction' ? typed.config.code : undefined

/** Whether one loads when the other does: what they may do once they run does not matter. */
export const loadsAlike = (one: TypedConfig, other: TypedConfig): boolean =>
  isDeepStrictEqual(loadedPart(one), loadedPart(other))

const loadedPart = (typed: TypedConfig): object | undefined =>
  typed.type === 'lambdaFunction' ? { ...typed.config, resources: [] } : undefined
