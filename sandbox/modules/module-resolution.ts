/** Tried after the path as it is written, in this order. */
const EXTENSIONS = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.tsx', '.jsx', '.json']

export type Resolution =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly message: string }

/**
 * Finds the file that `specifier` means when `referrer` imports it: as written, with an extension added, or the index
 * file of a folder. Only relative paths inside the artifact are served; anything else is refused by name.
 */
export function resolveModule(
  specifier: string,
  referrer: string,
  exists: (path: string) => boolean,
): Resolution {
  if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return refusal(specifier, referrer)
  const base = normalize(`${folderOf(referrer)}/${specifier}`)
  if (base === undefined) {
    return {
      ok: false,
      message: `"${referrer}" imports "${specifier}", which leaves the artifact`,
    }
  }
  for (const path of candidates(base)) {
    if (path !== '' && exists(path)) return { ok: true, path }
  }
  return { ok: false, message: `"${referrer}" imports "${specifier}", which does not exist` }
}

function refusal(specifier: string, referrer: string): Resolution {
  return {
    ok: false,
    message:
      `"${referrer}" imports "${specifier}": only relative paths inside the artifact can be ` +
      'imported. For packages, "croft site deploy --from" bundles functions that are files, and "croft site bundle" does it for a repository',
  }
}

function* candidates(base: string): Generator<string> {
  yield base
  // TypeScript sources may name the file that a compiler would emit.
  if (/\.[cm]?js$/.test(base)) yield base.replace(/js$/, 'ts')
  if (/\.jsx?$/.test(base)) yield base.replace(/jsx?$/, 'tsx')
  for (const extension of EXTENSIONS) yield `${base}${extension}`
  const folder = base === '' ? '' : `${base}/`
  for (const extension of EXTENSIONS) yield `${folder}index${extension}`
}

function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '.' : path.slice(0, slash)
}

/** Undefined when the path climbs out. */
function normalize(path: string): string | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}
