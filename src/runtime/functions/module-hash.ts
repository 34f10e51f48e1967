import { createHash } from 'node:crypto'

import type { Module } from '#platform/sandbox-host/sandbox.ts'

const hashes = new WeakMap<Module, string>()

/** The same for equal modules, and for no others. */
export function moduleHash(module: Module): string {
  const known = hashes.get(module)
  if (known !== undefined) return known
  const { path, format, code, map, imports } = module
  // What most modules do not have changes no hash of theirs.
  const rest = imports === undefined ? (map === undefined ? [] : [map]) : [map ?? '', imports]
  const hash = createHash('sha256')
    .update(JSON.stringify([path, format, code, ...rest]))
    .digest('base64url')
  hashes.set(module, hash)
  return hash
}
