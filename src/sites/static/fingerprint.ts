/** Folders into which build tools put nothing but files that are named by their content. */
const ASSET_FOLDERS = new Set(['assets', 'chunks', 'immutable', '_app', '_astro', '_next', '_nuxt'])
/** The part behind the last `-` or `.` of the name, before its extension or extensions. */
const MARKED = /[-.]([A-Za-z0-9_-]{8,64})(?:\.[a-z][a-z0-9]{0,9}){1,3}$/
const HEX = /^(?=.*[0-9])(?=.*[a-f])[0-9a-f]{8,64}$/
/** As esbuild writes it: eight letters and digits of base 32. */
const BASE_32 = /^(?=.*[2-7])[A-Z2-7]{8}$/
/** As Rollup and Vite write it: base 64 for URLs, in which eight letters of one case are no chance. */
const BASE_64 =
  /^(?=.*[a-z])(?=.*[A-Z0-9])[A-Za-z0-9_-]{8,22}$|^(?=.*[0-9])(?=.*[A-Z])[A-Z0-9_-]{8,22}$/

/**
 * Whether a file's name carries a hash of its content, so that it never changes: `app-5XWQ3HTK.js`, `main.3f2a1b4c.css`, and in
 * folders for such files also `index-BxYz1_aQ.js`. Words and dates (`my-document.pdf`, `report-20251231.pdf`) are none.
 */
export function isFingerprinted(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  const inAssets = parts.some((part) => ASSET_FOLDERS.has(part))
  const hash = hashIn(name, inAssets)
  return hash !== undefined
}

function hashIn(name: string, inAssets: boolean): string | undefined {
  const marked = MARKED.exec(name)?.[1]
  if (marked === undefined) return undefined
  // The part may begin before the hash: `vendor-chunk-3f2a1b4c`.
  const last = marked.slice(marked.lastIndexOf('-') + 1)
  for (const hash of [last, marked]) {
    if (HEX.test(hash) || BASE_32.test(hash)) return hash
  }
  if (!inAssets) return undefined
  // A hash in base 64 may hold the hyphen itself: Rollup's are eight characters.
  const eight = name.replace(/(?:\.[a-z][a-z0-9]{0,9}){1,3}$/, '').slice(-9)
  const hash = /^[-.]/.test(eight) ? eight.slice(1) : last
  return BASE_64.test(hash) ? hash : undefined
}
