import type { SharedCache } from './shared-cache.ts'

/** Nothing is shared: each replica keeps its own answers. */
export const noSharedCache: SharedCache = {
  get: () => Promise.resolve(undefined),
  set() {},
  dropGroup: () => Promise.resolve(0),
  ping: () => Promise.resolve(null),
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
