import { createHash } from 'node:crypto'

import { canonicalJson } from '#base/canonical-json.ts'
import type {
  RevisionDocument,
  RevisionFunction,
  RevisionOperation,
} from '#runtime/published/revision-document.ts'

/** An operation as it is bound, before what it depends on is known. */
export type BoundOperation = Omit<RevisionOperation, 'digest' | 'callsOperations'>

type Compiled = Omit<RevisionDocument, 'format' | 'operations'>

/** Code that calls operations without this word in it is noticed when it runs (`OperationCalls`). */
const MENTIONS_OPERATION = /\boperation\b/u
/** 128 bits: a collision would deceive the own site only. */
const DIGEST_LENGTH = 22

/** The operations with the digest of each. A limit takes part only where it decides what an answer may be. */
export function withDigests(
  operations: readonly BoundOperation[],
  compiled: Compiled,
): RevisionOperation[] {
  const functions = new Map(compiled.functions.map((entry) => [entry.functionId, entry]))
  const alone = operations.map((operation) => {
    const target = functions.get(operation.functionId ?? '')
    return {
      ...operation,
      digest: digestOf([operation, target, surroundings(operation, target, compiled)]),
      callsOperations: target !== undefined && mentionsOperation(target, compiled),
    }
  })
  const all = digestOf(alone.map(({ digest }) => digest).toSorted())
  return alone.map((operation) =>
    operation.callsOperations
      ? { ...operation, digest: digestOf([operation.digest, all]) }
      : operation,
  )
}

function surroundings(
  { preset }: BoundOperation,
  target: RevisionFunction | undefined,
  { stores, env, egressAllow, limits }: Compiled,
): unknown {
  if (!target) return stores.filter(({ resourceId }) => resourceId === preset?.resourceId)
  const granted = new Set(target.grants.map(({ resourceId }) => resourceId))
  return [
    stores.filter(({ resourceId }) => granted.has(resourceId)),
    // As they are sealed: a value that is changed and changed back is another one.
    env.filter(({ name }) => target.environment.includes(name)),
    egressAllow,
    limits.resultBytes,
  ]
}

const mentionsOperation = ({ modules: hashes }: RevisionFunction, { modules }: Compiled): boolean =>
  hashes.some((hash) => MENTIONS_OPERATION.test(modules[hash]?.code ?? ''))

const digestOf = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, DIGEST_LENGTH)
