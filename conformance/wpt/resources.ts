import { readFile } from 'node:fs/promises'
import { extname, join, normalize } from 'node:path'

/** Where the tests believe to come from. Only files of their own folder answer there. */
export const ORIGIN = 'http://web-platform.test:8000'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.idl': 'text/plain',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.txt': 'text/plain',
}

export interface Resource {
  readonly type: string
  readonly bytes: Buffer
}

/** The file that an address of the tests' own origin names. Undefined for what only a server could answer. */
export async function readResource(root: string, address: string): Promise<Resource | undefined> {
  if (!URL.canParse(address)) return undefined
  const { origin, pathname } = new URL(address)
  const type = TYPES[extname(pathname)]
  if (origin !== ORIGIN || type === undefined) return undefined
  try {
    return { type, bytes: await readFile(join(root, normalize(decodeURIComponent(pathname)))) }
  } catch {
    return undefined
  }
}
