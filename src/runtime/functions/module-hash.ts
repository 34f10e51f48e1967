import { createHash } from 'node:crypto'

import type { Module } from '#platform/sandbox-host/sandbox.ts'

const hashes = new WeakMap<Module, string>()

/** The same for equal modules, and for no others. */
export function moduleHash(module: Module): string {
  const known = hashes.get(module)
  if (known !== undefined) return known
  const { path, format, code, map } = module
  const hash = createHash('sha256')
    .update(JSON.stringify(map === undefined ? [path, format, code] : [path, format, code, map]))
    .digest('base64url')
  hashes.set(module, hash)
  return hash
}
