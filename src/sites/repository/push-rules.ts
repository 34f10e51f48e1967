import { AppError } from '#base/app-error.ts'
import type { GitRef } from '#platform/git/bare-repository.ts'
import type { RefUpdate } from '#platform/git/push-channel.ts'

const MAX_REFS = 1000
const MAX_REF_BYTES = 250
const UPDATES_AT_ONCE = 200
/** What `git check-ref-format` refuses, and what is no valid Unicode. */
const BAD_REF = /\p{Cc}|[ ~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.\/|\.lock(?:\/|$)|[./]$|^\.|\/$/u

/** Refuses what no push may do, whatever it brings. `boundBranch` is the branch that is deployed. */
export function checkUpdates(updates: readonly RefUpdate[], boundBranch: string): void {
  if (updates.length === 0) throw refused('git passed on nothing of this push')
  if (updates.length > UPDATES_AT_ONCE) {
    throw refused(`A push changes at most ${UPDATES_AT_ONCE} branches and tags`)
  }
  for (const { name, newOid } of updates) {
    const fault = refFault(name)
    if (fault !== undefined) throw refused(`${JSON.stringify(name)} ${fault}`)
    if (newOid === undefined && name === branchRef(boundBranch)) {
      throw refused(
        `The branch "${boundBranch}" is the one that is deployed: it cannot be deleted, bind the site to another one first`,
      )
    }
  }
}

/** Why a ref cannot have this name, or undefined. */
export function refFault(name: string): string | undefined {
  const [, short] = /^refs\/(?:heads|tags)\/(.+)$/s.exec(name) ?? []
  if (short === undefined) return 'is neither a branch nor a tag'
  if (Buffer.byteLength(name) > MAX_REF_BYTES) return `is longer than ${MAX_REF_BYTES} bytes`
  return BAD_REF.test(short) || !name.isWellFormed()
    ? 'is not the name of a branch or tag'
    : undefined
}

/** What the refs are after the updates. Refuses a push that saw other refs than there are, and names that exclude each other. */
export function refsAfter(
  current: readonly GitRef[],
  updates: readonly RefUpdate[],
): readonly GitRef[] {
  const refs = new Map(current.map(({ name, oid }) => [name, oid]))
  for (const { name, oldOid, newOid } of updates) {
    if (refs.get(name) !== oldOid) {
      throw refused(`Another push has changed "${shortName(name)}": fetch, and push again`)
    }
    if (newOid === undefined) refs.delete(name)
    else refs.set(name, newOid)
  }
  if (refs.size > MAX_REFS) {
    throw refused(`A repository has at most ${MAX_REFS} branches and tags: delete some first`)
  }
  refuseNested(refs)
  return [...refs].map(([name, oid]) => ({ name, oid }))
}

export const branchRef = (branch: string): string => `refs/heads/${branch}`

export const shortName = (ref: string): string => ref.replace(/^refs\/(?:heads|tags)\//, '')

export const refused = (message: string): AppError => new AppError('PushRefused', message)

/** `a` and `a/b` cannot both be there: git keeps them as a file and a folder. */
function refuseNested(refs: ReadonlyMap<string, string>): void {
  for (const name of refs.keys()) {
    const parts = name.split('/')
    for (let length = 3; length < parts.length; length++) {
      const above = parts.slice(0, length).join('/')
      if (refs.has(above)) {
        throw refused(`"${shortName(name)}" and "${shortName(above)}" cannot both be there`)
      }
    }
  }
}
