const ADMINISTRATION = /^\/(?:admin|portal)\//

/**
 * Marks the answers of the administration. Links, codes, tokens and people's data are in them: no cache keeps them, and no
 * browser guesses what they are.
 */
export function preventCaching({ headers }: Response, path: string): void {
  if (!ADMINISTRATION.test(path)) return
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  headers.set('x-content-type-options', 'nosniff')
}
