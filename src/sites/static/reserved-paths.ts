/** The first parts of the paths that the service answers itself, on every site. */
const RESERVED = new Set([
  'admin',
  'data',
  'healthz',
  'livez',
  'objects',
  'oidc',
  'portal',
  'readyz',
  'site.git',
])

/** Whether a path, from `/` on, is the service's own and never a file's. */
export function isReservedPath(path: string): boolean {
  const end = path.indexOf('/', 1)
  return RESERVED.has(end === -1 ? path.slice(1) : path.slice(1, end))
}
